"""Verifies EvalRank's scores from the stored ranks, and ParaLex's from those of its clusters."""

from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns
from evaluation.measures.threads import one_thread
from evaluation.paradigms.evaluating import measure_clusters, vocabulary_digest
from evaluation.paradigms.neighbours import cased
from evaluation.ranking.evaluating import RANKED, measure_ranks
from evaluation.results.paradigms import MEASURES, ParadigmResults, ParadigmScore
from evaluation.results.rankings import (
    PLAIN,
    RANKS,
    PairRanks,
    RankingResults,
    RankScore,
    SimilarityScore,
    all_ranks,
    ranks_digest,
)
from probeta.verifying.check import Check

_WAY = attrgetter("dataset", "layer", "postprocessing", "similarity")


def verify_rankings(check: Check, results: RankingResults, folder: Path) -> None:
    """Compute the scores again whose ranks are stored; see ``verify_probes``.

    These are of the main layer's vectors as they are; of the others, the facts on the data are
    compared.
    """
    check.begin("rankings", "rank", "evaluation.ranking.evaluating", {*RANKED, "similarity"})
    _list_ways(check, results)
    ranks = [((pairs.dataset, pairs.similarity), pairs) for pairs in all_ranks(folder)]
    plain = [(score.dataset, score.similarity) for score in results.plain]
    check.list_all(f"row groups of {RANKS}", [key for key, _ in ranks], plain)
    ranks_of = dict(ranks)
    every: list[RankScore | SimilarityScore] = [*results.scores, *results.similarities]
    for score in every:
        if not check.asks(score.dataset):
            continue
        dataset = check.datasets[score.dataset]
        where = ", ".join(_WAY(score))
        found: dict[str, Any] = {
            "language": dataset.language,
            "digest": dataset.digest(),
            "texts": check.texts_of(dataset),
        }
        if isinstance(score, RankScore):
            found |= {"task": dataset.task, "version": dataset.version}
            if score not in results.plain:
                found["answers"] = ""
            elif pairs := ranks_of.get((score.dataset, score.similarity)):
                found |= _measured(check, where, pairs, dataset)
                check.recomputed += 1
        check.compare(where, score, found)


def verify_paradigms(check: Check, results: ParadigmResults) -> None:
    """Compute the means over clusters and their intervals again; see ``verify_probes``."""
    check.begin("paradigms", "paradigms", "evaluation.paradigms.evaluating", {"paradigms"})
    keys = [*map(attrgetter("dataset", "vocabulary", "casing", "layer"), results.scores)]
    # Whether there is a vocabulary, the encoder and the language's word rankings decide.
    expected = {key[:2] for key in keys}
    expected |= {
        (score.dataset, "shared") for score in results.scores if word_rankings(check, score)
    }
    main = results.encoder["layer"]
    ways = product(sorted(expected), results.casings, results.encoder["layers"])
    wanted = [
        (*of, casing, layer)
        for of, casing, layer in ways
        if layer == main or (of[1] == "shared" and casing == results.casings[0])
    ]
    check.list_all("scores", keys, wanted)
    for key, score in zip(keys, results.scores, strict=True):
        if check.asks(score.dataset):
            _verify_clusters(check, ", ".join(key), score)


def word_rankings(check: Check, score: ParadigmScore) -> list[Dataset]:
    """Return the datasets whose words are the shared vocabulary of a score."""
    return [
        dataset
        for _, dataset in sorted(check.datasets.items())
        if dataset.task == "word_ranking" and dataset.language == score.language
    ]


def _list_ways(check: Check, results: RankingResults) -> None:
    """Compare the scores with one for each dataset, layer and way to compare vectors."""
    main, layers = results.encoder["layer"], results.encoder["layers"]
    ways = [*product(results.evalrank["postprocessings"], results.evalrank["similarities"])]
    for what, scores, of_layers in (
        ("scores", results.scores, layers),
        ("similarities", results.similarities, [main]),
    ):
        keys = [*map(_WAY, scores)]
        wanted = (
            (name, layer, *way)
            for name, layer in product(sorted({key[0] for key in keys}), of_layers)
            for way in (ways if layer == main else [(PLAIN, ways[0][1])])
        )
        # Few texts are not whitened.
        check.list_all(what, keys, [key for key in wanted if key in keys or key[2] != "whitening"])


def _measured(check: Check, where: str, kept: PairRanks, dataset: Dataset) -> dict[str, Any]:
    """Return what ranks give; nothing if they are not those of the dataset's pairs."""
    table = dataset.read("test", ["id", "positives", "document_id"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    pairs = [(query, other, group) for query, others, group in rows for other in others]
    columns = (ids.tolist() for ids in (kept.queries, kept.positives, kept.documents))
    stored = [*zip(*columns, strict=True)]
    if stored != sorted(pairs):
        both = [*zip(stored, sorted(pairs), strict=False), (len(stored), len(pairs))]
        one, other = next(pair for pair in both if pair[0] != pair[1])
        check.differences.append(f"{where}: pairs of texts: stored {one}, in the data {other}")
        return {}
    if not ((kept.ranks >= 1) & (kept.ranks <= len(table))).all():
        check.differences.append(f"{where}: ranks: stored others than 1 … {len(table):,}")
        return {}
    # In the order in which they were added.
    places = {pair: place for place, pair in enumerate(stored)}
    order = np.array([places[pair] for pair in pairs])
    with one_thread():
        return measure_ranks(kept.ranks[order], kept.documents[order]) | {
            "queries": len({query for query, *_ in pairs}),
            "pairs": len(pairs),
            "answers": ranks_digest(kept),
        }


def _verify_clusters(check: Check, where: str, score: ParadigmScore) -> None:
    dataset, rankings = check.datasets[score.dataset], word_rankings(check, score)
    check.recomputed += 1
    (column,) = text_columns(dataset.task, "natural")
    table = dataset.read("test", ["cluster", column])
    terms = dict(zip(*(table[name].to_pylist() for name in ("cluster", column)), strict=True))
    names = [(cluster.cluster,) for cluster in score.clusters]
    check.list_all(f"{where}: clusters", names, [(name,) for name in sorted(terms)])
    for cluster in score.clusters:
        distinct = {cased(term, score.casing) for term in terms.get(cluster.cluster, ())}
        check.compare(f"{where}, {cluster.cluster}", cluster, {"terms": len(distinct)})
    measured = [getattr(cluster, name) for cluster in score.clusters for name in MEASURES]
    if not measured or min(measured) < 0 or max(measured) > 1:
        check.differences.append(f"{where}: clusters: none, or stored scores outside 0 … 1")
        return
    with one_thread():
        found = measure_clusters(score.clusters) | {
            "language": dataset.language,
            "version": dataset.version,
            "digest": dataset.digest(),
        }
    if score.vocabulary == "own":
        found["vocabulary_digest"] = ""
    elif rankings:
        found["vocabulary_digest"] = vocabulary_digest(rankings)
    else:
        check.notes.append("shared vocabularies not compared: no word rankings in the data")
    check.compare(where, score, found)
