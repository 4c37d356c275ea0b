"""The scores: top of the page, averages, scores on each dataset, those of papers, transfer.

Scores on each dataset are laid out as in Tables 3 to 5 of Araujo et al. (2022).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from builders.audit_report import detectable_of
from builders.tasks.benchmarks import DIFFERENCES, Group, differences_of
from corpora_recipes.records import SPLITS
from corpora_recipes.running.outputs import LEFT_OUT
from evaluation.probing.protocols import PROTOCOLS
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.results.comparison import ALL_PAIRS_LIMIT
from evaluation.results.scores import RankScore, Results, Score
from probeta.report import layout
from probeta.report.inputs import Datasets, Inputs
from probeta.report.layout import (
    NONE,
    Cell,
    Column,
    Content,
    Row,
    Table,
    cell_of,
    columns_of,
    lay_out,
)
from probeta.report.statistics import Average, Report
from probeta.report.tables import (
    PAPERS,
    PEOPLE,
    Paper,
    Published,
    applicable_marks,
    baseline_row,
    by_dataset,
    mark_best,
    mark_samples,
    mean_cell,
    notes_of,
    people_mean,
    scored_dataset_cell,
)
from probeta.report.texts import all_texts, phrase, translated

# Most names that a sentence lists, if there are two others or more.
MAX_LISTED = 3
# Most characters of an error that the warning quotes.
MAX_ERROR_LENGTH = 80


def facts(report: Report) -> dict[str, str]:
    """Return what was measured: what is counted or named, to its number or name."""
    inputs = report.inputs
    rows = sum(inputs.any_score(name).n_rows for name in inputs.datasets)
    real = inputs.groups.keys() - inputs.samples
    benchmarks = len(report.benchmark_averages) + bool(inputs.rankings) + bool(inputs.paradigms)
    data = "both_data" if real and inputs.samples else "real_data" if real else "sample_data"
    return {
        phrase("fact_encoders"): f"{len(report.names):,}",
        phrase("fact_benchmarks"): f"{benchmarks:,}",
        phrase("fact_datasets"): f"{len(inputs.groups):,}",
        phrase("fact_rows"): f"{rows:,}",
        phrase("fact_protocol"): report.inputs.protocol["name"],
        phrase("fact_data"): phrase(data),
    }


def warnings(report: Report) -> dict[str, str]:
    """Return the warnings that a reader needs before any score: each line to its details.

    Of samples, of datasets that are missing, and of what failed and was skipped.
    """
    lines, missing = {}, report.inputs.audit_report.get("missing", {})
    if report.inputs.samples:
        samples, total = len(report.inputs.samples), len(report.inputs.groups)
        which = phrase("some_of", count=samples, all=total)
        which = phrase("all_of", all=total) if samples == total else which
        lines[phrase("samples", which=which)] = phrase("more_samples", mark=layout.SAMPLE)
    # An audit of instances, which is not that of a package, has none.
    if missing:
        how = " ".join(dict.fromkeys(missing.values()))
        more = phrase("more_incomplete", names=", ".join(missing), how=how)
        lines[phrase("incomplete", names=abbreviate([*missing]))] = more
    if report.inputs.skipped:
        faults = (f"{name} ({shorten_error(why)})" for name, why in report.inputs.skipped.items())
        more = phrase("more_left_out", faults=", ".join(faults), folder=LEFT_OUT)
        lines[phrase("left_out", names=abbreviate([*report.inputs.skipped]))] = more
    return lines


def shorten_error(why: str) -> str:
    """Return the part "found" of the message of an error; of another text its first line."""
    match = re.search(r"^ *found: *(.*)", why, re.MULTILINE)
    text = match[1] if match else why.partition("\n")[0]
    return text if len(text) <= MAX_ERROR_LENGTH else f"{text[:MAX_ERROR_LENGTH]} …"


def abbreviate(names: list[str]) -> str:
    """Return some names in words: a few of them, and how many others there are."""
    others = len(names) - MAX_LISTED
    if others < 2:
        return ", ".join(names)
    return phrase("others", names=", ".join(names[:MAX_LISTED]), others=others)


def averages(report: Report) -> list[Table]:
    """Return the averages of each benchmark, and those over the user's own datasets."""
    averages = report.benchmark_averages.items()
    return [_average_table(report, name) for name, average in averages if average.datasets]


def _average_table(report: Report, benchmark: str) -> Table:
    *groups, whole = (a for a in report.averages if a.benchmark == benchmark and a.datasets)
    averages = [whole, *groups]
    name = layout.unused_name(benchmark)

    means = {average.name: _mean_cells(report, average) for average in averages}
    people = [people_mean(report, average.datasets) for average in averages]
    titles = [average.group for average in groups if average.group]
    values = columns_of(
        averages, lambda average, encoder: means[average.name][encoder], attrgetter("heading")
    )
    return layout.lay_out(
        "averages",
        dict.fromkeys([*report.means(whole.datasets), *report.names]),
        [Column("encoder", Cell), *values],
        name=f"averages-{name}",
        more=_not_averaged(report, whole),
        kind="encoder",
        last=[
            *published_means(report, averages),
            baseline_row(report, (average.datasets for average in averages)),
            *([Row((Cell(phrase("people_row")), *map(cell_of, people)))] if any(people) else []),
        ],
        benchmark=translated(benchmark),
        groups=", ".join(
            f"{group.abbreviation} {translated(group.title).lower()}" for group in titles
        ),
        bold=about_bold(report.names, phrase("encoder_of_column")),
        missing=phrase("missing", names=", ".join(whole.missing)) if whole.missing else "",
        metric=metric_of(report, whole.datasets),
        protocol=report.inputs.protocol["name"],
        of_scale=about_scale(report),
    )


def _not_averaged(report: Report, whole: Average) -> list[str]:
    """Return paragraphs on datasets that are too small, withdrawn, or that encoders lack."""
    small = [phrase("too_small", names=", ".join(whole.too_small))] if whole.too_small else []
    withdrawn = [phrase("withdrawn", name=name, why=why) for name, why in whole.withdrawn.items()]
    scores = report.inputs.datasets
    missing = {
        encoder: ", ".join(name for name in whole.datasets if encoder not in scores[name])
        for encoder in report.names
    }
    lacks = [phrase("lacks", name=n, datasets=names) for n, names in missing.items() if names]
    return small + withdrawn + lacks


def _mean_cells(report: Report, average: Average) -> dict[str, Cell]:
    """Return encoder to the cell of its mean over the datasets of an average."""
    datasets = average.datasets
    chance = report.chance_score(*datasets)
    means = {name: report.mean(datasets, name) for name in report.names}
    cells = {name: mean_cell(report, mean, datasets) for name, mean in means.items()}
    beating = {name for name, mean in means.items() if mean and mean.interval[0] > chance}
    return mark_best(report, datasets, cells, average.name, beating)


def introduction(report: Report) -> tuple[str, ...]:
    """Return the paragraphs that explain how to read the scores."""
    first, protocol = report.inputs.encoders[0], report.inputs.protocol
    options = {name: value for name, value in protocol.items() if name not in ("name", "version")}
    models = [results.name for results in report.inputs.encoders if not results.probed]
    random = _has_random_starts(report.inputs.datasets)
    return layout.paragraphs(
        "introduction",
        **{**first.intervals, **protocol, "coverage": 100 * first.intervals["coverage"]},
        random=f", {phrase('random')}" if random else "",
        options="".join(layout.spaced(f", {name} {value}") for name, value in options.items()),
        seed=first.seed,
        of_scale=f" {of_scale}" if (of_scale := about_scale(report)) else "",
        bold=about_bold(report.names, phrase("encoder_of_all")),
        people=phrase("people") if report.inputs.people else "",
        models=phrase("models", names=", ".join(models)) if models else "",
    )


def group_tables(report: Report) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    groups = ((average, average.group) for average in report.averages)
    return [_group_table(report, average, group) for average, group in groups if group]


def _group_table(report: Report, average: Average, group: Group) -> Table:
    facts: dict[str, Callable[[str], Content]] = {
        phrase("sizes"): lambda dataset: _describe_sizes(report.inputs.any_score(dataset)),
        phrase("chance"): lambda dataset: report.inputs.any_score(dataset).chance,
        phrase("majority"): lambda dataset: report.inputs.any_score(dataset).majority,
        phrase("best_trivial"): partial(_best_baseline_cell, report),
    }
    datasets = (*average.datasets, *average.too_small)
    if report.inputs.people.keys() & {*datasets}:
        facts[phrase("people_column")] = partial(_people_cell, report)
    scores = {dataset: _score_cells(report, dataset) for dataset in datasets}
    baselines = columns_of(scores, lambda dataset, fact: facts[fact](dataset))
    heading = partial(scored_dataset_cell, report)
    columns = columns_of(scores, lambda dataset, encoder: scores[dataset][encoder], heading)
    table = layout.lay_out(
        "group",
        report.names,
        [Column(Cell(""), layout.name_cell), *columns],
        name=layout.unused_name(average.name),
        kind="encoder",
        last=published_scores(report, average.benchmark, datasets),
        title=f"{translated(group.title)} ({group.abbreviation}), {translated(average.benchmark)}",
    )
    rows = (*layout.rows_of(facts, [Column(Cell(""), Cell), *baselines]), *table.rows)
    table = replace(table, rows=rows)
    return replace(table, caption=(_caption(report, datasets, table),))


def _caption(report: Report, datasets: Sequence[str], table: Table) -> str:
    """Return a short explanation of a group's scores."""
    scores = {name: report.inputs.datasets[name] for name in datasets}
    used = notes_of([table])
    parts = [
        phrase("on_test", metric=metric_of(report, datasets)),
        phrase("interval", coverage=100 * report.inputs.encoders[0].intervals["coverage"]),
        *([phrase("random")] if _has_random_starts(scores) else []),
        *([phrase("best")] if len(report.names) > 1 else []),
        *(f"{mark} {note}" for mark, note in all_texts()["brief"].items() if mark in used),
    ]
    return "; ".join(parts) + "."


def scores(report: Report) -> list[Table]:
    """Return all scores, one row per dataset, one table per benchmark.

    Of many encoders, they are the rows, with a table per group of tasks.
    """
    if len(report.names) > ALL_PAIRS_LIMIT:
        first, *others = group_tables(report)
        return [replace(first, about=(*introduction(report), *first.about)), *others]
    tables: list[Table] = []
    for benchmark, average in report.benchmark_averages.items():
        about = () if tables else introduction(report)
        datasets = (*average.datasets, *average.too_small)
        tables += _benchmark_scores(report, benchmark, datasets, about)
    return tables


def _benchmark_scores(
    report: Report, benchmark: str, datasets: Sequence[str], about: Sequence[str]
) -> list[Table]:
    scores = {dataset: _score_cells(report, dataset) for dataset in datasets}
    people = Column("people_column", partial(_people_cell, report))
    columns = [
        Column("group", lambda dataset: report.inputs.groups[dataset].abbreviation),
        *columns_of(report.names, lambda encoder, dataset: scores[dataset][encoder]),
        Column("best_trivial", partial(_best_baseline_cell, report)),
        Column("majority", lambda dataset: report.inputs.any_score(dataset).majority),
        Column("chance", lambda dataset: report.inputs.any_score(dataset).chance),
        *([people] if report.inputs.people.keys() & {*datasets} else []),
        *published_ranges(report, benchmark, datasets),
        Column("detectable", lambda dataset: detectable_of(report.inputs.audit[dataset])),
        Column("test_rows", lambda dataset: _row_count_cell(report.inputs.any_score(dataset))),
    ]
    return by_dataset(
        report,
        "scores",
        columns,
        datasets,
        dataset=scored_dataset_cell,
        texts=2,
        name=f"scores-{layout.unused_name(benchmark)}",
        benchmark=translated(benchmark),
        more=about,
    )


def correlations(report: Report) -> list[Table]:
    """Return all correlations, pooled and by subset."""
    rows = []
    for dataset in report.inputs.datasets:
        names = [n for n in report.inputs.any_score(dataset).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        rows += [(dataset, name) for name in (names if len(names) > 2 else names[:1])]

    def correlation_pair(encoder: str, row: tuple[str, str]) -> Cell | None:
        dataset, name = row
        score = report.inputs.datasets[dataset].get(encoder)
        if score is None:
            return None
        pearson = score.measures[name]
        spearman = score.measures[name.replace("pearson", "spearman")]
        cell = Cell(f"{layout.percent(pearson)} / {layout.percent(spearman)}", value=pearson)
        return mark_samples(report, [dataset], cell)

    subset = Column("rows", lambda row: row[1].partition(", ")[2] or phrase("all"))
    columns = [subset, *columns_of(report.names, correlation_pair)]
    return by_dataset(report, "correlations", columns, rows, texts=2)


def baselines(report: Report) -> list[Table]:
    """Return all trivial baselines."""
    columns = columns_of(
        dict.fromkeys(chain.from_iterable(report.inputs.baselines.values())),
        lambda baseline, dataset: report.inputs.baselines[dataset].get(baseline),
        lambda name: layout.spaced(name).capitalize(),
    )
    return by_dataset(report, "baselines", columns)


def metric_of(report: Report, datasets: Iterable[str]) -> str:
    """Return what the scores on datasets measure, in words."""
    metrics = {report.inputs.any_score(dataset).metric for dataset in datasets}
    if metrics == {"pearson"}:
        return phrase("correlation")
    return phrase("accuracy_or_correlation" if "pearson" in metrics else "accuracy")


def about_scale(report: Report) -> str:
    """Return a warning if a change of the embeddings' scale may change the scores."""
    protocol = PROTOCOLS.get(report.inputs.protocol["name"])
    return phrase("of_scale") if protocol and protocol.scale_matters else ""


def about_bold(encoders: Sequence[str], of: str) -> str:
    """Return an explanation of what ``mark_best`` marks, if there is something to compare."""
    return f" {phrase('bold', of=of)}" if len(encoders) > 1 else ""


def _has_random_starts(datasets: Datasets) -> bool:
    scores = chain.from_iterable(by_encoder.values() for by_encoder in datasets.values())
    return any(score.deviation is not None for score in scores)


def _score_cells(report: Report, dataset: str) -> dict[str, Cell]:
    """Return encoder to the cell of its score on a dataset."""
    scores = report.inputs.datasets[dataset]
    cells = {
        name: _score_cell(report, scores[name]) if name in scores else Cell(NONE)
        for name in report.names
    }
    chance = report.chance_score(dataset)
    beating = {name for name, score in scores.items() if score.interval[0] > chance}
    return mark_best(report, [dataset], cells, dataset, beating)


def _score_cell(report: Report, score: Score) -> Cell:
    spread = "" if score.deviation is None else f" ± {layout.percent(score.deviation)}"
    return Cell(
        layout.percent(score.value) + spread,
        layout.bracketed(score.interval),
        applicable_marks({layout.NOT_SHOWN: report.beats_baseline(score, score.dataset) < 1}),
        score.value,
    )


def _best_baseline_cell(report: Report, dataset: str) -> Cell:
    name, value = report.inputs.best_baseline(dataset)
    return layout.percent_cell(value, detail=f"({layout.spaced(name)})")


def _people_cell(report: Report, dataset: str) -> Cell | None:
    if (people := report.inputs.people.get(dataset)) is None:
        return None
    rows = phrase("rows_of_people", people=len(people.accuracies), rows=people.rows)
    return layout.percent_cell(people.value, f"{layout.bracketed(people.interval)} ({rows})")


def _row_count_cell(score: Score) -> Cell:
    folds = phrase("folds", folds=score.folds) if score.folds else ""
    return layout.count_cell(score.n_rows, detail=folds)


def _describe_sizes(score: Score) -> str:
    if score.folds:
        return f"{score.n_rows:,} {phrase('folds', folds=score.folds)}"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)


def ablations(report: Report) -> list[Table]:
    """Return the ablations of the encoders that were probed with them."""
    ablated = {
        dataset: ablation.name
        for dataset, scores in report.inputs.datasets.items()
        if (ablation := ABLATIONS.get(report.inputs.any_score(dataset).task))
        and any(ablation.name in score.measures for score in scores.values())
    }

    def share(column: tuple[str, str], dataset: str) -> float | None:
        encoder, simpler = column
        score = report.inputs.datasets[dataset].get(encoder)
        if score is None:
            return None
        return score.measures.get(ablated[dataset]) if simpler else score.value

    columns = columns_of(product(report.names, ("", f": {phrase('ablated')}")), share, "".join)
    columns = [Column("ablation", lambda name: translated(ablated[name])), *columns]
    return by_dataset(report, "ablations", columns, ablated, texts=2)


def published_means(report: Report, averages: Sequence[Average]) -> list[Row]:
    """Return a row for each encoder of the papers with one of these averages, of one benchmark.

    Its first cell names it.
    """

    def mean(paper: Paper, scores: Published, average: Average) -> float | None:
        if average.group is None or average.missing or average.too_small:
            return None
        if any(_reason_not_shown(report, paper, name) for name in average.datasets):
            return None
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        if average.group.abbreviation in scores and not average.withdrawn:
            return scores[average.group.abbreviation]
        stated = [scores[name] for name in average.datasets if name in scores]
        return fmean(stated) if len(stated) == len(average.datasets) else None

    def values(paper: Paper, scores: Published) -> list[float | None]:
        return [mean(paper, scores, average) for average in averages]

    return _published_rows(averages[0].benchmark, values)


def published_scores(report: Report, benchmark: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row for each encoder of the papers that has a score on one of the datasets."""

    def values(paper: Paper, scores: Published) -> list[float | None]:
        hidden = {name for name in datasets if _reason_not_shown(report, paper, name)}
        return [None if name in hidden else scores.get(name) for name in datasets]

    return _published_rows(benchmark, values)


def published_ranks(
    report: Report, ranked: RankScore, columns: Sequence[tuple[str, str]]
) -> list[Row]:
    """Return a row for each encoder of the papers that was ranked on a dataset.

    ``columns`` are measures and similarities; papers report by cosine.
    """
    name, sample = ranked.dataset, ranked.dataset in report.inputs.samples

    def values(paper: Paper, scores: Published) -> list[float | None]:
        if paper.reason_not_shown(name, ranked.task, ranked.pairs, sample=sample):
            return [None]
        return [scores.get(f"{name} {m}") if by == "cosine" else None for m, by in columns]

    return _published_rows(report.inputs.benchmark(name), values)


def published_ranges(report: Report, benchmark: str, datasets: Sequence[str]) -> list[Column]:
    """Return a column for each paper: dataset to its encoders' lowest and highest score."""

    def span(paper: Paper, dataset: str) -> Cell | None:
        encoders = [scores for name, scores in paper.scores.items() if name != PEOPLE]
        values = [scores[dataset] for scores in encoders if dataset in scores]
        if not values or _reason_not_shown(report, paper, dataset):
            return None
        return Cell(f"{min(values):.1f} … {max(values):.1f}", value=max(values) / 100)

    papers = [
        paper
        for paper in PAPERS
        if benchmark in paper.benchmarks and any(span(paper, name) for name in datasets)
    ]
    return columns_of(papers, span, lambda paper: Cell(paper.paper, marks=(layout.OTHERS,)))


def papers(report: Report) -> list[Table]:
    """Return whether each paper's scores on a dataset stand beside those here, or why not."""
    rows = [
        (dataset, paper)
        for dataset in report.inputs.datasets
        for paper in PAPERS
        if report.inputs.benchmark(dataset) in paper.benchmarks and dataset in paper.rows
    ]

    def beside(row: tuple[str, Paper]) -> str:
        dataset, paper = row
        return _reason_not_shown(report, paper, dataset) or phrase("beside")

    columns = [
        Column("paper", lambda row: row[1].paper),
        Column("beside_ours", beside),
        Column("rows_here", lambda row: layout.count_cell(report.inputs.any_score(row[0]).n_rows)),
        Column("rows_there", lambda row: layout.count_cell(row[1].rows[row[0]])),
    ]
    return by_dataset(report, "papers", columns, rows, texts=3)


def concerned_by(report: Report) -> dict[str, list[str]]:
    """Return how probes and datasets here depart from those of papers, to which they are."""
    concerned: dict[str, dict[str, None]] = {}
    protocol = report.inputs.protocol["name"]
    if text := DIFFERENCES["protocols"].get(protocol):
        concerned[text] = {phrase("protocol", name=protocol): None}
    for name, task in _tasks(report.inputs):
        for text in differences_of(name, task, str(report.inputs.audit[name].get("benchmark", ""))):
            concerned.setdefault(text, {})[name] = None
    return {text: list(names) for text, names in concerned.items()}


def differs(report: Report) -> list[Table]:
    """Return how the probes and the datasets here depart from those of their papers, and why."""
    concerned = concerned_by(report)
    columns = [
        Column("differs_of", lambda text: ", ".join(concerned[text])),
        Column("differs", lambda text: text),
    ]
    return [lay_out("differs", concerned, columns, texts=2)] if concerned else []


def _tasks(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield the name and the task of all datasets."""
    for name in inputs.datasets:
        yield name, inputs.any_score(name).task
    yield from dict.fromkeys((s.dataset, s.task) for r in inputs.rankings for s in r.scores)
    yield from dict.fromkeys((s.dataset, "paradigms") for r in inputs.paradigms for s in r.scores)


def _reason_not_shown(report: Report, paper: Paper, dataset: str) -> str:
    """Return why a paper's scores on a probed dataset cannot stand beside those here, or ""."""
    score, sample = report.inputs.any_score(dataset), dataset in report.inputs.samples
    return paper.reason_not_shown(dataset, score.task, score.n_rows, sample=sample)


def _published_rows(
    benchmark: str, values_of: Callable[[Paper, Published], list[float | None]]
) -> list[Row]:
    """Return a row for each encoder of the papers on a benchmark that has one of the values."""
    rows = []
    for paper in PAPERS:
        for encoder, scores in paper.scores.items() if benchmark in paper.benchmarks else ():
            values = values_of(paper, scores)
            if any(value is not None for value in values):
                name = Cell(f"{translated(encoder)}, {paper.paper}", marks=(layout.OTHERS,))
                rows.append(Row((name, *map(_published_cell, values)), "published"))
    return rows


def _published_cell(value: float | None) -> Cell:
    return Cell(NONE) if value is None else Cell(f"{value:.1f}", value=value / 100)


ALL_OTHERS = "all others"
"""In the place of a source: probes that are trained on all other datasets of the family."""


class Matrix(NamedTuple):
    """The scores of a family of datasets from a layer.

    ``untransferred``: of probes on the dataset that they are trained on; ``transferred``: source
    to target to the score of the source's probe.
    """

    results: Results
    layer: str
    task: str
    untransferred: list[Score]
    transferred: dict[str, dict[str, Score]]


def matrices(report: Report) -> list[Matrix]:
    """Return the matrices of all encoders, by family, then by layer."""
    found = []
    for results in report.inputs.encoders:
        families: dict[str, set[str]] = {}
        for transfer in results.transfers:
            target = transfer.score.dataset
            families.setdefault(target, {target}).update(transfer.sources)
        for family in sorted({tuple(sorted(names)) for names in families.values()}):
            found += [_matrix(results, family, layer) for layer in results.encoder["layers"]]
    return found


def _matrix(results: Results, family: Sequence[str], layer: str) -> Matrix:
    untransferred = [s for s in results.scores if s.dataset in family and s.layer == layer]
    transferred: dict[str, dict[str, Score]] = {}
    for sources, score in ((transfer.sources, transfer.score) for transfer in results.transfers):
        if score.dataset in family and score.layer == layer:
            source = sources[0] if len(sources) == 1 else ALL_OTHERS
            transferred.setdefault(source, {})[score.dataset] = score
    task = layout.spaced(untransferred[0].task)
    return Matrix(results, layer, task, untransferred, transferred)


def transfer(report: Report) -> list[Table]:
    """Return a table for each encoder and family, of the main layer."""
    main = [m for m in matrices(report) if m.layer == m.results.encoder["layer"]]
    tables = [_transfer_table(report, f"transfer-{i}", m) for i, m in enumerate(main)]
    return [*tables[:1], *(replace(table, about=()) for table in tables[1:])]


def _transfer_table(report: Report, name: str, matrix: Matrix) -> Table:
    def score_cell(target: Score, source: str) -> Cell:
        dataset = target.dataset
        score = matrix.transferred[source].get(dataset, target)
        marks = applicable_marks({layout.NOT_SHOWN: report.beats_baseline(score, dataset) < 1})
        detail = layout.bracketed(score.interval)
        cell = layout.percent_cell(score.value, detail, marks, strong=score is target)
        return mark_samples(report, {source, dataset}, cell)

    targets = matrix.untransferred
    majority = (layout.percent_cell(target.majority) for target in targets)
    return lay_out(
        "transfer",
        matrix.transferred,
        [Column("trained_on", translated), *columns_of(targets, score_cell, attrgetter("dataset"))],
        name=name,
        last=[Row((Cell(phrase("majority_row")), *majority))],
        task=matrix.task,
        encoder=matrix.results.name,
    )


def transfer_layers(report: Report) -> list[Table]:
    """Return the means over each family by layer, of encoders with several layers."""
    rows = [matrix for matrix in matrices(report) if len(matrix.results.encoder["layers"]) > 1]

    def mean(from_all: bool, matrix: Matrix) -> float | None:
        scores = [
            score.value
            for source, by_target in matrix.transferred.items()
            if (source == ALL_OTHERS) == from_all
            for score in by_target.values()
        ]
        return fmean(scores) if scores else None

    columns = [
        Column("encoder", lambda matrix: matrix.results.name),
        Column("task", lambda matrix: matrix.task),
        Column("layer", lambda matrix: matrix.layer),
        Column("itself", lambda matrix: fmean(score.value for score in matrix.untransferred)),
        Column("another", partial(mean, False)),
        Column("all_others", partial(mean, True)),
    ]
    return [lay_out("transfer-layers", rows, columns, texts=3)] if rows else []
