"""Pearson's correlation, by hand; tests of the metrics compare it to scipy's."""

import numpy as np
import pytest

from builders.auditing.statistics import pearson


def test_pearson_is_the_textbook_one() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 1.0, 4.0, 4.0])
    assert pearson(first, second) == pytest.approx(5.75 / (8.75 * 6.75) ** 0.5)
    assert pearson(first, -2 * first + 1) == pytest.approx(-1)
    assert pearson(first, np.full(4, 0.1)) == pearson(np.full(4, 3.0), first) == 0
    assert pearson(first[:1], second[:1]) == pearson(first[:0], second[:0]) == 0
    # The squares overflow.
    assert pearson(1e200 * first, first) == pytest.approx(1)
