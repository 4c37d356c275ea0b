"""Correlation of scores over encoders: intervals, ties, and which scores there are."""

from collections.abc import Sequence
from itertools import permutations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.inputs import COLUMNS
from evaluation.reporting.layout import Cell
from evaluation.reporting.tables.across import intrinsic_scores, probe_scores, related


def scores(*values: float) -> "pd.Series[float]":
    """Return the scores of encoders a, b, c …"""
    return pd.Series(values, [chr(97 + place) for place in range(len(values))], float)


def interval(cell: Cell | None) -> tuple[float, ...]:
    assert cell
    return tuple(float(end) for end in cell.detail.split("]")[0].strip("[").split(", "))


@pytest.mark.parametrize(
    ("order", "squares", "interval"),
    [
        # z = 1.183562, √((1 + 0.686531 / 2) / 3) = 0.669145.
        ((1, 0, 3, 2, 5, 4), 6, "[-12.7, 98.6]"),
        # z = 1.412917, √((1 + 0.788743 / 2) / 9) = 0.393612.
        ((2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9), 32, "[56.6, 97.5]"),
    ],
)
def test_the_interval_is_bonett_and_wrights(
    order: Sequence[float], squares: int, interval: str
) -> None:
    count = len(order)
    found = related(scores(*range(count)), scores(*order))
    assert found
    assert found.value == pytest.approx(1 - 6 * squares / (count * (count**2 - 1)))
    assert (found.detail, found.strong) == (f"{interval} n = {count}", count > 6)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 2), (1, 2), None),
        ((), (), None),
        ((1, 2, 3), (1, 3, 2), (0.5, "n = 3")),
        ((1, 2, 3, 4, 5), (1, 2, 3, 5, 4), (0.9, "n = 5")),
        # Of one order there is no interval.
        (range(6), range(6), (1.0, "n = 6")),
        (range(6), range(6, 0, -1), (-1.0, "n = 6")),
        # Encoders that lack a score are left out; scores that differ by rounding are ties.
        ((1, 2, 3, 4), (3, 2, 1), (-1.0, "n = 3")),
        ((0.1 + 0.2, 0.3, 0.3), (1, 2, 3), None),
    ],
)
def test_how_many_encoders_it_takes(
    one: Sequence[float], other: Sequence[float], expected: tuple[float, str] | None
) -> None:
    found = related(scores(*one), scores(*other))
    assert (found and (pytest.approx(found.value), found.detail)) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_only_orders_count(pairs: list[tuple[int, int]]) -> None:
    one, other = (scores(*side) for side in zip(*pairs, strict=True))
    found = related(one, other)
    assert found == related(other, one) == related(one**3, other) == related(one[::-1], other)
    assert (found is None) == (one.nunique() == 1 or other.nunique() == 1)
    if found:
        turned = related(-one, other)
        assert turned
        assert turned.value == -(found.value or 0)
    if found and "[" in found.detail:
        low, high = interval(found)
        assert -100 <= low < 100 * (found.value or 0) < high <= 100


def test_the_mean_over_all_orders_is_nothing() -> None:
    found = [related(scores(1, 2, 3, 4), scores(*order)) for order in permutations(range(4))]
    assert sum(cell.value or 0 for cell in found if cell) == pytest.approx(0)


def table(*rows: str) -> pd.DataFrame:
    """Return a long table of rows such as "one sts14 similarity es pearson - 0.6"."""
    split = [row.split(" ") for row in rows]
    return pd.DataFrame(
        [
            (*about, measure, way.strip("-").replace("+", " "), "", float(value), None)
            for *about, measure, way, value in split
        ],
        columns=list(COLUMNS),
    )


def columns(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    return {str(name): frame[name].dropna().to_dict() for name in frame}


PROBED = (
    *("one sts14 similarity es pearson - 0.6", "one sts15 similarity es pearson - 0.8"),
    *("two sts14 similarity es pearson - 0.7", "one mc sentence_classification es accuracy - 0.5"),
    "two sick relatedness es pearson - 0.3",
)


def test_intrinsic_scores() -> None:
    similarity = {
        "sts14 Pearson": {"one": 0.6, "two": 0.7},
        "sts15 Pearson": {"one": 0.8},
        "mean similarity": {"one": pytest.approx(0.7)},
    }
    assert columns(intrinsic_scores(table(*PROBED))) == similarity
    # Of one dataset there is no mean.
    both = intrinsic_scores(table(*PROBED), lambda names: [*names][:1])
    assert list(both) == ["sts14 Pearson", "sts15 Pearson"]
    trained = columns(probe_scores(table(*PROBED), trained=True))
    assert trained == {"mc": {"one": 0.5}, "sick": {"two": 0.3}}
    rows = (
        *("one evalrank_es sentence_ranking es MRR l2 0.8", "one words_es x es MRR cosine 0.6"),
        *("one evalrank_es x es MRR cosine 0.5", "two evalrank_es x es MRR cosine 0.4"),
        *("one paralex_es paradigms es suggestion shared+as_is 0.5",),
        *("one paralex_es paradigms es suggestion own+as_is 0.9",),
    )
    ranks = {"evalrank_es MRR": {"one": 0.5, "two": 0.4}, "words_es MRR": {"one": 0.6}}
    clusters = {"paralex_es suggestion": {"one": 0.5}}
    assert columns(intrinsic_scores(table(*rows))) == ranks | clusters
    lower = "two paralex_es paradigms es suggestion shared+lower 0.8"
    clusters = {"paralex_es suggestion": {"two": 0.8}}
    assert columns(intrinsic_scores(table(*rows, lower))) == ranks | clusters
