"""EvalRank and ParaLex: ranks of paraphrases, and words of a paradigm as neighbours."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, groupby, product
from math import isnan, nan
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from builders.tasks.benchmarks import EVALRANK, PARALEX
from evaluation.results.scores import (
    PARADIGM_MEASURES,
    PLAIN,
    RANK_MEASURES,
    ClusterScore,
    ParadigmScore,
    RankScore,
    SimilarityScore,
)
from probeta.report import layout
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Content, Table, columns_of, lay_out
from probeta.report.statistics import OWN
from probeta.report.tables import PARALEX as REPORTED
from probeta.report.tables import PARALEX_ENGLISH, VECTORS, dataset_cell, mark_best, sampled
from probeta.report.tables.compared import about_differences, alike, measure_differences
from probeta.report.tables.scores import about_bold, published_ranks
from probeta.report.texts import phrase, translated

Ranks = Mapping[tuple[str, str], RankScore]
"""Encoder and similarity to the score on a dataset of the vectors as they are."""
Way = tuple[str, str, str, str]
"""Dataset of ParaLex, language, vocabulary and casing."""
COUNTS = "word_counts"
OF_CLUSTER = (*PARADIGM_MEASURES, "terms_left")


def evalrank(inputs: Inputs) -> list[Table]:
    """Return how highly positives are ranked: an explanation, then a table for each dataset.

    Encoders are in rows, MRR and hits by each similarity in columns.
    """
    tables = [lay_out("evalrank")] if inputs.rankings else []
    for dataset, ranks in _ranked(inputs).items():
        name = layout.unused_name(f"evalrank-{dataset}", {table.name for table in tables})
        tables.append(_ranks(inputs, dataset, ranks, name))
    return tables if len(tables) > 1 else []


def _ranks(inputs: Inputs, dataset: str, ranks: Ranks, name: str) -> Table:
    encoders = inputs.in_order({encoder for encoder, _ in ranks})
    columns, measured = [Column("encoder", layout.named)], list[tuple[str, str]]()
    for similarity in _distinct(ranks):
        scores = {encoder: score for (encoder, by), score in ranks.items() if by == similarity}
        among = alike({encoder: score.background for encoder, score in scores.items()})
        beating = {name for name in among if scores[name].interval[0] > _chance(scores[name])}
        ends = {encoder: layout.bracketed(score.interval) for encoder, score in scores.items()}
        for measure in RANK_MEASURES:
            shown = ends if measure == "MRR" else dict.fromkeys(scores, "")
            cells = {
                encoder: layout.percent_cell(score.measures[measure], shown[encoder])
                for encoder, score in scores.items()
            }
            key = f"{dataset} {measure.lower()} {similarity}"
            marked = mark_best(inputs, [dataset], cells, key, beating, among)
            columns.append(Column(Cell(f"{measure}, {translated(similarity)}"), marked.get))
        measured += [(what, similarity) for what in (*RANK_MEASURES, "median")]
        medians = {
            encoder: sampled(inputs, [dataset], layout.counted(score.median_rank, "{:,.1f}"))
            for encoder, score in scores.items()
        }
        median = phrase("median_rank", similarity=translated(similarity))
        columns.append(Column(Cell(median), medians.get))
    bold = about_bold(encoders, phrase("encoder_of_column"))
    return lay_out(
        "ranks",
        encoders,
        columns,
        name=name,
        kind="encoder",
        last=published_ranks(inputs, next(iter(ranks.values())), measured),
        dataset=f"{dataset}, {translated(OWN)}" if inputs.benchmark(dataset) == OWN else dataset,
        counts=_about_ranks(ranks),
        bold=f"{bold} {phrase('alike', what=phrase('of_texts'))}." if bold else "",
    )


def _distinct(ranks: Ranks) -> list[str]:
    """Return the similarities, without l2 if it ranks as cosine does, for all encoders."""
    same = all(
        (cosine := ranks.get((encoder, "cosine"))) is not None
        and (cosine.measures, cosine.median_rank) == (score.measures, score.median_rank)
        for (encoder, similarity), score in ranks.items()
        if similarity == "l2"
    )
    similarities = dict.fromkeys(similarity for _, similarity in ranks)
    return [similarity for similarity in similarities if similarity != "l2" or not same]


def _chance(score: RankScore) -> float:
    """Return the mean reciprocal rank of a positive at a random place."""
    return sum(1 / rank for rank in range(1, score.background + 1)) / score.background


def _about_ranks(ranks: Ranks) -> str:
    """Return the number of texts that are ranked, and the encoders' exceptions."""
    first, texts = next(iter(ranks.values())), max(score.background for score in ranks.values())
    tied, by = (of for of in ranks.items() if of[1].ties), partial(phrase, "by_similarity")
    remarks = {
        "unknown": {n: s.without_vector for (n, _), s in ranks.items() if s.without_vector},
        "fewer": {n: s.background for (n, _), s in ranks.items() if s.background < texts},
        "ties": {by(encoder=n, similarity=translated(how)): s.ties for (n, how), s in tied},
    }
    parts = [phrase("ranked", texts=texts, queries=first.queries, pairs=first.pairs)]
    for key, counts in remarks.items():
        if counts:
            shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
            parts.append(phrase(key, counts=shown))
    return " ".join(parts)


def rank_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders' ranks."""
    rows = {
        score.key(measure): (dataset, translated(similarity), measure)
        for dataset, ranks in _ranked(inputs).items()
        for (_, similarity), score in ranks.items()
        for measure in RANK_MEASURES
        if similarity in _distinct(ranks)
    }
    about = about_differences(phrase("group_of_texts"))
    texts = (phrase("dataset"), phrase("similarity"), phrase("measure"))
    return measure_differences(inputs, EVALRANK, texts, rows, about)


def postprocessing(inputs: Inputs) -> list[Table]:
    """Return the effect of post-processing on similarity and on ranks, if any was done.

    Wang, Kuo and Li (2022) find that it improves similarity and not ranks.
    """
    ranked = list(_ranked(inputs))
    index = ["encoder", "similarity", "done"]
    measured = [
        (results.name, score, score.mrr if isinstance(score, RankScore) else score.spearman)
        for results in inputs.rankings
        for score in chain[RankScore | SimilarityScore](results.main, results.similarities)
    ]
    rows = [(n, s.similarity, s.postprocessing, s.dataset, value) for n, s, value in measured]
    scores = pd.DataFrame(rows, columns=[*index, "dataset", "value"])
    ways = pd.MultiIndex.from_frame(scores[scores.dataset.isin(ranked)][index].drop_duplicates())
    if not ranked or {*ways.get_level_values("done")} == {PLAIN}:
        return []
    wide = scores.pivot(index=index, columns="dataset", values="value").reindex(ways)
    shipped = sorted(inputs.shipped(set(scores.dataset) - set(ranked)))
    similar = wide[shipped].apply(lambda row: fmean(row) if shipped else nan, axis=1)
    means = wide[ranked].assign(similar=similar)
    plain = means.xs(PLAIN, level="done").reindex(ways.droplevel("done")).to_numpy()
    changes = (means - plain).drop(PLAIN, level="done")
    shown: dict[Any, dict[Any, float]] = means.to_dict()
    changed_by: dict[Any, dict[Any, float]] = changes.to_dict()

    def cell(column: str, way: tuple[str, ...]) -> Cell:
        value, changed = shown[column][way], changed_by[column].get(way, nan)
        detail = "" if isnan(changed) else f"({layout.signed(changed)})"
        return layout.percent_cell(None if isnan(value) else value, detail)

    on_average = []
    for done, rows_of in changes.groupby(level="done", sort=False):
        frames = {phrase("spearman"): rows_of[["similar"]], phrase("the_mrr"): rows_of[ranked]}
        known = {measure: frame.to_numpy().ravel() for measure, frame in frames.items()}
        known = {measure: values[~np.isnan(values)] for measure, values in known.items()}
        changed = [
            phrase("changed_by", measure=measure, difference=layout.signed(fmean(values)))
            for measure, values in known.items()
            if len(values)
        ]
        if changed:
            words = {"done": layout.spaced(str(done)), "measures": phrase("and").join(changed)}
            on_average.append(phrase("changes", **words))
    of_similar = Cell(phrase("similarity_datasets", count=len(shipped)))
    columns = [
        Column("encoder", lambda way: layout.named(way[0])),
        Column("similarity", lambda way: translated(way[1])),
        Column("vectors", lambda way: layout.spaced(way[2])),
        Column(of_similar, partial(cell, "similar")),
        *columns_of(ranked, cell, partial(dataset_cell, inputs)),
    ]
    facts: dict[str, Any] = {"similar": ", ".join(shipped) or phrase("none")}
    facts["on_average"] = "; ".join(on_average)
    return [lay_out("postprocessing", ways, columns, texts=3, kind="encoder", **facts)]


def _ranked(inputs: Inputs) -> dict[str, dict[tuple[str, str], RankScore]]:
    """Return dataset to encoder and similarity to the score of the vectors as they are."""
    datasets: dict[str, dict[tuple[str, str], RankScore]] = {}
    for ranked in inputs.rankings:
        for score in ranked.plain:
            datasets.setdefault(score.dataset, {})[ranked.name, score.similarity] = score
    tasks = {name: next(iter(ranks.values())).task for name, ranks in datasets.items()}
    order = sorted(datasets, key=lambda name: (inputs.benchmark(name) == OWN, tasks[name], name))
    return {name: datasets[name] for name in order}


def paralex(inputs: Inputs) -> list[Table]:
    """Return ParaLex over languages, as Table 2 of Sumbler et al. (2018)."""
    scores, not_scored = _clustered(inputs), _not_scored(inputs)
    if not scores and not not_scored:
        return []
    names = [results.name for results in inputs.paradigms if results.main]
    cells = {
        (way, measure): _measured(inputs, of_way, measure)
        for way, of_way in scores.items()
        for measure in (*PARADIGM_MEASURES, COUNTS)
    }
    fewer = phrase("fewer_words", alike=phrase("alike", what=phrase("of_words")))
    bold = about_bold(names, phrase("encoder_of_row"))
    measures = product(names, (*PARADIGM_MEASURES, COUNTS))
    columns = [
        Column("dataset", lambda way: dataset_cell(inputs, way[0])),
        Column("language", lambda way: way[1]),
        Column("vocabulary", lambda way: translated(way[2])),
        Column("casing", lambda way: layout.spaced(way[3])),
        *columns_of(measures, lambda of, way: cells[way, of[1]].get(of[0]), _heading),
    ]
    table = lay_out(
        "paralex",
        scores,
        columns,
        texts=4,
        threshold=inputs.paradigms[0].coherence_threshold,
        bold=f"{bold} {fewer}" if bold else "",
        papers=_reported(dict.fromkeys(w[1] for w in scores if w[0] not in inputs.samples)),
        not_scored=not_scored,
    )
    return [table]


def word_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders on clusters."""
    rows = {
        next(iter(scores.values())).key(measure): (name, *map(layout.spaced, (*way, measure)))
        for (name, _, *way), scores in _clustered(inputs).items()
        for measure in PARADIGM_MEASURES
    }
    texts = (phrase("dataset"), phrase("vocabulary"), phrase("casing"), phrase("measure"))
    about = f"{about_differences(phrase('one_cluster'))} {phrase('other_words')}"
    return measure_differences(inputs, PARALEX, texts, rows, about)


def clusters(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset of ParaLex: its clusters, with the terms left out."""
    tables: list[Table] = []
    for dataset, ways in groupby(_clustered(inputs).items(), key=lambda item: item[0][0]):
        name = layout.unused_name(f"clusters-{dataset}", {table.name for table in tables})
        tables.append(_clusters(inputs, dataset, dict(ways), name))
    return tables


def _clusters(
    inputs: Inputs, dataset: str, ways: Mapping[Way, Mapping[str, ParadigmScore]], name: str
) -> Table:
    rows: dict[tuple[str, str, str], dict[tuple[str, str], Content]] = {}
    for (_, _, vocabulary, casing), scores in ways.items():
        known = [(encoder, cluster) for encoder, s in scores.items() for cluster in s.clusters]
        for encoder, cluster in sorted(known, key=lambda item: item[1].cluster):
            contents = rows.setdefault((cluster.cluster, vocabulary, casing), {})
            contents |= {(encoder, what): shown for what, shown in _of_cluster(cluster).items()}
    encoders = inputs.in_order({encoder for contents in rows.values() for encoder, _ in contents})
    columns = [
        Column("cluster", lambda row: row[0]),
        Column("vocabulary", lambda row: translated(row[1])),
        Column("casing", lambda row: layout.spaced(row[2])),
        *columns_of(product(encoders, OF_CLUSTER), lambda of, row: rows[row].get(of), _heading),
    ]
    return lay_out("clusters", rows, columns, name=name, texts=3, dataset=dataset)


def _heading(column: tuple[str, str]) -> str:
    encoder, measure = column
    return f"{encoder}: {translated(measure) if measure in PARADIGM_MEASURES else phrase(measure)}"


def _of_cluster(cluster: ClusterScore) -> dict[str, Content]:
    """Return what is shown of an encoder's score on a cluster, by ``OF_CLUSTER``."""
    suggestion = f"{layout.percent(cluster.suggestion)} ± {layout.percent(cluster.deviation)}"
    reasons = {why: ", ".join(terms) for why, terms in cluster.left_out.items() if terms}
    left = phrase("counted_of", count=cluster.left, all=cluster.terms)
    terms = Cell(left, _reasons(reasons), value=cluster.left)
    contents = (Cell(suggestion, value=cluster.suggestion), cluster.coherence, terms)
    return dict(zip(OF_CLUSTER, contents, strict=True))


def _clustered(inputs: Inputs) -> dict[Way, dict[str, ParadigmScore]]:
    """Return dataset, language, vocabulary and casing to encoder to score."""
    ways: dict[Way, dict[str, ParadigmScore]] = {}
    for results in inputs.paradigms:
        for score in results.main:
            way = (score.dataset, score.language, score.vocabulary, score.casing)
            ways.setdefault(way, {})[results.name] = score
    order = sorted(ways, key=lambda way: (inputs.benchmark(way[0]) == OWN, way))
    return {way: ways[way] for way in order}


def _not_scored(inputs: Inputs) -> str:
    """Return which datasets of ParaLex an encoder has no scores for, and why, in a paragraph."""
    reasons: dict[str, list[str]] = {}
    for results in inputs.paradigms:
        for dataset, reason in results.left_out.items():
            why = phrase("with_encoder", encoder=results.name, reason=reason)
            reasons.setdefault(why, []).append(dataset)
    parts = (f"{', '.join(datasets)} {reason}" for reason, datasets in reasons.items())
    return phrase("not_scored", datasets="; ".join(parts)) if reasons else ""


def _measured(inputs: Inputs, scores: Mapping[str, ParadigmScore], measure: str) -> dict[str, Cell]:
    """Return encoder to the cell of a measure, or of ``COUNTS``, in one vocabulary and casing."""
    if measure == COUNTS:
        return {name: _counts(score) for name, score in scores.items()}
    intervals = {name: getattr(score, f"{measure}_interval") for name, score in scores.items()}
    cells = {
        name: layout.percent_cell(getattr(score, measure), layout.bracketed(intervals[name]))
        for name, score in scores.items()
    }
    first, among = next(iter(scores.values())), list[str]()
    if first.vocabulary == "shared":
        among = alike({name: score.words for name, score in scores.items()})
    # By chance, almost nothing is found.
    beating = {name for name in among if intervals[name][0] > 0}
    return mark_best(inputs, [first.dataset], cells, first.key(measure), beating, among)


def _counts(score: ParadigmScore) -> Cell:
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    reasons = {why: f"{count:,}" for why, count in score.words_left_out.items() if count}
    text = f"{{:,}} / {score.skipped} / {terms}"
    return layout.counted(score.words, text, _reasons(reasons))


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"{layout.spaced(reason)}: {what}" for reason, what in left_out.items())


def _reported(languages: Iterable[str]) -> str:
    """Return the paper's scores of some languages, in words."""
    shown = []
    for language in languages:
        scores = zip(VECTORS, REPORTED.get(language, ()), strict=False)
        if known := [f"{name} {score}" for name, score in scores if score is not None]:
            shown.append(f"{language}: {', '.join(known)}")
        if language == "en":
            table = ", ".join(f"{name} {score:g}" for name, score in PARALEX_ENGLISH.items())
            shown.append(phrase("by_table_1", scores=table))
    return phrase("reported", languages="; ".join(shown)) if shown else ""
