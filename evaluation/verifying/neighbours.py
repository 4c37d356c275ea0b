"""Verifies EvalRank's scores from the stored ranks, and ParaLex's from those of its clusters."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns
from evaluation.measures.threads import one_thread
from evaluation.paradigms.evaluating import measure_clusters, vocabulary_digest
from evaluation.paradigms.vocabulary import cased
from evaluation.ranking.evaluating import measure_ranks
from evaluation.results.paradigms import ParadigmResults, ParadigmScore
from evaluation.results.rankings import PairRanks, RankingResults, RankScore, read_ranks
from evaluation.verifying.differences import Data, Difference, Verified, differing, verify_each


def verify_rankings(results: RankingResults, folder: Path, data: Data) -> Verified:
    """Compute the scores again whose ranks are stored; see ``verify_probes``.

    These are of the main layer's vectors as they are.
    """

    def verify(where: str, score: RankScore, dataset: Dataset) -> list[Difference]:
        return _verify_ranks(
            where, score, read_ranks(folder, score.dataset, score.similarity), dataset
        )

    scores = ((f"{score.dataset}, {score.similarity}", score) for score in results.plain)
    count, differences = verify_each(scores, data, verify)
    others = len(results.scores) - len(results.plain)
    unverified = [
        f"{others:,} scores of other layers and post-processed vectors, whose ranks are not stored",
        f"{len(results.similarities):,} correlations, whose similarities are not stored",
        "numbers of ties, of texts in the background and of pairs without a vector",
    ]
    return Verified(results.name, "rankings", count, differences, unverified)


def verify_paradigms(results: ParadigmResults, data: Data) -> Verified:
    """Compute the means over clusters and their intervals again; see ``verify_probes``."""

    def verify(where: str, score: ParadigmScore, dataset: Dataset) -> list[Difference]:
        return _verify_clusters(where, score, dataset, _rankings(score, data))

    scores = (
        (f"{own.dataset}, {own.vocabulary} vocabulary, {own.casing}, {own.layer}", own)
        for own in results.scores
    )
    count, differences = verify_each(scores, data, verify)
    unverified = ["the scores of single clusters, whose neighbours are not stored"]
    if any(own.vocabulary_digest and not _rankings(own, data) for own in results.scores):
        unverified.append("shared vocabularies, whose word rankings are not in the data")
    return Verified(results.name, "paradigms", count, differences, unverified)


def _rankings(score: ParadigmScore, data: Data) -> list[Dataset]:
    """Return the datasets whose words are the shared vocabulary of a score."""
    return [
        dataset
        for _, dataset in sorted(data.datasets.items())
        if dataset.task == "word_ranking" and dataset.language == score.language
    ]


def _verify_ranks(
    where: str, score: RankScore, ranks: PairRanks, dataset: Dataset
) -> list[Difference]:
    table = dataset.read("test", ["id", "positives", "document_id"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    pairs = sorted((query, other, group) for query, others, group in rows for other in others)
    stored = list(
        zip(
            *(ids.tolist() for ids in (ranks.queries, ranks.positives, ranks.documents)),
            strict=True,
        )
    )
    differences = []
    if pairs != stored:
        first = next(
            (both for both in zip(stored, pairs, strict=False) if both[0] != both[1]),
            (f"{len(stored):,}", f"{len(pairs):,}"),
        )
        differences.append(Difference(where, "pairs of texts", *map(str, first)))
    with one_thread():
        found = measure_ranks(ranks.ranks, ranks.documents) | {
            "task": dataset.task,
            "language": dataset.language,
            "version": dataset.version,
            "digest": dataset.digest(),
            "queries": len(np.unique(ranks.queries)),
            "pairs": len(ranks.ranks),
        }
    facts = asdict(score)
    return differences + differing(where, {name: facts[name] for name in found}, found)


def _verify_clusters(
    where: str, score: ParadigmScore, dataset: Dataset, rankings: list[Dataset]
) -> list[Difference]:
    (column,) = text_columns(dataset.task, "natural")
    table = dataset.read("test", ["cluster", column])
    terms = zip(*(table[name].to_pylist() for name in ("cluster", column)), strict=True)
    counts = {
        cluster: len({cased(term, score.casing) for term in own})  # type: ignore[arg-type]
        for cluster, own in terms
    }
    with one_thread():
        found = measure_clusters(score.clusters) | {
            "language": dataset.language,
            "version": dataset.version,
            "digest": dataset.digest(),
        }
    if score.vocabulary == "shared" and rankings:
        found["vocabulary_digest"] = vocabulary_digest(rankings)
    facts = asdict(score)
    stored = {name: facts[name] for name in found}
    stored["terms"] = {cluster.cluster: cluster.terms for cluster in score.clusters}
    return differing(where, stored, found | {"terms": counts})
