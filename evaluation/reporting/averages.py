"""Averages over datasets: which there are, and the mean of scores.

A benchmark's averages are over its own datasets alone; those of the user have averages of their
own.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN, group_of
from builders.tasks.groups import GROUPS, OF_BENCHMARKS, Group
from evaluation.reporting.texts import phrase
from evaluation.results.probes import Score

OWN = "own datasets"


@dataclass(frozen=True, slots=True)
class Average:
    """Datasets of a benchmark, or ``OWN``, that scores are averaged over, of one group or all.

    ``missing`` are those that the report lacks; ``too_small`` those whose tests detect large
    differences only; ``withdrawn`` were part of it once: why they left.
    """

    benchmark: str
    group: Group | None
    datasets: tuple[str, ...]
    missing: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Unique in a report: "spanish_discoeval SP", or "spanish_discoeval"."""
        return f"{self.benchmark} {self.group.abbreviation}" if self.group else self.benchmark

    @property
    def heading(self) -> str:
        """The name of its column: "SP (3)", "SP (2 of 3)", or "All (11)"."""
        known, others = len(self.datasets), len(self.missing + self.too_small)
        number = phrase("some_of", count=known, all=known + others) if others else str(known)
        return f"{self.group.abbreviation if self.group else phrase('all_short')} ({number})"

    @property
    def title(self) -> str:
        """What it is, in words."""
        title = self.group.title if self.group else phrase("all_groups")
        others = {
            phrase("of_too_small"): self.too_small,
            phrase("of_missing"): self.missing,
            phrase("of_withdrawn"): self.withdrawn,
        }
        known = {title: self.datasets} | {what: names for what, names in others.items() if names}
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in known.items())


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of scores over the datasets of an average, with its interval."""

    value: float
    interval: tuple[float, float]


def averages_of(
    tasks: Mapping[str, str], benchmarks: Mapping[str, str], too_small: Collection[str] = ()
) -> list[Average]:
    """Return all averages: by benchmark, own datasets last; first those of groups, then of all.

    ``tasks`` has all datasets, in the order of the report; ``benchmarks`` may lack the user's;
    ``too_small`` are the datasets to leave out.
    """
    averages = []
    for benchmark in (*BENCHMARKS, OWN):
        members = {
            name: tasks[name] for name in tasks if (benchmarks.get(name) or OWN) == benchmark
        }
        listed = {**BENCHMARKS.get(benchmark, {}), **WITHDRAWN.get(benchmark, {})}
        lacking = {name: entry for name, entry in listed.items() if name not in members}
        of = {
            name: group_of(benchmark, name, TASKS[task].group)
            for name, task in (*((n, e["task"]) for n, e in lacking.items()), *members.items())
        }
        for group in (*sorted({of[name] for name in members}, key=place), None) if members else ():
            names = [name for name in members if group in (None, of[name])]
            gone = {name: e for name, e in lacking.items() if group in (None, of[name])}
            missing = tuple(name for name, entry in gone.items() if "withdrawn" not in entry)
            withdrawn = {n: e["withdrawn"] for n, e in gone.items() if "withdrawn" in e}
            small = tuple(name for name in names if name in too_small)
            large = tuple(name for name in names if name not in too_small)
            averages.append(Average(benchmark, group, large, missing, small, withdrawn))
    return averages


def place(group: Group) -> tuple[int, str]:
    """Return the sort key of a group: groups that are not listed come last."""
    known = (*GROUPS, *OF_BENCHMARKS)
    return known.index(group) if group in known else len(known), group.abbreviation


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
