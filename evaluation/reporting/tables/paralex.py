"""ParaLex: whether the words of a paradigm are each other's neighbours."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import groupby, product

from builders.tasks.groups import PARALEX
from evaluation.reporting import published
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Content,
    Table,
    about_differences,
    bracketed,
    columns_of,
    lay_out,
    percent,
    percent_cell,
    spaced,
    unused_name,
)
from evaluation.reporting.tables.compared import ALIKE, alike, measure_differences
from evaluation.reporting.tables.marks import BOLD, compared, dataset_cell
from evaluation.results.paradigms import MEASURES, ClusterScore, ParadigmScore

COUNTS = "words / skipped / left out"


def paralex(inputs: Inputs) -> list[Table]:
    """Return ParaLex over languages, as Table 2 of Sumbler et al. (2018)."""
    scores, not_scored = _clustered(inputs), _not_scored(inputs)
    if not scores and not not_scored:
        return []
    names = [results.name for results in inputs.paradigms if results.main]
    cells = {
        (way, what): _measured(inputs, of_way, what)
        for way, of_way in scores.items()
        for what in (*MEASURES, COUNTS)
    }
    columns = [
        Column("Dataset", lambda way: dataset_cell(inputs, way[0])),
        Column("Language", lambda way: way[1]),
        Column("Vocabulary", lambda way: way[2]),
        Column("Casing", lambda way: spaced(way[3])),
        *columns_of(
            product(names, (*MEASURES, COUNTS)),
            lambda column, way: cells[way, column[1]].get(column[0]),
            ": ".join,
        ),
    ]
    bold = (
        f" {BOLD.format('encoder of a row')} {ALIKE.format('words')}, since neighbours "
        "are found more easily among fewer words. The encoders' own vocabularies have different "
        "words, so that no encoder is in bold there."
    )
    datasets = ((dataset, language) for dataset, language, _, _ in scores)
    table = lay_out(
        "paralex",
        scores,
        columns,
        words={
            "threshold": inputs.paradigms[0].coherence_threshold,
            "bold": bold if len(names) > 1 else "",
            "papers": _reported(inputs, datasets),
            "not_scored": not_scored,
        },
    )
    return [table]


def paradigm_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on clusters."""
    rows = {
        next(iter(scores.values())).key(what): (dataset, vocabulary, spaced(casing), what)
        for (dataset, _, vocabulary, casing), scores in _clustered(inputs).items()
        for what in MEASURES
    }
    return measure_differences(
        inputs,
        PARALEX,
        ("Dataset", "Vocabulary", "Casing", "Measure"),
        rows,
        about_differences("cluster")
        + " With their own vocabularies, encoders search among different words.",
    )


def clusters(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset of ParaLex: its clusters, with the terms left out."""
    tables: list[Table] = []
    for dataset, ways in groupby(_clustered(inputs).items(), key=lambda way: way[0][0]):
        by_cluster: dict[tuple[str, str, str], dict[str, ClusterScore]] = {}
        for (_, _, vocabulary, casing), scores in ways:
            every = [
                (cluster.cluster, name, cluster)
                for name, score in scores.items()
                for cluster in score.clusters
            ]
            for cluster, name, score in sorted(every, key=lambda row: row[0]):
                by_cluster.setdefault((cluster, vocabulary, casing), {})[name] = score
        columns = [
            Column("Cluster", lambda row: row[0]),
            Column("Vocabulary", lambda row: row[1]),
            Column("Casing", lambda row: spaced(row[2])),
            *columns_of(
                product(inputs.in_order(set().union(*by_cluster.values())), _OF_CLUSTER),
                partial(_of_cluster, by_cluster),
                ": ".join,
            ),
        ]
        name = unused_name(f"clusters-{dataset}", {table.name for table in tables})
        tables.append(
            lay_out("clusters", by_cluster, columns, name=name, words={"dataset": dataset})
        )
    return tables


def _clustered(
    inputs: Inputs,
) -> dict[tuple[str, str, str, str], dict[str, ParadigmScore]]:
    """Return dataset, language, vocabulary and casing to encoder to score."""
    ways: dict[tuple[str, str, str, str], dict[str, ParadigmScore]] = {}
    for results in inputs.paradigms:
        for score in results.main:
            way = (score.dataset, score.language, score.vocabulary, score.casing)
            ways.setdefault(way, {})[results.name] = score
    return {
        way: ways[way]
        for way in sorted(ways, key=lambda way: (inputs.benchmark(way[0]) == OWN, way))
    }


def _not_scored(inputs: Inputs) -> str:
    """Return which datasets of ParaLex an encoder has no scores for, and why, in a paragraph."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for results in inputs.paradigms:
        for dataset, reason in results.left_out.items():
            reasons.setdefault((results.name, reason), []).append(dataset)
    parts = (
        f"{', '.join(datasets)} with {name}, {why}" for (name, why), datasets in reasons.items()
    )
    return f"Not scored: {'; '.join(parts)}." if reasons else ""


def _measured(inputs: Inputs, scores: Mapping[str, ParadigmScore], what: str) -> dict[str, Cell]:
    """Return encoder to the cell of a measure, or of ``COUNTS``, in one vocabulary and casing."""
    if what == COUNTS:
        return {name: _counts(score) for name, score in scores.items()}
    intervals = {name: getattr(score, f"{what}_interval") for name, score in scores.items()}
    cells = {
        name: percent_cell(getattr(score, what), bracketed(intervals[name]))
        for name, score in scores.items()
    }
    first = next(iter(scores.values()))
    among: list[str] = []
    if first.vocabulary == "shared":
        among = alike({name: score.words for name, score in scores.items()})
    # By chance, almost nothing is found.
    beating = {name for name in among if intervals[name][0] > 0}
    return compared(inputs, [first.dataset], cells, first.key(what), beating, among)


def _counts(score: ParadigmScore) -> Cell:
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    return Cell(
        f"{score.words:,} / {score.skipped} / {terms}",
        _reasons({why: f"{count:,}" for why, count in score.words_left_out.items() if count}),
        value=score.words,
    )


def _of_cluster(
    clusters: Mapping[tuple[str, str, str], Mapping[str, ClusterScore]],
    column: tuple[str, str],
    row: tuple[str, str, str],
) -> Content:
    """Return what an encoder reached on a cluster, by one of ``_OF_CLUSTER``."""
    encoder, what = column
    return _OF_CLUSTER[what](clusters[row][encoder]) if encoder in clusters[row] else None


def _spread(cluster: ClusterScore) -> Cell:
    text = f"{percent(cluster.suggestion)} ± {percent(cluster.deviation)}"
    return Cell(text, value=cluster.suggestion)


def _terms_left(cluster: ClusterScore) -> Cell:
    out = {reason: ", ".join(terms) for reason, terms in cluster.left_out.items() if terms}
    return Cell(f"{cluster.left} of {cluster.terms}", _reasons(out), value=cluster.left)


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"{spaced(reason)}: {what}" for reason, what in left_out.items())


_OF_CLUSTER: Mapping[str, Callable[[ClusterScore], Content]] = {
    "suggestion": _spread,
    "coherence": lambda cluster: cluster.coherence,
    "terms left, of how many": _terms_left,
}


def _reported(inputs: Inputs, datasets: Iterable[tuple[str, str]]) -> str:
    """Return the paper's scores of the languages of whole datasets, in words.

    Args:
        inputs: what the report shows.
        datasets: names and languages.
    """
    languages = dict.fromkeys(
        language for dataset, language in datasets if dataset not in inputs.samples
    )
    shown = []
    for language in languages:
        scores = zip(published.VECTORS, published.PARALEX.get(language, ()), strict=False)
        if known := [f"{name} {score}" for name, score in scores if score is not None]:
            shown.append(f"{language}: {', '.join(known)}")
    about = (
        "Sumbler et al. (2018) report, with each one's own vocabulary and without saying for which "
        f"of the two measures: {'; '.join(shown)}."
    )
    return about if shown else ""
