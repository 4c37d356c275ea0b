"""Sampling: exact balance, locality (one document more or less), donors used once."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.sampling import Donors, Passage, balanced_classes, in_keyed_order, share_out


def passages(count: int, topics: int = 3) -> list[Passage]:
    return [
        Passage(f"d{i}", "train", (f"t{i % topics}", "all"), (f"Frase {i}.",)) for i in range(count)
    ]


def ordered(items: list[Passage]) -> list[Passage]:
    return in_keyed_order(items, 1, "ds", "select")


@given(st.integers(0, 60), st.integers(1, 5))
def test_classes_are_exactly_balanced(groups: int, classes: int) -> None:
    drawn = balanced_classes(ordered(passages(groups * classes)), classes, 1, "ds")
    assert Counter(drawn) == (dict.fromkeys(range(classes), groups) if groups else {})


def test_unbalanceable_number_is_refused() -> None:
    with pytest.raises(ValueError, match="7 passages cannot be balanced over 2"):
        balanced_classes(passages(7), 2, 1, "ds")


def test_classes_pinned() -> None:
    assert balanced_classes(ordered(passages(10)), 5, 1111, "sp") == PINNED_CLASSES


PINNED_CLASSES = [4, 0, 3, 3, 1, 2, 2, 1, 0, 4]


def test_order_of_arrival_does_not_matter() -> None:
    items = passages(50)
    assert ordered(items) == ordered(items[::-1])


def test_two_documents_less_change_few_classes() -> None:
    items = ordered(passages(1000))
    before = dict(zip(items, balanced_classes(items, 2, 1, "ds"), strict=True))
    fewer = items[:400] + items[402:]
    after = dict(zip(fewer, balanced_classes(fewer, 2, 1, "ds"), strict=True))
    assert sum(before[p] != after[p] for p in fewer) <= 2


@given(st.integers(1, 80), st.integers(0, 80))
def test_a_donor_is_taken_once(donors: int, takers: int) -> None:
    ring = Donors(passages(donors), 1, "ds")
    taken = [
        ring.take(Passage(f"x{i}", "train", (), ())).document_id for i in range(min(donors, takers))
    ]
    assert len(set(taken)) == len(taken)
    if takers >= donors:
        with pytest.raises(LookupError):
            ring.take(Passage("late", "train", (), ()))


def test_one_donor_less_changes_few_matches() -> None:
    takers = [Passage(f"x{i}", "train", (), ()) for i in range(300)]

    def match(donors: list[Passage]) -> list[str]:
        ring = Donors(donors, 1, "ds")
        return [ring.take(taker).document_id for taker in takers]

    donors = passages(600)
    before, after = match(donors), match(donors[1:])
    assert sum(a != b for a, b in zip(before, after, strict=True)) <= 20


def test_same_topic_takes_the_rarest_shared_topic() -> None:
    donors = [
        Passage("common", "train", ("all",), ()),
        Passage("rare", "train", ("all", "volcanes"), ()),
        Passage("other", "train", ("peces",), ()),
    ]
    ring = Donors(donors, 1, "ds")
    taker = Passage("x", "train", ("all", "volcanes"), ())
    found = [ring.take_same_topic(taker) for _ in range(3)]
    assert found[0] == donors[1]
    assert found[1:] == [donors[0], None]
    assert ring.take(taker) == donors[2]


def test_documents_are_shared_out_by_need_and_independently() -> None:
    eligible = {f"d{i}": ["big", "small"] for i in range(2000)}
    need = {"big": 3.0, "small": 1.0}
    owners = share_out(eligible, need, 1, "wiki")
    assert 0.70 < Counter(owners.values())["big"] / 2000 < 0.80
    half = {name: eligible[name] for name in list(eligible)[::2]}
    assert share_out(half, need, 1, "wiki") == {name: owners[name] for name in half}
