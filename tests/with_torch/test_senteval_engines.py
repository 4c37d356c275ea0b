"""The protocol "senteval" computed by torch: the answers of numpy."""

from dataclasses import replace

import numpy as np
import pytest
from probe_problems import QUICK, folds, splits

from evaluation.probing.protocols import senteval
from evaluation.probing.protocols.senteval import SCHEDULES, fit_predict


@pytest.mark.parametrize("task", ["sentence_classification", "discourse_coherence", "relatedness"])
def test_torch_agrees_with_numpy(task, monkeypatch):
    short = {
        name: replace(schedule, passes=60, hidden=min(50, schedule.hidden))
        for name, schedule in SCHEDULES.items()
    }
    monkeypatch.setattr(senteval, "SCHEDULES", short)
    problem, _ = splits(task, apart=0.5)
    if task == "relatedness":
        y, other = problem.y / 2, problem.validation[1] / 2
        problem = replace(problem, metric="pearson", y=y, validation=(problem.validation[0], other))
    by_numpy, by_torch = (fit_predict(problem, 1, name, 2) for name in ("numpy", "torch"))
    assert np.mean(np.abs(by_numpy.predictions - by_torch.predictions) < 1e-3) >= 0.99
    assert by_numpy.chosen == by_torch.chosen


def test_torch_agrees_with_numpy_in_folds(monkeypatch):
    monkeypatch.setattr(senteval, "Schedule", lambda: QUICK)
    problem = folds(apart=1)
    by_numpy, by_torch = (fit_predict(problem, 1, name, 2) for name in ("numpy", "torch"))
    assert np.mean(by_numpy.predictions == by_torch.predictions) >= 0.99
