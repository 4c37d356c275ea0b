"""Sampling: exact balance, locality (one document more or less), donors used once."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.passages import (
    Donors,
    Draw,
    Passage,
    WordSimilarity,
    allocate_documents,
    first_ranks,
    in_keyed_order,
    level_lengths,
)

DRAW = Draw(1, "ds")


def passage(name: str, topics: tuple[str, ...] = (), sentences: tuple[str, ...] = ()) -> Passage:
    return Passage(name, name, "train", topics, sentences)


def passages(count: int, topics: int = 3) -> list[Passage]:
    return [passage(f"d{i}", (f"t{i % topics}", "all"), (f"Frase {i}.",)) for i in range(count)]


def ids(items: list[Passage]) -> list[str]:
    return [item.id for item in in_keyed_order(items, DRAW, "select")]


@given(st.integers(0, 60), st.integers(1, 5))
def test_classes_are_exactly_balanced(groups: int, classes: int) -> None:
    drawn = DRAW.classes(classes, ids(passages(groups * classes)))
    assert Counter(drawn) == (dict.fromkeys(range(classes), groups) if groups else {})


def test_classes_and_order_pinned() -> None:
    items = passages(10)
    assert ids(items) == ids(items[::-1])
    assert Draw(1111, "sp").classes(5, ids(items)) == [4, 0, 3, 3, 1, 2, 2, 1, 0, 4]


@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 5))
def test_a_donor_fits_its_taker_and_is_taken_once(donors: int, takers: int, step: int) -> None:
    def fits(taker: Passage, donor: Passage) -> bool:
        return int(taker.id[1:]) % step == int(donor.id[1:]) % step

    ring = Donors(passages(donors), DRAW)
    pairs = [(passage(f"x{i}"), ring.take(passage(f"x{i}"), fits)) for i in range(takers)]
    taken = [donor.id for _, donor in pairs if donor is not None]
    assert len(set(taken)) == len(taken)
    for number in range(step):
        fitting = [donor for taker, donor in pairs if int(taker.id[1:]) % step == number]
        found = [donor for donor in fitting if donor is not None]
        assert all(int(donor.id[1:]) % step == number for donor in found)
        # None is refused while one that fits is left.
        assert len(found) == min(len(fitting), len(range(number, donors, step)))


def test_same_topic_takes_the_rarest_shared_topic() -> None:
    topics = {"common": ("all",), "rare": ("all", "volcanes"), "other": ("peces",)}
    donors = [passage(name, of_one) for name, of_one in topics.items()]
    ring = Donors(donors, DRAW)
    taker = passage("x", ("all", "volcanes"))
    taken = [ring.take_same_topic(taker, lambda *_: True) for _ in range(3)]
    assert taken == [donors[1], donors[0], None]
    assert ring.take(taker, lambda *_: True) == donors[2]


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(0, 60), st.integers(0, 30))
def test_low_ranks_are_kept_whole_and_in_parts(films: list[int], need: int, cut: int) -> None:
    items = [
        Passage(f"{film}#{rank}", str(film), "train", (), (), rank)
        for film, count in enumerate(films)
        for rank in range(count)
    ]
    kept = first_ranks(items, {"train": need})
    assert len(kept) >= min(need, len(items))
    assert [p.rank for p in in_keyed_order(items, DRAW, "select")] == sorted(p.rank for p in items)
    highest = max((p.rank for p in kept), default=-1)
    assert kept == [p for p in items if p.rank <= highest]
    assert sum(p.rank < highest for p in kept) < max(need, 1)
    in_parts = first_ranks(items[:cut], {"train": need}) + items[cut:]
    assert first_ranks(in_parts, {"train": need}) == kept


def sized(*lengths: int, name: str) -> Passage:
    return passage(name, (), tuple("x" * length for length in lengths))


def test_lengths_do_not_tell_the_place_of_a_sentence() -> None:
    # Three of four passages open with the longer sentence.
    items = [sized(*((200, 100) if i % 4 else (100, 200)), name=f"d{i}") for i in range(500)]
    kept = level_lengths(items, "together", DRAW)
    first_longer = sum(len(p.sentences[0]) > len(p.sentences[1]) for p in kept)
    assert 0.45 < first_longer / len(kept) < 0.58
    assert len(kept) > 200
    assert {p.id for p in items if len(p.sentences[0]) < 200} <= {p.id for p in kept}
    assert kept == [p for p in items if p in set(kept)]


def test_lengths_themselves_do_not_tell_where_a_row_shows_one_sentence() -> None:
    # Summaries of 60 or 120 characters, bodies of 60 or 180: only those of 60 can be told apart
    # by nothing.
    lengths = [(60, 60), (120, 180), (60, 180), (120, 60)]
    items = [sized(*lengths[i % 4], name=f"d{i}") for i in range(2000)]
    kept = level_lengths(items, "alone", DRAW)
    left = Counter(tuple(map(len, p.sentences)) for p in kept)
    assert left.pop((60, 60)) == 500
    assert left.total() < 50


def test_one_passage_less_changes_few_others_by_length() -> None:
    items = [sized(90 + i % 60, 60 + i % 97, name=f"d{i}") for i in range(1000)]
    before = {p.id for p in level_lengths(items, "together", DRAW)}
    assert level_lengths([], "together", DRAW) == []
    after = {p.id for p in level_lengths(items[:400] + items[401:], "together", DRAW)}
    assert len(before ^ after) <= 10


def test_documents_are_shared_out_by_need_and_independently() -> None:
    eligible = {f"d{i}": ["big", "small"] for i in range(2000)}
    need = {"big": 3.0, "small": 1.0}
    owners = allocate_documents(eligible, need, 1, "wiki")
    assert 0.70 < Counter(owners.values())["big"] / 2000 < 0.80
    half = {name: eligible[name] for name in list(eligible)[::2]}
    assert allocate_documents(half, need, 1, "wiki") == {name: owners[name] for name in half}


SENTENCES = ["El río crece.", "El río baja.", "El mar crece.", "La casa arde."]


def test_rare_words_count_more_and_the_mean_over_the_others() -> None:
    likeness = WordSimilarity(SENTENCES)
    el, rio, crece, baja = math.log(4 / 3), math.log(2), math.log(2), math.log(4)
    norm = math.sqrt((el + rio + crece) * (el + rio + baja))
    assert likeness.of("el río CRECE", ["el río baja"]) == pytest.approx((el + rio) / norm)
    rare = likeness.of("baja algo", ["baja todo"])
    assert rare > likeness.of("el algo", ["el todo"])
    # The mean over the others
    same, other = "La casa arde.", "El mar crece."
    assert likeness.of(same, [same]) == pytest.approx(1)
    assert likeness.of(same, [same, other]) == pytest.approx(0.5)
    assert likeness.of("…", [same]) == 0


@given(st.lists(st.text("abc .", max_size=12), min_size=2, max_size=6))
def test_it_is_a_share_and_symmetric(sentences: list[str]) -> None:
    likeness = WordSimilarity(sentences)
    first, second = sentences[:2]
    value = likeness.of(first, [second])
    assert 0 <= value <= 1 + 1e-9
    assert value == likeness.of(second, [first])
