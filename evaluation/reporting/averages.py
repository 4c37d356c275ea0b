"""Averages over datasets: which there are, each encoder's mean, and its mean rank.

A benchmark's averages are over its own datasets alone; those of the user have averages of their
own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from builders.tasks.groups import GROUPS, Group
from corpora_recipes.hashing import keyed_hash
from evaluation.arrays import Doubles
from evaluation.measures.intervals import COVERAGE, draw_scores
from evaluation.results.comparison import Measured
from evaluation.results.probes import Score

OWN = "own datasets"
# Rounding, so that equal scores do not differ by floating-point error.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Average:
    """Datasets of a benchmark, or ``OWN``, that scores are averaged over, of one group or all.

    ``missing`` are those that the report lacks; ``withdrawn`` were part of it once: why they left.
    """

    benchmark: str
    group: Group | None
    datasets: tuple[str, ...]
    missing: tuple[str, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Unique in a report: "spanish_discoeval SP", or "spanish_discoeval"."""
        return f"{self.benchmark} {self.group.abbreviation}" if self.group else self.benchmark

    @property
    def heading(self) -> str:
        """The name of its column: "SP (3)", "SP (2 of 3)", or "All (11)"."""
        known, missing = len(self.datasets), len(self.missing)
        number = f"{known} of {known + missing}" if missing else str(known)
        return f"{self.group.abbreviation if self.group else 'All'} ({number})"

    @property
    def title(self) -> str:
        """What it is, in words."""
        title = f"{self.group.title if self.group else 'All groups'}: {', '.join(self.datasets)}"
        if self.missing:
            title += f"; not in this report: {', '.join(self.missing)}"
        return f"{title}; withdrawn: {', '.join(self.withdrawn)}" if self.withdrawn else title


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the datasets of an average, of scores or of ranks, with its interval."""

    value: float
    interval: tuple[float, float]


def averages_of(tasks: Mapping[str, str], benchmarks: Mapping[str, str]) -> list[Average]:
    """Return all averages: by benchmark, own datasets last; first those of groups, then of all.

    ``tasks`` has all datasets, in the order of the report; ``benchmarks`` may lack the user's.
    """
    averages = []
    for benchmark in (*BENCHMARKS, OWN):
        members = {
            name: tasks[name] for name in tasks if (benchmarks.get(name) or OWN) == benchmark
        }
        listed = {**BENCHMARKS.get(benchmark, {}), **WITHDRAWN.get(benchmark, {})}
        lacking = {name: entry for name, entry in listed.items() if name not in members}
        groups = sorted({TASKS[task].group for task in members.values()}, key=place)
        for group in (*groups, None) if members else ():
            names = [n for n, task in members.items() if group in (None, TASKS[task].group)]
            gone = {n: e for n, e in lacking.items() if group in (None, TASKS[e["task"]].group)}
            missing = tuple(name for name, entry in gone.items() if "withdrawn" not in entry)
            withdrawn = {n: e["withdrawn"] for n, e in gone.items() if "withdrawn" in e}
            averages.append(Average(benchmark, group, tuple(names), missing, withdrawn))
    return averages


def place(group: Group) -> tuple[int, str]:
    """Return the sort key of a group: groups that are not listed come last."""
    return GROUPS.index(group) if group in GROUPS else len(GROUPS), group.abbreviation


def mean_score(scores: Sequence[Score | Mean]) -> Mean:
    """Return the mean of scores on different datasets, taken as independent.

    Each end of its interval is as far away as the ends of the scores' intervals together (Zou and
    Donner 2008, "Construction of confidence limits about effect measures"): of one score, the
    interval is its own.
    """
    value = fmean(score.value for score in scores)
    below, above = (
        math.hypot(*(score.value - score.interval[end] for score in scores)) / len(scores)
        for end in (0, 1)
    )
    return Mean(value, (value - below, value + above))


def mean_ranks(
    measured: Mapping[str, Mapping[str, Measured]], datasets: Sequence[str], seed: int
) -> dict[str, Mean]:
    """Return encoder to its mean rank on datasets, the best encoder first.

    On each dataset the encoders are ranked by their scores; equal ones share the mean of their
    ranks. A rank jumps, so that it has no formula: its interval is made of draws of the scores, the
    same draws for all encoders. Noise moves mean ranks to the middle, that of the draws and that of
    the scores themselves; so both ends are as far away as the farther end of the draws. Simulated,
    that covers the rank by the true scores in .92 to .99 of the cases where tests have 400 rows or
    more, be the encoders equal or 2 points apart; with 50 rows, which cannot tell 2 points, in .64.

    Encoders that lack one of the datasets are left out; without any dataset, nobody has a rank.
    """
    names = sorted(name for name, scores in measured.items() if scores.keys() >= set(datasets))
    if not names or not datasets:
        return {}
    values, draws = [], []
    for dataset in datasets:
        scores = [measured[name][dataset] for name in names]
        values.append(np.array([score.value for score in scores]))
        left_out = np.stack([score.left_out for score in scores])
        draws.append(draw_scores(values[-1], left_out, keyed_hash(seed, dataset, "mean rank")))
    reached = _ranks(np.stack(values, axis=1)).mean(axis=1)
    drawn = _ranks(np.stack(draws, axis=1)).mean(axis=1)
    low, high = np.quantile(drawn, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2], axis=1)
    far = np.maximum(reached - low, high - reached)
    return {
        name: Mean(value, (max(1.0, value - reach), min(float(len(names)), value + reach)))
        for value, name, reach in sorted(zip(reached.tolist(), names, far.tolist(), strict=True))
    }


def _ranks(scores: Doubles) -> Doubles:
    """Return the ranks over the first axis, 1 for the highest; equal ones share their mean."""
    rounded = scores.round(_DECIMALS)
    higher = [(rounded > row).sum(axis=0) for row in rounded]
    equal = [(rounded == row).sum(axis=0) for row in rounded]
    return np.array(higher) + (np.array(equal) + 1) / 2
