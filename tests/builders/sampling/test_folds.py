"""Labelled examples: which are taken; parts of the source, held-out validation, folds."""

from collections import Counter
from dataclasses import replace

import pytest
from conftest import opinion
from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.candidates import (
    N_FOLDS,
    assign_folds,
    assign_splits,
    filter_examples,
    text_key,
)
from corpora_recipes.records import Example


@pytest.mark.parametrize(
    ("first", "last"), [("train", "test"), ("train", "validation"), ("validation", "test")]
)
def test_of_two_parts_the_last_is_test_and_a_tenth_of_the_first_is_held_out(first, last) -> None:
    examples = [opinion(n, first) for n in range(40)] + [opinion(n, last) for n in range(10)]
    splits, of_fold = assign_splits(examples, 1, "sent", trained=True)
    assert of_fold == {}
    assert Counter(splits.values()) == {"train": 36, "validation": 4, "test": 10}
    assert {splits[e.id] for e in examples if e.split == last} == {"test"}
    held_out = Counter(e.label for e in examples if splits[e.id] == "validation")
    assert held_out == {"negative": 2, "positive": 2}


@pytest.mark.parametrize("split", [None, "train", "validation"])
def test_of_one_part_or_none_there_are_folds(split) -> None:
    examples = [opinion(n, split) for n in range(60)]
    splits, of_fold = assign_splits(examples, 1, "sent", trained=True)
    assert set(splits.values()) == {"train"}
    assert of_fold == assign_folds(examples, 1, "sent") != assign_folds(examples, 2, "sent")
    by_class = Counter((of_fold[e.id], e.label) for e in examples)
    assert by_class == {(k, c): 3 for k in range(N_FOLDS) for c in ("negative", "positive")}
    _, of_five = assign_splits(examples, 1, "sent", trained=True, n_folds=5)
    assert Counter(of_five.values()) == dict.fromkeys(range(5), 12)


def test_parts_of_the_source_stay_and_where_nothing_is_trained_all_is_test() -> None:
    examples = [opinion(n, s) for s in ("train", "validation", "test") for n in range(5)]
    splits = {example.id: example.split for example in examples}
    assert assign_splits(examples, 1, "sent", trained=True) == (splits, {})
    tested = assign_splits(examples, 1, "sent", trained=False)
    assert tested == (dict.fromkeys(splits, "test"), {})


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijklmnñ"), st.sampled_from(["x", "y", "z"])), max_size=80
    ),
    st.randoms(use_true_random=False),
)
def test_folds_are_even_hold_a_text_together_and_ignore_the_order(drawn, random) -> None:
    examples = [
        opinion(number, texts=(f"{letter} …",), label=label)
        for number, (letter, label) in enumerate(drawn)
    ]
    found = assign_folds(examples, 7, "sent")
    of_text: dict[object, set[int]] = {}
    for example in examples:
        of_text.setdefault(text_key(example), set()).add(found[example.id])
    assert all(len(numbers) == 1 for numbers in of_text.values())
    sizes = Counter(next(iter(numbers)) for numbers in of_text.values())
    assert max(sizes.values(), default=0) - min((sizes[k] for k in range(N_FOLDS)), default=0) <= 1
    shuffled = sorted(examples, key=lambda example: random.random())
    assert assign_folds(shuffled, 7, "sent") == found


def test_examples_of_one_document_are_not_parted() -> None:
    examples = [opinion(n, "train", document_id=f"premise {n // 3}") for n in range(90)]
    # The text of 0 stands again in the document of 89, so that both documents hang together.
    examples.append(opinion(90, "train", texts=examples[0].texts, document_id="premise 29"))
    examples += [opinion(n, "test") for n in range(100, 110)]
    splits, _ = assign_splits(examples, 1, "sent", trained=True)
    of_document: dict[str, set[str]] = {}
    for example in examples:
        of_document.setdefault(example.document_id, set()).add(splits[example.id])
    assert all(len(of) == 1 for of in of_document.values())
    assert of_document["premise 0"] == of_document["premise 29"]
    held_out = [e for e in examples if splits[e.id] == "validation"]
    assert 9 <= len(held_out) <= 12


def pair(name: str, first: str, second: str, label: str = "a", split: str | None = None) -> Example:
    return Example(name, "pairs", (first, second), label, None, name, {}, split)  # type: ignore[arg-type]


def ids(examples: list[Example]) -> list[str]:
    return [example.id for example in examples]


def test_all_are_taken_unless_the_task_says_otherwise() -> None:
    examples = [pair("2", "It rained", "We left"), pair("1", "It rained", "We left")]
    assert filter_examples(examples, deduplicate=False, min_class_size=0) == (examples, {})


def test_a_text_stays_where_it_is_tested() -> None:
    examples = [
        pair("1", "It rained", "We left", "cause", "train"),
        pair("2", "it rained!", "We left.", "time", "test"),
        pair("3", "We left", "It rained", "cause", "validation"),
        pair("4", "It snowed", "We left", "cause", "train"),
    ]
    chosen, left_out = filter_examples(examples, deduplicate=True, min_class_size=0)
    assert (ids(chosen), left_out) == (["2", "4"], {"repeated_text": 2})


def test_rare_classes_are_counted_after_repeated_texts() -> None:
    examples = [pair(str(n), f"It rained {n} days", "We left", "cause") for n in range(10)]
    examples += [pair(f"r{n}", f"It snowed {n} days", "We left", "time") for n in range(9)]
    repeated = replace(examples[-1], id="s")
    chosen, left_out = filter_examples([*examples, repeated], deduplicate=True, min_class_size=10)
    assert {example.label for example in chosen} == {"cause"}
    assert left_out == {"repeated_text": 1, "rare_class": 9}


@pytest.mark.parametrize("step", [1, -1])
def test_of_the_same_part_the_first_id_stays_and_order_is_kept(step: int) -> None:
    examples = [pair("b", "x", "y"), pair("c", "z", "y"), pair("a", "x", "y")][::step]
    assert (
        ids(filter_examples(examples, deduplicate=True, min_class_size=0)[0]) == ["c", "a"][::step]
    )
