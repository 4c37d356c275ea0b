"""Averages of scores over datasets.

The averages of a benchmark are over its own datasets; datasets of the user have their own averages.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN, group_of
from builders.tasks.groups import GROUPS, OF_BENCHMARKS, Group
from evaluation.results.probes import Score
from probeta.report.texts import phrase, translated

OWN = "own datasets"


@dataclass(frozen=True, slots=True)
class Average:
    """The datasets of a benchmark (or ``OWN``) that scores are averaged over.

    Attributes:
        benchmark: its name.
        group: the group of tasks; None for all groups.
        datasets: names of the datasets.
        missing: datasets of the benchmark that the report does not have.
        too_small: datasets left out, since their tests detect large differences only.
        withdrawn: former datasets of the benchmark, each to why it was withdrawn.
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
        """The column heading: "SP (3)", "SP (2 of 3)", or "All (11)"."""
        n_averaged, n_excluded = len(self.datasets), len(self.missing + self.too_small)
        count = str(n_averaged)
        if n_excluded:
            count = phrase("some_of", count=n_averaged, all=n_averaged + n_excluded)
        return f"{self.group.abbreviation if self.group else phrase('all_short')} ({count})"

    @property
    def title(self) -> str:
        """The group, its datasets, and the excluded ones by reason, in words."""
        group = translated(self.group.title) if self.group else phrase("all_groups")
        excluded = {
            phrase("of_too_small"): self.too_small,
            phrase("of_missing"): self.missing,
            phrase("of_withdrawn"): self.withdrawn,
        }
        parts = [f"{group}: {', '.join(self.datasets)}"]
        parts += [f"{reason}: {', '.join(names)}" for reason, names in excluded.items() if names]
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of scores over the datasets of an average, with its interval."""

    value: float
    interval: tuple[float, float]


def list_averages(
    tasks: Mapping[str, str], benchmarks: Mapping[str, str], too_small: Collection[str] = ()
) -> list[Average]:
    """Return the averages by benchmark, ``OWN`` last: those of its groups, then that of all groups.

    Args:
        tasks: dataset to task, of all datasets in the order of the report.
        benchmarks: dataset to benchmark; datasets of the user may be missing.
        too_small: the datasets to exclude.
    """
    averages = []
    for benchmark in (*BENCHMARKS, OWN):
        present = {
            dataset: task
            for dataset, task in tasks.items()
            if (benchmarks.get(dataset) or OWN) == benchmark
        }
        if not present:
            continue
        official = {**BENCHMARKS.get(benchmark, {}), **WITHDRAWN.get(benchmark, {})}
        absent = {dataset: entry for dataset, entry in official.items() if dataset not in present}
        all_tasks = {dataset: entry["task"] for dataset, entry in absent.items()} | present
        groups = {
            dataset: group_of(benchmark, dataset, TASKS[task].group)
            for dataset, task in all_tasks.items()
        }
        for group in (*sorted({groups[dataset] for dataset in present}, key=group_sort_key), None):
            members = [dataset for dataset in present if group in (None, groups[dataset])]
            absent_members = {d: entry for d, entry in absent.items() if group in (None, groups[d])}
            averages.append(
                Average(
                    benchmark,
                    group,
                    datasets=tuple(d for d in members if d not in too_small),
                    missing=tuple(d for d, e in absent_members.items() if "withdrawn" not in e),
                    too_small=tuple(d for d in members if d in too_small),
                    withdrawn={
                        d: e["withdrawn"] for d, e in absent_members.items() if "withdrawn" in e
                    },
                )
            )
    return averages


def group_sort_key(group: Group) -> tuple[int, str]:
    """Return the sort key of a group: listed groups first, others by abbreviation."""
    listed = (*GROUPS, *OF_BENCHMARKS)
    return listed.index(group) if group in listed else len(listed), group.abbreviation


def mean_score(scores: Sequence[Score | Mean]) -> Mean:
    """Return the mean of scores on different datasets, taken as independent.

    Its lower and upper half-widths are each the root of the sum of the squared half-widths of the
    scores, divided by their number (Zou and Donner 2008, "Construction of confidence limits about
    effect measures"). The mean of one score has the score's interval.
    """
    value = fmean(score.value for score in scores)
    below, above = (
        math.hypot(*(score.value - score.interval[end] for score in scores)) / len(scores)
        for end in (0, 1)
    )
    return Mean(value, (value - below, value + above))
