"""Scores on datasets and their means, beside trivial baselines, people and papers.

They are laid out as in Tables 3 to 5 of Araujo et al. (2022).
"""

from collections.abc import Iterator
from itertools import chain

from builders.audit_report import detectable_of
from builders.tasks.benchmarks import differences, differences_of
from corpora_recipes.records import SPLITS
from evaluation.measures import MIN_DOCUMENTS
from evaluation.probing.protocols import PROTOCOLS
from evaluation.results.scores import CONTROL_MEASURES, Score
from probeta.report import layout
from probeta.report.layout import NONE, Number
from probeta.report.sentences import describe_uncounted, in_ranks
from probeta.report.statistics import Average, Report
from probeta.report.tables import (
    PAPERS,
    number,
    published_means,
    published_scores,
    reason_not_shown,
)
from probeta.report.texts import phrase, translated


def datasets(report: Report) -> Iterator[Number]:
    """Yield the facts of all datasets."""
    inputs = report.inputs
    for name, group in inputs.groups.items():
        entry = inputs.audit[name]
        row: Number = {
            "dataset": name,
            "benchmark": inputs.benchmark(name),
            "group": group.abbreviation,
            "sample": name in inputs.samples,
            "published_rows": entry.get("published"),
        }
        if name in inputs.datasets:
            score = inputs.any_score(name)
            row |= {split: score.rows.get(split) for split in SPLITS} | {
                "task": score.task,
                "language": score.language,
                "folds": score.folds,
                "rows_tested": score.n_rows,
                "documents_tested": score.test_documents,
                "detectable": detectable_of(entry),
                "in_means": name not in report.too_small,
            }
        yield row


def dataset_marks(report: Report, dataset: str) -> str:
    """Return the marks of a dataset, see "notes" in the table of texts."""
    inputs, marks = report.inputs, [layout.SAMPLE] if dataset in report.inputs.samples else []
    if dataset in inputs.datasets:
        checks = inputs.audit[dataset]["checks"]
        leaks = {check["verdict"] for check in checks if check["gate"] == "leakage"}
        applies = {
            layout.SMALL: report.detects_little(dataset),
            layout.FEW: inputs.any_score(dataset).test_documents < MIN_DOCUMENTS,
            layout.LEAKS: bool(leaks & {"inherited", "undeclared"}),
        }
        marks = [mark for mark in applies if applies[mark]] + marks
    return " ".join(marks)


def means(report: Report) -> Iterator[Number]:
    """Yield the means of encoders over benchmarks and groups; of baselines, people, papers."""
    for name, whole in report.benchmark_averages.items():
        groups = [a for a in report.all_averages if a.benchmark == name and a.group]
        for average in (whole, *groups) if whole.datasets else ():
            if average.datasets:
                yield from _means(report, average)


def averages(report: Report) -> Iterator[Number]:
    """Yield ``means`` with what explains them."""
    protocol = report.inputs.protocol["name"]
    recipe = PROTOCOLS.get(protocol)
    of_scale = phrase("of_scale") if recipe and recipe.scale_matters else ""
    about = {}
    for name, whole in report.benchmark_averages.items():
        uncounted = " ".join(describe_uncounted(report, whole, ", ".join))
        about[name] = {"uncounted": uncounted, "protocol": protocol, "of_scale": of_scale}
    titles: dict[tuple[str, str], list[str]] = {}
    for average in report.all_averages:
        if group := average.group:
            title = f"{group.abbreviation} {translated(group.title).lower()}"
            titles.setdefault((average.benchmark, average.grouping), []).append(title)
    for row in means(report):
        benchmark, grouping = row["benchmark"], row["grouping"]
        grouped = phrase("grouped_by", grouping=grouping) if grouping else ""
        groups = ", ".join(titles[benchmark, grouping])
        row = about[benchmark] | row | {"groups": groups, "grouped": grouped}
        yield row
        if "rank" in row:
            of_rank = {key: row[key] for key in ("benchmark", "grouping", "encoder")}
            yield number(of_rank, None, heading=phrase("rank"), note=in_ranks(row["rank"]))


def citations(report: Report) -> Iterator[Number]:
    """Yield the lines to cite the means of whole benchmarks by."""
    for row in means(report):
        if "rank" in row:
            about = {"benchmark": row["benchmark"], "encoder": row["encoder"]}
            yield number(about, None, heading=phrase("citation"), note=row["citation"])


def _means(report: Report, average: Average) -> Iterator[Number]:
    datasets = average.datasets
    about = {
        "benchmark": average.benchmark,
        "grouping": average.grouping,
        "group": average.group.abbreviation if average.group else "",
        "heading": average.heading,
        "sample": not report.inputs.samples.isdisjoint(datasets),
    }
    marks = report.mean_marks(average)
    ranks = {} if average.group else report.ranks(average)
    for encoder, mean in report.means(datasets).items():
        facts: Number = {"encoder": encoder, "kind": "encoder", "mark": marks[encoder]}
        facts["citation"] = str(report.cite(encoder, average))
        if ranks:
            low, high, tied = ranks[encoder]
            facts |= {"rank": [low, high], "tied_groups": list(tied)}
        yield number(about | facts, mean.value, mean.interval)
    yield from (about | each for each in published_means(report, average))
    baseline = about | {"encoder": "trivial_baselines", "kind": "baseline"}
    yield number(baseline, report.baseline_score(*datasets))
    if (people := report.people_mean(datasets)) is not None:
        yield number(about | {"encoder": "people_row", "kind": "people"}, people)


def scores(report: Report) -> Iterator[Number]:
    """Yield the scores on datasets from main layers; of baselines, people, papers."""
    for average in report.averages:
        for dataset in (*average.datasets, *average.too_small) if average.group else ():
            group = average.group.abbreviation if average.group else ""
            about = {"benchmark": average.benchmark, "group": group, "dataset": dataset}
            yield from _facts(report, about)
            found, marks = report.inputs.datasets[dataset], report.dataset_marks(dataset)
            for encoder in filter(found.__contains__, report.names):
                score, kind = found[encoder], {"encoder": encoder, "kind": "encoder"}
                facts = {"mark": marks[encoder], "deviation": score.deviation}
                facts["citation"] = str(report.cite(encoder, dataset))
                yield number(about | kind, score.value, score.interval, **facts)
            yield from (about | each for each in published_scores(report, dataset))


def _facts(report: Report, about: Number) -> Iterator[Number]:
    """Yield what scores on a dataset are measured against."""
    dataset, about = about["dataset"], about | {"kind": "fact"}
    score, people = report.inputs.any_score(dataset), report.inputs.people.get(dataset)
    yield number(about, score.chance, encoder="chance")
    yield number(about, score.majority, encoder="majority")
    baseline, value = report.inputs.best_baseline(dataset)
    yield number(about, value, encoder="best_trivial", note=f"({layout.spaced(baseline)})")
    if people:
        count = phrase("rows_of_people", people=len(people.accuracies), rows=people.rows)
        facts = {"encoder": "people_column", "note": f"({count})"}
        yield number(about, people.value, people.interval, **facts)


def groups(report: Report) -> Iterator[Number]:
    """Yield ``scores`` below the sizes of the datasets, with the title of the group."""
    titles = {group.abbreviation: group.title for group in report.inputs.groups.values()}
    for row in scores(report):
        title = {"title": translated(titles[row["group"]])}
        if row["encoder"] == "chance":
            note = _describe_sizes(report.inputs.any_score(row["dataset"]))
            yield number(row | title, None, encoder="sizes", note=note)
        yield row | title


def _describe_sizes(score: Score) -> str:
    if score.folds:
        return f"{score.n_rows:,} {phrase('folds', folds=score.folds)}"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)


def measures(report: Report) -> Iterator[Number]:
    """Yield all that was measured where it is more than one thing: correlations, ablations …"""
    for dataset, by_encoder in report.inputs.datasets.items():
        found = {
            encoder: {m: v for m, v in score.measures.items() if m not in CONTROL_MEASURES}
            for encoder, score in by_encoder.items()
        }
        if any(len(values) > 1 for values in found.values()):
            for encoder, values in found.items():
                for measure, value in values.items():
                    yield number(
                        {"dataset": dataset, "measure": measure, "encoder": encoder}, value
                    )


def baselines(report: Report) -> Iterator[Number]:
    """Yield the scores of all trivial baselines."""
    for dataset, found in report.inputs.baselines.items():
        for name, value in found.items():
            yield number({"dataset": dataset, "baseline": name}, value)


def papers(report: Report) -> Iterator[Number]:
    """Yield whether each paper's scores on a dataset stand beside those here, or why not."""
    for dataset in report.inputs.datasets:
        for paper in PAPERS:
            if report.inputs.benchmark(dataset) in paper.benchmarks and dataset in paper.rows:
                yield {
                    "dataset": dataset,
                    "paper": paper.paper,
                    "rows_here": report.inputs.any_score(dataset).n_rows,
                    "rows_there": paper.rows[dataset],
                    "reason_not_shown": reason_not_shown(report, paper, dataset),
                }


def concerned_by(report: Report) -> dict[str, list[str]]:
    """Return how probes and datasets here depart from those of papers, to which they are."""
    inputs = report.inputs
    concerned: dict[str, list[str]] = {}
    protocol = inputs.protocol["name"]
    if text := differences()["protocols"].get(protocol):
        concerned[text] = [phrase("protocol", name=protocol)]
    tasks = {name: inputs.any_score(name).task for name in inputs.datasets}
    tasks |= {score.dataset: score.task for ranked in inputs.rankings for score in ranked.scores}
    of_words = chain.from_iterable(clustered.scores for clustered in inputs.paradigms)
    tasks |= dict.fromkeys((score.dataset for score in of_words), "paradigms")
    for name, task in tasks.items():
        for text in differences_of(name, task, str(inputs.audit[name].get("benchmark", ""))):
            concerned.setdefault(text, []).append(name)
    return concerned
