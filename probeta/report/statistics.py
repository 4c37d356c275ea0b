"""The rows of tests as items: how many encoders answer each one, and whether the better ones do.

Averages of scores over datasets.

The averages of a benchmark are over its own datasets; datasets of the user have their own averages.

Compares two editions of a dataset: has an encoder seen the older texts?

Scores on a newer edition may differ because an encoder has seen the texts of the older one, or
because newer texts are harder or easier. What an encoder that has seen nothing loses or gains, the
floor, is therefore subtracted. The documents of the editions are independent, so that the squares
of the standard errors add (``evaluation.measures.intervals``).
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from statistics import fmean

import numpy as np
import pandas as pd

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, GROUPS, OF_BENCHMARKS, WITHDRAWN, Group, group_of
from evaluation.arrays import Counts, Doubles, Flags
from evaluation.results.comparison import Difference, JackknifeScore, clip_interval, difference
from evaluation.results.scores import Predictions, Score
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


# The encoder without any training, which cannot have seen a text.
FLOOR = "char_hash"


@dataclass(frozen=True, slots=True)
class Edition:
    """An encoder's scores on two editions of a dataset.

    Attributes:
        new, old: names of the datasets.
        encoder: its name.
        new_score, old_score: on these.
        gap: the newer score minus the older one.
        beyond_floor: the gap minus that of the floor encoder; None for this one, and without it.
    """

    new: str
    old: str
    encoder: str
    new_score: float
    old_score: float
    gap: Difference
    beyond_floor: Difference | None


def compare_editions(
    measured: Mapping[str, Mapping[str, JackknifeScore]],
    editions_of: Mapping[str, str],
    floor: str | None,
) -> list[Edition]:
    """Compare every encoder's scores on the editions of a dataset.

    Args:
        measured: encoder to dataset to its score, as ``measure_all`` returns it.
        editions_of: dataset to the older one that it is an edition of.
        floor: name of the floor encoder, if it was probed.

    Returns:
        By dataset, then by encoder as in ``measured``; of encoders that were probed on both.
    """
    editions = []
    for new, old in editions_of.items():
        both = {name: scores for name, scores in measured.items() if {new, old} <= scores.keys()}
        for encoder, scores in both.items():
            beyond = None
            if floor in both and floor != encoder:
                beyond = _gap(encoder, new, old, scores, floor, both[floor])
            gap = _gap(encoder, new, old, scores)
            values = scores[new].value, scores[old].value
            editions.append(Edition(new, old, encoder, *values, gap, beyond))
    return editions


def _gap(
    encoder: str,
    new: str,
    old: str,
    scores: Mapping[str, JackknifeScore],
    floor: str = "",
    floors: Mapping[str, JackknifeScore] | None = None,
) -> Difference:
    """Return newer minus older score; with a floor, of the encoder's score minus the floor's."""
    (one, far, largest), (two, further, _) = (
        difference(scores[name], floors[name] if floors else None) for name in (new, old)
    )
    value = one - two
    # Two scores differ by at most their range, and two differences by twice as much.
    interval = clip_interval(value, hypot(far, further), largest * (2 if floors else 1))
    return Difference("edition", new, encoder, floor, value, interval)


# Of two encoders, the discrimination of a row is 1, -1 or nothing.
LEAST = 3
COLUMNS = ("dataset", "row", "hits", "encoders", "discrimination")
_DECIMALS = 3


def items_of(answers: Mapping[str, Sequence[Predictions]]) -> pd.DataFrame:
    """Return a row with ``COLUMNS`` for each row of datasets, likely label errors first.

    Where the best encoders miss a row and the worst ones hit it, look at its label first (Rodriguez
    et al. 2021, "Evaluation Examples are not Equally Informative", ACL). Rows are sorted by
    discrimination, then by hits, dataset and id.

    Args:
        answers: dataset of classes to the answers of encoders, all of the same rows.

    Returns:
        "row" is an id, "hits" the number of encoders right in more than half of their random
        starts, "encoders" their number, "discrimination" that of ``discriminations``.
    """
    tables = [pd.DataFrame(columns=list(COLUMNS))]
    for dataset, given in answers.items():
        hits = np.array([(each.predicted == each.gold).mean(axis=0) > 0.5 for each in given])
        facts = (dataset, given[0].ids, hits.sum(axis=0), len(given), discriminations(hits))
        tables.append(pd.DataFrame(dict(zip(COLUMNS, facts, strict=True))))
    order = ["discrimination", "hits", "dataset", "row"]
    return pd.concat(tables[1:] or tables).sort_values(order, ignore_index=True)


def discriminations(hits: Flags) -> Doubles:
    """Return how well each row tells good encoders from bad ones, float64 [rows], -1 … 1.

    It is the correlation, over encoders, of being right on the row with the number of other rows
    that they are right on (item-rest correlation; Henrysson 1963, "Correction of item-total
    correlations in item analysis", Psychometrika 28), to ``_DECIMALS``; 0 where one does not vary.

    Args:
        hits: whether an encoder is right, bool [encoders, rows].
    """
    right = hits.astype(np.int64)
    rest = right.sum(axis=1, keepdims=True) - right

    def product(one: Counts, other: Counts) -> Counts:
        """The covariance times the square of the number of encoders: exact."""
        total: Counts = len(hits) * (one * other).sum(axis=0) - one.sum(axis=0) * other.sum(axis=0)
        return total

    spread = np.sqrt(product(right, right)) * np.sqrt(product(rest, rest))
    found = np.divide(product(right, rest), spread, out=np.zeros(len(spread)), where=spread > 0)
    # Without negative zeros.
    rounded: Doubles = found.round(_DECIMALS) + 0.0
    return rounded
