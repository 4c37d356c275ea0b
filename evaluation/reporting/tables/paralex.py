"""ParaLex: whether the words of a paradigm are each other's neighbours."""

from collections.abc import Iterable, Mapping

from builders.tasks.groups import PARALEX
from evaluation.reporting import published
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
    NONE,
    Cell,
    Row,
    Table,
    about_differences,
    bracketed,
    headings,
    percent,
    percent_cell,
    spaced,
    unused_name,
)
from evaluation.reporting.tables.compared import ALIKE, alike, measure_differences
from evaluation.reporting.tables.marks import BOLD, best_marked, dataset_cell, sampled
from evaluation.results.paradigms import MEASURES, ClusterScore, ParadigmScore


def paralex(inputs: Inputs) -> list[Table]:
    """Return ParaLex over languages, as Table 2 of Sumbler et al. (2018)."""
    scores, not_scored = _clustered(inputs), _not_scored(inputs)
    if not scores and not not_scored:
        return []
    names = [own.name for own in inputs.paradigms if own.main]
    rows = []
    for (dataset, language, vocabulary, casing), own in scores.items():
        named = dataset_cell(inputs, dataset)
        cells = [named, Cell(language), Cell(vocabulary), Cell(spaced(casing))]
        measured = {what: _measured(inputs, own, what) for what in MEASURES}
        for name in names:
            cells += (measured[what].get(name, Cell(NONE)) for what in MEASURES)
            cells.append(_counts(own.get(name)))
        rows.append(Row(tuple(cells)))
    columns = []
    for name in names:
        columns += [f"{name}: {what}" for what in (*MEASURES, "words / skipped / left out")]
    bold = (
        f" {BOLD.format('encoder of a row')} {ALIKE.format('words')}, since neighbours "
        "are found more easily among fewer words. The encoders' own vocabularies have different "
        "words, so that no encoder is in bold there."
    )
    about = (
        "Sumbler et al. (2018): are the words of a paradigm, such as the days of the week, each "
        "other's neighbours? Suggestion starts from two terms of a cluster and looks for the "
        "other terms among the 30 nearest words of these seeds by cosine; up to three times, the "
        "terms found, and the words that are neighbours of enough terms found so far "
        f"({inputs.paradigms[0].coherence_threshold} or more), are added to the seeds. The score "
        "is the share of the other terms that are found, averaged over all pairs of seeds. "
        "Coherence is the share of ordered pairs of terms whose second term is among the 30 "
        "nearest words of the first. "
        f"Both are means over clusters in per cent, in brackets the {COVERED} interval "
        "(jackknife over the clusters).",
        "Vocabulary: own, the words of the encoder's file; shared, the same words for all "
        "encoders, namely those of the language's word rankings and the terms. Casing: as is, or "
        "lower, with terms and vocabulary in lower case. Words / skipped / left out: the words "
        "among which neighbours are searched (and how many are excluded, and why), the clusters "
        "with fewer than three terms left, which score 0, and the terms without a vector or not "
        "in the vocabulary." + (bold if len(names) > 1 else ""),
        *_reported(inputs, ((dataset, language) for dataset, language, _, _ in scores)),
        *not_scored,
    )
    header = headings("Dataset", "Language", "Vocabulary", "Casing", *columns)
    return [Table("paralex", "ParaLex", header, tuple(rows), about, texts=4)]


def paradigm_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on clusters."""
    rows = {}
    for (dataset, _, vocabulary, casing), scores in _clustered(inputs).items():
        score = next(iter(scores.values()))
        for what in MEASURES:
            rows[score.key(what)] = (dataset, vocabulary, spaced(casing), what)
    return measure_differences(
        inputs.neighbour_differences,
        PARALEX,
        ("Dataset", "Vocabulary", "Casing", "Measure"),
        rows,
        about_differences("cluster")
        + " With their own vocabularies, encoders search among different words.",
    )


def clusters(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset of ParaLex: its clusters, with the terms left out."""
    datasets: dict[str, dict[tuple[str, str], dict[str, ParadigmScore]]] = {}
    for (dataset, _, vocabulary, casing), own in _clustered(inputs).items():
        datasets.setdefault(dataset, {})[vocabulary, casing] = own
    found: list[Table] = []
    for dataset, ways in datasets.items():
        names = inputs.in_order(set().union(*ways.values()))
        rows = []
        for (vocabulary, casing), own in ways.items():
            by_name = {
                name: {cluster.cluster: cluster for cluster in score.clusters}
                for name, score in own.items()
            }
            for cluster in sorted(set().union(*by_name.values())):
                cells = [Cell(cluster), Cell(vocabulary), Cell(spaced(casing))]
                for name in names:
                    cells += _cluster(by_name.get(name, {}).get(cluster))
                rows.append(Row(tuple(cells)))
        columns = (
            f"{name}: {what}" for name in names for what in (*MEASURES, "terms left, of how many")
        )
        used = {table.name for table in found}
        found.append(
            Table(
                unused_name(f"clusters-{dataset}", used),
                f"Clusters of {dataset}",
                headings("Cluster", "Vocabulary", "Casing", *columns),
                tuple(rows),
                texts=3,
            )
        )
    return found


def _clustered(
    inputs: Inputs,
) -> dict[tuple[str, str, str, str], dict[str, ParadigmScore]]:
    """Return dataset, language, vocabulary and casing to encoder to score."""
    found: dict[tuple[str, str, str, str], dict[str, ParadigmScore]] = {}
    for own in inputs.paradigms:
        for score in own.main:
            key = (score.dataset, score.language, score.vocabulary, score.casing)
            found.setdefault(key, {})[own.name] = score
    return dict(sorted(found.items(), key=lambda one: (inputs.benchmark(one[0][0]) == OWN, one[0])))


def _not_scored(inputs: Inputs) -> list[str]:
    """Return which datasets of ParaLex an encoder has no scores for, and why, in a paragraph."""
    found: dict[tuple[str, str], list[str]] = {}
    for own in inputs.paradigms:
        for dataset, reason in own.left_out.items():
            found.setdefault((own.name, reason), []).append(dataset)
    parts = (
        f"{', '.join(datasets)} with {name}, {reason}" for (name, reason), datasets in found.items()
    )
    return [f"Not scored: {'; '.join(parts)}."] if found else []


def _measured(inputs: Inputs, scores: Mapping[str, ParadigmScore], what: str) -> dict[str, Cell]:
    """Return encoder to the cell of a measure, in one vocabulary and casing."""
    intervals = {name: getattr(score, f"{what}_interval") for name, score in scores.items()}
    cells = {
        name: percent_cell(getattr(score, what), bracketed(intervals[name]))
        for name, score in scores.items()
    }
    first = next(iter(scores.values()))
    if first.vocabulary == "shared":
        among = alike({name: score.words for name, score in scores.items()})
        # By chance, almost nothing is found.
        beating = {name for name in among if intervals[name][0] > 0}
        compared = {name: cells[name] for name in among}
        cells |= best_marked(compared, first.key(what), inputs.neighbour_differences, beating)
    return {name: sampled(inputs, [first.dataset], cell) for name, cell in cells.items()}


def _counts(score: ParadigmScore | None) -> Cell:
    if score is None:
        return Cell(NONE)
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    return Cell(
        f"{score.words:,} / {score.skipped} / {terms}",
        _reasons({why: f"{count:,}" for why, count in score.words_left_out.items() if count}),
        value=score.words,
    )


def _cluster(cluster: ClusterScore | None) -> list[Cell]:
    if cluster is None:
        return [Cell(NONE)] * 3
    out = {reason: ", ".join(terms) for reason, terms in cluster.left_out.items() if terms}
    spread = f"{percent(cluster.suggestion)} ± {percent(cluster.deviation)}"
    return [
        Cell(spread, value=cluster.suggestion),
        percent_cell(cluster.coherence),
        Cell(f"{cluster.left} of {cluster.terms}", _reasons(out), value=cluster.left),
    ]


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"{spaced(reason)}: {what}" for reason, what in left_out.items())


def _reported(inputs: Inputs, datasets: Iterable[tuple[str, str]]) -> list[str]:
    """Return the paper's scores of the languages of whole datasets, in words.

    Args:
        inputs: what the report shows.
        datasets: names and languages.
    """
    languages = dict.fromkeys(own for name, own in datasets if name not in inputs.samples)
    shown = []
    for language in languages:
        scores = zip(published.VECTORS, published.PARALEX.get(language, ()), strict=False)
        if known := [f"{name} {score}" for name, score in scores if score is not None]:
            shown.append(f"{language}: {', '.join(known)}")
    if not shown:
        return []
    return [
        "Sumbler et al. (2018) report, with each one's own vocabulary and without saying for which "
        f"of the two measures: {'; '.join(shown)}."
    ]
