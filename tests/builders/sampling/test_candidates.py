"""Candidates of treebanks: forms of one split, balance among equal lengths, and locality."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.candidates import (
    Candidate,
    balanced,
    split_of,
    with_drawn_classes,
    with_forms_of_one_split,
    worthwhile_classes,
)
from builders.sampling.draw import Draw
from corpora_recipes.records import SPLITS

DRAW = Draw(1, "ds")
CLASSES = ("present", "past")

several = st.lists(
    st.builds(
        Candidate,
        id=st.integers(0, 10_000).map("s{}".format),
        treebank=st.just("es_mine"),
        document_id=st.just("d"),
        licence=st.just("CC0 1.0"),
        split=st.sampled_from(SPLITS),
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
def test_no_form_is_in_two_splits_and_none_is_lost(candidates: list[Candidate]) -> None:
    kept = with_forms_of_one_split(candidates, DRAW)
    places: dict[str, set[str]] = {}
    for candidate in kept:
        places.setdefault(candidate.forms[0], set()).add(candidate.split)
    assert all(len(splits) == 1 for splits in places.values())
    assert places.keys() == {candidate.forms[0] for candidate in candidates}


def test_forms_of_all_splits_are_divided_among_them() -> None:
    owners = Counter(split_of(f"form {n}", SPLITS, DRAW) for n in range(1000))
    assert owners == {"train": 532, "validation": 242, "test": 226}


@given(several)
def test_classes_are_equal_in_every_cell(candidates: list[Candidate]) -> None:
    chosen = balanced(candidates, CLASSES, DRAW)
    cells = Counter((c.split, c.stratum, c.bin, c.label) for c in chosen)
    assert all(
        cells[split, stratum, length, "past"] == cells[split, stratum, length, "present"]
        for split, stratum, length, _ in cells
    )
    whole = Counter(
        (c.split, c.label) for c in balanced(candidates, CLASSES, DRAW, by_length=False)
    )
    assert all(whole[split, "past"] == whole[split, "present"] for split, _ in whole)


@given(several)
def test_drawn_classes_lose_one_sentence_of_a_split_and_stratum(
    candidates: list[Candidate],
) -> None:
    drawn = with_drawn_classes(candidates, CLASSES, DRAW)
    of_class = Counter((c.split, c.stratum, c.label) for c in drawn)
    for (split, stratum), count in Counter((c.split, c.stratum) for c in candidates).items():
        halves = {of_class[split, stratum, name] for name in CLASSES}
        assert halves == {count // 2}
    by_bin = Counter((c.split, c.stratum, c.bin, c.label) for c in drawn)
    assert all(abs(n - by_bin[(*cell, "past")]) <= 1 for (*cell, _), n in by_bin.items())


@given(several, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(candidates: list[Candidate], random) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)
    for choose in (
        lambda given: with_forms_of_one_split(given, DRAW),
        lambda given: balanced(given, CLASSES, DRAW),
        lambda given: with_drawn_classes(given, CLASSES, DRAW),
    ):
        chosen = {(c.id, c.label) for c in choose(candidates)}
        assert chosen == {(c.id, c.label) for c in choose(shuffled)}


@given(several.filter(bool))
def test_a_sentence_less_changes_its_own_cell_at_most(candidates: list[Candidate]) -> None:
    gone, *others = candidates
    cell = (gone.split, gone.stratum, gone.bin)

    def elsewhere(kept: list[Candidate]) -> set[str]:
        return {c.id for c in kept if (c.split, c.stratum, c.bin) != cell}

    before, after = (balanced(given, CLASSES, DRAW) for given in (candidates, others))
    assert elsewhere(before) == elsewhere(after)
    changed = {c.id for c in before} ^ {c.id for c in after}
    # Itself and one of the other class, or the one that takes its place.
    assert len(changed) <= len(CLASSES)


def test_rare_classes_are_left_out() -> None:
    def of(label: str, count: int) -> list[Candidate]:
        return [
            Candidate(f"{label}{n}{split}", "t", "d", "l", split, "Frase.", 9, label)
            for n in range(count)
            for split in SPLITS
        ]

    three = [*of("3 singular", 40), *of("3 plural", 8), *of("1 plural", 5)]
    assert worthwhile_classes(three, DRAW) == ["3 singular", "3 plural", "1 plural"]
    four = [*three, *of("2 plural", 1)]
    assert worthwhile_classes(four, DRAW) == ["3 singular", "3 plural", "1 plural"]
    assert worthwhile_classes(of("3 singular", 40), DRAW) == []
    # Nobody can be asked in a split that has no such sentence.
    untested = [c for c in three if c.split != "test" or c.label != "1 plural"]
    assert worthwhile_classes(untested, DRAW) == ["3 singular", "3 plural"]
