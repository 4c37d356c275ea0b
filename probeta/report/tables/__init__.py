"""The tables of a report: each yields rows, most of them a number; here, the scores of papers.

Of a row, ``value`` is a share or correlation, ``low`` and ``high`` the ends of its interval;
``unit`` is "points" of a difference, "number" or "count" of what is neither. ``mark``: see
``Report.marks``; ``strong``: in bold; ``note``: words beside a number, or in its place; ``kind``:
see ``layout.KINDS``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from builders.tasks.benchmarks import GROUPINGS
from corpora_recipes.yaml_files import load_yaml
from evaluation.results.scores import RankScore
from probeta.report.layout import Number
from probeta.report.statistics import Average, Report
from probeta.report.texts import phrase, translated

_PUBLISHED: dict[str, Any] = load_yaml(Path(__file__).with_name("published_scores.yaml"))
# In the place of an encoder's name: the scores of people.
PEOPLE = "people"
# Numbers of rows agree if they differ by this share of the paper's, or less.
TOLERANCE = 0.1
Published = Mapping[str, float]
"""Group or dataset to what a paper states of an encoder, in per cent."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The scores of a paper on one construction of its data, see published_scores.yaml.

    ``scores`` is by encoder, or ``PEOPLE``; ``grouping``: a name of ``GROUPINGS``, whose groups the
    means are of, where these are not the benchmark's own.
    """

    paper: str
    benchmarks: Sequence[str]
    about: str
    rows: Mapping[str, int]
    scores: Mapping[str, Published]
    refused: Mapping[str, str] = field(default_factory=dict)
    grouping: str = ""

    def reason_not_shown(self, dataset: str, task: str, rows: int, *, sample: bool = False) -> str:
        """Return why scores on a dataset cannot stand beside those on ``rows`` rows, or ""."""
        if dataset not in self.rows:
            return phrase("not_in_paper")
        if sample:
            return phrase("a_sample")
        if task in self.refused:
            return translated(self.refused[task])
        if abs(rows - self.rows[dataset]) > TOLERANCE * self.rows[dataset]:
            return phrase("other_rows", here=rows, there=self.rows[dataset])
        return ""


PAPERS = tuple(Paper(**entry) for entry in _PUBLISHED["papers"])
PARALEX_SCORES: Mapping[str, Sequence[float | None]] = _PUBLISHED["paralex"]
"""Language to the scores of ``VECTORS`` in per cent, by Sumbler et al. (2018), Table 2."""
VECTORS = ("fastText", "Polyglot", "ConceptNet Numberbatch")
TABLE_1: Mapping[str, str] = _PUBLISHED["paralex_table_1"]["columns"]
"""Columns of Table 1, each to its dataset, "" without one."""
TABLE_1_SCORES: Mapping[str, Published] = {
    model: dict(zip(TABLE_1, scores, strict=True))
    for model, scores in _PUBLISHED["paralex_table_1"]["models"].items()
}
"""Word vectors to their scores in per cent, by column."""


def number(
    about: Mapping[str, Any],
    value: float | None,
    interval: tuple[float, float] | None = None,
    **facts: object,
) -> Number:
    """Return a row: what a number is of, the number, and the ends of its interval."""
    row = {**about, **facts, "value": None if value is None else float(value)}
    if interval:
        row["low"], row["high"] = map(float, interval)
    return row


def reason_not_shown(report: Report, paper: Paper, dataset: str) -> str:
    """Return why a paper's scores on a probed dataset cannot stand beside those here, or ""."""
    score, sample = report.inputs.any_score(dataset), dataset in report.inputs.samples
    return paper.reason_not_shown(dataset, score.task, score.n_rows, sample=sample)


def published_scores(report: Report, dataset: str) -> Iterator[Number]:
    """Yield the scores of papers on a probed dataset that can stand beside those here."""
    for paper in PAPERS:
        if report.inputs.benchmark(dataset) not in paper.benchmarks:
            continue
        for encoder, scores in paper.scores.items():
            if dataset in scores and not reason_not_shown(report, paper, dataset):
                yield _published(paper, encoder, scores[dataset])


def _published(paper: Paper, encoder: str, score: float) -> Number:
    about = {"encoder": f"{translated(encoder)}, {paper.paper}", "kind": "published"}
    return number(about, score / 100, paper=paper.paper)


def published_means(report: Report, average: Average) -> Iterator[Number]:
    """Yield the means of papers over the very datasets of a group, if these are comparable."""
    group = average.group
    if group is None or average.missing or average.too_small:
        return
    for paper in PAPERS:
        if average.benchmark not in paper.benchmarks:
            continue
        if any(reason_not_shown(report, paper, name) for name in average.datasets):
            continue
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        is_same = not average.withdrawn
        if grouped := GROUPINGS.get(paper.grouping, {}).get(average.benchmark):
            is_same = {*grouped.get(group.abbreviation, ())} == {*average.datasets}
        for encoder, scores in paper.scores.items():
            stated = [scores[name] for name in average.datasets if name in scores]
            if is_same and group.abbreviation in scores:
                yield _published(paper, encoder, scores[group.abbreviation])
            elif len(stated) == len(average.datasets):
                yield _published(paper, encoder, fmean(stated))


def published_ranks(report: Report, ranked: RankScore) -> Iterator[Number]:
    """Yield the scores of papers by cosine on a ranking, if they can stand beside those here."""
    name, sample = ranked.dataset, ranked.dataset in report.inputs.samples
    for paper in PAPERS:
        unlike = paper.reason_not_shown(name, ranked.task, ranked.pairs, sample=sample)
        if unlike or report.inputs.benchmark(name) not in paper.benchmarks:
            continue
        for encoder, scores in paper.scores.items():
            for measure in ranked.measures:
                if (key := f"{name} {measure}") in scores:
                    yield _published(paper, encoder, scores[key]) | {"measure": measure}


def published_ranges(report: Report, dataset: str) -> dict[str, str]:
    """Return paper to its encoders' lowest and highest score on a probed dataset, in per cent."""
    values: dict[str, list[float]] = {}
    for each in published_scores(report, dataset):
        if each["encoder"] != f"{translated(PEOPLE)}, {each['paper']}":
            values.setdefault(each["paper"], []).append(100 * each["value"])
    return {paper: f"{min(found):.1f} … {max(found):.1f}" for paper, found in values.items()}
