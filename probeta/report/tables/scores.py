"""Scores of probes on each dataset, laid out as Tables 3 to 5 of Araujo et al. (2022)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product

from builders.audit_report import detectable_of
from builders.tasks.groups import SIMILARITIES, Group
from corpora_recipes.records import SPLITS
from evaluation.probing.protocols import PROTOCOLS
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.results.comparison import ALL_PAIRS_LIMIT
from evaluation.results.probes import Score
from probeta.report import layout
from probeta.report.averages import Average
from probeta.report.inputs import Inputs
from probeta.report.layout import NONE, Cell, Column, Content, Table, columns_of
from probeta.report.tables.marks import (
    by_dataset,
    compared,
    given,
    group_cell,
    notes_of,
    sampled,
    scored_dataset_cell,
)
from probeta.report.tables.papers import published_ranges, published_scores
from probeta.report.texts import all_texts, phrase, translated


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
    return compared(inputs, [dataset], cells, dataset, beating)


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
    return layout.counted(score.asked, detail=folds)


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} {phrase('folds', folds=score.folds)}"
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
