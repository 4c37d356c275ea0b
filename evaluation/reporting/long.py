"""All scores in one table, a row each: what tables over several kinds of scores are made of."""

from collections.abc import Sequence

import pandas as pd

from builders.tasks import TASKS
from evaluation.reporting.averages import place
from evaluation.results.paradigms import MEASURES, ParadigmResults
from evaluation.results.probes import Results, Score
from evaluation.results.rankings import RankingResults

COLUMNS = ("encoder", "dataset", "task", "language", "measure", "way", "key", "value", "interval")


def long_table(
    encoders: Sequence[Results],
    rankings: Sequence[RankingResults],
    paradigms: Sequence[ParadigmResults],
) -> pd.DataFrame:
    """Return the scores of the main layers, of vectors as they are.

    Returns:
        Columns encoder, dataset, task, language, measure ("accuracy", "pearson"; "MRR" …;
        "suggestion", "coherence"), way (similarity, or vocabulary and casing; "" of a probe), key
        (unique for an encoder: the dataset, or such as "evalrank_es mrr cosine"), value, interval
        (or None). First probes by group and dataset, then EvalRank, then ParaLex.
    """
    rows: list[tuple[object, ...]] = [
        (name, s.dataset, s.task, s.language, s.metric, "", s.dataset, s.value, s.interval)
        for name, s in probed_scores(encoders)
    ]
    for ranked in rankings:
        for rank in ranked.plain:
            about = (ranked.name, rank.dataset, rank.task, rank.language)
            for what, value in rank.measures.items():
                interval = rank.interval if what == "MRR" else None
                rows.append((*about, what, rank.similarity, rank.key(what), value, interval))
    for clustered in paradigms:
        for score in clustered.main:
            about = (clustered.name, score.dataset, "paradigms", score.language)
            way = f"{score.vocabulary} {score.casing}"
            for what in MEASURES:
                value, interval = getattr(score, what), getattr(score, f"{what}_interval")
                rows.append((*about, what, way, score.key(what), value, interval))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def probed_scores(encoders: Sequence[Results]) -> list[tuple[str, Score]]:
    """Return the scores of main layers with their encoders: by group, dataset, then as given."""
    return sorted(
        ((results.name, score) for results in encoders for score in results.main),
        key=lambda row: (*place(TASKS[row[1].task].group), row[1].dataset),
    )
