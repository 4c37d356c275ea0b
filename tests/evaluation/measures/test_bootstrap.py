"""The bootstrap: intervals against theory, documents as the unit, paired draws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.measures import bootstrap
from evaluation.measures.bootstrap import (
    FEW_DOCUMENTS,
    RESAMPLES,
    resample,
    resample_means,
)


def bootstrap_interval(
    metric: Any, gold: Any, predicted: Any, documents: Any, key: int
) -> tuple[float, float]:
    return bootstrap.interval(resample(metric, gold, predicted[None], documents, key)[:, 0])


def interval(right: Any, documents: list[str], key: int) -> tuple[float, float]:
    """Return the interval of the accuracy of answers that are right or wrong."""
    ones = np.ones(len(right), bool)
    return bootstrap_interval("accuracy", ones, np.array(right), np.array(documents), key)


def test_the_interval_of_a_correlation_is_that_of_fisher() -> None:
    """Fisher 1921: for normal data atanh(r) has the standard error 1 / sqrt(rows - 3)."""
    generator = np.random.default_rng(4)
    gold = generator.normal(size=2000)
    found = gold + generator.normal(size=2000)
    names = np.arange(2000)
    low, high = bootstrap_interval("pearson", gold, found, names, 3)
    middle = np.arctanh(stats.pearsonr(gold, found).statistic)
    half = 1.96 / np.sqrt(1997)
    assert (low, high) == pytest.approx((np.tanh(middle - half), np.tanh(middle + half)), abs=0.005)
    # Each row twice, as one document: the same; as rows of their own: sqrt(2) narrower.
    twice = [np.repeat(values, 2) for values in (gold, found, names)]
    same = bootstrap_interval("pearson", *twice, 3)
    assert same == pytest.approx((low, high), abs=1e-9)
    narrow = bootstrap_interval("pearson", twice[0], twice[1], np.arange(4000), 3)
    assert narrow[1] - narrow[0] == pytest.approx((high - low) / np.sqrt(2), rel=0.1)


@settings(max_examples=25, deadline=None)
@given(
    right=st.lists(st.booleans(), min_size=1, max_size=60),
    size=st.integers(1, 4),
    key=st.integers(0, 2**64 - 1),
)
def test_intervals_are_ordered_and_in_range(right: list[bool], size: int, key: int) -> None:
    documents = [f"d{i // size}" for i in range(len(right))]
    low, high = interval(right, documents, key)
    assert 0 <= low <= high <= 1
    if all(right) or not any(right):
        assert low == high == float(right[0])
    assert (low, high) == interval(right, documents, key)


def test_the_interval_is_that_of_the_binomial_distribution() -> None:
    right = np.arange(1000) % 10 < 7
    low, high = interval(right, [str(i) for i in range(1000)], 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 1000)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.003)


def test_rows_of_one_document_count_once() -> None:
    """Ten equal rows a document: the interval is that of the documents, sqrt(10) wider."""
    right = np.repeat(np.arange(100) % 10 < 7, 10)
    low, high = interval(right, [f"d{i // 10}" for i in range(1000)], 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 100)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.015)


def test_rows_are_resampled_where_all_are_of_one_document() -> None:
    right = np.arange(1000) % 10 < 7
    low, high = interval(right, ["book"] * 1000, 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 1000)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.003)


def test_two_documents_alike_by_chance_give_an_interval_with_width() -> None:
    right = np.arange(200) % 20 < 11
    low, high = interval(right, ["a"] * 100 + ["b"] * 100, 3)
    half = 1.96 * np.sqrt(0.55 * 0.45 / 200)
    assert (low, high) == pytest.approx((0.55 - half, 0.55 + half), abs=0.01)


def test_few_documents_that_differ_keep_the_interval_of_documents() -> None:
    """Half of the documents all right, half all wrong: the documents' interval is the wider."""
    right = np.arange(1000) // 100 % 2 == 0
    low, high = interval(right, [f"d{i // 100}" for i in range(1000)], 3)
    assert (low, high) == (0.2, 0.8)


def test_each_end_is_the_wider_one() -> None:
    """Four documents at 75 % and one at 0: below, documents reach further; above, rows do."""
    right = np.array(([True] * 3 + [False]) * 4 + [False] * 4)
    assert interval(right, [f"d{i // 4}" for i in range(20)], 3) == (0.3, 0.8)
    assert interval(right, ["one"] * 20, 3) == (0.4, 0.8)


@pytest.mark.parametrize(("count", "width"), [(FEW_DOCUMENTS - 1, True), (FEW_DOCUMENTS, False)])
def test_rows_are_drawn_below_the_number_of_few_documents(count: int, width: bool) -> None:
    documents = [f"d{i // 10}" for i in range(10 * count)]
    low, high = interval(np.arange(10 * count) % 10 < 7, documents, 3)
    assert (low < 0.7 < high) == width
    assert width or low == high == 0.7


@pytest.mark.parametrize("documents", [2, 3])
def test_intervals_of_few_documents_cover_the_truth(documents: int) -> None:
    """Nominally 5 % miss it; resampling documents alone, 33 and 19 % do."""
    generator = np.random.default_rng(1)
    names = [f"d{i // 40}" for i in range(40 * documents)]
    missed = 0
    for key in range(100):
        low, high = interval(generator.random(len(names)) < 0.55, names, key)
        missed += not low <= 0.55 <= high
    assert missed < 12


def test_all_sets_are_measured_on_the_same_draws() -> None:
    generator = np.random.default_rng(2)
    gold = generator.integers(3, size=300)
    predicted = generator.integers(3, size=(2, 300))
    documents = np.arange(300) // 2
    both = resample("accuracy", gold, predicted, documents, 7)
    assert both.shape == (2, 2, RESAMPLES)
    alone = resample("accuracy", gold, predicted[1:], documents, 7)
    assert (both[:, 1] == alone[:, 0]).all()
    assert (resample("accuracy", gold, predicted[[1, 1]], documents, 7)[0, 0] == alone[0, 0]).all()
    assert (resample("accuracy", gold, predicted, documents, 8) != both).any()


def test_the_draws_do_not_depend_on_how_many_are_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Draws are made in pieces; each is 2,000 numbers and so are two of 1,000."""
    gold = np.arange(64) % 2
    predicted = np.arange(64)[None] % 3 % 2
    whole = resample("accuracy", gold, predicted, np.arange(64), 1)
    monkeypatch.setattr(bootstrap, "_CHUNK", 64 * 100)
    assert (resample("accuracy", gold, predicted, np.arange(64), 1) == whole).all()


def test_paired_draws_tell_more_than_two_intervals() -> None:
    """B is A but for 30 rows in 1,000 where A alone is right: nobody would miss the difference.

    The difference of paired answers has the variance of its rows' differences: 0.03 * 0.97 / 1000.
    """
    right = np.arange(1000) % 10 < 6
    worse = right.copy()
    worse[np.flatnonzero(right)[:30]] = False
    ones = np.ones(1000, bool)
    draws = resample("accuracy", ones, np.stack([right, worse]), np.arange(1000), 5)
    low, high = bootstrap.interval(draws[:, 0] - draws[:, 1])
    half = 1.96 * np.sqrt(0.03 * 0.97 / 1000)
    assert (low, high) == pytest.approx((0.03 - half, 0.03 + half), abs=0.002)
    assert bootstrap.interval(draws[:, 0])[0] < bootstrap.interval(draws[:, 1])[1]


def test_the_interval_of_a_mean_is_that_of_the_normal_distribution() -> None:
    """The standard error is s / sqrt(documents): of 500, each with two equal rows, not of 1,000."""
    values = np.repeat(np.random.default_rng(6).exponential(size=500), 2)
    low, high = bootstrap.interval(resample_means(values, np.arange(1000) // 2, 3))
    half = 1.96 * values.std() / np.sqrt(500)
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)


def test_the_mean_of_what_is_right_or_wrong_is_the_accuracy() -> None:
    """The same draws, the few documents' draws of rows among them."""
    right = np.arange(200) % 20 < 11
    for documents in (np.arange(200) // 100, np.arange(200) // 4):
        means = resample_means(right.astype(np.float64), documents, 3)
        answers = resample("accuracy", np.ones(200, bool), right[None], documents, 3)
        assert (means == answers[:, 0]).all()


def test_means_of_several_sets_are_of_the_same_draws() -> None:
    values = np.random.default_rng(8).random((3, 60))
    documents = np.arange(60) // 4
    found = resample_means(values, documents, 3)
    assert found.shape == (2, 3, RESAMPLES)
    for own, alone in zip(values, found.transpose(1, 0, 2), strict=True):
        np.testing.assert_allclose(resample_means(own, documents, 3), alone, rtol=1e-12)
