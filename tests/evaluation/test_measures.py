"""Metrics, similarities and intervals: by hand, against scipy, and what they do not depend on."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from builders.statistics import pearson
from evaluation.measures import (
    MIN_DOCUMENTS,
    alignment,
    average_ranks,
    cosines,
    effective_units,
    inverse_distances,
    jackknife_half_width,
    leave_out,
    leave_out_means,
    measure,
    measures,
    metric_from_sums,
    row_terms,
    score_interval,
    spearman,
    student,
    uniformity,
)

NONE = np.full(4, "")


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 300),
    shift=st.sampled_from([0.0, 100.0, 1e5]),
    decimals=st.sampled_from([0, 1, 9]),
)
def test_correlations_are_those_of_scipy_to_the_bit(
    seed: int, rows: int, shift: float, decimals: int
) -> None:
    """Also where values tie."""
    generator = np.random.default_rng(seed)
    gold = (shift + generator.normal(size=rows)).round(decimals)
    predicted = (generator.uniform(-1, 1) * gold + generator.normal(size=rows)).round(decimals)
    assert average_ranks(gold).tolist() == stats.rankdata(gold).tolist()
    assert measure("pearson", gold, predicted) == pearson(gold, predicted)
    if np.ptp(gold) > 0 < np.ptp(predicted):
        assert pearson(gold, predicted) == stats.pearsonr(gold, predicted).statistic
        assert spearman(gold, predicted) == stats.spearmanr(gold, predicted).statistic


def test_measures_and_those_of_subsets() -> None:
    right = np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2])
    assert measures("accuracy", *right, NONE) == {"accuracy": 0.75}
    gold = np.array([1.0, 2.0, 1.0, 2.0])
    predicted = np.array([0.1, 0.2, 0.9, 0.8])
    subsets = np.array(["news", "news", "web", "web"], object)
    values = measures("pearson", gold, predicted, subsets)
    subset_names = [f"{name}, {subset}" for subset in ("news", "web") for name in list(values)[:2]]
    assert list(values) == ["pearson", "spearman", *subset_names]
    assert values["pearson, news"] == pytest.approx(1)
    assert values["spearman, web"] == pytest.approx(-1)
    assert list(measures("pearson", gold, predicted, NONE)) == ["pearson", "spearman"]


def test_what_does_not_vary_correlates_with_nothing() -> None:
    same, other = np.ones(4), np.array([0.1, 0.2, 0.9, 0.8])
    for one, two in ((same, other), (other, same), (same, same), (other[:1], other[:1])):
        assert pearson(one, two) == spearman(one, two) == 0
        assert metric_from_sums("pearson", row_terms("pearson", one, two).sum(axis=0)[None]) == [0]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(3, 40),
    shift=st.sampled_from([0.0, 100.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_the_metric_from_sums(seed: int, rows: int, shift: float, scale: float) -> None:
    """For a set of rows drawn with repetition, also where Pearson's terms could lose digits."""
    generator = np.random.default_rng(seed)
    gold = shift + generator.normal(size=rows)
    predicted = scale * (gold + generator.normal(size=rows))
    drawn = generator.integers(rows, size=rows)
    sums = row_terms("pearson", gold, predicted)[drawn].sum(axis=0)[None]
    if len(set(drawn)) > 2:
        expected = stats.pearsonr(gold[drawn], predicted[drawn]).statistic
        assert metric_from_sums("pearson", sums)[0] == pytest.approx(expected, abs=1e-7)
    right = np.round(gold), np.round(predicted)
    sums = row_terms("accuracy", *right)[drawn].sum(axis=0)[None]
    assert metric_from_sums("accuracy", sums)[0] == np.mean(right[0][drawn] == right[1][drawn])


def test_cosines_by_hand() -> None:
    one = np.array([[1, 0], [3, 4], [1, 1], [2, 2]], np.float32)
    other = np.array([[0, 5], [3, 4], [-1, -1], [1, 0]], np.float32)
    assert cosines(one, other).dtype == np.float64
    assert cosines(one, other).tolist() == [0, 1, -1, 0.707107]
    vectors = np.array([[0, 0], [1, 2]], np.float32)
    assert cosines(vectors, vectors[::-1]).tolist() == [0, 0]
    assert cosines(vectors, vectors).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 10, 1e30])
def test_the_scale_does_not_matter(scale: float) -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 50, 8)).astype(np.float32)
    assert (cosines(one, one) == 1).all()  # exactly
    scaled = one * np.float32(scale)
    assert cosines(scaled, other) == pytest.approx(cosines(one, other), abs=2e-6)


def test_distances_by_hand() -> None:
    one = np.array([[0, 0], [3, 4], [0, 1]], np.float32)
    other = np.array([[3, 4], [3, 4], [0, -1]], np.float32)
    assert inverse_distances(one, other).tolist() == [1 / 6, 1, 1 / 3]
    one = np.full((1, 4), 3e38, np.float32)
    assert inverse_distances(one, -one) == pytest.approx(1 / 12e38)


def test_alignment_and_uniformity_by_hand() -> None:
    """Squared distances on the circle: 2 at a right angle, 4 of opposites; lengths do not count."""
    vectors = np.array([[1, 0], [0, 3], [-2, 0], [0, 0]], np.float32)
    assert alignment(vectors[[0, 0, 3]], vectors[[1, 2, 0]]) == pytest.approx((2 + 4) / 2)
    expected = math.log((math.exp(-4) + math.exp(-8) + math.exp(-4)) / 3)
    assert uniformity(vectors) == pytest.approx(expected)
    assert uniformity(np.ones((5, 3), np.float32)) == pytest.approx(0)
    assert (alignment(vectors[3:], vectors[:1]), uniformity(vectors[2:])) == (None, None)


def interval(right: Any, documents: Any) -> tuple[float, float]:
    """Return the interval of the accuracy of answers that are right or wrong."""
    right = np.array(right)
    (left_out,) = leave_out("accuracy", np.ones(len(right), bool), right[None], np.array(documents))
    return score_interval("accuracy", float(right.mean()), left_out, np.array(documents))


def correlation_interval(gold: Any, predicted: Any, documents: Any) -> tuple[float, float]:
    (left_out,) = leave_out("pearson", gold, predicted[None], documents)
    return score_interval("pearson", measure("pearson", gold, predicted), left_out, documents)


@pytest.mark.parametrize("degrees", [1, 2, 9, 100, 10_000])
def test_students_t(degrees: int) -> None:
    assert student(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=2e-5)
    # Of 15 pairs, each of the 30 tails has 1 / 600.
    assert student(degrees, 15) == pytest.approx(stats.t.isf(1 / 600, degrees), rel=2e-5)


def test_the_effective_number_of_documents() -> None:
    assert effective_units(np.array([*"aaaaaaabcd"])) == pytest.approx(100 / 52)
    # Of two documents, rows count.
    assert effective_units(np.array([*"aaab"])) == 4


def test_the_metric_without_each_document() -> None:
    generator = np.random.default_rng(1)
    gold, predicted = generator.random(30), generator.random((2, 30))
    documents = np.array([f"d{i % 7}" for i in range(30)])
    for metric, answers in (("accuracy", predicted > 0.5), ("pearson", predicted)):
        right: Any = gold > 0.5 if metric == "accuracy" else gold
        others = [documents != name for name in np.unique(documents)]
        expected = [
            [measure(metric, right[kept], given[kept]) for kept in others] for given in answers
        ]  # type: ignore[arg-type]
        left_out = leave_out(metric, right, answers, documents)  # type: ignore[arg-type]
        np.testing.assert_allclose(left_out, expected, rtol=1e-12)
    means = [[numbers[kept].mean() for kept in others] for numbers in predicted]
    np.testing.assert_allclose(leave_out_means(predicted, documents), means, rtol=1e-12)


def test_the_reach_of_a_mean_is_that_of_students_t() -> None:
    """Documents of two equal rows count once."""
    values = np.random.default_rng(6).exponential(size=12)
    (left_out,) = leave_out_means(np.repeat(values, 2)[None], np.arange(24) // 2)
    expected = stats.t.ppf(0.975, 11) * stats.sem(values)
    assert jackknife_half_width(values.mean(), left_out, 12) == pytest.approx(expected, rel=1e-5)


def test_the_interval_of_an_accuracy_is_wilsons() -> None:
    low, high = interval(np.arange(2000) % 10 < 7, np.arange(2000))
    wilson = stats.binomtest(1400, 2000).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((wilson.low, wilson.high), abs=1e-4)


def test_the_interval_of_ten_answers_by_hand() -> None:
    """Student's t is 2.262 with 9 degrees of freedom; the variance is .3 * .7 / 9.

    With four added rows, the ratio is t² (10 * .3 * .7 / 9 + 4 / 10) / (10 * .3 * .7 + 4) = .5313.
    """
    low, high = interval(np.arange(10) < 7, np.arange(10))
    half = math.sqrt(0.5313 * 0.21 + 0.5313**2 / 4)
    expected = [(0.7 + 0.5313 / 2 + side * half) / 1.5313 for side in (-1, 1)]
    assert (low, high) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("documents", "low"), [(10, 0.6615), (20, 0.8203), (600, 0.9936)])
def test_all_right_is_no_certainty(documents: int, low: float) -> None:
    """Documents count, not rows: m / (m + t²)."""
    whole = interval(np.ones(5 * documents, bool), np.arange(5 * documents) // 5)
    assert whole == pytest.approx((low, 1), abs=1e-4)
    zero = interval(np.zeros(5 * documents, bool), np.arange(5 * documents) // 5)
    assert zero == pytest.approx((0, 1 - low), abs=1e-4)


@pytest.mark.parametrize("count", [1, MIN_DOCUMENTS - 1])
def test_rows_are_left_out_of_too_few_documents(count: int) -> None:
    right = np.arange(60) % 10 < 7
    assert interval(right, np.arange(60) * count // 60) == interval(right, np.arange(60))
    documents = np.arange(60) * MIN_DOCUMENTS // 60
    assert interval(right, documents) != interval(right, np.arange(60))


def test_one_row_says_nothing() -> None:
    one = np.array(["d"])
    assert interval([True], one) == (0, 1)
    assert correlation_interval(np.ones(1), np.ones(1), one) == (-1, 1)
    (left_out,) = leave_out_means(np.ones((1, 1)), one)
    assert jackknife_half_width(1.0, left_out, 1) == math.inf


def test_the_interval_of_a_correlation_is_that_of_fisher() -> None:
    """Fisher 1921: for normal data atanh(r) has the standard error 1 / sqrt(rows - 3)."""
    generator = np.random.default_rng(4)
    gold = generator.normal(size=2000)
    predicted = gold + generator.normal(size=2000)
    names = np.arange(2000)
    low, high = correlation_interval(gold, predicted, names)
    middle = np.arctanh(stats.pearsonr(gold, predicted).statistic)
    half = 1.96 / np.sqrt(1997)
    assert (low, high) == pytest.approx((np.tanh(middle - half), np.tanh(middle + half)), abs=0.005)
    # Each row twice, as one document: the same; as rows of their own: sqrt(2) narrower.
    twice = [np.repeat(values, 2) for values in (gold, predicted, names)]
    assert correlation_interval(*twice) == pytest.approx((low, high), abs=1e-9)
    narrow = correlation_interval(twice[0], twice[1], np.arange(4000))
    assert narrow[1] - narrow[0] == pytest.approx((high - low) / np.sqrt(2), rel=0.1)


def test_a_correlation_of_one() -> None:
    many = np.arange(50.0)
    assert correlation_interval(many, many, many) == pytest.approx((1, 1))
    # Two rows always correlate by 1 or -1.
    assert correlation_interval(many[:2], many[:2], many[:2]) == pytest.approx((-1, 1))


@settings(max_examples=25)
@given(right=st.lists(st.booleans(), min_size=1, max_size=60), size=st.integers(1, 4))
def test_intervals_are_in_range_and_contain_the_score(right: list[bool], size: int) -> None:
    documents = [f"d{i // size}" for i in range(len(right))]
    low, high = interval(right, documents)
    assert 0 <= low < high <= 1
    assert low <= np.mean(right) <= high
    turned = interval([not one for one in right], documents)
    assert (low, high) == pytest.approx((1 - turned[1], 1 - turned[0]))


def test_paired_answers_tell_more_than_two_intervals() -> None:
    """B is A except for 30 rows in 1,000 where A alone is right: nobody would miss the difference.

    The difference of paired answers has the variance of its rows' differences: 0.03 * 0.97 / 999.
    """
    right = np.arange(1000) % 10 < 6
    worse = right.copy()
    worse[np.flatnonzero(right)[:30]] = False
    both = leave_out("accuracy", np.ones(1000, bool), np.stack([right, worse]), np.arange(1000))
    half = 1.9623 * math.sqrt(0.03 * 0.97 / 999)
    assert jackknife_half_width(0.03, both[0] - both[1], 1000) == pytest.approx(half, rel=1e-4)
    assert interval(right, np.arange(1000))[0] < interval(worse, np.arange(1000))[1]
