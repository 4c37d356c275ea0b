"""Candidates of treebanks and labelled examples: splits, folds, balance, locality."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from conftest import opinion
from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.candidates import (
    N_FOLDS,
    Candidate,
    assign_folds,
    assign_splits,
    balance_classes,
    choose_classes,
    deal_to_folds,
    draw_classes,
    filter_examples,
    text_key,
)
from builders.sampling.passages import Draw
from corpora_recipes.records import Example, link_groups
from corpora_recipes.text.tokens import telling_hashes

DRAW = Draw(1, "ds")
CLASSES = ("present", "past")

several = st.lists(
    st.builds(
        Candidate,
        id=st.integers(0, 10_000).map("s{}".format),
        treebank=st.just("es_mine"),
        document_id=st.sampled_from("12345"),
        licence=st.just("CC0 1.0"),
        fold=st.integers(0, 2),
        text=st.just("Frase."),
        length=st.integers(5, 14),
        label=st.sampled_from(CLASSES),
        forms=st.sampled_from("abcdefgh").map(tuple),
        stratum=st.sampled_from("xy"),
    ),
    unique_by=lambda candidate: candidate.id,
    max_size=30,
)


@given(several)
def test_no_document_and_no_form_is_in_two_folds_and_none_is_lost(candidates) -> None:
    dealt = deal_to_folds(candidates, 3, DRAW)
    places: dict[str, set[int]] = {}
    for candidate in dealt:
        for key in (candidate.document_id, *candidate.forms):
            places.setdefault(key, set()).add(candidate.fold)
    assert all(len(folds) == 1 for folds in places.values())
    assert places.keys() == {key for c in candidates for key in (c.document_id, *c.forms)}


def of(label: str, number: int, **fields: Any) -> Candidate:
    """Return a candidate with a document and a form that no other one has."""
    name = f"{label}{number}"
    return Candidate(name, "t", f"d{name}", "l", "Frase.", 9, label, forms=(name,), **fields)


def test_where_nothing_is_linked_folds_lose_nothing() -> None:
    candidates = [
        of(label, n) for label, rows in (("past", 23), ("present", 40)) for n in range(rows)
    ]
    dealt = deal_to_folds(candidates, 4, DRAW)
    assert {c.id for c in dealt} == {c.id for c in candidates}
    folds = Counter((c.fold, c.label) for c in balance_classes(dealt, CLASSES, DRAW))
    assert folds == {(n, label): 5 + (n < 3) for n in range(4) for label in CLASSES}


def test_what_links_much_is_left_out() -> None:
    """Two documents of 10 sentences have a form in common, which is in one fold only."""
    candidates = [replace(of("past", n), document_id=f"d{n // 10}") for n in range(20)]
    candidates[9] = replace(candidates[9], forms=candidates[10].forms)
    assert len(deal_to_folds(candidates, 2, DRAW)) == 19
    assert len({c.fold for c in deal_to_folds(candidates, 2, DRAW)}) == 2


@given(several)
def test_classes_are_equal_in_every_cell(candidates: list[Candidate]) -> None:
    chosen = balance_classes(candidates, CLASSES, DRAW)
    cells = Counter((*c.cell(c.fold), c.label) for c in chosen)
    assert all(cells[*cell, "past"] == cells[*cell, "present"] for *cell, _ in cells)
    whole = Counter(
        (c.fold, c.label) for c in balance_classes(candidates, CLASSES, DRAW, by_length=False)
    )
    assert all(whole[fold, "past"] == whole[fold, "present"] for fold, _ in whole)


@given(several)
def test_drawn_classes_lose_one_sentence_of_a_fold_and_stratum(candidates: list[Candidate]) -> None:
    drawn = draw_classes(candidates, CLASSES, DRAW)
    of_class = Counter((c.fold, c.stratum, c.label) for c in drawn)
    for (fold, stratum), count in Counter((c.fold, c.stratum) for c in candidates).items():
        halves = {of_class[fold, stratum, name] for name in CLASSES}
        assert halves == {count // 2}
    by_bin = Counter((*c.cell(c.fold), c.label) for c in drawn)
    assert all(abs(n - by_bin[(*cell, "past")]) <= 1 for (*cell, _), n in by_bin.items())


@given(several, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(candidates: list[Candidate], random) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)
    for choose in (
        lambda given: deal_to_folds(given, 3, DRAW),
        lambda given: balance_classes(given, CLASSES, DRAW),
        lambda given: draw_classes(given, CLASSES, DRAW),
    ):
        chosen = {(c.id, c.label, c.fold) for c in choose(candidates)}
        assert chosen == {(c.id, c.label, c.fold) for c in choose(shuffled)}


@given(several.filter(bool))
def test_a_sentence_less_changes_its_own_cell_at_most(candidates: list[Candidate]) -> None:
    gone, *others = candidates
    cell = gone.cell(gone.fold)

    def elsewhere(kept: list[Candidate]) -> set[str]:
        return {c.id for c in kept if c.cell(c.fold) != cell}

    before, after = (balance_classes(given, CLASSES, DRAW) for given in (candidates, others))
    assert elsewhere(before) == elsewhere(after)
    changed = {c.id for c in before} ^ {c.id for c in after}
    # Itself and one of the other class, or the one that takes its place.
    assert len(changed) <= len(CLASSES)


def n_balanced(candidates: list[Candidate], classes: list[str], n_folds: int) -> int:
    """Return the number of rows of these classes in these folds; 0 if fewer than three have any."""
    asked = [candidate for candidate in candidates if candidate.label in classes]
    rows = balance_classes(deal_to_folds(asked, n_folds, DRAW), classes, DRAW)
    return len(rows) if len({row.fold for row in rows}) > 2 else 0


# The sentences of each class in parts of Greek GDT (constituents), of Finnish TDT and Armenian
# ArmTDP (dropped subjects). Where classes are chosen without folds, these leave half of the rows.
GREEK = (185, 76, 74, 66, 63, 47, 25, 20, 20, 8, 4, 3)
FINNISH = (183, 136, 92, 36, 22, 2, 1, 1)
ARMENIAN = (58, 44, 30, 15)


@pytest.mark.parametrize(("sizes", "n_forms"), [(GREEK, 0), (FINNISH, 50), (ARMENIAN, 9)])
def test_classes_and_folds_leave_nearly_as_many_rows_as_the_best_with_hindsight(
    sizes: tuple[int, ...], n_forms: int
) -> None:
    ranked = [f"{number:02}" for number in range(len(sizes))]
    candidates = []
    for label, size in zip(ranked, sizes, strict=True):
        for number in range(size):
            length = 5 + (DRAW.choice(20, label, str(number), "a") * (1 + number % 3)) // 2
            # Forms of a class, some of which are far more frequent than others.
            n_drawn = DRAW.choice(1 + DRAW.choice(n_forms or 1, label, str(number)), str(number))
            forms = (f"{label} {n_drawn}",) if n_forms else ()
            candidates.append(replace(of(label, number), forms=forms, length=length))
    hindsight = {
        (count, n_folds): n_balanced(candidates, ranked[:count], n_folds)
        for count in range(2, len(sizes) + 1)
        for n_folds in range(3, N_FOLDS + 1)
    }
    chosen, n_folds = choose_classes(candidates, 0.9, DRAW)
    enough = 0.9 * max(hindsight.values())
    assert chosen == ranked[: len(chosen)]
    assert n_balanced(candidates, chosen, n_folds) >= enough > 0
    # With more classes there are too few rows in any number of folds.
    assert all(n < enough for (count, _), n in hindsight.items() if count > len(chosen))
    more, _ = choose_classes(candidates, 0.5, DRAW)
    assert len(more) >= len(chosen)
    assert choose_classes(candidates[: sizes[0]], 0.9, DRAW) == (ranked[:1], 3)


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


def pair(
    name: str, first: str, second: str, label: str = "a", split: Any = None, document: str = ""
) -> Example:
    return Example(name, "pairs", (first, second), label, None, document or name, {}, split)


def sentence(subject: str) -> str:
    return f"What the report says of {subject} is well known."


def abstracts(n_documents: int, split: str | None = None) -> list[Example]:
    """Return four pairs of each document; some have sentences that the next document has too.

    One document of three begins with the same words as all of these.
    """
    examples = []
    for document in range(n_documents):
        shared = document - document % 5 % 2
        firsts = [sentence(f"{shared}")] + [sentence(f"{document}.{k}") for k in range(2)]
        firsts.append(sentence("nothing") if document % 3 == 0 else "Thanks.")
        examples += [
            pair(f"{document:03}/{k}", first, f"So {document}.", "ab"[k % 2], split, f"d{document}")
            for k, first in enumerate(firsts)
        ]
    return examples


def parts_of_sentences(examples: list[Example], part_of: Any) -> dict[str, set[Any]]:
    parts: dict[str, set[Any]] = {}
    for example in examples:
        if example.id in part_of:
            parts.setdefault(example.texts[0], set()).add(part_of[example.id])
    return parts


def test_no_long_sentence_is_in_two_folds_and_one_of_many_documents_joins_none() -> None:
    examples = abstracts(90)
    splits, folds = assign_splits(examples, 1, "rel", trained=True, n_folds=5)
    assert splits.keys() == folds.keys()
    parts = parts_of_sentences(examples, folds)
    assert {text for text, numbers in parts.items() if len(numbers) > 1} == {"Thanks."}
    # Only rows with the sentence of many documents are left out: those of four folds of five.
    left_out = [example for example in examples if example.id not in folds]
    assert {example.texts[0] for example in left_out} == {sentence("nothing")}
    stay = sum(e.texts[0] == sentence("nothing") for e in examples) - len(left_out)
    assert 6 <= stay <= 12
    sizes = Counter(folds.values()).values()
    assert max(sizes) < 1.5 * min(sizes)
    shuffled = sorted(examples, key=lambda example: example.texts[0][::-1])
    assert assign_splits(shuffled, 1, "rel", trained=True, n_folds=5)[1] == folds
    # The documents that share another sentence are in one fold.
    fold_of = {e.document_id: folds[e.id] for e in examples if e.id in folds}
    assert all(fold_of[f"d{n}"] == fold_of[f"d{n - 1}"] for n in range(1, 90) if n % 5 in (1, 3))


def test_no_long_sentence_is_in_train_and_in_the_tenth_that_is_held_out() -> None:
    train, test = abstracts(90, "train"), abstracts(9, "test")
    test = [replace(example, id=f"t{example.id}") for example in test]
    splits, _ = assign_splits([*train, *test], 1, "rel", trained=True)
    parts = parts_of_sentences(train, splits)
    assert {text for text, names in parts.items() if len(names) > 1} == {"Thanks."}
    # The source's own test stays as it is, with the sentences that train has too.
    assert {splits[example.id] for example in test} == {"test"}
    assert {e.texts[0] for e in train if e.id not in splits} == {sentence("nothing")}
    assert 24 <= Counter(splits.values())["validation"] <= 40


def test_one_document_less_leaves_the_links_of_the_others() -> None:
    def linked(examples: list[Example]) -> set[frozenset[str]]:
        groups = [[e for e in examples if e.document_id == name] for name in documents]
        groups = [group for group in groups if group]
        merged = link_groups(groups, lambda e: telling_hashes(e.texts), 36)
        return {frozenset(e.document_id for e in group) for group in merged}

    examples = abstracts(90)
    documents = sorted({e.document_id for e in examples})
    fewer = [e for e in examples if e.document_id != "d40"]
    assert linked(examples) - linked(fewer) == {frozenset({"d40", "d41"})}
    # A key of up to nine documents links them; one of ten would make too large a group.
    for n_documents in (9, 10):
        groups = [[(n, k) for k in range(4)] for n in range(n_documents)]
        sizes = {len(group) for group in link_groups(groups, lambda item: [item[1]], 36)}
        assert sizes == {36 if n_documents == 9 else 4}


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
