"""EvalRank and ParaLex: ranks of paraphrases, and words of a paradigm as neighbours."""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, groupby, product
from math import isnan, nan
from statistics import fmean
from typing import Any, NamedTuple

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
from probeta.report.inputs import OWN
from probeta.report.layout import Cell, Column, Content, Table, columns_of, lay_out
from probeta.report.statistics import Report
from probeta.report.tables import (
    PARALEX_ENGLISH_SCORES,
    PARALEX_SCORES,
    VECTORS,
    dataset_cell,
    mark_best,
    mark_samples,
)
from probeta.report.tables.compared import about_differences, alike, measure_differences
from probeta.report.tables.scores import about_bold, published_ranks
from probeta.report.texts import phrase, translated

RankScores = Mapping[tuple[str, str], RankScore]
"""Encoder and similarity to the score on a dataset of the vectors as they are."""
COUNTS = "word_counts"
CLUSTER_COLUMNS = (*PARADIGM_MEASURES, "terms_left")


class Setting(NamedTuple):
    """In what words of ParaLex are scored."""

    dataset: str
    language: str
    vocabulary: str
    casing: str


def evalrank(report: Report) -> list[Table]:
    """Return how highly positives are ranked: an explanation, then a table for each dataset.

    Encoders are in rows, MRR and hits by each similarity in columns.
    """
    tables = [lay_out("evalrank")] if report.inputs.rankings else []
    for dataset, ranks in _scores_by_dataset(report).items():
        name = layout.unused_name(f"evalrank-{dataset}", {table.name for table in tables})
        tables.append(_rank_table(report, dataset, ranks, name))
    return tables if len(tables) > 1 else []


def _rank_table(report: Report, dataset: str, ranks: RankScores, name: str) -> Table:
    encoders = report.sort_names({encoder for encoder, _ in ranks})
    columns, measured = [Column("encoder", layout.name_cell)], list[tuple[str, str]]()
    for similarity in _distinct_similarities(ranks):
        scores = {encoder: score for (encoder, by), score in ranks.items() if by == similarity}
        among = alike({encoder: score.background for encoder, score in scores.items()})
        beating = {name for name in among if scores[name].interval[0] > chance_mrr(scores[name])}
        for measure in RANK_MEASURES:
            cells = {
                encoder: layout.percent_cell(
                    score.measures[measure],
                    layout.bracketed(score.interval) if measure == "MRR" else "",
                )
                for encoder, score in scores.items()
            }
            key = f"{dataset} {measure.lower()} {similarity}"
            marked = mark_best(report, [dataset], cells, key, beating, among)
            columns.append(Column(Cell(f"{measure}, {translated(similarity)}"), marked.get))
        measured += [(measure, similarity) for measure in (*RANK_MEASURES, "median")]
        medians = {e: layout.count_cell(s.median_rank, "{:,.1f}") for e, s in scores.items()}
        marked = {e: mark_samples(report, [dataset], cell) for e, cell in medians.items()}
        median = phrase("median_rank", similarity=translated(similarity))
        columns.append(Column(Cell(median), marked.get))
    bold = about_bold(encoders, phrase("encoder_of_column"))
    of_user = f", {translated(OWN)}" if report.inputs.benchmark(dataset) == OWN else ""
    return lay_out(
        "ranks",
        encoders,
        columns,
        name=name,
        kind="encoder",
        last=published_ranks(report, next(iter(ranks.values())), measured),
        dataset=f"{dataset}{of_user}",
        counts=_about_ranks(ranks),
        bold=f"{bold} {phrase('alike', what=phrase('of_texts'))}." if bold else "",
    )


def _distinct_similarities(ranks: RankScores) -> list[str]:
    """Return the similarities, without l2 if it ranks as cosine does, for all encoders."""
    same = all(
        (cosine := ranks.get((encoder, "cosine"))) is not None
        and (cosine.measures, cosine.median_rank) == (score.measures, score.median_rank)
        for (encoder, similarity), score in ranks.items()
        if similarity == "l2"
    )
    similarities = dict.fromkeys(similarity for _, similarity in ranks)
    return [similarity for similarity in similarities if similarity != "l2" or not same]


def chance_mrr(score: RankScore) -> float:
    """Return the mean reciprocal rank of a positive at a random place."""
    return sum(1 / rank for rank in range(1, score.background + 1)) / score.background


def _about_ranks(ranks: RankScores) -> str:
    """Return the number of texts that are ranked, and the encoders' exceptions."""
    first, texts = next(iter(ranks.values())), max(score.background for score in ranks.values())
    ties = {
        phrase("by_similarity", encoder=name, similarity=translated(similarity)): score.ties
        for (name, similarity), score in ranks.items()
        if score.ties
    }
    remarks = {
        "unknown": {n: s.without_vector for (n, _), s in ranks.items() if s.without_vector},
        "fewer": {n: s.background for (n, _), s in ranks.items() if s.background < texts},
        "ties": ties,
    }
    parts = [phrase("ranked", texts=texts, queries=first.queries, pairs=first.pairs)]
    for key, counts in remarks.items():
        if counts:
            listed = ", ".join(f"{name} {count:,}" for name, count in counts.items())
            parts.append(phrase(key, counts=listed))
    return " ".join(parts)


def rank_differences(report: Report) -> list[Table]:
    """Return the differences of every two encoders' ranks."""
    rows = {
        score.key(measure): (dataset, translated(similarity), measure)
        for dataset, ranks in _scores_by_dataset(report).items()
        for (_, similarity), score in ranks.items()
        for measure in RANK_MEASURES
        if similarity in _distinct_similarities(ranks)
    }
    about = about_differences(phrase("group_of_texts"))
    texts = (phrase("dataset"), phrase("similarity"), phrase("measure"))
    return measure_differences(report, EVALRANK, texts, rows, about)


def postprocessing(report: Report) -> list[Table]:
    """Return the effect of post-processing on similarity and on ranks, if any was done.

    Wang, Kuo and Li (2022) find that it improves similarity and not ranks.
    """
    ranked = list(_scores_by_dataset(report))
    index = ["encoder", "similarity", "done"]
    measured = [
        (results.name, score, score.mrr if isinstance(score, RankScore) else score.spearman)
        for results in report.inputs.rankings
        for score in chain[RankScore | SimilarityScore](results.main, results.similarities)
    ]
    rows = [(n, s.similarity, s.postprocessing, s.dataset, value) for n, s, value in measured]
    scores = pd.DataFrame(rows, columns=[*index, "dataset", "value"])
    ranks = scores[scores.dataset.isin(ranked)]
    settings = pd.MultiIndex.from_frame(ranks[index].drop_duplicates())
    if not ranked or {*settings.get_level_values("done")} == {PLAIN}:
        return []
    wide = scores.pivot(index=index, columns="dataset", values="value").reindex(settings)
    rated = sorted(report.benchmark_datasets(set(scores.dataset) - set(ranked)))
    similar = wide[rated].apply(lambda row: fmean(row) if rated else nan, axis=1)
    means = wide[ranked].assign(similar=similar)
    plain = means.xs(PLAIN, level="done").reindex(settings.droplevel("done")).to_numpy()
    changes = (means - plain).drop(PLAIN, level="done")
    mean_of: dict[Any, dict[Any, float]] = means.to_dict()
    change_of: dict[Any, dict[Any, float]] = changes.to_dict()

    def cell(column: str, setting: tuple[str, ...]) -> Cell:
        value, change = mean_of[column][setting], change_of[column].get(setting, nan)
        detail = "" if isnan(change) else f"({layout.signed(change)})"
        return layout.percent_cell(None if isnan(value) else value, detail)

    on_average = []
    for done, frame in changes.groupby(level="done", sort=False):
        parts = {phrase("spearman"): frame[["similar"]], phrase("the_mrr"): frame[ranked]}
        values_of = {measure: part.to_numpy().ravel() for measure, part in parts.items()}
        defined = {measure: values[~np.isnan(values)] for measure, values in values_of.items()}
        changed = [
            phrase("changed_by", measure=measure, difference=layout.signed(fmean(values)))
            for measure, values in defined.items()
            if len(values)
        ]
        if changed:
            words = {"done": layout.spaced(str(done)), "measures": phrase("and").join(changed)}
            on_average.append(phrase("changes", **words))
    similar_heading = Cell(phrase("similarity_datasets", count=len(rated)))
    columns = [
        Column("encoder", lambda setting: layout.name_cell(setting[0])),
        Column("similarity", lambda setting: translated(setting[1])),
        Column("vectors", lambda setting: layout.spaced(setting[2])),
        Column(similar_heading, partial(cell, "similar")),
        *columns_of(ranked, cell, partial(dataset_cell, report)),
    ]
    facts: dict[str, Any] = {"similar": ", ".join(rated) or phrase("none")}
    facts["on_average"] = "; ".join(on_average)
    return [lay_out("postprocessing", settings, columns, texts=3, kind="encoder", **facts)]


def _scores_by_dataset(report: Report) -> dict[str, dict[tuple[str, str], RankScore]]:
    """Return dataset to encoder and similarity to the score of the vectors as they are."""
    datasets: dict[str, dict[tuple[str, str], RankScore]] = {}
    for ranked in report.inputs.rankings:
        for score in ranked.plain:
            datasets.setdefault(score.dataset, {})[ranked.name, score.similarity] = score
    tasks = {name: next(iter(ranks.values())).task for name, ranks in datasets.items()}
    of_user = {name: report.inputs.benchmark(name) == OWN for name in datasets}
    order = sorted(datasets, key=lambda name: (of_user[name], tasks[name], name))
    return {name: datasets[name] for name in order}


def paralex(report: Report) -> list[Table]:
    """Return ParaLex over languages, as Table 2 of Sumbler et al. (2018)."""
    scores, not_scored = _scores_by_setting(report), _about_not_scored(report)
    if not scores and not not_scored:
        return []
    names = [results.name for results in report.inputs.paradigms if results.main]
    cells = {
        (setting, measure): _measure_cells(report, by_encoder, measure)
        for setting, by_encoder in scores.items()
        for measure in (*PARADIGM_MEASURES, COUNTS)
    }
    fewer = phrase("fewer_words", alike=phrase("alike", what=phrase("of_words")))
    bold = about_bold(names, phrase("encoder_of_row"))

    def cell(column: tuple[str, str], setting: Setting) -> Cell | None:
        encoder, measure = column
        return cells[setting, measure].get(encoder)

    columns = [
        Column("dataset", lambda setting: dataset_cell(report, setting.dataset)),
        Column("language", lambda setting: setting.language),
        Column("vocabulary", lambda setting: translated(setting.vocabulary)),
        Column("casing", lambda setting: layout.spaced(setting.casing)),
        *columns_of(product(names, (*PARADIGM_MEASURES, COUNTS)), cell, _heading),
    ]
    languages = [s.language for s in scores if s.dataset not in report.inputs.samples]
    table = lay_out(
        "paralex",
        scores,
        columns,
        texts=4,
        threshold=report.inputs.paradigms[0].coherence_threshold,
        bold=f"{bold} {fewer}" if bold else "",
        papers=_about_paper(dict.fromkeys(languages)),
        not_scored=not_scored,
    )
    return [table]


def word_differences(report: Report) -> list[Table]:
    """Return the differences of every two encoders on clusters."""
    rows = {
        next(iter(scores.values())).key(measure): (name, *map(layout.spaced, (*words, measure)))
        for (name, _, *words), scores in _scores_by_setting(report).items()
        for measure in PARADIGM_MEASURES
    }
    texts = (phrase("dataset"), phrase("vocabulary"), phrase("casing"), phrase("measure"))
    about = f"{about_differences(phrase('one_cluster'))} {phrase('other_words')}"
    return measure_differences(report, PARALEX, texts, rows, about)


def clusters(report: Report) -> list[Table]:
    """Return a table for each dataset of ParaLex: its clusters, with the excluded terms."""
    tables: list[Table] = []
    scores = _scores_by_setting(report).items()
    for dataset, by_setting in groupby(scores, key=lambda item: item[0].dataset):
        name = layout.unused_name(f"clusters-{dataset}", {table.name for table in tables})
        tables.append(_cluster_table(report, dataset, dict(by_setting), name))
    return tables


def _cluster_table(
    report: Report, dataset: str, scores: Mapping[Setting, Mapping[str, ParadigmScore]], name: str
) -> Table:
    rows: dict[tuple[str, str, str], dict[tuple[str, str], Content]] = {}
    for setting, by_encoder in scores.items():
        clusters = [(encoder, c) for encoder, score in by_encoder.items() for c in score.clusters]
        for encoder, cluster in sorted(clusters, key=lambda item: item[1].cluster):
            row = (cluster.cluster, setting.vocabulary, setting.casing)
            cells = rows.setdefault(row, {})
            cells |= {(encoder, key): cell for key, cell in _cluster_cells(cluster).items()}
    encoders = report.sort_names({encoder for cells in rows.values() for encoder, _ in cells})
    cell_columns = product(encoders, CLUSTER_COLUMNS)
    columns = [
        Column("cluster", lambda row: row[0]),
        Column("vocabulary", lambda row: translated(row[1])),
        Column("casing", lambda row: layout.spaced(row[2])),
        *columns_of(cell_columns, lambda column, row: rows[row].get(column), _heading),
    ]
    return lay_out("clusters", rows, columns, name=name, texts=3, dataset=dataset)


def _heading(column: tuple[str, str]) -> str:
    encoder, measure = column
    return f"{encoder}: {translated(measure) if measure in PARADIGM_MEASURES else phrase(measure)}"


def _cluster_cells(cluster: ClusterScore) -> dict[str, Content]:
    """Return the cells of an encoder's score on a cluster, by ``CLUSTER_COLUMNS``."""
    suggestion = f"{layout.percent(cluster.suggestion)} ± {layout.percent(cluster.deviation)}"
    reasons = {why: ", ".join(terms) for why, terms in cluster.left_out.items() if terms}
    left = phrase("counted_of", count=cluster.left, all=cluster.terms)
    terms = Cell(left, _reasons(reasons), value=cluster.left)
    cells = (Cell(suggestion, value=cluster.suggestion), cluster.coherence, terms)
    return dict(zip(CLUSTER_COLUMNS, cells, strict=True))


def _scores_by_setting(report: Report) -> dict[Setting, dict[str, ParadigmScore]]:
    """Return setting to encoder to score; datasets of the user come last."""
    scores: dict[Setting, dict[str, ParadigmScore]] = {}
    for results in report.inputs.paradigms:
        for score in results.main:
            setting = Setting(score.dataset, score.language, score.vocabulary, score.casing)
            scores.setdefault(setting, {})[results.name] = score
    order = sorted(scores, key=lambda s: (report.inputs.benchmark(s.dataset) == OWN, s))
    return {setting: scores[setting] for setting in order}


def _about_not_scored(report: Report) -> str:
    """Return which datasets of ParaLex an encoder has no scores for, and why, in a paragraph."""
    reasons: dict[str, list[str]] = {}
    for results in report.inputs.paradigms:
        for dataset, reason in results.left_out.items():
            why = phrase("with_encoder", encoder=results.name, reason=reason)
            reasons.setdefault(why, []).append(dataset)
    parts = (f"{', '.join(datasets)} {reason}" for reason, datasets in reasons.items())
    return phrase("not_scored", datasets="; ".join(parts)) if reasons else ""


def _measure_cells(
    report: Report, scores: Mapping[str, ParadigmScore], measure: str
) -> dict[str, Cell]:
    """Return encoder to the cell of a measure, or of ``COUNTS``, in one vocabulary and casing."""
    if measure == COUNTS:
        return {name: _word_counts(score) for name, score in scores.items()}
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
    return mark_best(report, [first.dataset], cells, first.key(measure), beating, among)


def _word_counts(score: ParadigmScore) -> Cell:
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    reasons = {why: f"{count:,}" for why, count in score.words_left_out.items() if count}
    text = f"{{:,}} / {score.skipped} / {terms}"
    return layout.count_cell(score.words, text, _reasons(reasons))


def _reasons(excluded: Mapping[str, str]) -> str:
    return "; ".join(f"{layout.spaced(reason)}: {words}" for reason, words in excluded.items())


def _about_paper(languages: Iterable[str]) -> str:
    """Return the paper's scores of some languages, in words."""
    parts = []
    for language in languages:
        scores = zip(VECTORS, PARALEX_SCORES.get(language, ()), strict=False)
        if published := [f"{name} {score}" for name, score in scores if score is not None]:
            parts.append(f"{language}: {', '.join(published)}")
        if language == "en":
            table = ", ".join(f"{name} {score:g}" for name, score in PARALEX_ENGLISH_SCORES.items())
            parts.append(phrase("by_table_1", scores=table))
    return phrase("reported", languages="; ".join(parts)) if parts else ""
