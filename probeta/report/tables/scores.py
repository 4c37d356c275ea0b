"""Probes on datasets that they were not trained on: a matrix for each encoder and family.

Scores of papers beside ours, why some are not shown, and what differs from the papers.

What stands first: what was measured, warnings, which encoder is best, and the averages.

Scores of probes on each dataset, laid out as Tables 3 to 5 of Araujo et al. (2022).
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
from builders.tasks.benchmarks import DIFFERENCES, SIMILARITIES, Group, differences_of
from corpora_recipes.records import SPLITS
from corpora_recipes.running.outputs import LEFT_OUT
from evaluation.probing.protocols import PROTOCOLS
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.results.comparison import ALL_PAIRS_LIMIT, tied_with
from evaluation.results.scores import RankScore, Results, Score
from probeta.report import layout
from probeta.report.inputs import Inputs
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
    percent,
)
from probeta.report.statistics import Average
from probeta.report.tables import (
    PAPERS,
    PEOPLE,
    Paper,
    Published,
    by_dataset,
    given,
    group_cell,
    mark_best,
    mean_cell,
    notes_of,
    people_mean,
    sampled,
    scored_dataset_cell,
    trivial_row,
)
from probeta.report.texts import all_texts, phrase, translated


def published_means(inputs: Inputs, averages: Sequence[Average]) -> list[Row]:
    """Return a row for each encoder of the papers with one of these averages, of one benchmark.

    Its first cell names it.
    """

    def mean(paper: Paper, scores: Published, average: Average) -> float | None:
        if average.group is None or average.missing or average.too_small:
            return None
        if any(_why_not(inputs, paper, name) for name in average.datasets):
            return None
        # The mean that a paper states is over datasets that are withdrawn since then, too.
        if average.group.abbreviation in scores and not average.withdrawn:
            return scores[average.group.abbreviation]
        known = [scores[name] for name in average.datasets if name in scores]
        return fmean(known) if len(known) == len(average.datasets) else None

    return _rows(
        averages[0].benchmark,
        lambda paper, scores: [mean(paper, scores, each) for each in averages],
    )


def published_scores(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row for each encoder of the papers that has a score on one of the datasets."""
    return _rows(
        benchmark,
        lambda paper, scores: [
            None if _why_not(inputs, paper, name) else scores.get(name) for name in datasets
        ],
    )


def published_ranks(
    inputs: Inputs, ranked: RankScore, columns: Sequence[tuple[str, str]]
) -> list[Row]:
    """Return a row for each encoder of the papers that was ranked on a dataset.

    ``columns`` are measures and similarities; papers report by cosine.
    """
    name, sample = ranked.dataset, ranked.dataset in inputs.samples

    def values(paper: Paper, scores: Published) -> list[float | None]:
        if paper.why_not(name, ranked.task, ranked.pairs, sample=sample):
            return [None]
        return [scores.get(f"{name} {m}") if by == "cosine" else None for m, by in columns]

    return _rows(inputs.benchmark(name), values)


def published_ranges(inputs: Inputs, benchmark: str, datasets: Sequence[str]) -> list[Column]:
    """Return a column for each paper: dataset to its encoders' lowest and highest score."""

    def span(paper: Paper, dataset: str) -> Cell | None:
        encoders = [scores for name, scores in paper.scores.items() if name != PEOPLE]
        values = [scores[dataset] for scores in encoders if dataset in scores]
        if not values or _why_not(inputs, paper, dataset):
            return None
        return Cell(f"{min(values):.1f} … {max(values):.1f}", value=max(values) / 100)

    papers = [
        paper
        for paper in PAPERS
        if benchmark in paper.benchmarks and any(span(paper, name) for name in datasets)
    ]
    return columns_of(papers, span, lambda paper: Cell(paper.paper, marks=(layout.OTHERS,)))


def papers(inputs: Inputs) -> list[Table]:
    """Return whether each paper's scores on a dataset stand beside those here, or why not."""
    rows = [
        (dataset, paper)
        for dataset in inputs.datasets
        for paper in PAPERS
        if inputs.benchmark(dataset) in paper.benchmarks and dataset in paper.rows
    ]
    columns = [
        Column("paper", lambda row: row[1].paper),
        Column("beside_ours", lambda row: _why_not(inputs, row[1], row[0]) or phrase("beside")),
        Column("rows_here", lambda row: layout.counted(inputs.any_score(row[0]).n_rows)),
        Column("rows_there", lambda row: layout.counted(row[1].rows[row[0]])),
    ]
    return by_dataset(inputs, "papers", columns, rows, texts=3)


def differs(inputs: Inputs) -> list[Table]:
    """Return how the probes and the datasets here depart from those of their papers, and why."""
    known: dict[str, dict[str, None]] = {}
    if said := DIFFERENCES["protocols"].get(inputs.protocol["name"]):
        known[said] = {phrase("protocol", name=inputs.protocol["name"]): None}
    for name, task in _tasks(inputs):
        for text in differences_of(name, task, str(inputs.audit[name].get("benchmark", ""))):
            known.setdefault(text, {})[name] = None
    columns = [
        Column("differs_of", lambda text: ", ".join(known[text])),
        Column("differs", lambda text: Cell(text, english=True)),
    ]
    return [lay_out("differs", known, columns, texts=2)] if known else []


def _tasks(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Yield the name and the task of all datasets."""
    for name in inputs.datasets:
        yield name, inputs.any_score(name).task
    yield from dict.fromkeys((s.dataset, s.task) for each in inputs.rankings for s in each.scores)
    yield from dict.fromkeys(
        (s.dataset, "paradigms") for each in inputs.paradigms for s in each.scores
    )


def _why_not(inputs: Inputs, paper: Paper, dataset: str) -> str:
    """Return why a paper's scores on a probed dataset cannot stand beside those here, or ""."""
    score, sample = inputs.any_score(dataset), dataset in inputs.samples
    return paper.why_not(dataset, score.task, score.n_rows, sample=sample)


def _rows(benchmark: str, values_of: Callable[[Paper, Published], list[float | None]]) -> list[Row]:
    """Return a row for each encoder of the papers on a benchmark that has one of the values."""
    rows = []
    for paper in PAPERS:
        for encoder, scores in paper.scores.items() if benchmark in paper.benchmarks else ():
            values = values_of(paper, scores)
            if any(value is not None for value in values):
                name = Cell(f"{translated(encoder)}, {paper.paper}", marks=(layout.OTHERS,))
                cells = (
                    Cell(NONE) if v is None else Cell(f"{v:.1f}", value=v / 100) for v in values
                )
                rows.append(Row((name, *cells), "published"))
    return rows


# Most names that a sentence lists, if there are two others or more.
LISTED = 3
# Most characters of a fault that the warning quotes.
LONGEST = 80


def facts(inputs: Inputs) -> dict[str, str]:
    """Return what was measured: what is counted or named, to its number or name."""
    rows = sum(inputs.any_score(name).n_rows for name in inputs.datasets)
    real = inputs.datasets.keys() - inputs.samples
    data = "both_data" if real and inputs.samples else "real_data" if real else "sample_data"
    return {
        phrase("fact_encoders"): f"{len(inputs.names):,}",
        phrase("fact_benchmarks"): f"{len(inputs.wholes):,}",
        phrase("fact_datasets"): f"{len(inputs.datasets):,}",
        phrase("fact_rows"): f"{rows:,}",
        phrase("fact_protocol"): inputs.protocol["name"],
        phrase("fact_data"): phrase(data),
    }


def warnings(inputs: Inputs) -> dict[str, str]:
    """Return what must be known before any score is read, in a line, to what more there is to say.

    Of samples, of datasets that are missing, and of what was left out for a fault.
    """
    found, missing = {}, inputs.report.get("missing", {})
    if inputs.samples:
        samples, total = len(inputs.samples), len(inputs.groups)
        which = phrase("some_of", count=samples, all=total)
        which = phrase("all_of", all=total) if samples == total else which
        found[phrase("samples", which=which)] = phrase("more_samples", mark=layout.SAMPLE)
    # An audit of instances, which is not that of a package, has none.
    if missing:
        how = " ".join(dict.fromkeys(missing.values()))
        more = phrase("more_incomplete", names=", ".join(missing), how=how)
        found[phrase("incomplete", names=_some([*missing]))] = more
    if inputs.left_out:
        faults = (f"{name} ({_in_short(why)})" for name, why in inputs.left_out.items())
        more = phrase("more_left_out", faults=", ".join(faults), folder=LEFT_OUT)
        found[phrase("left_out", names=_some([*inputs.left_out]))] = more
    return found


def _in_short(why: str) -> str:
    """Return what was found, of the message of an error; of another text its first line."""
    found = re.search(r"^ *found: *(.*)", why, re.MULTILINE)
    text = found[1] if found else why.partition("\n")[0]
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _some(names: list[str]) -> str:
    """Return some names in words: a few of them, and how many others there are."""
    others = len(names) - LISTED
    if others < 2:
        return ", ".join(names)
    return phrase("others", names=", ".join(names[:LISTED]), others=others)


def answers(inputs: Inputs) -> dict[str, str]:
    """Return benchmark to which encoder is best on it, and whether that is shown.

    Without those that have samples, which cannot bear an answer.
    """
    return {
        name: _answer(inputs, average)
        for name, average in inputs.wholes.items()
        if inputs.samples.isdisjoint(average.datasets)
    }


def _answer(inputs: Inputs, average: Average) -> str:
    means = inputs.means(average.datasets)
    if not means:
        return phrase("nobody" if average.datasets else "all_too_small")
    best, *others = means
    (low, high), trivial = means[best].interval, inputs.trivial(*average.datasets)
    beats = "it_beats" if low > trivial else "it_is_below" if high < trivial else "it_may_beat"
    words = {"best": best, "mean": percent(means[best].value)}
    words["beats"] = phrase(beats, best=best, trivial=percent(trivial))
    if not others:
        return phrase("only", **words)
    tied = others[0] in tied_with(best, average.name, inputs.differences)
    words |= {"next": others[0], "of_next": percent(means[others[0]].value)}
    return phrase("best_mean", test=phrase("tied" if tied else "distinct"), **words)


def averages(inputs: Inputs) -> list[Table]:
    """Return the averages of each benchmark, and those over the user's own datasets."""
    return [_averages(inputs, name) for name, whole in inputs.wholes.items() if whole.datasets]


def _averages(inputs: Inputs, benchmark: str) -> Table:
    of_benchmark = (each for each in inputs.averages if each.benchmark == benchmark)
    *groups, whole = (average for average in of_benchmark if average.datasets)
    averages = [whole, *groups]
    name = layout.unused_name(benchmark)

    def heading(average: Average) -> Cell:
        group = f"?scores-{name}.group={average.group.abbreviation}" if average.group else ""
        link = f"#scores-{name}-title{group}"
        if len(inputs.names) > ALL_PAIRS_LIMIT:
            link = f"#{layout.unused_name(average.name)}-title" if average.group else ""
        return Cell(average.heading, title=average.title, link=link)

    means = {average.name: _means(inputs, average) for average in averages}
    people = [people_mean(inputs, average.datasets) for average in averages]
    titles = [average.group for average in groups if average.group]
    values = columns_of(averages, lambda average, encoder: means[average.name][encoder], heading)
    return layout.lay_out(
        "averages",
        dict.fromkeys([*inputs.means(whole.datasets), *inputs.names]),
        [Column("encoder", Cell), *values],
        name=f"averages-{name}",
        more=_not_averaged(inputs, whole),
        kind="encoder",
        last=[
            *published_means(inputs, averages),
            trivial_row(inputs, (average.datasets for average in averages)),
            *([Row((Cell(phrase("people_row")), *map(cell_of, people)))] if any(people) else []),
        ],
        benchmark=translated(benchmark),
        groups=", ".join(
            f"{group.abbreviation} {translated(group.title).lower()}" for group in titles
        ),
        bold=about_bold(inputs.names, phrase("encoder_of_column")),
        missing=phrase("missing", names=", ".join(whole.missing)) if whole.missing else "",
        metric=metric_of(titles),
        protocol=inputs.protocol["name"],
        of_scale=about_scale(inputs),
    )


def _not_averaged(inputs: Inputs, whole: Average) -> list[str]:
    """Return paragraphs on datasets that are too small, withdrawn, or that encoders lack."""
    small = [phrase("too_small", names=", ".join(whole.too_small))] if whole.too_small else []
    withdrawn = [phrase("withdrawn", name=name, why=why) for name, why in whole.withdrawn.items()]
    lacking = {
        name: ", ".join(each for each in whole.datasets if name not in inputs.datasets[each])
        for name in inputs.names
    }
    return (
        small + withdrawn + [phrase("lacks", name=n, datasets=d) for n, d in lacking.items() if d]
    )


def _means(inputs: Inputs, average: Average) -> dict[str, Cell]:
    """Return encoder to the cell of its mean over the datasets of an average."""
    blind, trivial = inputs.blind(*average.datasets), inputs.trivial(*average.datasets)
    means = {name: inputs.mean(average.datasets, name) for name in inputs.names}
    cells = {name: mean_cell(mean, trivial) for name, mean in means.items()}
    beating = {name for name, mean in means.items() if mean and mean.interval[0] > blind}
    return mark_best(inputs, average.datasets, cells, average.name, beating)


def introduction(inputs: Inputs) -> tuple[str, ...]:
    """Return the paragraphs that explain how to read the scores."""
    first, protocol = inputs.encoders[0], inputs.protocol
    options = {name: value for name, value in protocol.items() if name not in ("name", "version")}
    models = [results.name for results in inputs.encoders if not results.probed]
    random = _random(chain.from_iterable(scores.values() for scores in inputs.datasets.values()))
    return layout.paragraphs(
        "introduction",
        **{**first.intervals, **protocol, "coverage": 100 * first.intervals["coverage"]},
        random=f", {phrase('random')}" if random else "",
        options="".join(layout.spaced(f", {name} {value}") for name, value in options.items()),
        seed=first.seed,
        of_scale=f" {of_scale}" if (of_scale := about_scale(inputs)) else "",
        bold=about_bold(inputs.names, phrase("encoder_of_all")),
        people=phrase("people") if inputs.people else "",
        models=phrase("models", names=", ".join(models)) if models else "",
    )


def group_tables(inputs: Inputs) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    groups = ((average, average.group) for average in inputs.averages)
    return [_group_table(inputs, average, group) for average, group in groups if group]


def _group_table(inputs: Inputs, average: Average, group: Group) -> Table:
    facts: dict[str, Callable[[str], Content]] = {
        phrase("sizes"): lambda dataset: _sizes(inputs.any_score(dataset)),
        phrase("chance"): lambda dataset: inputs.any_score(dataset).chance,
        phrase("majority"): lambda dataset: inputs.any_score(dataset).majority,
        phrase("best_trivial"): partial(_best_trivial, inputs),
    }
    datasets = (*average.datasets, *average.too_small)
    if inputs.people.keys() & {*datasets}:
        facts[phrase("people_column")] = partial(_people, inputs)
    scores = {dataset: _scores(inputs, dataset) for dataset in datasets}
    baselines = columns_of(scores, lambda dataset, fact: facts[fact](dataset))
    heading = partial(scored_dataset_cell, inputs)
    columns = columns_of(scores, lambda dataset, encoder: scores[dataset][encoder], heading)
    table = layout.lay_out(
        "group",
        inputs.names,
        [Column(Cell(""), layout.named), *columns],
        name=layout.unused_name(average.name),
        kind="encoder",
        last=published_scores(inputs, average.benchmark, datasets),
        title=f"{translated(group.title)} ({group.abbreviation}), {translated(average.benchmark)}",
    )
    rows = (*layout.rows_of(facts, [Column(Cell(""), Cell), *baselines]), *table.rows)
    table = replace(table, rows=rows)
    return replace(table, caption=(_caption(inputs, group, table),))


def _caption(inputs: Inputs, group: Group, table: Table) -> str:
    """Return a short explanation of a group's scores."""
    scores = (inputs.datasets[n].values() for n in inputs.datasets if inputs.groups[n] == group)
    used = notes_of([table])
    parts = [
        phrase("on_test", metric=metric_of([group])),
        phrase("interval", coverage=100 * inputs.encoders[0].intervals["coverage"]),
        *([phrase("random")] if _random(chain.from_iterable(scores)) else []),
        *([phrase("best")] if len(inputs.names) > 1 else []),
        *(f"{mark} {note}" for mark, note in all_texts()["brief"].items() if mark in used),
    ]
    return "; ".join(parts) + "."


def scores(inputs: Inputs) -> list[Table]:
    """Return all scores, one row per dataset, one table per benchmark.

    Of many encoders, they are the rows, with a table per group of tasks.
    """
    if len(inputs.names) > ALL_PAIRS_LIMIT:
        first, *others = group_tables(inputs)
        return [replace(first, about=(*introduction(inputs), *first.about)), *others]
    tables: list[Table] = []
    for benchmark, average in inputs.wholes.items():
        about = () if tables else introduction(inputs)
        datasets = (*average.datasets, *average.too_small)
        tables += _benchmark_scores(inputs, benchmark, datasets, about)
    return tables


def _benchmark_scores(
    inputs: Inputs, benchmark: str, datasets: Sequence[str], about: Sequence[str]
) -> list[Table]:
    scores = {dataset: _scores(inputs, dataset) for dataset in datasets}
    people = Column("people_column", partial(_people, inputs))
    columns = [
        Column("group", lambda dataset: group_cell(inputs.groups[dataset])),
        *columns_of(inputs.names, lambda encoder, dataset: scores[dataset][encoder]),
        Column("best_trivial", partial(_best_trivial, inputs)),
        Column("majority", lambda dataset: inputs.any_score(dataset).majority),
        Column("chance", lambda dataset: inputs.any_score(dataset).chance),
        *([people] if inputs.people.keys() & {*datasets} else []),
        *published_ranges(inputs, benchmark, datasets),
        Column("detectable", lambda dataset: detectable_of(inputs.audit[dataset])),
        Column("test_rows", lambda dataset: _asked(inputs.any_score(dataset))),
    ]
    return by_dataset(
        inputs,
        "scores",
        columns,
        datasets,
        dataset=scored_dataset_cell,
        texts=2,
        name=f"scores-{layout.unused_name(benchmark)}",
        benchmark=translated(benchmark),
        more=about,
    )


def correlations(inputs: Inputs) -> list[Table]:
    """Return all correlations, pooled and by subset."""
    rows = []
    for dataset in inputs.datasets:
        names = [n for n in inputs.any_score(dataset).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        rows += [(dataset, name) for name in (names if len(names) > 2 else names[:1])]

    def both(encoder: str, row: tuple[str, str]) -> Cell | None:
        dataset, name = row
        score = inputs.datasets[dataset].get(encoder)
        if score is None:
            return None
        pearson = score.measures[name]
        spearman = score.measures[name.replace("pearson", "spearman")]
        cell = Cell(f"{layout.percent(pearson)} / {layout.percent(spearman)}", value=pearson)
        return sampled(inputs, [dataset], cell)

    subset = Column("rows", lambda row: row[1].partition(", ")[2] or phrase("all"))
    columns = [subset, *columns_of(inputs.names, both)]
    return by_dataset(inputs, "correlations", columns, rows, texts=2)


def baselines(inputs: Inputs) -> list[Table]:
    """Return all trivial baselines."""
    columns = columns_of(
        dict.fromkeys(chain.from_iterable(inputs.baselines.values())),
        lambda baseline, dataset: inputs.baselines[dataset].get(baseline),
        lambda name: layout.spaced(name).capitalize(),
    )
    return by_dataset(inputs, "baselines", columns)


def metric_of(groups: Iterable[Group]) -> str:
    """Return what the scores of groups of tasks measure, in words."""
    correlated = {group in SIMILARITIES for group in groups}
    if correlated == {True}:
        return phrase("correlation")
    return phrase("accuracy_or_correlation" if True in correlated else "accuracy")


def about_scale(inputs: Inputs) -> str:
    """Return a warning if a change of the embeddings' scale may change the scores."""
    protocol = PROTOCOLS.get(inputs.protocol["name"])
    return phrase("of_scale") if protocol and protocol.scale_matters else ""


def about_bold(encoders: Sequence[str], of: str) -> str:
    """Return an explanation of what ``compared`` marks, if there is something to compare."""
    return f" {phrase('bold', of=of)}" if len(encoders) > 1 else ""


def _random(scores: Iterable[Score]) -> bool:
    return any(score.deviation is not None for score in scores)


def _scores(inputs: Inputs, dataset: str) -> dict[str, Cell]:
    """Return encoder to the cell of its score on a dataset."""
    scores, trivial = inputs.datasets[dataset], inputs.trivial(dataset)
    cells = {
        name: _score(scores[name], trivial) if name in scores else Cell(NONE)
        for name in inputs.names
    }
    blind = inputs.blind(dataset)
    beating = {name for name, score in scores.items() if score.interval[0] > blind}
    return mark_best(inputs, [dataset], cells, dataset, beating)


def _score(score: Score, trivial: float) -> Cell:
    spread = "" if score.deviation is None else f" ± {layout.percent(score.deviation)}"
    return Cell(
        layout.percent(score.value) + spread,
        layout.bracketed(score.interval),
        given({layout.NOT_SHOWN: score.interval[0] <= trivial}),
        score.value,
        strip=(*score.interval, trivial),
    )


def _best_trivial(inputs: Inputs, dataset: str) -> Cell:
    name, value = inputs.best_trivial(dataset)
    return layout.percent_cell(value, detail=f"({layout.spaced(name)})")


def _people(inputs: Inputs, dataset: str) -> Cell | None:
    if (found := inputs.people.get(dataset)) is None:
        return None
    rows = phrase("rows_of_people", people=len(found.accuracies), rows=found.rows)
    return layout.percent_cell(found.value, f"{layout.bracketed(found.interval)} ({rows})")


def _asked(score: Score) -> Cell:
    folds = phrase("folds", folds=score.folds) if score.folds else ""
    return layout.counted(score.n_rows, detail=folds)


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.n_rows:,} {phrase('folds', folds=score.folds)}"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)


def ablations(inputs: Inputs) -> list[Table]:
    """Return the ablations of the encoders that were probed with them."""
    ablated = {
        dataset: ablation.name
        for dataset, scores in inputs.datasets.items()
        if (ablation := ABLATIONS.get(inputs.any_score(dataset).task))
        and any(ablation.name in score.measures for score in scores.values())
    }

    def share(column: tuple[str, str], dataset: str) -> float | None:
        encoder, simpler = column
        score = inputs.datasets[dataset].get(encoder)
        if score is None:
            return None
        return score.measures.get(ablated[dataset]) if simpler else score.value

    columns = columns_of(product(inputs.names, ("", f": {phrase('ablated')}")), share, "".join)
    columns = [Column("ablation", lambda name: translated(ablated[name])), *columns]
    return by_dataset(inputs, "ablations", columns, ablated, texts=2)


ALL_OTHERS = "all others"


class Matrix(NamedTuple):
    """A family's scores from a layer: of own probes; of others by source and by target."""

    results: Results
    layer: str
    task: str
    usual: list[Score]
    others: dict[str, dict[str, Score]]


def _matrices(inputs: Inputs) -> list[Matrix]:
    """Return the matrices of all encoders, by family, then by layer."""
    found = []
    for results in inputs.encoders:
        families: dict[str, set[str]] = {}
        for each in results.transfers:
            target = each.score.dataset
            families.setdefault(target, {target}).update(each.sources)
        for family in sorted({tuple(sorted(names)) for names in families.values()}):
            for layer in results.encoder["layers"]:
                usual = [s for s in results.scores if s.dataset in family and s.layer == layer]
                others: dict[str, dict[str, Score]] = {}
                for sources, score in ((each.sources, each.score) for each in results.transfers):
                    if score.dataset in family and score.layer == layer:
                        source = sources[0] if len(sources) == 1 else ALL_OTHERS
                        others.setdefault(source, {})[score.dataset] = score
                found.append(Matrix(results, layer, layout.spaced(usual[0].task), usual, others))
    return found


def transfer(inputs: Inputs) -> list[Table]:
    """Return a table for each encoder and family, of the main layer."""
    found = [each for each in _matrices(inputs) if each.layer == each.results.encoder["layer"]]
    tables = [_table(inputs, f"transfer-{at}", matrix) for at, matrix in enumerate(found)]
    return [*tables[:1], *(replace(table, about=()) for table in tables[1:])]


def _table(inputs: Inputs, name: str, matrix: Matrix) -> Table:
    def cell(usual: Score, source: str) -> Cell:
        score = matrix.others[source].get(usual.dataset, usual)
        majority = usual.majority or 0.0
        kept = (
            (score.value - majority) / (usual.value - majority) if usual.value > majority else None
        )
        marks = given({layout.NOT_SHOWN: score.interval[0] <= inputs.trivial(usual.dataset)})
        detail = layout.bracketed(score.interval)
        shown = layout.percent_cell(score.value, detail, marks, strong=score is usual)
        return sampled(inputs, {source, usual.dataset}, replace(shown, shade=kept))

    dataset = attrgetter("dataset")
    majority = (layout.percent_cell(usual.majority) for usual in matrix.usual)
    return lay_out(
        "transfer",
        matrix.others,
        [Column("trained_on", translated), *columns_of(matrix.usual, cell, dataset)],
        name=name,
        last=[Row((Cell(phrase("majority_row")), *majority))],
        task=matrix.task,
        encoder=matrix.results.name,
    )


def transfer_layers(inputs: Inputs) -> list[Table]:
    """Return the means over each family by layer, of encoders with several layers."""
    rows = [each for each in _matrices(inputs) if len(each.results.encoder["layers"]) > 1]

    def mean(of_all: bool, matrix: Matrix) -> float | None:
        chosen = [of for source, of in matrix.others.items() if (source == ALL_OTHERS) == of_all]
        return fmean(each.value for of in chosen for each in of.values()) if chosen else None

    columns = [
        Column("encoder", lambda matrix: matrix.results.name),
        Column("task", lambda matrix: matrix.task),
        Column("layer", lambda matrix: matrix.layer),
        Column("itself", lambda matrix: fmean(usual.value for usual in matrix.usual)),
        Column("another", partial(mean, False)),
        Column("all_others", partial(mean, True)),
    ]
    return [lay_out("transfer-layers", rows, columns, texts=3)] if rows else []
