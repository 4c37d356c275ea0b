"""Candidates of treebanks: folds, balance among equal lengths, and locality."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.candidates import (
    Candidate,
    balanced,
    in_folds,
    with_drawn_classes,
    worthwhile_classes,
)
from builders.sampling.passages import Draw

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
def test_no_document_and_no_form_is_in_two_folds_and_none_is_lost(
    candidates: list[Candidate],
) -> None:
    dealt = in_folds(candidates, 3, DRAW)
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
    dealt = in_folds(candidates, 4, DRAW)
    assert {c.id for c in dealt} == {c.id for c in candidates}
    folds = Counter((c.fold, c.label) for c in balanced(dealt, CLASSES, DRAW))
    assert folds == {(n, label): 5 + (n < 3) for n in range(4) for label in CLASSES}


def test_what_links_much_is_left_out() -> None:
    """Two documents of 10 sentences have a form in common, which is in one fold only."""
    candidates = [replace(of("past", n), document_id=f"d{n // 10}") for n in range(20)]
    candidates[9] = replace(candidates[9], forms=candidates[10].forms)
    assert len(in_folds(candidates, 2, DRAW)) == 19
    assert len({c.fold for c in in_folds(candidates, 2, DRAW)}) == 2


@given(several)
def test_classes_are_equal_in_every_cell(candidates: list[Candidate]) -> None:
    chosen = balanced(candidates, CLASSES, DRAW)
    cells = Counter((*c.cell(c.fold), c.label) for c in chosen)
    assert all(cells[*cell, "past"] == cells[*cell, "present"] for *cell, _ in cells)
    whole = Counter((c.fold, c.label) for c in balanced(candidates, CLASSES, DRAW, by_length=False))
    assert all(whole[fold, "past"] == whole[fold, "present"] for fold, _ in whole)


@given(several)
def test_drawn_classes_lose_one_sentence_of_a_fold_and_stratum(candidates: list[Candidate]) -> None:
    drawn = with_drawn_classes(candidates, CLASSES, DRAW)
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
        lambda given: in_folds(given, 3, DRAW),
        lambda given: balanced(given, CLASSES, DRAW),
        lambda given: with_drawn_classes(given, CLASSES, DRAW),
    ):
        chosen = {(c.id, c.label, c.fold) for c in choose(candidates)}
        assert chosen == {(c.id, c.label, c.fold) for c in choose(shuffled)}


@given(several.filter(bool))
def test_a_sentence_less_changes_its_own_cell_at_most(candidates: list[Candidate]) -> None:
    gone, *others = candidates
    cell = gone.cell(gone.fold)

    def elsewhere(kept: list[Candidate]) -> set[str]:
        return {c.id for c in kept if c.cell(c.fold) != cell}

    before, after = (balanced(given, CLASSES, DRAW) for given in (candidates, others))
    assert elsewhere(before) == elsewhere(after)
    changed = {c.id for c in before} ^ {c.id for c in after}
    # Itself and one of the other class, or the one that takes its place.
    assert len(changed) <= len(CLASSES)


def test_rare_classes_are_left_out() -> None:
    three = [
        of(label, n)
        for label, rows in (("3 singular", 120), ("3 plural", 24), ("1 plural", 15))
        for n in range(rows)
    ]
    assert worthwhile_classes(three, DRAW) == ["3 singular", "3 plural", "1 plural"]
    assert worthwhile_classes([*three, of("2 plural", 0)], DRAW) == worthwhile_classes(three, DRAW)
    assert worthwhile_classes(three[:120], DRAW) == []
