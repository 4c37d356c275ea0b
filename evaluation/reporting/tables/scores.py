"""Scores of probes on each dataset, laid out as Tables 3 to 5 of Araujo et al. (2022)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product

from builders.tasks.groups import SS, Group
from corpora_recipes.records import SPLITS
from evaluation.probing.ablations import ABLATIONS
from evaluation.probing.protocols import PROTOCOLS
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Column,
    Content,
    Table,
    bracketed,
    columns_of,
    headings,
    named,
    paragraphs,
    percent,
    percent_cell,
    rows_of,
    spaced,
    titled,
    unused_name,
)
from evaluation.reporting.notes import NOT_SHOWN, OTHERS, SAMPLE, TIED, notes_of
from evaluation.reporting.tables.marks import (
    BOLD,
    by_dataset,
    compared,
    group_cell,
    sampled,
    scored_dataset_cell,
)
from evaluation.reporting.tables.papers import published_ranges, published_scores
from evaluation.results.probes import Score

OF_SCALE = (
    "This protocol does not standardise features, so that probe scores depend on the scale of the "
    "embeddings."
)
OF_MODELS = (
    "Language models, asked in lm-evaluation-harness without a probe: {}. Their answers are the "
    "likeliest of the choices."
)


def introduction(inputs: Inputs) -> tuple[str, ...]:
    """Return the paragraphs that explain how to read the scores."""
    first = inputs.encoders[0]
    intervals, protocol = first.intervals, inputs.protocol
    options = "".join(
        f", {spaced(str(key))} {spaced(str(value))}"
        for key, value in protocol.items()
        if key not in ("name", "version")
    )
    scores = chain.from_iterable(scores.values() for scores in inputs.datasets.values())
    random = any(score.deviation is not None for score in scores)
    models = OF_MODELS.format(", ".join(inputs.asked))
    bold = f" {BOLD.format('encoder on each dataset or average')}"
    return paragraphs(
        "introduction",
        {
            **intervals,
            **protocol,
            "coverage": 100 * intervals["coverage"],
            "random": ", after ± the standard deviation over random starts" if random else "",
            "options": options,
            "seed": first.seed,
            "of_scale": f" {OF_SCALE}" if depends_on_scale(inputs) else "",
            "bold": bold if len(inputs.encoders) > 1 else "",
            "models": models if inputs.asked else "",
        },
    )


def group_tables(inputs: Inputs) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    return [
        _group_table(inputs, average.benchmark, average.group, average.datasets)
        for average in inputs.averages
        if average.group
    ]


def _group_table(inputs: Inputs, benchmark: str, group: Group, datasets: Sequence[str]) -> Table:
    facts: dict[str, Callable[[str], Content]] = {
        "Train / validation / test": lambda dataset: _sizes(inputs.any_score(dataset)),
        "Chance": lambda dataset: inputs.any_score(dataset).chance,
        "Majority": lambda dataset: inputs.any_score(dataset).majority,
        "Best trivial": partial(_best_trivial, inputs),
    }
    scores = {dataset: _scores(inputs, dataset) for dataset in datasets}
    columns = columns_of(
        datasets,
        lambda dataset, encoder: scores[dataset][encoder],
        partial(scored_dataset_cell, inputs),
    )
    baselines = columns_of(datasets, lambda dataset, fact: facts[fact](dataset))
    rows = (
        *rows_of(facts, [Column("", Cell), *baselines]),
        *rows_of(inputs.names, [Column("", named), *columns], "encoder"),
        *published_scores(inputs, benchmark, datasets),
    )
    name, title = group.abbreviation.lower(), f"{group.title} ({group.abbreviation})"
    if benchmark == OWN:
        name, title = f"own-{name}", f"{title}, {OWN}"
    table = Table(name, title, (Cell(""), *headings(columns)), rows)
    return replace(table, caption=(_caption(inputs, group, table),))


def _caption(inputs: Inputs, group: Group, table: Table) -> str:
    """Return a short explanation of a group's scores."""
    scores = chain.from_iterable(inputs.datasets[name].values() for name in inputs.groups[group])
    parts = [
        f"{metric_of([group])} on test",
        f"in brackets the {100 * inputs.encoders[0].intervals['coverage']:.0f} % interval",
    ]
    if any(score.deviation is not None for score in scores):
        parts.append("after ± the standard deviation over random starts")
    if len(inputs.names) > 1:
        parts.append("in bold the best of a dataset, if it is shown to beat chance")
    words = {
        TIED: "not distinguishable from the best",
        NOT_SHOWN: "not shown to beat a trivial baseline",
        SAMPLE: "a sample: do not report",
    }
    used = notes_of([table])
    parts += [f"{mark} {meaning}" for mark, meaning in words.items() if mark in used]
    return "; ".join(parts) + "."


def scores(inputs: Inputs) -> list[Table]:
    """Return all scores, one row per dataset, one table per benchmark."""
    tables: list[Table] = []
    for benchmark in inputs.benchmarks:
        about = () if tables else introduction(inputs)
        tables += _benchmark_scores(inputs, benchmark, about)
    return tables


def _benchmark_scores(inputs: Inputs, benchmark: str, about: Sequence[str]) -> list[Table]:
    datasets = [name for name in inputs.datasets if inputs.benchmark(name) == benchmark]
    scores = {dataset: _scores(inputs, dataset) for dataset in datasets}
    ranges = published_ranges(inputs, benchmark, datasets)
    papers = Column(Cell("Papers' encoders", marks=(OTHERS,)), ranges.get)
    columns = [
        Column("Group", lambda dataset: group_cell(inputs.group(dataset))),
        *columns_of(inputs.names, lambda encoder, dataset: scores[dataset][encoder]),
        Column("Best trivial", partial(_best_trivial, inputs)),
        Column("Majority", lambda dataset: inputs.any_score(dataset).majority),
        Column("Chance", lambda dataset: inputs.any_score(dataset).chance),
        *([papers] if ranges else ()),
        Column("Test rows", lambda dataset: _asked(inputs.any_score(dataset))),
    ]
    return by_dataset(
        inputs,
        "scores",
        columns,
        datasets,
        dataset=scored_dataset_cell,
        name=f"scores-{unused_name(benchmark, ())}",
        words={"benchmark": benchmark},
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
        cell = Cell(f"{percent(pearson)} / {percent(spearman)}", value=pearson)
        return sampled(inputs, [dataset], cell)

    subset = Column("Rows", lambda row: row[1].partition(", ")[2] or "all")
    columns = [subset, *columns_of(inputs.names, both)]
    return by_dataset(inputs, "correlations", columns, rows)


def baselines(inputs: Inputs) -> list[Table]:
    """Return all trivial baselines."""
    columns = columns_of(
        dict.fromkeys(chain.from_iterable(inputs.baselines.values())),
        lambda baseline, dataset: inputs.baselines[dataset].get(baseline),
        titled,
    )
    return by_dataset(inputs, "baselines", columns)


def metric_of(groups: Iterable[Group]) -> str:
    """Return what the scores of groups of tasks measure, in words."""
    correlation = "Pearson's correlation × 100"
    measured = set(groups)
    if measured == {SS}:
        return correlation
    return "Accuracy in per cent" + (f", of SS {correlation}," if SS in measured else "")


def depends_on_scale(inputs: Inputs) -> bool:
    """Return whether a change of the embeddings' scale may change the scores."""
    protocol = PROTOCOLS.get(inputs.protocol["name"])
    return protocol is not None and protocol.scale_matters


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
    spread = "" if score.deviation is None else f" ± {percent(score.deviation)}"
    return Cell(
        percent(score.value) + spread,
        bracketed(score.interval),
        () if score.interval[0] > trivial else (NOT_SHOWN,),
        score.value,
        strip=(*score.interval, trivial),
    )


def _best_trivial(inputs: Inputs, dataset: str) -> Cell:
    name, value = inputs.best_trivial(dataset)
    return percent_cell(value, detail=f"({spaced(name)})")


def _asked(score: Score) -> Cell:
    folds = f"in {score.folds} folds" if score.folds else ""
    return Cell(f"{score.asked:,}", folds, value=score.asked)


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} in {score.folds} folds"
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

    columns = columns_of(product(inputs.names, ("", ": ablated")), share, "".join)
    return by_dataset(inputs, "ablations", [Column("Ablation", ablated.get), *columns], ablated)
