"""EvalRank with one encoder: ranks on all ranking datasets, and scores of similarity.

Wang, Kuo and Li 2022, "Just Rank: Rethinking Evaluation with Word and Sentence Similarities": mean
reciprocal rank and hits of the positives among all texts, by cosine and by 1 / (1 + l2); and their
finding that post-processing improves the correlation with human scores and not the ranks, which is
why the similarity datasets are scored here too.

Differences from the code published with the paper: it centres all sentence vectors
(here the post-processing "centre"), gives words without a vector the mean of all (here their pairs
have the rank of chance, and are counted), removes two components from words (here "abtt" removes
d / 100), lets ties count in favour of the positive and other positives against it (here see
``ranks``), and computes the positive's score with another matrix product than the other scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from builders.statistics import pearson
from builders.tasks.ranking import TASKS
from corpora_recipes.parquet import array_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.running.executors import as_completed, open_executor
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.telling import progress
from evaluation.arrays import Doubles, Flags, Floats, Rows, Values
from evaluation.data.features import ProbeRows
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompt_of, text_columns, unique_texts
from evaluation.embedding.postprocessing import Fitting
from evaluation.embedding.store import EmbeddingStore, EncodedDataset, read_described
from evaluation.encoders.encoder import Description, Encoder, Form, Postprocess, describe
from evaluation.measures.intervals import leave_out_means, score_interval
from evaluation.measures.metrics import spearman
from evaluation.measures.similarity import alignment, cosines, inverse_distances, uniformity
from evaluation.measures.threads import one_thread
from evaluation.ranking.ranks import Similarity, rank_positives
from evaluation.results.parts import Part, score_parts
from evaluation.results.rankings import (
    FORMAT,
    HITS,
    MEASURES,
    PLAIN,
    PairRanks,
    RankingResults,
    RankScore,
    SimilarityScore,
    measure_pairs,
    ranks_digest,
    ranks_table,
)
from evaluation.results.stored import encoder_facts, library_versions

RANKED = tuple(task.name for task in TASKS)

# Bytes of datasets for which another process is started: a start takes one to two seconds.
BYTES_A_WORKER = 2**20

# A post-processing of vectors, and a similarity.
_Way = tuple[Postprocess, Similarity]


def rank_datasets(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    similarities: Sequence[Similarity],
    postprocessings: Sequence[Postprocess],
    workers: int = 1,
    memo: Cache | None = None,
) -> tuple[RankingResults, list[pa.Table], int]:
    """Rank the positives of every ranking dataset with every layer of one encoder.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds.
        datasets: in any order; those of other tasks are skipped.
        store: folder of the embedding store.
        seed: the run's seed.
        similarities: one or more; layers other than the main one have only the first.
        postprocessings: one or more; layers other than the main one have none. Vectors are not
            whitened if there are no more texts than dimensions. Those of an encoder that has a
            post-processing of its own (fitted on each dataset's texts) get no other.
        workers: largest number of processes; the results do not depend on it.
        memo: what remembers the scores of datasets; None to rank all.

    Returns:
        The results; the ranks of the main layer's vectors as they are, if they are among
        ``postprocessings``, a table of ``ranks_table`` for each dataset and similarity; and the
        number of datasets that were ranked now.
    """
    known = describe(encoder)
    opened = EmbeddingStore(store, known)
    if known.postprocessing != PLAIN:
        postprocessings = [PLAIN]
    results = RankingResults(
        format=FORMAT,
        name=name,
        encoder=encoder_facts(known, opened.dimension),
        evalrank={"similarities": [*similarities], "postprocessings": [*postprocessings]},
        seed=seed,
        versions=library_versions("rank", opened.made_by),
        code=code_digest(__name__),
        scores=(),
        similarities=(),
    )
    parts = {dataset.name: [dataset] for dataset in datasets if dataset.task in RANKED}

    def family(dataset: Dataset) -> tuple[str, ...]:
        apart = [] if known.postprocessing == PLAIN else [dataset.name]
        return dataset.language, repr(prompt_of(known, dataset)), *apart

    # Post-processing is fitted on the similarity datasets of a language and prompt together; the
    # encoder's own on each.
    similar = [dataset for dataset in datasets if dataset.task == "similarity"]
    similar.sort(key=lambda dataset: (*family(dataset), dataset.name))
    for number, (_, members) in enumerate(groupby(similar, family)):
        parts[f"similarity-{number}"] = [*members]
    described = {
        part: {dataset.name: read_described(store, dataset) for dataset in members}
        for part, members in parts.items()
    }
    inputs = {part: {n: asdict(of) for n, of in d.items()} for part, d in described.items()}
    ways: list[_Way] = list(product(postprocessings, similarities))

    def compute(new: Sequence[str]) -> Iterator[tuple[str, Part]]:
        # The largest first, so that at the end no process is left alone with one of them.
        order = sorted(new, key=lambda part: (-_size(parts[part]), part))
        jobs = ((parts[part], described[part], known, store, ways) for part in order)
        worth = 1 + sum(_size(parts[part]) for part in new) // BYTES_A_WORKER
        with (
            open_executor("local", max(1, min(workers, len(new), worth))) as executor,
            progress(len(new), f"rank {name}", "job") as bar,
        ):
            for number, part in as_completed(executor, _score_part, jobs):
                yield order[number], part
                bar.update()

    scored, new = score_parts(results, inputs, RankScore | SimilarityScore, compute, memo)
    in_order = [part for _, part in sorted(scored.items())]
    scores = [score for part in in_order for score in part.scores]
    alike = [score for score in scores if isinstance(score, SimilarityScore)]
    results = replace(
        results,
        scores=tuple(score for score in scores if isinstance(score, RankScore)),
        similarities=tuple(sorted(alike, key=lambda score: score.dataset)),
    )
    tables = [table for part in in_order for table in part.tables]
    return results, tables, sum(len(parts[part]) for part in new)


def _size(datasets: Sequence[Dataset]) -> int:
    return sum(
        file.stat().st_size
        for dataset in datasets
        for files in dataset.files.values()
        for file in files
    )


def _score_part(
    datasets: Sequence[Dataset],
    described: Mapping[str, EncodedDataset],
    encoder: Description,
    store: Path,
    ways: Sequence[_Way],
) -> Part:
    """Score one ranking dataset, or the similarity datasets of one language and prompt."""
    if datasets[0].task == "similarity":
        return Part(_compare(datasets, described, encoder, store, ways))
    (dataset,) = datasets
    linked = _read(dataset, encoder.form)
    opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
    scores, tables = [], []
    with one_thread():
        for layer in encoder.layers:
            of_layer = ways if layer == encoder.layer else [(PLAIN, ways[0][1])]
            facts = described[dataset.name]
            for score, ranks in _rank(
                dataset, facts, linked, opened, layer, of_layer, encoder.postprocessing
            ):
                if (layer, score.postprocessing) == (encoder.layer, PLAIN):
                    pairs = _pairs(score, linked, ranks)
                    tables.append(ranks_table(pairs))
                    score = replace(score, answers=ranks_digest(pairs))
                scores.append(score)
    return Part(scores, tables)


@dataclass(frozen=True, slots=True)
class _Linked:
    """The texts of a ranking dataset and its pairs.

    Attributes:
        texts: in one form.
        ids: of the texts.
        groups: ids of the groups of texts linked by positives, [texts].
        queries: row of each pair's query, int64 [pairs].
        positives: row of each pair's positive, int64 [pairs].
    """

    texts: list[str]
    ids: Values
    groups: Values
    queries: Rows
    positives: Rows


def _read(dataset: Dataset, form: Form) -> _Linked:
    """Read a ranking dataset."""
    (column,) = text_columns(dataset.task, form)
    file = dataset.files["test"][0]
    table = dataset.read("test", ["id", column, "positives", "document_id"])
    ids = table["id"].to_pylist()
    rows = {text: row for row, text in enumerate(ids)}
    queries, positives = [], []
    for row, linked in enumerate(table["positives"].to_pylist()):
        # An unknown id is as wrong as the row itself.
        others = [rows.get(positive, row) for positive in linked]
        if rows[ids[row]] != row or row in others or len({*others}) < len(others):
            expected = "a unique id in each row, and as positives ids of other rows, each once"
            pair = f"{ids[row]} with the positives {', '.join(linked) or '(none)'}"
            raise OutputError(file, expected, f"row {row} of test: {pair}")
        queries += [row] * len(others)
        positives += others
    if not queries:
        todo = "name other pairs at `rankings:` in params.yaml, and run `probeta compose` again"
        raise InputError(file, "positives in some rows", "none", todo)
    pairs = np.array([queries, positives], np.int64)
    groups = array_of(table["document_id"])
    return _Linked(table[column].to_pylist(), np.array(ids), groups, *pairs)


def _rank(
    dataset: Dataset,
    described: EncodedDataset,
    linked: _Linked,
    store: EmbeddingStore,
    layer: str,
    ways: Sequence[_Way],
    of_encoder: Postprocess,
) -> Iterator[tuple[RankScore, Doubles]]:
    """Yield the score of one layer for each way to compare, with the ranks, float64 [pairs]."""
    encoded = store.lookup(linked.texts, layer)
    present: Flags = np.any(encoded, axis=1)
    rows = np.cumsum(present) - 1
    ranked = present[linked.queries] & present[linked.positives]
    queries, positives = rows[linked.queries[ranked]], rows[linked.positives[ranked]]
    texts = [linked.texts[row] for row in np.flatnonzero(present)]
    whole = encoded if present.all() else encoded[present]
    # The middle of all texts except the query and its other positives.
    by_chance = (len(encoded) - np.bincount(linked.queries)[linked.queries] + 1) / 2
    for (postprocessing, similarity), vectors in _vectors(
        dataset.name, texts, whole, ways, of_encoder
    ):
        counted = rank_positives(vectors, queries, positives, similarity)
        ranks = by_chance.copy()
        ranks[ranked] = np.where(np.isnan(counted.ranks), ranks[ranked], counted.ranks)
        directed = np.count_nonzero(vectors.any(axis=1))
        score = RankScore(
            dataset=dataset.name,
            task=dataset.task,
            language=dataset.language,
            version=dataset.version,
            digest=described.digest,
            layer=layer,
            similarity=similarity,
            postprocessing=postprocessing,
            background=int(directed) if similarity == "cosine" else len(vectors),
            queries=len(np.unique(linked.queries)),
            pairs=len(ranks),
            without_vector=len(ranks) - int(np.count_nonzero(~np.isnan(counted.ranks))),
            **measure_ranks(ranks, linked.groups[linked.queries]),
            ties=int(counted.tied.sum()),
            texts=described.texts,
            vectors=described.vectors[layer],
        )
        if similarity == "cosine":
            pairs = vectors[queries], vectors[positives]
            score = replace(score, alignment=alignment(*pairs), uniformity=uniformity(vectors))
        yield score, ranks


def _pairs(score: RankScore, linked: _Linked, ranks: Doubles) -> PairRanks:
    """Return the ranks behind a score, with the ids of the pairs, sorted by those."""
    queries, positives = linked.ids[linked.queries], linked.ids[linked.positives]
    order = np.lexsort((positives, queries))
    documents = linked.groups[linked.queries[order]]
    pairs = queries[order], positives[order], documents, ranks[order]
    return PairRanks(score.dataset, score.similarity, *pairs)


def measure_ranks(ranks: Doubles, groups: Values) -> dict[str, Any]:
    """Return the measures of ranks, fields of ``RankScore``.

    Args:
        ranks: float64 [pairs].
        groups: ids of the groups of texts linked by positives, [pairs].
    """
    of_pairs = dict(zip(MEASURES, measure_pairs(ranks), strict=True))
    mrr = float(of_pairs["MRR"].mean())
    (left_out,) = leave_out_means(of_pairs["MRR"][None], groups)
    return {
        "mrr": mrr,
        "interval": score_interval("accuracy", mrr, left_out, groups),
        "hits": {str(place): float(of_pairs[f"Hits@{place}"].mean()) for place in HITS},
        "median_rank": float(np.median(ranks)),
        "mean_rank": float(ranks.mean()),
    }


def _compare(
    datasets: Sequence[Dataset],
    described: Mapping[str, EncodedDataset],
    encoder: Description,
    store: Path,
    ways: Sequence[_Way],
) -> list[SimilarityScore]:
    """Return the main layer's scores on the similarity datasets of one language and prompt."""
    rows = [ProbeRows(dataset, "test", encoder.form) for dataset in datasets]
    # Sorted, so that the order does not depend on that of sets.
    texts = sorted(set().union(*(unique_texts(dataset, encoder.form) for dataset in datasets)))
    places = {text: row for row, text in enumerate(texts)}
    names = ", ".join(dataset.name for dataset in datasets)
    prompt = prompt_of(encoder, datasets[0])
    encoded = EmbeddingStore(store, encoder, prompt).lookup(texts, encoder.layer)
    scores = []
    with one_thread():
        for (postprocessing, similarity), vectors in _vectors(
            names, texts, encoded, ways, encoder.postprocessing
        ):

            def lookup(given: Sequence[str], vectors: Floats = vectors) -> Floats:
                return vectors[[places[text] for text in given]]

            compare = cosines if similarity == "cosine" else inverse_distances
            for dataset, part in zip(datasets, rows, strict=True):
                predicted = compare(*np.split(part.features(lookup), 2, axis=1))
                facts = described[dataset.name]
                score = SimilarityScore(
                    dataset=dataset.name,
                    language=dataset.language,
                    digest=facts.digest,
                    layer=encoder.layer,
                    similarity=similarity,
                    postprocessing=postprocessing,
                    spearman=spearman(part.y, predicted),
                    pearson=pearson(part.y, predicted),
                    texts=facts.texts,
                    vectors=facts.vectors[encoder.layer],
                )
                scores.append(score)
    return scores


def _vectors(
    names: str, texts: Sequence[str], encoded: Floats, ways: Sequence[_Way], of_encoder: Postprocess
) -> Iterator[tuple[_Way, Floats]]:
    """Yield the texts' vectors for each way to compare; ways are grouped by post-processing."""
    fitting = Fitting(Fitting(encoded).postprocess(of_encoder))
    for name, same in groupby(ways, lambda way: way[0]):
        if name == "whitening" and len(encoded) <= encoded.shape[1]:
            continue
        vectors = fitting.postprocess(name)
        too_large = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(too_large):
            raise InputError(
                f"{names}, test: {texts[too_large[0]]!r}",
                "a vector of finite numbers after post-processing",
                "an infinite or too large number",
                "scale the encoder's vectors down: they are near the limit of float32",
            )
        for way in same:
            yield way, vectors
