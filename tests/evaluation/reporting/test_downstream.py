"""Scores that need no probe against probed ones: Spearman's correlation with its interval."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.reporting.averages import averages_of
from evaluation.reporting.long import long_table
from evaluation.reporting.tables.downstream import (
    downstream_means,
    downstream_scores,
    intrinsic_scores,
    relate,
)
from evaluation.results.paradigms import ParadigmResults, ParadigmScore
from evaluation.results.probes import Results, Score
from evaluation.results.rankings import RankingResults, RankScore


def scores(*values: float) -> dict[str, float]:
    return {f"encoder {number}": value for number, value in enumerate(values)}


def test_the_interval_is_bonett_and_wrights() -> None:
    found = relate(scores(1, 2, 3, 4, 5, 6), scores(20, 10, 40, 30, 60, 50))
    assert found
    assert (found.encoders, found.correlation) == (6, pytest.approx(1 - 36 / 210))
    # z = 1.183562, √((1 + 0.686531 / 2) / 3) = 0.669145.
    assert found.interval == pytest.approx((-0.127245, 0.986482), abs=1e-5)
    found = relate(scores(*range(12)), scores(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9))
    assert found
    assert found.correlation == pytest.approx(1 - 6 * 32 / (12 * 143))
    # z = 1.412917, √((1 + 0.788743 / 2) / 9) = 0.393612.
    assert found.interval == pytest.approx((0.565887, 0.974983), abs=1e-5)


def test_how_many_encoders_it_takes() -> None:
    assert relate(scores(1, 2), scores(1, 2)) is None
    assert relate({}, {}) is None
    three = relate(scores(1, 2, 3), scores(1, 3, 2))
    assert three
    assert (three.encoders, three.correlation, three.interval) == (3, 0.5, None)
    five = relate(scores(1, 2, 3, 4, 5), scores(1, 2, 3, 5, 4))
    assert five
    assert (five.encoders, five.interval) == (5, None)


@pytest.mark.parametrize(("other", "expected"), [((1, 2, 3, 4, 9), 1.0), ((5, 4, 3, 2, 1), -1.0)])
def test_no_interval_of_one_order(other: tuple[float, ...], expected: float) -> None:
    found = relate(scores(1, 2, 3, 4, 5), scores(*other))
    assert found
    assert (found.correlation, found.interval) == (expected, None)


def test_encoders_that_lack_a_score_are_left_out() -> None:
    found = relate(scores(1, 2, 3, 4), scores(3, 2, 1) | {"other": 7})
    assert found
    assert (found.encoders, found.correlation) == (3, -1.0)


def test_scores_that_differ_by_rounding_are_ties() -> None:
    assert relate(scores(0.1 + 0.2, 0.3, 0.3), scores(1, 2, 3)) is None
    tied, other = scores(0.1 + 0.2, 0.3, 0.1, 0.2), scores(2, 1, 0, 3)
    assert relate(tied, other) == relate(scores(0.3, 0.3, 0.1, 0.2), other)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_only_orders_count(pairs: list[tuple[int, int]]) -> None:
    one, other = (scores(*side) for side in zip(*pairs, strict=True))
    found = relate(one, other)
    assert found == relate(other, one)
    assert found == relate({name: value**3 for name, value in one.items()}, other)
    assert found == relate(dict(reversed(one.items())), other)
    assert (found is None) == (len(set(one.values())) == 1 or len(set(other.values())) == 1)
    if found:
        turned = relate({name: -value for name, value in one.items()}, other)
        assert turned
        assert turned.correlation == -found.correlation
    if found and found.interval:
        low, high = found.interval
        assert -1 <= low < found.correlation < high <= 1


def test_the_mean_over_all_orders_is_nothing() -> None:
    found = [relate(scores(1, 2, 3, 4), scores(*own)) for own in permutations(range(4))]
    assert sum(own.correlation for own in found if own) == pytest.approx(0)


def probed(name: str, **values: float) -> Results:
    tasks = {"sts14": "similarity", "sts15": "similarity", "sick": "relatedness"}
    tasks |= {"mc": "sentence_classification", "fac": "sentence_classification"}
    made = []
    for dataset, value in values.items():
        one = Score(
            dataset, tasks[dataset], "x", "es", "1", "0", {"test": 9}, 0, 9, "2", "accuracy", value,
            None, (0, 1), {}, None, None, {}, None, None, "",
        )  # fmt: skip
        made += [one, replace(one, layer="0", value=0.9)]
    encoder = {"layer": "2", "layers": ["0", "2"]}
    return Results(4, name, encoder, {}, {}, 1, {}, "", tuple(made))


def ranked(name: str, *own: RankScore) -> RankingResults:
    return RankingResults(1, name, {"layer": "2", "layers": ["0", "2"]}, {}, 1, {}, "", own, ())


def rank(mrr: float, **other: Any) -> RankScore:
    one = RankScore(
        "evalrank_es", "sentence_ranking", "es", "1", "0", "2", "cosine", "none", 9, 3, 3, {}, mrr,
        (0, 1), {"1": 0.0, "3": 0.0}, 1.0, 0,
    )  # fmt: skip
    return replace(one, **other)


def paradigms(name: str, *own: ParadigmScore) -> ParadigmResults:
    encoder = {"layer": "2", "layers": ["0", "2"]}
    return ParadigmResults(1, name, encoder, 2, ["lower"], 1, {}, "", own, {})


def paradigm(suggestion: float, **other: Any) -> ParadigmScore:
    one = ParadigmScore(
        "paralex_es", "es", "1", "0", "2", "shared", "w", 9, "as_is", suggestion, (0, 1),
        suggestion / 2, (0, 1), (),
    )  # fmt: skip
    return replace(one, **other)


ONE, TWO = probed("one", sts14=0.6, sts15=0.8, mc=0.5), probed("two", sts14=0.7, mc=0.4)


def test_intrinsic_scores_of_similarity() -> None:
    assert intrinsic_scores(long_table([ONE, TWO], [], [])) == {
        "sts14 Pearson": {"one": 0.6, "two": 0.7},
        "sts15 Pearson": {"one": 0.8},
        "mean similarity": {"one": pytest.approx(0.7)},
    }
    # Of one dataset there is no mean.
    assert list(intrinsic_scores(long_table([TWO], [], []))) == ["sts14 Pearson"]
    both = intrinsic_scores(long_table([ONE], [], []), lambda names: [*names][:1])
    assert list(both) == ["sts14 Pearson", "sts15 Pearson"]


def test_intrinsic_scores_of_ranks() -> None:
    first = ranked(
        "one",
        rank(0.9, layer="0"),
        rank(0.8, similarity="l2"),
        rank(0.7, postprocessing="abtt"),
        rank(0.6, dataset="words_es"),
        rank(0.5),
    )
    assert intrinsic_scores(long_table([], [first, ranked("two", rank(0.4))], [])) == {
        "evalrank_es MRR": {"one": 0.5, "two": 0.4},
        "words_es MRR": {"one": 0.6},
    }


def test_intrinsic_scores_of_paradigms() -> None:
    as_is = paradigms("one", paradigm(0.5), paradigm(0.9, vocabulary="own"))
    assert intrinsic_scores(long_table([], [], [as_is])) == {
        "paralex_es suggestion": {"one": 0.5},
        "paralex_es coherence": {"one": 0.25},
    }
    both = paradigms("two", paradigm(0.6), paradigm(0.8, casing="lower"))
    folded = intrinsic_scores(long_table([], [], [as_is, both]))
    assert folded["paralex_es suggestion"] == {"two": 0.8}


def test_downstream_scores_are_those_that_are_trained() -> None:
    three = probed("three", sick=0.3, fac=0.9, mc=0.7)
    scores = long_table([ONE, TWO, three], [], [])
    assert downstream_scores(scores) == {
        "fac": {"three": 0.9},
        "mc": {"one": 0.5, "two": 0.4, "three": 0.7},
        "sick": {"three": 0.3},
    }
    # Encoders that lack a dataset of a group have no mean.
    tasks = {"fac": "sentence_classification", "mc": "sentence_classification"}
    tasks |= {"sick": "relatedness", "sts14": "similarity"}
    averages = averages_of(tasks, {"fac": "spanish_senteval", "mc": "spanish_senteval"})
    assert downstream_means(scores, averages) == {
        "spanish_senteval SC": {"three": pytest.approx(0.8)},
        "own datasets SS": {"three": 0.3},
    }
