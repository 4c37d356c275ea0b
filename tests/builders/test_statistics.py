"""Pearson's correlation by hand (tests of the metrics compare it to scipy's), what tests detect."""

import math

import numpy as np
import pytest
from scipy import stats

from builders.statistics import (
    correlation_error,
    correlation_shares,
    detectable_difference,
    effective_number,
    half_width,
    pearson,
    standard_error,
)


def test_pearson_is_the_textbook_one() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 1.0, 4.0, 4.0])
    assert pearson(first, second) == pytest.approx(5.75 / (8.75 * 6.75) ** 0.5)
    assert pearson(first, -2 * first + 1) == pytest.approx(-1)
    assert pearson(first, np.full(4, 0.1)) == pearson(np.full(4, 3.0), first) == 0
    assert pearson(first[:1], second[:1]) == pearson(first[:0], second[:0]) == 0
    # The squares overflow.
    assert pearson(1e200 * first, first) == pytest.approx(1)


def test_standard_errors() -> None:
    assert standard_error(0.2, 4000) == pytest.approx(0.0063, abs=1e-4)
    assert standard_error(1, 10) == 0
    assert correlation_error(0.8, 251) == pytest.approx(0.36 / 250**0.5)
    assert (correlation_error(1, 50), correlation_error(0, 1)) == (0, 1)


def test_the_difference_that_a_test_detects_by_hand() -> None:
    """Of 100 rows, 20 are right for one only and 10 for the other one; one row is added."""
    one, other = (np.isin(np.arange(100), range(*ends)) * 1.0 for ends in ((0, 20), (20, 30)))
    error = math.sqrt((30 - 100 * 0.1**2 + 1) * 100 / 99) / 100
    quantiles = stats.t.ppf(0.975, 99) + stats.t.ppf(0.8, 99)
    assert detectable_difference([one, other], None) == pytest.approx(quantiles * error)
    # The median of three pairs, of which one agrees on all rows.
    assert detectable_difference([one, other, one], None) == pytest.approx(quantiles * error)
    # Of 50 documents of two rows, the first 15 are decided: by 2 in 10, by -2 in 5.
    error = math.sqrt((15 * 4 - 50 * 0.2**2 + 4) * 50 / 49) / 100
    quantiles = stats.t.ppf(0.975, 49) + stats.t.ppf(0.8, 49)
    ids = [f"d{row // 2}" for row in range(100)]
    assert detectable_difference([one, other], ids) == pytest.approx(quantiles * error)
    assert detectable_difference([one, other], ["d"] * 100) == 1
    assert detectable_difference([one[:1], other[:1]], None, largest=2.0) == 2


def test_half_the_width_of_the_interval_of_a_mean() -> None:
    shares = np.repeat([1.0, 0.0], [60, 40])
    # A row of ones is added: 24 + 1.
    error = math.sqrt((100 * 0.6 * 0.4 + 1) * 100 / 99) / 100
    assert half_width(shares, None) == pytest.approx(stats.t.ppf(0.975, 99) * error)
    assert half_width(shares, None, 5) == pytest.approx(stats.t.ppf(0.995, 99) * error)
    assert half_width(shares, ["d", "e"] * 50) == half_width(shares, None)
    # Of 20 documents of five rows, 12 are right: 2 ** 2 or 3 ** 2 each, and one of five rows.
    error = math.sqrt((12 * 2**2 + 8 * 3**2 + 5**2) * 20 / 19) / 100
    ids = [f"d{row // 5}" for row in range(100)]
    assert half_width(shares, ids) == pytest.approx(stats.t.ppf(0.975, 19) * error)
    assert half_width(shares[:1], None) == 1


def test_what_rows_add_to_a_correlation_gives_its_standard_error() -> None:
    """Of normal values, it is (1 - r²) / √n."""
    generator = np.random.default_rng(1)
    gold = generator.normal(size=5000)
    alike = gold + generator.normal(size=5000)
    shares, r = correlation_shares(alike, gold), pearson(alike, gold)
    assert shares.mean() == pytest.approx(0, abs=1e-12)
    assert shares.std() == pytest.approx(1 - r**2, rel=0.05)
    assert not correlation_shares(np.ones(4), gold[:4]).any()


def test_the_effective_number_of_documents() -> None:
    assert effective_number(np.array([3] * 10)) == 10
    assert effective_number(np.array([7, 1, 1, 1])) == pytest.approx(100 / 52)
