"""What a report shows of probes, as tables without a format.

The tables of scores are laid out as Tables 1 and 3 to 5 of Araujo et al. (2022): encoders in rows,
first the averages over groups of tasks, then the datasets of each group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import fmean
from typing import Any

from builders.audit import verdict_of
from builders.audit_gates import GATES, SMALL_TEST
from corpora_recipes.records import SPLITS
from evaluation.bootstrap import FEW_DOCUMENTS
from evaluation.comparison import Difference, best_of
from evaluation.report.inputs import GROUPS, Inputs
from evaluation.report.layers import Profile
from evaluation.report.layout import (
    BOLD,
    NONE,
    Cell,
    Row,
    Table,
    Tone,
    about_differences,
    difference_cell,
    headings,
    named,
    percent,
    percent_cell,
    spaced,
    titled,
    tone,
)
from evaluation.report.neighbours import neighbour_tables, short_differences
from evaluation.report.published import PUBLISHED
from evaluation.results import Score

SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "*", "†", "‡", "§", "¶"
NOTES = {
    SMALL: f"The test has fewer than {SMALL_TEST:,} rows: differences of a few points may be "
    "chance.",
    NOT_SHOWN: "Not shown to beat a trivial baseline: the interval does not lie above both "
    "Majority (of a correlation, 0) and Best trivial.",
    FEW: f"The test is of fewer than {FEW_DOCUMENTS} documents: rows were resampled as well as "
    "documents, and each end of the interval is the wider one. It may still be too narrow where "
    "documents differ, and of a single document it says nothing about others.",
    OTHERS: "As Araujo et al. (2022) report it, on the files published then, some of whose rows "
    "differ from these, and with another probe. " + PUBLISHED["errata"],
    LEAKS: "The source has texts of the test in train or validation too; the audit says how many.",
}
"""Mark in the tables of scores to its explanation."""

MEAN_OF_LAYERS = ", the mean of all layers' vectors,"
OF_SCALE = (
    "With this protocol features are taken as they are, so that the scores of probes depend on the "
    "scale of the embeddings."
)

TONES: Mapping[str, Tone] = {
    "pass": "pass",
    "within chance": "chance",
    "inherited": "inherited",
    "miss": "miss",
}
"""Verdict of the audit to the tone of its cell."""


def introduction(inputs: Inputs) -> list[str]:
    """Return what to know of all scores, a paragraph each."""
    first = inputs.encoders[0]
    coverage = f"{100 * first.bootstrap['coverage']:.0f} %"
    options = "".join(
        f", {spaced(str(key))} {spaced(str(value))}"
        for key, value in first.protocol.items()
        if key not in ("name", "version")
    )
    random = any(score.deviation is not None for score in chain(*_scores(inputs)))
    return [
        "Accuracy on test in per cent, for semantic similarity Pearson's correlation × 100, with "
        f"the {coverage} bootstrap interval in brackets ({first.bootstrap['resamples']:,} "
        "resamples of the test's documents; of a test of fewer than "
        f"{first.bootstrap['few_documents']} documents its rows are resampled too, and each end is "
        "the wider one)"
        + (" and the standard deviation over random starts after ±" if random else "")
        + ". Majority is the accuracy of always answering with train's most frequent class; Best "
        "trivial is the best of the other baselines below. Probe protocol "
        f"{first.protocol['name']}, version {first.protocol['version']}{options}; seed "
        f"{first.seed}." + (f" {OF_SCALE}" if _depends_on_scale(inputs) else ""),
        "Where a dataset has folds, each is test once and all rows are scored together; Majority "
        "and the baselines are fitted fold by fold too. Similarity is the cosine of two embeddings "
        "and needs no probe; all other tasks are probed."
        + (
            " In bold is the best encoder on a dataset or group, and what is tied with it."
            if len(inputs.encoders) > 1
            else ""
        ),
    ]


def averages(inputs: Inputs) -> Table:
    """Return the averages over groups of tasks."""
    groups = inputs.groups
    rows = []
    for name in inputs.names:
        cells = [Cell(name)]
        for group, datasets in groups.items():
            own = [inputs.datasets[dataset].get(name) for dataset in datasets]
            found = [score.value for score in own if score is not None]
            mean = fmean(found) if len(found) == len(datasets) else None
            cells.append(percent_cell(mean, strong=name in _best(inputs, group, datasets)))
        rows.append(Row(tuple(cells), "encoder"))
        rows += _published(name, groups)
    legend = ", ".join(f"{group} {GROUPS[group].lower()}" for group in groups)
    header = ("Encoder", *(f"{group} ({len(names)})" for group, names in groups.items()))
    return Table(
        "averages",
        "Averages",
        headings(*header),
        tuple(rows),
        (
            f"Over the datasets of a group (their number in brackets): {legend}."
            + (
                f" In bold is the best encoder of a group, {BOLD}." if len(inputs.names) > 1 else ""
            ),
        ),
        caption=(
            f"{_metric(groups)} on test; probe protocol {inputs.encoders[0].protocol['name']}.",
            *([OF_SCALE] if _depends_on_scale(inputs) else ()),
        ),
    )


def group_tables(inputs: Inputs) -> list[Table]:
    """Return a table of scores for every group of tasks, with baselines and published scores."""
    return [_group_table(inputs, group, names) for group, names in inputs.groups.items()]


def _group_table(inputs: Inputs, group: str, datasets: Sequence[str]) -> Table:
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
    table = Table(group.lower(), f"{GROUPS[group]} ({group})", header, tuple(rows))
    return replace(table, caption=(_caption(inputs, group, table),))


def _caption(inputs: Inputs, group: str, table: Table) -> str:
    """Return in short how to read a group's scores."""
    own = chain.from_iterable(inputs.datasets[name].values() for name in inputs.groups[group])
    parts = [
        f"{_metric([group])} on test",
        f"in brackets the {100 * inputs.encoders[0].bootstrap['coverage']:.0f} % bootstrap "
        "interval",
    ]
    if any(score.deviation is not None for score in own):
        parts.append("after ± the standard deviation over random starts")
    if len(inputs.names) > 1:
        parts.append(f"of the scores in bold the best of a dataset, {BOLD}")
    if NOT_SHOWN in notes([table]):
        parts.append(f"{NOT_SHOWN} not shown to beat a trivial baseline")
    return "; ".join(parts) + "."


def scores(inputs: Inputs) -> Table:
    """Return all scores, a row a dataset."""
    best = {name: _best(inputs, name, [name]) for name in inputs.datasets}
    published = any(name in PUBLISHED["ranges"] for name in inputs.datasets)
    rows = []
    for group, datasets in inputs.groups.items():
        for name in datasets:
            score, (what, value) = inputs.any_score(name), inputs.best_trivial(name)
            folds = f"in {score.folds} folds" if score.folds else ""
            cells = (
                _dataset(inputs, name),
                Cell(group),
                *(_score(inputs, name, encoder, best[name]) for encoder in inputs.names),
                percent_cell(value, detail=f"({spaced(what)})"),
                percent_cell(score.majority),
                percent_cell(score.chance),
                *([_range(PUBLISHED["ranges"].get(name))] if published else ()),
                Cell(f"{score.asked:,}", folds, value=score.asked),
            )
            rows.append(Row(cells, group=group))
    header = (
        *headings("Dataset", "Group", *inputs.names, "Best trivial", "Majority", "Chance"),
        *([Cell("Paper's encoders", marks=(OTHERS,))] if published else ()),
        Cell("Test rows"),
    )
    return Table("scores", "Scores by dataset", header, tuple(rows), texts=2)


def correlations(inputs: Inputs) -> Table | None:
    """Return all correlations, pooled and by subset; None if there are none."""
    rows = []
    for dataset, own in inputs.datasets.items():
        names = [n for n in inputs.any_score(dataset).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        for name in names if len(names) > 2 else names[:1]:
            cells = (_both(own.get(encoder), name) for encoder in inputs.names)
            subset = Cell(name.partition(", ")[2] or "all")
            rows.append(Row((Cell(dataset), subset, *cells), group="SS"))
    if not rows:
        return None
    return Table(
        "correlations",
        "Correlations",
        headings("Dataset", "Rows", *inputs.names),
        tuple(rows),
        ("Pearson's / Spearman's × 100, over all rows and by the subsets of the source.",),
        texts=2,
    )


def baselines(inputs: Inputs) -> Table:
    """Return all trivial baselines."""
    names = list(dict.fromkeys(chain.from_iterable(inputs.baselines.values())))
    rows = [
        Row(
            (Cell(dataset), *(percent_cell(inputs.baselines[dataset].get(n)) for n in names)),
            "fact",
            g,
        )
        for g, datasets in inputs.groups.items()
        for dataset in datasets
    ]
    return Table(
        "baselines",
        "Trivial baselines",
        headings("Dataset", *map(titled, names)),
        tuple(rows),
        (
            "Accuracy in per cent (for semantic similarity, Pearson's correlation × 100) on test "
            "of what needs no sentence encoder, as the audit measured it (gate 4); – where a "
            "baseline does not apply.",
        ),
    )


def pairs(inputs: Inputs) -> Table | None:
    """Return the differences of every two encoders over groups of tasks; None if there is one."""
    found = _by_pair(inputs)
    if not found:
        return None
    groups = [
        group for group in inputs.groups if any((group in own["group"]) for own in found.values())
    ]
    rows = []
    for (one, other), own in found.items():
        over = own["dataset"].values()
        counts = [sum(tone(d) == which for d in over) for which in ("better", "tie", "worse")]
        cells = (
            Cell(f"{one} − {other}"),
            Cell(" / ".join(map(str, counts)), value=counts[0] - counts[2]),
            *(difference_cell(own["group"].get(group)) for group in groups),
        )
        rows.append(Row(cells))
    return Table(
        "pairs",
        "Encoders compared",
        headings("Encoders", "Better / tied / worse", *groups),
        tuple(rows),
        (
            about_differences(
                f"the test's documents, below {FEW_DOCUMENTS} documents of its rows too; of a "
                "group, each dataset is resampled for itself, and the differences are averaged"
            )
            + " Better / tied / worse counts datasets.",
        ),
    )


def differences(inputs: Inputs) -> Table | None:
    """Return the differences of every two encoders on every dataset; None if there is one."""
    found = _by_pair(inputs)
    if not found:
        return None
    rows = [
        Row(
            (
                Cell(dataset),
                *(difference_cell(own["dataset"].get(dataset)) for own in found.values()),
            ),
            group=group,
        )
        for group, datasets in inputs.groups.items()
        for dataset in datasets
    ]
    header = ("Dataset", *(f"{one} − {other}" for one, other in found))
    return Table("differences", "Encoders compared by dataset", headings(*header), tuple(rows))


def layers(profile: Profile) -> Table:
    """Return the scores of an encoder's layers, the best layers of each dataset in bold."""
    rows = []
    for index, layer in enumerate(profile.rows):
        cells = (
            percent_cell(float(value), strong=index in best)
            for value, best in zip(profile.values[index], profile.best, strict=True)
        )
        rows.append(Row((Cell(layer), *cells), "encoder"))
    return Table(
        f"layers-{profile.name}",
        f"Layers of {profile.encoder}",
        headings("Layer", *profile.datasets),
        tuple(rows),
        (about_layers(profile, "In bold"),),
        caption=(f"{_metric(profile.groups)} on test.",),
    )


def about_layers(profile: Profile, marked: str) -> str:
    """Return what to know of the layers' scores.

    Args:
        profile: the scores.
        marked: how the best layers are, such as "In bold".
    """
    apart = "".join(
        f" {name}{MEAN_OF_LAYERS if name == 'avg' else ''} stands apart: it is not marked, even "
        "where it is better, and does not count as a layer."
        for name in profile.apart
    )
    return (
        f"{marked} is the best numbered layer of each dataset, or all that share its best score "
        f"(compared before rounding).{apart} {best_layers(profile)} Where layers share the best "
        "score, the mean of their numbers counts."
    )


def best_layers(profile: Profile) -> str:
    """Return a sentence on the average best layer."""
    found = (f"{value:.1f} over {name}" for name, value in profile.average_bests().items())
    last = profile.layers[-1]
    return f"Average best layer, of {profile.layers[0]} to {last}: {', '.join(found)}."


def vocabulary(inputs: Inputs) -> Table | None:
    """Return how many words of each dataset encoders do not know; None if none has a vocabulary."""
    known = {
        (score.dataset, own.name): score.coverage
        for own in inputs.encoders
        for score in own.main
        if score.coverage
    }
    names = [name for name in inputs.names if any(encoder == name for _, encoder in known)]
    if not names:
        return None
    rows = []
    for group, datasets in inputs.groups.items():
        for dataset in datasets:
            cells = []
            for name in names:
                own = known.get((dataset, name))
                share = own["out_of_vocabulary"] / max(1, own["tokens"]) if own else None
                detail = f"({own['out_of_vocabulary']:,} of {own['tokens']:,})" if own else ""
                cells.append(percent_cell(share, detail=detail))
            rows.append(Row((Cell(dataset), *cells), group=group))
    return Table(
        "vocabulary",
        "Words outside the vocabulary",
        headings("Dataset", *names),
        tuple(rows),
        (
            "Per cent of the tokens in a dataset's texts that the encoder's vocabulary lacks; each "
            "different text counts once. With fastText's .bin such words still get a vector, of "
            "their character n-grams; with other word vectors they are left out.",
        ),
    )


def invariance(inputs: Inputs) -> Table | None:
    """Return what gate 10 measured; None if it was not."""
    report = inputs.invariance
    if report is None:
        return None
    rows = []
    for group, datasets in inputs.groups.items():
        for dataset in datasets:
            own = report["datasets"][dataset]
            cells = (
                Cell(dataset),
                Cell(f"{own['test_rows']:,}", value=own["test_rows"]),
                *(percent_cell(own[what]) for what in report["limits"]),
                Cell(own["verdict"], tone=TONES[own["verdict"]]),
            )
            rows.append(Row(cells, group=group))
    limits, of_correlations = (
        ", ".join(f"{spaced(what)} {percent(limit)}" for what, limit in report[which].items())
        for which in ("limits", "correlation_limits")
    )
    return Table(
        "invariance",
        "Invariance (gate 10)",
        headings("Dataset", "Test rows", *map(titled, report["limits"]), "Verdict"),
        tuple(rows),
        (
            "Per cent of test predictions that change when the embeddings are scaled by 0.1 or 10, "
            "when the datasets are probed in reverse order, and when Python hashes with another "
            f"seed; encoder {report['encoder']['encoder']}, on a part of the rows. Limits: "
            f"{limits}; for scale, one prediction if that is more. For semantic similarity, by how "
            f"much Pearson's correlation × 100 changes; limits: {of_correlations}. Measured with "
            "the protocol standard, whatever protocol the scores are by.",
        ),
    )


def encoders(inputs: Inputs) -> Table:
    """Return what the encoders are."""
    rows = []
    for results in inputs.encoders:
        own = results.encoder
        of_layers = own["layer"]
        if len(own["layers"]) > 1:
            of_layers += f" (probed: {', '.join(own['layers'])})"
        options = ", ".join(f"{spaced(key)} {value}" for key, value in own["options"].items())
        cells = (
            named(results.name),
            Cell(own["encoder"]),
            Cell(own["revision"]),
            Cell(of_layers),
            Cell(own["form"]),
            Cell(options or NONE),
            Cell(f"{own['dimension']:,}", value=own["dimension"]),
        )
        rows.append(Row(cells, "encoder"))
    header = ("Name", "Encoder", "Revision", "Layer", "Text", "Options", "Dimensions")
    return Table("encoders", "Encoders", headings(*header), tuple(rows), texts=6)


def verdicts(inputs: Inputs) -> Table:
    """Return the audit's verdict on every dataset and gate."""
    titles = [title for title, _ in GATES.values()]
    rows = []
    for group, datasets in inputs.audited.items():
        for dataset in datasets:
            checks = inputs.audit[dataset]["checks"]
            found = [_verdict(checks, gate) for gate in GATES]
            if inputs.invariance:
                found.append(inputs.invariance["datasets"].get(dataset, {}).get("verdict", NONE))
            cells = (Cell(v if v in TONES else NONE, tone=TONES.get(v, "")) for v in found)
            rows.append(Row((Cell(dataset), *cells), group=group))
    if inputs.invariance:
        titles.append("10. Invariance")
    return Table(
        "verdicts",
        "Audit",
        headings("Dataset", *titles),
        tuple(rows),
        (
            "The worst verdict of each gate. Within chance: beyond the limit, but by no more than "
            "so small a test lets happen. Inherited: the source is so; what it is and how much of "
            "it there may be is declared. – where a gate does not apply.",
        ),
        texts=1 + len(titles),
    )


def measurements(inputs: Inputs) -> Table:
    """Return everything that the audit measured."""
    rows = []
    for group, datasets in inputs.audited.items():
        for dataset in datasets:
            for check in inputs.audit[dataset]["checks"]:
                if check["verdict"] == "not applicable":
                    continue
                verdict, limit = Cell(NONE), Cell(NONE)
                if check["limit"] is not None:
                    verdict = Cell(check["verdict"], tone=TONES[check["verdict"]])
                    limit = _measured(check["limit"], check["correlation"])
                cells = (
                    Cell(dataset),
                    Cell(GATES[check["gate"]][0]),
                    Cell(spaced(check["what"])),
                    verdict,
                    _measured(check["value"], check["correlation"]),
                    limit,
                )
                rows.append(Row(cells, group=group))
    header = ("Dataset", "Gate", "Measured", "Verdict", "Value", "Limit")
    return Table("measurements", "All measurements", headings(*header), tuple(rows), texts=4)


def report_tables(inputs: Inputs, profiles: Sequence[Profile]) -> list[Table]:
    """Return the tables that are read from top to bottom, in their order."""
    found = [
        averages(inputs),
        *group_tables(inputs),
        correlations(inputs),
        baselines(inputs),
        pairs(inputs),
        differences(inputs),
        *map(layers, profiles),
        *neighbour_tables(inputs),
        *short_differences(inputs),
        vocabulary(inputs),
        invariance(inputs),
        encoders(inputs),
    ]
    return [table for table in found if table]


def notes(tables: Iterable[Table]) -> dict[str, str]:
    """Return mark to explanation, for the marks that tables use."""
    used = {
        mark
        for table in tables
        for cells in (table.header, *(row.cells for row in table.rows))
        for cell in cells
        for mark in cell.marks
    }
    return {mark: note for mark, note in NOTES.items() if mark in used}


def _metric(groups: Iterable[str]) -> str:
    """Return what the scores of groups are."""
    correlation = "Pearson's correlation × 100"
    found = set(groups)
    if found == {"SS"}:
        return correlation
    return "Accuracy in per cent" + (f", of SS {correlation}," if "SS" in found else "")


def _depends_on_scale(inputs: Inputs) -> bool:
    return str(inputs.encoders[0].protocol["name"]) == "senteval"


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


def _by_pair(inputs: Inputs) -> dict[tuple[str, str], dict[str, dict[str, Difference]]]:
    """Return two encoders to level to dataset or group to their difference."""
    found: dict[tuple[str, str], dict[str, dict[str, Difference]]] = {}
    for one in inputs.differences:
        own = found.setdefault((one.one, one.other), {"dataset": {}, "group": {}})
        own[one.level][one.what] = one
    return found


def _published(encoder: str, columns: Iterable[str]) -> list[Row]:
    """Return a row of what the paper reports of the encoder; none if that is nothing."""
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
        f"[{percent(low)}, {percent(high)}]",
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


def _verdict(checks: Sequence[Mapping[str, Any]], gate: str) -> str:
    return verdict_of(checks, gate) if any(c["gate"] == gate for c in checks) else NONE


def _measured(value: float, correlation: bool) -> Cell:
    if correlation:
        return Cell(f"{value:z.3f}", value=value, unit="correlation")
    if isinstance(value, int):
        return Cell(f"{value:,}", value=value, unit="count")
    return Cell(f"{100 * value:z.2f} %", value=value, unit="%")


def _dataset(inputs: Inputs, name: str) -> Cell:
    score = inputs.any_score(name)
    marks = {
        SMALL: score.asked < SMALL_TEST,
        FEW: score.test_documents < FEW_DOCUMENTS,
        LEAKS: inputs.leaks(name),
    }
    return Cell(name, marks=tuple(mark for mark, given in marks.items() if given))


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} in {score.folds} folds"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join(NONE if count is None else f"{count:,}" for count in counts)
