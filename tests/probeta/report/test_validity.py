"""Tests of benchmarks/validity.py: agreement of runs, and what datasets detect."""

import math
from dataclasses import replace

import pytest
from report_files import DR, SP
from validity import agreement, benchmark_rows, dataset_rows

from builders.audit_report import DETECTABLE
from evaluation.results.scores import Score
from probeta.report.inputs import Datasets


def run_of(*scores: Score, **values: float) -> Datasets:
    """Return a run whose encoders have these values on all datasets, exact to two points."""
    return {
        score.dataset: {
            name: replace(score, value=value, interval=(value - 0.02, value + 0.02))
            for name, value in values.items()
        }
        for score in scores
    }


def test_runs_are_compared_by_the_ranks_of_encoders() -> None:
    runs = [run_of(SP, DR, a=0.5, b=0.4, c=0.2), run_of(SP, DR, a=0.4, b=0.5, c=0.2)]
    baselines = [("majority", 0.2), ("length", 0.25)]
    checks = [{"gate": "baselines", "what": what, "value": value} for what, value in baselines]
    report = {
        "datasets": {
            name: {"checks": [*checks, {"gate": "size", "what": DETECTABLE, "value": detects}]}
            for name, detects in (("sp_wiki", 0.12), ("dr_rst", 0.121))
        }
    }
    sp, dr = dataset_rows(runs, report)
    assert sp == (
        *("sp_wiki", "0.33", "a 45.0", "1 of 2", "4 of 6", "4000", "21"),
        *("length 25.0", "12.0"),
    )
    assert (dr[0], *dr[-4:]) == ("dr_rst", "130", "25", "length 25.0", "12.1")
    assert [*benchmark_rows(runs, report)] == [
        ("spanish_discoeval", "0.33", "a 45.0", "1 of 2", "sp_wiki")
    ]


def test_agreement_is_of_shared_encoders_and_all_pairs_of_runs() -> None:
    up, down = {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.2, "d": 0.9}
    assert agreement([up, up, down]) == pytest.approx((1 - 1 - 1) / 3)
    assert math.isnan(agreement([up]))
