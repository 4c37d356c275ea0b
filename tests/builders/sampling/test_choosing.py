"""Tests of which examples a dataset takes: each text once, and no rare class."""

from dataclasses import replace

from builders.sampling.choosing import choose
from corpora_recipes.records import Example


def pair(name: str, first: str, second: str, label: str = "a", split: str | None = None) -> Example:
    return Example(name, "pairs", (first, second), label, None, name, {}, split)  # type: ignore[arg-type]


def ids(examples: list[Example]) -> list[str]:
    return [example.id for example in examples]


def test_all_are_taken_unless_the_task_says_otherwise() -> None:
    examples = [pair("2", "It rained", "We left"), pair("1", "It rained", "We left")]
    assert choose(examples, once=False, least_in_class=0) == (examples, {})


def test_a_text_stays_where_it_is_tested() -> None:
    examples = [
        pair("1", "It rained", "We left", "cause", "train"),
        pair("2", "it rained!", "We left.", "time", "test"),
        pair("3", "We left", "It rained", "cause", "validation"),
        pair("4", "It snowed", "We left", "cause", "train"),
    ]
    chosen, left_out = choose(examples, once=True, least_in_class=0)
    assert ids(chosen) == ["2", "4"]
    assert left_out == {"repeated_text": 2}


def test_of_the_same_part_the_first_id_stays_and_order_is_kept() -> None:
    examples = [pair("b", "x", "y"), pair("c", "z", "y"), pair("a", "x", "y")]
    assert ids(choose(examples, once=True, least_in_class=0)[0]) == ["c", "a"]
    assert ids(choose(examples[::-1], once=True, least_in_class=0)[0]) == ["a", "c"]


def test_rare_classes_are_counted_after_repeated_texts() -> None:
    examples = [pair(str(n), f"It rained {n} days", "We left", "cause") for n in range(10)]
    examples += [pair(f"r{n}", f"It snowed {n} days", "We left", "time") for n in range(9)]
    repeated = replace(examples[-1], id="s")
    chosen, left_out = choose([*examples, repeated], once=True, least_in_class=10)
    assert {example.label for example in chosen} == {"cause"}
    assert left_out == {"repeated_text": 1, "rare_class": 9}
