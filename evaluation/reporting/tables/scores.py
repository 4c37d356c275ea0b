"""Scores of probes, laid out as Tables 1 and 3 to 5 of Araujo et al. (2022).

Encoders in rows: first the averages over groups of tasks, then the datasets of each group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean

from builders.auditing.report import SMALL_TEST
from builders.tasks.groups import SS, Group
from corpora_recipes.records import SPLITS
from evaluation.measures.intervals import LEAST_DOCUMENTS
from evaluation.probing.protocols import PROTOCOLS
from evaluation.reporting.comparison import best_of
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    BOLD,
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
)
from evaluation.reporting.notes import FEW, LEAKS, NOT_SHOWN, OTHERS, SMALL, notes_of
from evaluation.reporting.published import PUBLISHED
from evaluation.results.probes import Score

OF_SCALE = (
    "This protocol does not standardise features, so that probe scores depend on the scale of the "
    "embeddings."
)


def introduction(inputs: Inputs) -> list[str]:
    """Return the paragraphs that explain how to read the scores."""
    first = inputs.encoders[0]
    intervals = first.intervals
    options = "".join(
        f", {spaced(str(key))} {spaced(str(value))}"
        for key, value in first.protocol.items()
        if key not in ("name", "version")
    )
    random = any(score.deviation is not None for score in chain(*_scores(inputs)))
    return [
        "Test accuracy in per cent; for semantic similarity, Pearson's correlation × 100. In "
        f"brackets the {100 * intervals['coverage']:.0f} % interval ({intervals['method']} over "
        "the test documents, or over the test rows if there are fewer than "
        f"{intervals['least_documents']} documents)"
        + (", after ± the standard deviation over random starts" if random else "")
        + ". Majority is the accuracy of always predicting the most frequent class of train; Best "
        "trivial is the best of the other baselines below. Probe protocol "
        f"{first.protocol['name']}, version {first.protocol['version']}{options}; seed "
        f"{first.seed}." + (f" {OF_SCALE}" if _depends_on_scale(inputs) else ""),
        "In a dataset with folds, each fold is the test once and all rows are scored together; "
        "Majority and the baselines are fitted per fold too. Similarity is the cosine of two "
        "embeddings and needs no probe; all other tasks are probed."
        + (
            " In bold are the best encoder on each dataset or group, and those tied with it."
            if len(inputs.encoders) > 1
            else ""
        ),
    ]


def averages(inputs: Inputs) -> list[Table]:
    """Return the averages over groups of tasks."""
    groups = inputs.groups
    rows = []
    for name in inputs.names:
        cells = [Cell(name)]
        for group, datasets in groups.items():
            own = [inputs.datasets[dataset].get(name) for dataset in datasets]
            found = [score.value for score in own if score is not None]
            mean = fmean(found) if len(found) == len(datasets) else None
            best = _best(inputs, group.abbreviation, datasets)
            cells.append(percent_cell(mean, strong=name in best))
        rows.append(Row(tuple(cells), "encoder"))
        rows += _published(name, [group.abbreviation for group in groups])
    legend = ", ".join(f"{group.abbreviation} {group.title.lower()}" for group in groups)
    columns = (f"{group.abbreviation} ({len(names)})" for group, names in groups.items())
    bold = f" In bold is the best encoder of a group, {BOLD}." if len(inputs.names) > 1 else ""
    return [
        Table(
            "averages",
            "Averages",
            headings("Encoder", *columns),
            tuple(rows),
            (f"Means over the datasets of a group (their number in brackets): {legend}.{bold}",),
            caption=(
                f"{metric_of(groups)} on test; probe protocol "
                f"{inputs.encoders[0].protocol['name']}.",
                *([OF_SCALE] if _depends_on_scale(inputs) else ()),
            ),
        )
    ]


def group_tables(inputs: Inputs) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    return [_group_table(inputs, group, names) for group, names in inputs.groups.items()]


def _group_table(inputs: Inputs, group: Group, datasets: Sequence[str]) -> Table:
    any_score = [inputs.any_score(name) for name in datasets]
    trivial = [inputs.best_trivial(name) for name in datasets]
    facts: dict[str, Iterable[Cell]] = {
        "Train / validation / test": (Cell(_sizes(score)) for score in any_score),
        "Chance": (percent_cell(score.chance) for score in any_score),
        "Majority": (percent_cell(score.majority) for score in any_score),
        "Best trivial": (percent_cell(value, detail=f"({spaced(n)})") for n, value in trivial),
    }
    rows = [Row((Cell(name), *cells)) for name, cells in facts.items()]
    best = {name: _best(inputs, name, [name]) for name in datasets}
    for name in inputs.names:
        cells = (_score(inputs, dataset, name, best[dataset]) for dataset in datasets)
        rows.append(Row((named(name), *cells), "encoder"))
        rows += _published(name, datasets)
    if any(name in PUBLISHED["ranges"] for name in datasets):
        cells = (_range(PUBLISHED["ranges"].get(name)) for name in datasets)
        rows.append(Row((Cell("the paper's encoders", marks=(OTHERS,)), *cells), "published"))
    header = (Cell(""), *(_dataset(inputs, name) for name in datasets))
    title = f"{group.title} ({group.abbreviation})"
    table = Table(group.abbreviation.lower(), title, header, tuple(rows))
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
        parts.append(f"of the scores in bold the best of a dataset, {BOLD}")
    if NOT_SHOWN in notes_of([table]):
        parts.append(f"{NOT_SHOWN} not shown to beat a trivial baseline")
    return "; ".join(parts) + "."


def scores(inputs: Inputs) -> list[Table]:
    """Return all scores, one row per dataset."""
    best = {name: _best(inputs, name, [name]) for name in inputs.datasets}
    published = any(name in PUBLISHED["ranges"] for name in inputs.datasets)
    rows = []
    for group, datasets in inputs.groups.items():
        for name in datasets:
            score, (what, value) = inputs.any_score(name), inputs.best_trivial(name)
            folds = f"in {score.folds} folds" if score.folds else ""
            cells = (
                _dataset(inputs, name),
                Cell(group.abbreviation),
                *(_score(inputs, name, encoder, best[name]) for encoder in inputs.names),
                percent_cell(value, detail=f"({spaced(what)})"),
                percent_cell(score.majority),
                percent_cell(score.chance),
                *([_range(PUBLISHED["ranges"].get(name))] if published else ()),
                Cell(f"{score.asked:,}", folds, value=score.asked),
            )
            rows.append(Row(cells, group=group.abbreviation))
    header = (
        *headings("Dataset", "Group", *inputs.names, "Best trivial", "Majority", "Chance"),
        *([Cell("Paper's encoders", marks=(OTHERS,))] if published else ()),
        Cell("Test rows"),
    )
    about = tuple(introduction(inputs))
    return [Table("scores", "Scores by dataset", header, tuple(rows), about, texts=2)]


def correlations(inputs: Inputs) -> list[Table]:
    """Return all correlations, pooled and by subset."""
    rows = []
    for dataset, own in inputs.datasets.items():
        names = [n for n in inputs.any_score(dataset).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        for name in names if len(names) > 2 else names[:1]:
            cells = (_both(own.get(encoder), name) for encoder in inputs.names)
            subset = Cell(name.partition(", ")[2] or "all")
            rows.append(Row((Cell(dataset), subset, *cells), group=SS.abbreviation))
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
            (Cell(dataset), *(percent_cell(inputs.baselines[dataset].get(n)) for n in names)),
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


def _depends_on_scale(inputs: Inputs) -> bool:
    protocol = PROTOCOLS.get(inputs.encoders[0].protocol["name"])
    return protocol is not None and protocol.scale_matters


def _scores(inputs: Inputs) -> list[list[Score]]:
    return [list(own.values()) for own in inputs.datasets.values()]


def _best(inputs: Inputs, what: str, datasets: Sequence[str]) -> set[str]:
    """Return the encoder that is best on average over datasets, and those tied with it."""
    means = {
        name: fmean(inputs.datasets[dataset][name].value for dataset in datasets)
        for name in inputs.names
        if all(name in inputs.datasets[dataset] for dataset in datasets)
    }
    return best_of(means, what, inputs.differences)


def _published(encoder: str, columns: Iterable[str]) -> list[Row]:
    """Return a row of the paper's scores of the encoder; no row if it has none."""
    own: Mapping[str, float] = PUBLISHED["encoders"].get(encoder, {})
    cells = [Cell(str(own[c]), value=own[c] / 100) if c in own else Cell(NONE) for c in columns]
    if all(cell.text == NONE for cell in cells):
        return []
    return [Row((Cell(f"{encoder}, the paper's", marks=(OTHERS,)), *cells), "published")]


def _range(own: Sequence[float] | None) -> Cell:
    return Cell(f"{own[0]:.1f} … {own[1]:.1f}", value=own[1] / 100) if own else Cell(NONE)


def _score(inputs: Inputs, dataset: str, encoder: str, best: set[str]) -> Cell:
    score = inputs.datasets[dataset].get(encoder)
    if score is None:
        return Cell(NONE)
    low, high = score.interval
    # Correlations have no majority.
    trivial = max(score.majority or 0.0, *inputs.baselines[dataset].values())
    spread = "" if score.deviation is None else f" ± {percent(score.deviation)}"
    return Cell(
        percent(score.value) + spread,
        bracketed(score.interval),
        () if low > trivial else (NOT_SHOWN,),
        score.value,
        encoder in best,
        strip=(low, high, trivial),
    )


def _both(score: Score | None, name: str) -> Cell:
    if score is None:
        return Cell(NONE)
    pearson, spearman = (score.measures[one] for one in (name, name.replace("pearson", "spearman")))
    return Cell(f"{percent(pearson)} / {percent(spearman)}", value=pearson)


def _dataset(inputs: Inputs, name: str) -> Cell:
    score = inputs.any_score(name)
    marks = {
        SMALL: score.asked < SMALL_TEST,
        FEW: score.test_documents < LEAST_DOCUMENTS,
        LEAKS: inputs.leaks(name),
    }
    return Cell(name, marks=tuple(mark for mark, given in marks.items() if given))


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} in {score.folds} folds"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)
