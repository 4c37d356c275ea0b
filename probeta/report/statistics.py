"""The statistics of a report: averages over datasets, differences of encoders, editions, items."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from statistics import fmean
from typing import Any, TypeVar

from builders.audit_report import compare_to_baseline, detects_little
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, GROUP_NAMED, GROUPINGS, WITHDRAWN, Group, group_of
from evaluation.measures import sum_half_width
from evaluation.results.citation import Citation, cite
from evaluation.results.comparison import (
    ALL_PAIRS_LIMIT,
    Difference,
    JackknifeScore,
    Rank,
    clip_interval,
    compare,
    compare_paradigms,
    compare_ranks,
    difference,
    measure_all,
    rank_encoders,
)
from evaluation.results.scores import Score, read_predictions, read_ranks
from probeta.report.inputs import AnyResults, Inputs, group_sort_key
from probeta.report.texts import phrase
from probeta.scores import OWN

BASELINE_ENCODER = "char_hash"
"""The encoder without any training, which cannot have seen a text."""
# "Best" is said of as many encoders, and ranks.
MIN_ENCODERS = 3
LETTERS = {1: "b", 0: "w", -1: "s"}
"""Of ``Report.beats_baseline``, the letter of ``Report.marks``."""


@dataclass(frozen=True, slots=True)
class Average:
    """The datasets of a benchmark (or ``OWN``) that scores are averaged over.

    Attributes:
        benchmark: its name.
        group: the group of tasks; None for all groups.
        datasets: names of the datasets.
        missing: datasets of the benchmark that the report does not have.
        too_small: datasets that are excluded, as their tests detect large differences only.
        withdrawn: former datasets of the benchmark, each to why it was withdrawn.
        grouping: a name of ``GROUPINGS``; "" for the benchmark's own groups.
    """

    benchmark: str
    group: Group | None
    datasets: tuple[str, ...]
    missing: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    grouping: str = ""

    @property
    def name(self) -> str:
        """Unique in a report: "english_senteval", "english_senteval SC", "… chen2019 SC"."""
        group = self.group.abbreviation if self.group else ""
        return " ".join(filter(None, (self.benchmark, self.grouping, group)))

    @property
    def heading(self) -> str:
        """The column heading: "SP (3)", "SP (2 of 3)", or "All (11)"."""
        n_averaged, n_excluded = len(self.datasets), len(self.missing + self.too_small)
        count = str(n_averaged)
        if n_excluded:
            count = phrase("some_of", count=n_averaged, all=n_averaged + n_excluded)
        return f"{self.group.abbreviation if self.group else phrase('all_short')} ({count})"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean of scores over the datasets of an average, with its interval."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Edition:
    """An encoder's scores on two editions of a dataset.

    Attributes:
        new, old: names of the datasets.
        encoder: its name.
        new_score, old_score: on these.
        difference: the newer score minus the older one.
        difference_to_baseline: the difference minus that of ``BASELINE_ENCODER``; None for this
            encoder, and if it was not probed.
    """

    new: str
    old: str
    encoder: str
    new_score: float
    old_score: float
    difference: Difference
    difference_to_baseline: Difference | None


@dataclass(frozen=True)
class Report:
    """The results of a report, the best encoder first, and the statistics that its sections show.

    Attributes:
        inputs: what was read. Encoders, rankings and paradigms are ordered by the mean over all
            datasets of benchmarks.
        jackknife_scores: encoder to dataset to its score, without each document in turn too.
    """

    inputs: Inputs
    jackknife_scores: Mapping[str, Mapping[str, JackknifeScore]]

    @property
    def names(self) -> list[str]:
        """The names of the encoders."""
        return [results.name for results in self.inputs.encoders]

    def sort_names(self, names: Iterable[str]) -> list[str]:
        """Return names of encoders in the order of the report; those not probed come last."""
        return sorted(names, key=partial(_sort_key, self.names))

    @cached_property
    def averages(self) -> list[Average]:
        """The datasets that scores are averaged over, in the groups of the benchmarks."""
        return [average for average in self.all_averages if not average.grouping]

    @cached_property
    def all_averages(self) -> list[Average]:
        """``averages``, and those in the groups of papers."""
        tasks = {name: self.inputs.any_score(name).task for name in self.inputs.datasets}
        benchmarks = {name: self.inputs.benchmark(name) for name in tasks}
        return list_averages(tasks, benchmarks, self.too_small)

    @cached_property
    def benchmark_averages(self) -> dict[str, Average]:
        """Benchmark, ``OWN`` last, to its average over all groups."""
        return {average.benchmark: average for average in self.averages if not average.group}

    @cached_property
    def too_small(self) -> frozenset[str]:
        """The datasets in no average: their tests do not detect ``DETECTABLE_AT_MOST``.

        Samples are averaged all the same: they show what a report looks like.
        """
        real = {*self.inputs.datasets} - self.inputs.samples
        return frozenset(filter(self.detects_little, real))

    def detects_little(self, dataset: str) -> bool:
        """Return whether the test of a dataset detects large differences only."""
        return detects_little(self.inputs.audit[dataset])

    def benchmark_datasets(self, names: Iterable[str]) -> list[str]:
        """Return those of some datasets that belong to a benchmark, or all if none does.

        Those that are too small to be averaged are excluded.
        """
        datasets = [name for name in names if name not in self.too_small]
        return [name for name in datasets if self.inputs.benchmark(name) != OWN] or datasets

    @cached_property
    def _means(self) -> dict[tuple[tuple[str, ...], str], Mean | None]:
        """What ``mean`` has returned: the intervals of many documents take time."""
        return {}

    def mean(self, datasets: Sequence[str], encoder: str) -> Mean | None:
        """Return the mean score of an encoder; None if it lacks a dataset, or without any."""
        key = (tuple(datasets), encoder)
        if key not in self._means:
            scores = [self.inputs.datasets[name].get(encoder) for name in datasets]
            found = [score for score in scores if score]
            measured = self.jackknife_scores[encoder]
            whole = found and len(found) == len(scores)
            self._means[key] = (
                mean_score(found, [measured[name] for name in datasets]) if whole else None
            )
        return self._means[key]

    def means(self, datasets: Sequence[str]) -> dict[str, Mean]:
        """Return the mean scores of the encoders that have all datasets, the best one first."""
        means = {name: mean for name in self.names if (mean := self.mean(datasets, name))}
        return dict(sorted(means.items(), key=lambda item: (-item[1].value, item[0])))

    def baseline_score(self, *datasets: str) -> float:
        """Return the mean of the baselines to beat, see ``audit_report.best_baseline``."""
        return fmean(self.inputs.best_baseline(name)[1] for name in datasets)

    def beats_baseline(self, score: Score | Mean, *datasets: str) -> int:
        """Return 1 if a score is shown to beat the baseline, -1 if to stay below it, else 0.

        See ``audit_report.compare_to_baseline``; the baselines of several datasets have the error
        of independent scores (``mean_score``), and chance and majority have none.
        """
        half_widths = map(self.inputs.baseline_half_width, datasets)
        error = math.hypot(*half_widths) / len(datasets)
        return compare_to_baseline(
            score.value, score.interval, self.baseline_score(*datasets), error
        )

    def people_mean(self, datasets: Sequence[str]) -> float | None:
        """Return the mean score of people; None if a dataset has no score of people."""
        people = self.inputs.people
        scores = [people[name].value for name in datasets if name in people]
        return fmean(scores) if scores and len(scores) == len(datasets) else None

    def marks(
        self,
        target: str,
        scores: Mapping[str, Mean | Score],
        beats: Mapping[str, int],
        among: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return how each encoder's score stands on a target of ``differences``, a letter each.

        Of those that beat the baseline, "L" leads, ahead of all others; "l" is the highest, or
        cannot be distinguished from it; "b" is another one. "w" is not shown to beat the baseline,
        "s" stays below it. Nobody leads if the highest score is not shown to beat the baseline, nor
        with a single encoder.

        Args:
            target: what is compared.
            scores: encoder to score.
            beats: encoder to 1, -1 or 0, see ``beats_baseline``.
            among: the encoders that may lead, by default all.
        """
        values = {name: s.value for name, s in scores.items() if among is None or name in among}
        best = max(values, key=values.__getitem__, default="")
        tied = self.tied_with(best, target) & values.keys() if values else set[str]()
        leading = {best, *tied} if len(values) > 1 and beats[best] > 0 else set[str]()
        letters = {name: LETTERS[beats[name]] for name in scores}
        return {
            name: ("l" if tied else "L") if letter == "b" and name in leading else letter
            for name, letter in letters.items()
        }

    def mean_marks(self, average: Average) -> dict[str, str]:
        """Return ``marks`` of an average."""
        means = self.means(average.datasets)
        beats = {name: self.beats_baseline(m, *average.datasets) for name, m in means.items()}
        return self.marks(average.name, means, beats)

    def dataset_marks(self, dataset: str) -> dict[str, str]:
        """Return ``marks`` of a probed dataset."""
        scores = self.inputs.datasets[dataset]
        beats = {name: self.beats_baseline(score, dataset) for name, score in scores.items()}
        return self.marks(dataset, scores, beats)

    @cached_property
    def differences(self) -> list[Difference]:
        """Every two encoders compared, by all results."""
        folders = self.inputs.ranks_folders
        rankings = [(r, partial(read_ranks, folders[r.name])) for r in self.inputs.rankings]
        averages = {a.name: a.datasets for a in self.all_averages if a.datasets}
        return [
            *compare(self.jackknife_scores, averages, self.benchmark_averages),
            *compare_ranks(rankings),
            *compare_paradigms(self.inputs.paradigms),
        ]

    @cached_property
    def _differences_of(self) -> dict[str, dict[tuple[str, str], Difference]]:
        """Target to pair of encoders, in both orders, to their difference."""
        by_target: dict[str, dict[tuple[str, str], Difference]] = {}
        for each in self.differences:
            first, second, (low, high) = each.first, each.second, each.interval
            ends, value = (-high, -low), -each.value
            turned = replace(each, first=second, second=first, value=value, interval=ends)
            pairs = by_target.setdefault(each.target, {})
            pairs |= {(first, second): each, (second, first): turned}
        return by_target

    def difference(self, target: str, first: str, second: str) -> Difference | None:
        """Return the first encoder minus the second on a target of ``differences``, if compared."""
        return self._differences_of.get(target, {}).get((first, second))

    def tied_with(self, best: str, target: str) -> set[str]:
        """Return the encoders that cannot be distinguished from the best one on a target."""
        pairs = self._differences_of.get(target, {}).items()
        return {second for (first, second), each in pairs if first == best and each.tie}

    def ranks(self, average: Average) -> dict[str, Rank]:
        """Return the ranks of the encoders that have all datasets of an average, by mean."""
        differences = self._differences_of.get(average.name, {}).values()
        return rank_encoders([*self.means(average.datasets)], differences)

    def cite(self, encoder: str, average: Average | str) -> Citation:
        """Return the line to cite an encoder's mean on an average, or score on a dataset, by."""
        (results,) = (each for each in self.inputs.encoders if each.name == encoder)
        if isinstance(average, str):
            return cite(results, [self.inputs.datasets[average][encoder]])
        scores = [self.inputs.datasets[name][encoder] for name in average.datasets]
        return cite(results, scores, average.name)

    @cached_property
    def shown_differences(self) -> list[Difference]:
        """The differences to show: of many encoders, those of the first one."""
        if len(self.names) <= ALL_PAIRS_LIMIT:
            return self.differences
        return [d for d in self.differences if self.names[0] in (d.first, d.second)]

    @cached_property
    def editions(self) -> list[Edition]:
        """Every encoder's scores on a dataset and on the one that it is an edition of."""
        inputs = self.inputs
        older = {name: str(inputs.audit[name].get("edition_of", "")) for name in inputs.datasets}
        probed = {new: old for new, old in older.items() if old in inputs.datasets}
        baselines = [r.name for r in inputs.encoders if r.encoder["encoder"] == BASELINE_ENCODER]
        return compare_editions(self.jackknife_scores, probed, min(baselines, default=None))

    @cached_property
    def results_once(self) -> dict[str, Any]:
        """What functions of the report have returned, see ``once``."""
        return {}


T = TypeVar("T")


def once(function: Callable[[Report], T]) -> Callable[[Report], T]:
    """Return a function that computes what another does of a report once."""

    @wraps(function)
    def computed(report: Report) -> T:
        if function.__qualname__ not in report.results_once:
            report.results_once[function.__qualname__] = function(report)
        found: T = report.results_once[function.__qualname__]
        return found

    return computed


def order_report(inputs: Inputs) -> Report:
    """Return the report on results, the encoder with the best mean over benchmarks first."""
    readers = [(r, partial(read_predictions, inputs.folders[r.name])) for r in inputs.encoders]
    scores = measure_all(readers)
    report = Report(inputs, scores)
    names = list(report.means(report.benchmark_datasets(inputs.datasets)))

    def by_mean(results: AnyResults) -> tuple[int, str]:
        return _sort_key(names, results.name)

    ordered = replace(
        inputs,
        encoders=tuple(sorted(inputs.encoders, key=by_mean)),
        rankings=tuple(sorted(inputs.rankings, key=by_mean)),
        paradigms=tuple(sorted(inputs.paradigms, key=by_mean)),
    )
    return Report(ordered, {results.name: scores[results.name] for results in ordered.encoders})


def _sort_key(names: Sequence[str], name: str) -> tuple[int, str]:
    """Return the sort key of a name: those of a list in its order, then all others by name."""
    return names.index(name) if name in names else len(names), name


def list_averages(
    tasks: Mapping[str, str], benchmarks: Mapping[str, str], too_small: Collection[str] = ()
) -> list[Average]:
    """Return the averages by benchmark, ``OWN`` last: by groups, of all, by named groupings.

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
        groups: dict[Group, list[str]] = {}
        for dataset, task in all_tasks.items():
            groups.setdefault(group_of(benchmark, dataset, TASKS[task].group), []).append(dataset)
        members: list[tuple[str, Group | None, list[str]]] = [
            *(("", group, groups[group]) for group in sorted(groups, key=group_sort_key)),
            ("", None, [*all_tasks]),
            *(
                (grouping, GROUP_NAMED[group], names)
                for grouping, grouped in GROUPINGS.items()
                for group, names in grouped.get(benchmark, {}).items()
            ),
        ]
        averages += [
            Average(
                benchmark,
                group,
                datasets=tuple(d for d in present if d in names and d not in too_small),
                missing=tuple(d for d in absent if d in names and "withdrawn" not in absent[d]),
                too_small=tuple(d for d in present if d in names and d in too_small),
                withdrawn={
                    d: entry["withdrawn"]
                    for d, entry in absent.items()
                    if d in names and "withdrawn" in entry
                },
                grouping=grouping,
            )
            for grouping, group, names in members
            if not present.keys().isdisjoint(names)
        ]
    return averages


def mean_score(scores: Sequence[Score], measured: Sequence[JackknifeScore]) -> Mean:
    """Return the mean of scores on different datasets, which may share documents.

    Its lower and upper half-widths are those of the sum of the scores (``sum_half_width``), divided
    by their number; of datasets without a shared document, by the squares alone (Zou and Donner
    2008, "Construction of confidence limits about effect measures"). The mean of one score has the
    score's interval. ``measured``: the scores without each document in turn.
    """
    value = fmean(score.value for score in scores)
    deviations = [score.deviations for score in measured]
    units = [score.unit_numbers for score in measured]
    below, above = (
        sum_half_width(
            [abs(score.value - score.interval[end]) for score in scores], deviations, units
        )
        / len(scores)
        for end in (0, 1)
    )
    return Mean(value, (value - below, value + above))


def compare_editions(
    jackknife_scores: Mapping[str, Mapping[str, JackknifeScore]],
    editions_of: Mapping[str, str],
    baseline: str | None,
) -> list[Edition]:
    """Compare every encoder's scores on two editions of a dataset: has it seen the older texts?

    Scores on a newer edition may also differ because its texts are harder or easier: what an
    encoder that has seen no text gains or loses is subtracted. The documents of the editions are
    independent, so that the squares of the standard errors add (``evaluation.measures``).

    Args:
        jackknife_scores: encoder to dataset to its score, as ``measure_all`` returns it.
        editions_of: dataset to the older one that it is an edition of.
        baseline: name of the encoder that has seen no text, if it was probed.

    Returns:
        By dataset, then by encoder as in the scores; of encoders that were probed on both.
    """
    editions = []
    for new, old in editions_of.items():
        probed = {
            name: scores for name, scores in jackknife_scores.items() if {new, old} <= scores.keys()
        }
        for encoder, scores in probed.items():
            to_baseline = None
            if baseline in probed and baseline != encoder:
                to_baseline = _subtract(encoder, new, old, scores, baseline, probed[baseline])
            gain = _subtract(encoder, new, old, scores)
            values = scores[new].value, scores[old].value
            editions.append(Edition(new, old, encoder, *values, gain, to_baseline))
    return editions


def _subtract(
    encoder: str,
    new: str,
    old: str,
    scores: Mapping[str, JackknifeScore],
    baseline: str = "",
    baseline_scores: Mapping[str, JackknifeScore] | None = None,
) -> Difference:
    """Return newer minus older score, of an encoder, or of the encoder minus the baseline."""
    (new_value, new_half_width, limit), (old_value, old_half_width, _) = (
        difference(scores[name], baseline_scores[name] if baseline_scores else None)
        for name in (new, old)
    )
    value = new_value - old_value
    # Two scores differ by at most their range, and two differences by twice as much.
    limit *= 2 if baseline_scores else 1
    interval = clip_interval(value, math.hypot(new_half_width, old_half_width), limit)
    return Difference("edition", new, encoder, baseline, value, interval)
