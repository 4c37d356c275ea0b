"""Metrics: by hand, against scipy, and from sums as intervals need them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from builders.statistics import pearson
from evaluation.measures import (
    average_ranks,
    measure,
    measures,
    metric_from_sums,
    row_terms,
    spearman,
)

NONE = np.full(4, "")


def test_accuracy() -> None:
    gold, predicted = np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2])
    assert measure("accuracy", gold, predicted) == 0.75
    assert measures("accuracy", gold, predicted, NONE) == {"accuracy": 0.75}


def test_correlations_by_hand() -> None:
    gold, predicted = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.1, 0.2, 0.9, 0.8])
    # Pearson: covariance 1.4 / sqrt(5 * 0.5). Spearman: 1 - 6 * 2 / (4 * 15).
    assert pearson(gold, predicted) == pytest.approx(1.4 / np.sqrt(2.5))
    assert spearman(gold, predicted) == pytest.approx(0.8)
    assert measure("pearson", gold, predicted) == pearson(gold, predicted)


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
    if np.ptp(gold) > 0 < np.ptp(predicted):
        assert pearson(gold, predicted) == stats.pearsonr(gold, predicted).statistic
        assert spearman(gold, predicted) == stats.spearmanr(gold, predicted).statistic


def test_correlations_of_subsets() -> None:
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
