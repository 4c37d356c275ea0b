"""EvalRank: how highly paraphrases are ranked among all texts."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

from builders.tasks.groups import EVALRANK
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    about_differences,
    bracketed,
    columns_of,
    lay_out,
    named,
    percent_cell,
    signed,
    spaced,
    unused_name,
)
from evaluation.reporting.tables.compared import ALIKE, alike, measure_differences
from evaluation.reporting.tables.marks import BOLD, compared, dataset_cell, sampled
from evaluation.results.rankings import MEASURES, PLAIN, RankScore

Ranks = Mapping[tuple[str, str], RankScore]
"""Encoder and similarity to the score on a dataset of the vectors as they are."""
MEDIAN = "Median rank"


def evalrank(inputs: Inputs) -> list[Table]:
    """Return how highly positives are ranked: an explanation, then a table for each dataset.

    Encoders are in rows, MRR and hits by each similarity in columns.
    """
    datasets = _ranked(inputs)
    if not datasets:
        return []
    tables = [lay_out("evalrank", (), ())]
    for dataset, scores in datasets.items():
        name = unused_name(f"evalrank-{dataset}", {table.name for table in tables})
        tables.append(_ranks(inputs, dataset, scores, name))
    return tables


def _ranks(inputs: Inputs, dataset: str, scores: Ranks, name: str) -> Table:
    encoders = inputs.in_order({encoder for encoder, _ in scores})
    columns = [Column("Encoder", named)]
    for similarity in _distinct(scores):
        ranks = {encoder: score for (encoder, by), score in scores.items() if by == similarity}
        among = alike({encoder: score.background for encoder, score in ranks.items()})
        beating = {name for name in among if ranks[name].interval[0] > _chance(ranks[name])}
        for what in MEASURES:
            cells = {
                encoder: percent_cell(
                    score.measures[what], bracketed(score.interval) if what == "MRR" else ""
                )
                for encoder, score in ranks.items()
            }
            key = next(iter(ranks.values())).key(what)
            marked = compared(inputs, [dataset], cells, key, beating, among)
            columns.append(Column(f"{what}, {similarity}", marked.get))
        medians = {
            encoder: sampled(
                inputs, [dataset], Cell(f"{score.median_rank:,.1f}", value=score.median_rank)
            )
            for encoder, score in ranks.items()
        }
        columns.append(Column(f"{MEDIAN}, {similarity}", medians.get))
    bold = f" {BOLD.format('encoder of a column')} {ALIKE.format('texts')}."
    return lay_out(
        "ranks",
        encoders,
        columns,
        name=name,
        kind="encoder",
        words={
            "dataset": dataset + (f", {OWN}" if inputs.benchmark(dataset) == OWN else ""),
            "counts": _about_ranks(scores),
            "bold": bold if len(encoders) > 1 else "",
        },
    )


def _distinct(scores: Ranks) -> list[str]:
    """Return the similarities, without l2 if it ranks as cosine does, for all encoders."""
    similarities = dict.fromkeys(similarity for _, similarity in scores)
    same = all(
        (cosine := scores.get((encoder, "cosine"))) is not None
        and (cosine.measures, cosine.median_rank) == (score.measures, score.median_rank)
        for (encoder, similarity), score in scores.items()
        if similarity == "l2"
    )
    return [similarity for similarity in similarities if similarity != "l2" or not same]


def _chance(score: RankScore) -> float:
    """Return the mean reciprocal rank of a positive at a random place."""
    return sum(1 / rank for rank in range(1, score.background + 1)) / score.background


def _about_ranks(scores: Ranks) -> str:
    """Return the number of texts that are ranked, and the encoders' exceptions."""
    first = next(iter(scores.values()))
    texts = max(score.background for score in scores.values())
    unknown = {name: s.without_vector for (name, _), s in scores.items() if s.without_vector}
    fewer = {name: s.background for (name, _), s in scores.items() if s.background < texts}
    ties = {f"{name} by {how}": score.ties for (name, how), score in scores.items() if score.ties}
    remarks = {
        "Pairs with a text without a vector, which get the rank of chance: {}.": unknown,
        "With vectors of fewer texts: {}. Among fewer texts, ranks are better.": fewer,
        "Pairs whose positive shares its score with another text: {}.": ties,
    }
    parts = [f"{texts:,} texts, {first.queries:,} queries, {first.pairs:,} pairs."]
    for remark, counts in remarks.items():
        if counts:
            named_counts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
            parts.append(remark.format(named_counts))
    return " ".join(parts)


def rank_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders' ranks."""
    rows = {
        score.key(what): (dataset, score.similarity, what)
        for dataset, scores in _ranked(inputs).items()
        for score in scores.values()
        for what in MEASURES
        if score.similarity in _distinct(scores)
    }
    return measure_differences(
        inputs,
        EVALRANK,
        ("Dataset", "Similarity", "Measure"),
        rows,
        about_differences("group of texts linked by positives"),
    )


def postprocessing(inputs: Inputs) -> list[Table]:
    """Return the effect of post-processing on similarity and on ranks, if any was done.

    Wang, Kuo and Li (2022) find that it improves similarity and not ranks.
    """
    ranked, similar = list(_ranked(inputs)), set()
    scores: dict[tuple[str, str, str, str], float] = {}
    ways: dict[tuple[str, str, str], None] = {}
    for results in inputs.rankings:
        for rank in results.main:
            way = results.name, rank.similarity, rank.postprocessing
            ways[way] = None
            scores[*way, rank.dataset] = rank.mrr
        for score in results.similarities:
            way = results.name, score.similarity, score.postprocessing
            scores[*way, score.dataset] = score.spearman
            similar.add(score.dataset)
    if not ranked or all(done == PLAIN for *_, done in ways):
        return []
    shipped = tuple(sorted(inputs.shipped(similar)))

    def mean(datasets: Sequence[str], way: tuple[str, str, str]) -> float | None:
        values = [scores.get((*way, dataset)) for dataset in datasets]
        known = [value for value in values if value is not None]
        return fmean(known) if known and len(known) == len(values) else None

    def change(datasets: Sequence[str], way: tuple[str, str, str]) -> float | None:
        value, plain = mean(datasets, way), mean(datasets, (*way[:2], PLAIN))
        return None if value is None or plain is None or way[2] == PLAIN else value - plain

    def cell(datasets: Sequence[str], way: tuple[str, str, str]) -> Cell:
        changed = change(datasets, way)
        detail = "" if changed is None else f"({signed(changed)})"
        return percent_cell(mean(datasets, way), detail)

    on_average = []
    for done in dict.fromkeys(done for *_, done in ways):
        phrases = []
        for what, averaged in (
            ("Spearman's correlation", [shipped]),
            ("the MRR", [(dataset,) for dataset in ranked]),
        ):
            changes = [
                change(datasets, way) for datasets in averaged for way in ways if way[2] == done
            ]
            if known := [value for value in changes if value is not None]:
                phrases.append(f"{what} by {signed(fmean(known))}")
        if phrases:
            on_average.append(f"{spaced(done)} changes {' and '.join(phrases)}")
    columns = [
        Column("Encoder", lambda way: named(way[0])),
        Column("Similarity", lambda way: way[1]),
        Column("Vectors", lambda way: spaced(way[2])),
        Column(f"Similarity datasets ({len(shipped)})", partial(cell, shipped)),
        *columns_of(
            ranked, lambda dataset, way: cell([dataset], way), partial(dataset_cell, inputs)
        ),
    ]
    words = {"similar": ", ".join(shipped) or "none", "on_average": "; ".join(on_average)}
    return [lay_out("postprocessing", ways, columns, kind="encoder", words=words)]


def _ranked(inputs: Inputs) -> dict[str, dict[tuple[str, str], RankScore]]:
    """Return dataset to encoder and similarity to the score of the vectors as they are."""
    scores = [(ranked.name, score) for ranked in inputs.rankings for score in ranked.plain]
    scores.sort(
        key=lambda row: (inputs.benchmark(row[1].dataset) == OWN, row[1].task, row[1].dataset)
    )
    datasets: dict[str, dict[tuple[str, str], RankScore]] = {}
    for name, score in scores:
        datasets.setdefault(score.dataset, {})[name, score.similarity] = score
    return datasets
