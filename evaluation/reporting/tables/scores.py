"""Scores of probes on each dataset, laid out as Tables 3 to 5 of Araujo et al. (2022)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from builders.tasks import TASKS
from builders.tasks.groups import SS, Group
from corpora_recipes.records import SPLITS
from evaluation.probing.protocols import PROTOCOLS
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Row,
    Table,
    bracketed,
    headings,
    named,
    percent,
    percent_cell,
    spaced,
    titled,
    unused_name,
)
from evaluation.reporting.notes import NOT_SHOWN, OTHERS, SAMPLE, TIED, notes_of
from evaluation.reporting.tables.marks import (
    BOLD,
    best_marked,
    dataset_cell,
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


def introduction(inputs: Inputs) -> list[str]:
    """Return the paragraphs that explain how to read the scores."""
    first = inputs.encoders[0]
    intervals = first.intervals
    options = "".join(
        f", {spaced(str(key))} {spaced(str(value))}"
        for key, value in inputs.protocol.items()
        if key not in ("name", "version")
    )
    random = any(
        score.deviation is not None for own in inputs.datasets.values() for score in own.values()
    )
    return [
        "Test accuracy in per cent; for semantic similarity, Pearson's correlation × 100. In "
        f"brackets the {100 * intervals['coverage']:.0f} % interval ({intervals['method']} over "
        "the test documents, or over the test rows if there are fewer than "
        f"{intervals['least_documents']} documents)"
        + (", after ± the standard deviation over random starts" if random else "")
        + ". Majority is the accuracy of always predicting the most frequent class of train; Best "
        "trivial is the best of the other baselines below. Probe protocol "
        f"{inputs.protocol['name']}, version {inputs.protocol['version']}{options}; seed "
        f"{first.seed}." + (f" {OF_SCALE}" if depends_on_scale(inputs) else ""),
        "In a dataset with folds, each fold is the test once and all rows are scored together; "
        "Majority and the baselines are fitted per fold too. Similarity is the cosine of two "
        "embeddings and needs no probe; all other tasks are probed."
        + (
            f" {BOLD.format('encoder on each dataset or average')}"
            if len(inputs.encoders) > 1
            else ""
        ),
        *[OF_MODELS.format(", ".join(inputs.asked))] * bool(inputs.asked),
    ]


def group_tables(inputs: Inputs) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    return [
        _group_table(inputs, own.benchmark, own.group, own.datasets)
        for own in inputs.averages
        if own.group
    ]


def _group_table(inputs: Inputs, benchmark: str, group: Group, datasets: Sequence[str]) -> Table:
    any_score = [inputs.any_score(name) for name in datasets]
    trivial = [inputs.best_trivial(name) for name in datasets]
    facts: dict[str, Iterable[Cell]] = {
        "Train / validation / test": (Cell(_sizes(score)) for score in any_score),
        "Chance": (percent_cell(score.chance) for score in any_score),
        "Majority": (percent_cell(score.majority) for score in any_score),
        "Best trivial": (percent_cell(value, detail=f"({spaced(n)})") for n, value in trivial),
    }
    rows = [Row((Cell(name), *cells)) for name, cells in facts.items()]
    columns = [_scores(inputs, dataset) for dataset in datasets]
    rows += [
        Row((named(name), *(column[name] for column in columns)), "encoder")
        for name in inputs.names
    ]
    rows += published_scores(inputs, benchmark, datasets)
    header = (Cell(""), *(scored_dataset_cell(inputs, name) for name in datasets))
    own = benchmark == OWN
    title = f"{group.title} ({group.abbreviation})" + f", {OWN}" * own
    table = Table("own-" * own + group.abbreviation.lower(), title, header, tuple(rows))
    return replace(table, caption=(_caption(inputs, group, table),))


def _caption(inputs: Inputs, group: Group, table: Table) -> str:
    """Return a short explanation of a group's scores."""
    own = chain.from_iterable(inputs.datasets[name].values() for name in inputs.groups[group])
    parts = [
        f"{metric_of([group])} on test",
        f"in brackets the {100 * inputs.encoders[0].intervals['coverage']:.0f} % interval",
    ]
    if any(score.deviation is not None for score in own):
        parts.append("after ± the standard deviation over random starts")
    if len(inputs.names) > 1:
        parts.append("in bold the best of a dataset, if it is shown to beat chance")
    parts += [
        f"{mark} {said}"
        for mark, said in (
            (TIED, "not distinguishable from the best"),
            (NOT_SHOWN, "not shown to beat a trivial baseline"),
            (SAMPLE, "a sample: do not report"),
        )
        if mark in notes_of([table])
    ]
    return "; ".join(parts) + "."


def scores(inputs: Inputs) -> list[Table]:
    """Return all scores, one row per dataset, one table per benchmark."""
    found: list[Table] = []
    for benchmark in dict.fromkeys(average.benchmark for average in inputs.averages):
        about = () if found else tuple(introduction(inputs))
        found.append(_benchmark_scores(inputs, benchmark, about))
    return found


def _benchmark_scores(inputs: Inputs, benchmark: str, about: tuple[str, ...]) -> Table:
    datasets = [name for name in inputs.datasets if inputs.benchmark(name) == benchmark]
    ranges = published_ranges(inputs, benchmark, datasets)
    rows = []
    for place, name in enumerate(datasets):
        score, (what, value) = inputs.any_score(name), inputs.best_trivial(name)
        group = TASKS[score.task].group
        folds = f"in {score.folds} folds" if score.folds else ""
        cells = (
            scored_dataset_cell(inputs, name),
            group_cell(group),
            *_scores(inputs, name).values(),
            percent_cell(value, detail=f"({spaced(what)})"),
            percent_cell(score.majority),
            percent_cell(score.chance),
            *ranges[place : place + 1],
            Cell(f"{score.asked:,}", folds, value=score.asked),
        )
        rows.append(Row(cells, group=group.abbreviation))
    header = (
        *headings("Dataset", "Group", *inputs.names, "Best trivial", "Majority", "Chance"),
        *([Cell("Papers' encoders", marks=(OTHERS,))] if ranges else ()),
        Cell("Test rows"),
    )
    name = f"scores-{unused_name(benchmark, ())}"
    return Table(name, f"Scores: {benchmark}", header, tuple(rows), about, texts=2)


def correlations(inputs: Inputs) -> list[Table]:
    """Return all correlations, pooled and by subset."""
    rows = []
    for dataset, own in inputs.datasets.items():
        names = [n for n in inputs.any_score(dataset).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        for name in names if len(names) > 2 else names[:1]:
            cells = (
                sampled(inputs, [dataset], _both(own.get(encoder), name))
                for encoder in inputs.names
            )
            subset = Cell(name.partition(", ")[2] or "all")
            rows.append(Row((dataset_cell(inputs, dataset), subset, *cells), group=SS.abbreviation))
    table = Table(
        "correlations",
        "Correlations",
        headings("Dataset", "Rows", *inputs.names),
        tuple(rows),
        ("Pearson's / Spearman's correlation × 100, over all rows and per subset of the source.",),
        texts=2,
    )
    return [table] if rows else []


def baselines(inputs: Inputs) -> list[Table]:
    """Return all trivial baselines."""
    names = list(dict.fromkeys(chain.from_iterable(inputs.baselines.values())))
    rows = [
        Row(
            (
                dataset_cell(inputs, dataset),
                *(percent_cell(inputs.baselines[dataset].get(n)) for n in names),
            ),
            group=group.abbreviation,
        )
        for group, datasets in inputs.groups.items()
        for dataset in datasets
    ]
    about = (
        "Predictors without a sentence encoder, as measured by the audit (gate 4): test accuracy "
        "in per cent; for semantic similarity, Pearson's correlation × 100. – marks a baseline "
        "that does not apply."
    )
    header = headings("Dataset", *map(titled, names))
    return [Table("baselines", "Trivial baselines", header, tuple(rows), (about,))]


def metric_of(groups: Iterable[Group]) -> str:
    """Return what the scores of groups of tasks measure, in words."""
    correlation = "Pearson's correlation × 100"
    found = set(groups)
    if found == {SS}:
        return correlation
    return "Accuracy in per cent" + (f", of SS {correlation}," if SS in found else "")


def depends_on_scale(inputs: Inputs) -> bool:
    """Return whether a change of the embeddings' scale may change the scores."""
    protocol = PROTOCOLS.get(inputs.protocol["name"])
    return protocol is not None and protocol.scale_matters


def _scores(inputs: Inputs, dataset: str) -> dict[str, Cell]:
    """Return encoder to the cell of its score on a dataset."""
    cells = {name: _score(inputs, dataset, name) for name in inputs.names}
    beating = {
        name
        for name, score in inputs.datasets[dataset].items()
        if score.interval[0] > inputs.blind(dataset)
    }
    marked = best_marked(cells, dataset, inputs.differences, beating)
    return {name: sampled(inputs, [dataset], cell) for name, cell in marked.items()}


def _score(inputs: Inputs, dataset: str, encoder: str) -> Cell:
    score = inputs.datasets[dataset].get(encoder)
    if score is None:
        return Cell(NONE)
    low, high = score.interval
    trivial = inputs.trivial(dataset)
    spread = "" if score.deviation is None else f" ± {percent(score.deviation)}"
    return Cell(
        percent(score.value) + spread,
        bracketed(score.interval),
        () if low > trivial else (NOT_SHOWN,),
        score.value,
        strip=(low, high, trivial),
    )


def _both(score: Score | None, name: str) -> Cell:
    if score is None:
        return Cell(NONE)
    pearson, spearman = (score.measures[one] for one in (name, name.replace("pearson", "spearman")))
    return Cell(f"{percent(pearson)} / {percent(spearman)}", value=pearson)


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} in {score.folds} folds"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)
