"""Items: which rows come first, and how well each one tells encoders apart."""

import numpy as np
import pytest

from evaluation.results.scores import Predictions
from probeta.report.statistics import compare_items, discriminations


def answers(*starts: str) -> Predictions:
    """Return the answers to six rows of class 0, a digit each, for each random start."""
    ids = np.array(list("abcdef"), object)
    predicted = np.array([[float(digit) for digit in start] for start in starts])
    return Predictions(ids, ids, np.zeros(6), predicted)


def test_discriminations() -> None:
    hits = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0]], bool)
    assert discriminations(hits).tolist() == [0.0, -0.5, 0.0, -0.866, 0.0]
    rest = hits.sum(axis=1) - hits[:, 1]
    assert np.corrcoef(hits[:, 1], rest)[0, 1] == pytest.approx(-0.5)
    # So many rows that whole numbers of 32 bits would not do.
    many = np.zeros((3, 100_000), bool)
    many[0], many[1, ::2], many[2, 1] = True, True, True
    assert discriminations(many)[:3].tolist() == [0.866, 0.0, 0.866]


def test_likely_label_errors_come_first() -> None:
    good, fair = answers("000100", "001100"), answers("001111")
    bad = answers("011011", "011011", "111111")
    found = compare_items({"y": [good, fair, bad], "x": [bad, good, fair]})
    assert found.to_csv(index=False, lineterminator="\n") == (
        "dataset,row,hits,encoders,discrimination\nx,d,1,3,-0.756\ny,d,1,3,-0.756\n"
        "x,c,0,3,0.0\ny,c,0,3,0.0\nx,b,2,3,0.0\ny,b,2,3,0.0\nx,a,3,3,0.0\ny,a,3,3,0.0\n"
        "x,e,1,3,1.0\nx,f,1,3,1.0\ny,e,1,3,1.0\ny,f,1,3,1.0\n"
    )
    assert compare_items({}).to_csv(index=False) == "dataset,row,hits,encoders,discrimination\n"
