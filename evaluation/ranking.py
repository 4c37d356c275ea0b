"""The stage `rank`: EvalRank for one encoder, by exact ranks.

Wang, Kuo and Li 2022, "Just Rank: Rethinking Evaluation with Word and Sentence Similarities": mean
reciprocal rank and hits of the positives among all texts, by cosine and by 1 / (1 + l2), l2 the
Euclidean distance (section 4); and their finding that post-processing improves the correlation with
human scores and not the ranks, which is why the similarity datasets are scored here too.

A positive is ranked among all texts except its query and the query's other positives: the filtered
ranks of Bordes et al. 2013 ("Translating embeddings for modeling multi-relational data"), so that
one right text does not push another down. Of texts with the same score each is as likely to be
first as any other: the rank is 1, and 1 for each text above, and 1/2 for each that ties. So an
encoder with one vector for all texts gets the mean rank, not the first one.

Both similarities order texts as

    query . text - offset

does: of vectors of length 1 and without offset, or of centred vectors and with half of the text's
squared length. Centred, as a distance does not depend on where zero is, while the rounding of these
products does. Two scores tie that are nearer than float64 may round them: the error of a product of
n numbers, in whatever order they are summed, is at most n u / (1 - n u) of the product of the
lengths, u the unit roundoff (Higham 2002, "Accuracy and stability of numerical algorithms", section
3.1).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from builders.statistics import pearson
from builders.tasks.examples import RANKING_TASKS
from corpora_recipes.parquet import array_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.running.executors import as_completed, open_executor
from evaluation.arrays import Doubles, Flags, Floats, Rows, Values
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import Fitting, encode_when_needed
from evaluation.embedding.store import EmbeddingStore, read_described, vector_facts
from evaluation.encoders.encoder import Description, Encoder, Form, Postprocess, describe
from evaluation.features import ProbeRows, prompt_of, text_columns, unique_texts
from evaluation.measures import (
    alignment,
    cosines,
    inverse_distances,
    leave_out_means,
    norms_of,
    one_thread,
    score_interval,
    spearman,
    uniformity,
)
from evaluation.results.scores import (
    HITS,
    PLAIN,
    RANK_MEASURES,
    RANKINGS_FORMAT,
    PairRanks,
    RankingResults,
    RankScore,
    Similarity,
    SimilarityScore,
    measure_pairs,
    ranks_digest,
    ranks_table,
)
from evaluation.results.stored import Part, encoder_facts, library_versions, score_parts

if TYPE_CHECKING:
    from corpora_recipes.running.cache import Cache

# What is in memory at a time: vectors of so many queries; and scores of so many texts of the
# background, for so many pairs of a query and a positive.
_GROUP = 8192
_BLOCK_TEXTS = 4096
_BLOCK_PAIRS = 256
# Unit roundoff of float64.
_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, slots=True)
class Ranks:
    """Ranks of query-positive pairs, float64 and bool [pairs].

    Attributes:
        ranks: 1 … number of texts; NaN where a vector has no direction to compare.
        tied: whether another text has the positive's score.
    """

    ranks: Doubles
    tied: Flags


def rank_positives(
    vectors: Floats, queries: Rows, positives: Rows, similarity: Similarity
) -> Ranks:
    """Return the rank of each positive for its query; within ``one_thread``.

    A vector of zeros has no cosine: such a text is no candidate, and a pair with one has no rank.

    Args:
        vectors: of all texts, float32 [texts, dimension], finite; may be memory-mapped.
        queries: row of each pair's query, int64 [pairs].
        positives: row of each pair's positive, another one than the query.
        similarity: by which texts are ranked.
    """
    ranks, tied = np.full(len(queries), np.nan), np.zeros(len(queries), bool)
    if not len(queries):
        return Ranks(ranks, tied)
    space = _make_space(vectors, similarity)
    # Queries in the order of their rows, and all pairs of one query together.
    order = np.argsort(queries, kind="stable")
    distinct, first = np.unique(queries[order], return_index=True)
    ends = np.append(first, len(order))
    for start in range(0, len(distinct), _GROUP):
        stop = min(start + _GROUP, len(distinct))
        pairs = order[ends[start] : ends[stop]]
        rows = distinct[start:stop]
        query = np.searchsorted(rows, queries[pairs])
        group = _Group(space, vectors, rows, query, positives[pairs])
        for block in range(0, len(vectors), _BLOCK_TEXTS):
            group.count(block, space.transform(vectors[block : block + _BLOCK_TEXTS]))
        ranks[pairs] = np.where(group.ranked, 1 + group.above + group.ties / 2, np.nan)
        tied[pairs] = group.ties > 0
    return Ranks(ranks, tied)


@dataclass(frozen=True, slots=True)
class _Points:
    """Vectors as they are multiplied.

    Attributes:
        vectors: float64 [n, dimension].
        lengths: theirs, float64 [n]; 0 of a text that has no direction, or lies in the centre.
        offsets: what is subtracted from a query's product with them, float64 [n].
    """

    vectors: Doubles
    lengths: Doubles
    offsets: Doubles


@dataclass(frozen=True, slots=True)
class _Space:
    """Where texts are compared: by direction, or, with a centre, by distance.

    Attributes:
        dimension: of the vectors.
        centre: mean of the vectors, float64 [dimension].
    """

    dimension: int
    centre: Doubles | None

    def transform(self, vectors: Floats) -> _Points:
        """Return vectors as they are multiplied."""
        doubles = vectors.astype(np.float64)
        if self.centre is None:
            lengths = norms_of(doubles)
            doubles /= np.where(lengths > 0, lengths, 1)[:, None]
            return _Points(doubles, (lengths > 0).astype(np.float64), np.zeros(len(doubles)))
        doubles -= self.centre
        lengths = norms_of(doubles)
        return _Points(doubles, lengths, np.square(lengths) / 2)

    def tolerance(self, queries: Doubles, texts: Doubles) -> Doubles:
        """Return how far two scores may be apart and tie.

        Both are rounded: in the lengths of their vectors (``queries``, and the larger of two
        ``texts`` that are compared), the product and the offset.
        """
        tolerance: Doubles = (self.dimension + 8) * _ROUNDOFF * np.square(queries + texts)
        return tolerance


class _Group:
    """Some queries, and how many texts were seen so far above the positives of each.

    Attributes:
        ranked: whether a pair is ranked, bool [pairs].
        above: number of texts with a higher score than the positive's, int64 [pairs].
        ties: number of texts with the same score.
    """

    def __init__(
        self, space: _Space, vectors: Floats, rows: Rows, query: Rows, positives: Rows
    ) -> None:
        """Compute the scores of the positives.

        Args:
            space: where texts are compared.
            vectors: of all texts.
            rows: of the queries, ascending.
            query: of each pair, its index in ``rows``, ascending.
            positives: row of each pair's positive.
        """
        self._space, self._query = space, query
        self._queries = space.transform(vectors[rows])
        self._target, self._length = np.empty((2, len(query)))
        for start in range(0, len(query), _BLOCK_PAIRS):
            block = slice(start, start + _BLOCK_PAIRS)
            points = space.transform(vectors[positives[block]])
            products = np.einsum("ij,ij->i", self._queries.vectors[query[block]], points.vectors)
            self._target[block] = products - points.offsets
            self._length[block] = points.lengths
        self.ranked = np.ones(len(query), bool)
        if space.centre is None:
            self.ranked = (self._queries.lengths[query] > 0) & (self._length > 0)
        self.above, self.ties = np.zeros((2, len(query)), np.int64)
        # What a query is not compared with: itself and its positives, in the order of the queries.
        hidden = np.concatenate([np.arange(len(rows)), query])
        order = np.argsort(hidden, kind="stable")
        self._hidden = hidden[order], np.concatenate([rows, positives])[order]

    def count(self, first: int, texts: _Points) -> None:
        """Count a block of texts, from the row ``first`` on."""
        ranked = np.flatnonzero(self.ranked)
        for start in range(0, len(ranked), _BLOCK_PAIRS):
            pairs = ranked[start : start + _BLOCK_PAIRS]
            query, index = np.unique(self._query[pairs], return_inverse=True)
            scores = self._queries.vectors[query] @ texts.vectors.T - texts.offsets
            self._hide(scores, query, first, texts)
            # Scores that are further apart than this are told without the tolerance of each text.
            lengths = self._queries.lengths[self._query[pairs]]
            longest = np.maximum(self._length[pairs], texts.lengths.max())
            target, far = self._target[pairs], 2 * self._space.tolerance(lengths, longest)
            for pair, row, high, low in zip(pairs, index, target + far, target - far, strict=True):
                n_above = np.count_nonzero(scores[row] > high)
                self.above[pair] += n_above
                if np.count_nonzero(scores[row] >= low) > n_above:
                    self._settle(pair, scores[row], high, low, texts.lengths)

    def _settle(
        self, pair: int, scores: Doubles, high: float, low: float, lengths: Doubles
    ) -> None:
        """Count the texts whose scores are near to a positive's."""
        near = np.flatnonzero((scores >= low) & (scores <= high))
        difference = scores[near] - self._target[pair]
        longest = np.maximum(self._length[pair], lengths[near])
        tolerance = self._space.tolerance(self._queries.lengths[self._query[pair]], longest)
        self.above[pair] += np.count_nonzero(difference > tolerance)
        self.ties[pair] += np.count_nonzero(np.abs(difference) <= tolerance)

    def _hide(self, scores: Doubles, queries: Rows, first: int, texts: _Points) -> None:
        """Take texts that are not candidates, from the row ``first`` on, out of scores in place."""
        if self._space.centre is None:
            scores[:, texts.lengths == 0] = -np.inf
        begin = np.searchsorted(self._hidden[0], queries[0])
        end = np.searchsorted(self._hidden[0], queries[-1], side="right")
        query, column = self._hidden[0][begin:end], self._hidden[1][begin:end] - first
        index = np.searchsorted(queries, query)
        inside = (queries[index] == query) & (column >= 0) & (column < scores.shape[1])
        scores[index[inside], column[inside]] = -np.inf


def _make_space(vectors: Floats, similarity: Similarity) -> _Space:
    dimension = vectors.shape[1]
    if similarity == "cosine":
        return _Space(dimension, None)
    sums = np.zeros(dimension)
    for start in range(0, len(vectors), _BLOCK_TEXTS):
        sums += vectors[start : start + _BLOCK_TEXTS].sum(axis=0, dtype=np.float64)
    return _Space(dimension, sums / len(vectors))


RANKED = tuple(task.name for task in RANKING_TASKS)

# Texts of datasets for which another process is started: a start takes one to two seconds.
TEXTS_PER_WORKER = 10_000

# A post-processing of vectors, and a similarity.
_Setting = tuple[Postprocess, Similarity]


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
    cache: "Cache | None" = None,
) -> tuple[RankingResults, list[pa.Table], int]:
    """Rank the positives of every ranking dataset with every layer of one encoder.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds, or does not keep.
        datasets: in any order; those of other tasks are ignored.
        store: folder of the embedding store.
        seed: the run's seed.
        similarities: one or more; layers other than the main one have only the first.
        postprocessings: one or more; layers other than the main one have none. Vectors are not
            whitened if there are no more texts than dimensions. Those of an encoder that has a
            post-processing of its own (fitted on each dataset's texts) get no other.
        workers: largest number of processes; the results do not depend on it.
        cache: of the scores of each dataset; None to rank all.

    Returns:
        The results; the ranks of the main layer's vectors as they are, if they are among
        ``postprocessings``, a table of ``ranks_table`` for each dataset and similarity; and the
        number of datasets that were ranked now.
    """
    described = describe(encoder)
    opened = EmbeddingStore(store, described)
    if described.postprocessing != PLAIN:
        postprocessings = [PLAIN]
    results = RankingResults(
        format=RANKINGS_FORMAT,
        name=name,
        encoder=encoder_facts(described, opened.dimension),
        evalrank={"similarities": [*similarities], "postprocessings": [*postprocessings]},
        seed=seed,
        versions=library_versions("rank", opened.made_by),
        code=code_digest(__name__),
        scores=(),
        similarities=(),
    )
    parts = {dataset.name: [dataset] for dataset in datasets if dataset.task in RANKED}

    def family(dataset: Dataset) -> tuple[str, ...]:
        alone = [] if described.postprocessing == PLAIN else [dataset.name]
        return dataset.language, repr(prompt_of(described, dataset)), *alone

    # Post-processing is fitted on the similarity datasets of a language and prompt together; the
    # encoder's own on each.
    similarity_datasets = [dataset for dataset in datasets if dataset.task == "similarity"]
    similarity_datasets.sort(key=lambda dataset: (*family(dataset), dataset.name))
    for _, group in groupby(similarity_datasets, family):
        members = list(group)
        parts[f"similarity {members[0].name}"] = members
    inputs = {
        part: {dataset.name: vector_facts(store, described, dataset) for dataset in members}
        for part, members in parts.items()
    }
    settings: list[_Setting] = list(product(postprocessings, similarities))

    def compute(new: list[str]) -> Iterator[tuple[str, Part]]:
        # The largest first, so that at the end no process is left alone with one of them.
        order = sorted(new, key=lambda part: (-_count_texts(parts[part]), part))
        jobs = ((parts[part], described, store, settings) for part in order)
        n_worthwhile = 1 + sum(_count_texts(parts[part]) for part in new) // TEXTS_PER_WORKER
        with (
            open_executor("local", max(1, min(workers, len(new), n_worthwhile))) as executor,
            progress(len(new), f"rank {name}", "job") as bar,
        ):
            for number, part in as_completed(executor, _score_part, jobs):
                yield order[number], part
                bar.update()

    compute_encoded = encode_when_needed(encoder, store, parts, compute, workers)
    scored, new = score_parts(results, inputs, RankScore | SimilarityScore, compute_encoded, cache)
    in_order = [part for _, part in sorted(scored.items())]
    scores = [score for part in in_order for score in part.scores]
    similarity_scores = [score for score in scores if isinstance(score, SimilarityScore)]
    results = replace(
        results,
        scores=tuple(score for score in scores if isinstance(score, RankScore)),
        similarities=tuple(sorted(similarity_scores, key=lambda score: score.dataset)),
    )
    tables = [table for part in in_order for table in part.tables]
    return results, tables, sum(len(parts[part]) for part in new)


def _count_texts(datasets: Sequence[Dataset]) -> int:
    return sum(dataset.n_texts for dataset in datasets)


def _score_part(
    datasets: Sequence[Dataset], encoder: Description, store: Path, settings: Sequence[_Setting]
) -> Part:
    """Score one ranking dataset, or the similarity datasets of one language and prompt."""
    if datasets[0].task == "similarity":
        return Part(_score_similarity(datasets, encoder, store, settings))
    (dataset,) = datasets
    linked = _read_linked(dataset, encoder.form)
    opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
    scores, tables = [], []
    with one_thread():
        for layer in encoder.layers:
            layer_settings = settings if layer == encoder.layer else [(PLAIN, settings[0][1])]
            for score, ranks in _rank_layer(
                dataset, linked, opened, layer, layer_settings, encoder.postprocessing
            ):
                if (layer, score.postprocessing) == (encoder.layer, PLAIN):
                    pairs = _collect_pairs(score, linked, ranks)
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


def _read_linked(dataset: Dataset, form: Form) -> _Linked:
    """Read the texts and pairs of a ranking dataset."""
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


def _rank_layer(
    dataset: Dataset,
    linked: _Linked,
    store: EmbeddingStore,
    layer: str,
    settings: Sequence[_Setting],
    encoder_postprocessing: Postprocess,
) -> Iterator[tuple[RankScore, Doubles]]:
    """Yield the score of one layer for each setting, with the ranks, float64 [pairs]."""
    described, encoded = read_described(store.folder, dataset), store.lookup(linked.texts, layer)
    present: Flags = np.any(encoded, axis=1)
    rows = np.cumsum(present) - 1
    ranked = present[linked.queries] & present[linked.positives]
    queries, positives = rows[linked.queries[ranked]], rows[linked.positives[ranked]]
    texts = [linked.texts[row] for row in np.flatnonzero(present)]
    with_vector = encoded if present.all() else encoded[present]
    # The middle of all texts except the query and its other positives.
    by_chance = (len(encoded) - np.bincount(linked.queries)[linked.queries] + 1) / 2
    for (postprocessing, similarity), vectors in _iter_settings(
        dataset.name, texts, with_vector, settings, encoder_postprocessing
    ):
        outcome = rank_positives(vectors, queries, positives, similarity)
        ranks = by_chance.copy()
        ranks[ranked] = np.where(np.isnan(outcome.ranks), ranks[ranked], outcome.ranks)
        directed = np.count_nonzero(vectors.any(axis=1))
        score = RankScore(
            **dataset.facts("task", "language", "version"),
            digest=described.digest,
            layer=layer,
            similarity=similarity,
            postprocessing=postprocessing,
            background=int(directed) if similarity == "cosine" else len(vectors),
            queries=len(np.unique(linked.queries)),
            pairs=len(ranks),
            without_vector=len(ranks) - int(np.count_nonzero(~np.isnan(outcome.ranks))),
            **measure_ranks(ranks, linked.groups[linked.queries]),
            ties=int(outcome.tied.sum()),
            texts=described.texts,
            vectors=described.vectors[layer],
        )
        if similarity == "cosine":
            pairs = vectors[queries], vectors[positives]
            score = replace(score, alignment=alignment(*pairs), uniformity=uniformity(vectors))
        yield score, ranks


def _collect_pairs(score: RankScore, linked: _Linked, ranks: Doubles) -> PairRanks:
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
    by_pair = dict(zip(RANK_MEASURES, measure_pairs(ranks), strict=True))
    mrr = float(by_pair["MRR"].mean())
    (replicates,) = leave_out_means(by_pair["MRR"][None], groups)
    return {
        "mrr": mrr,
        "interval": score_interval("accuracy", mrr, replicates, groups),
        "hits": {str(top): float(by_pair[f"Hits@{top}"].mean()) for top in HITS},
        "median_rank": float(np.median(ranks)),
        "mean_rank": float(ranks.mean()),
    }


def _score_similarity(
    datasets: Sequence[Dataset], encoder: Description, store: Path, settings: Sequence[_Setting]
) -> list[SimilarityScore]:
    """Return the main layer's scores on the similarity datasets of one language and prompt."""
    rows = [ProbeRows(dataset, "test", encoder.form) for dataset in datasets]
    described = {dataset.name: read_described(store, dataset) for dataset in datasets}
    # Sorted, so that the order does not depend on that of sets.
    texts = sorted(set().union(*(unique_texts(dataset, encoder.form) for dataset in datasets)))
    row_of = {text: row for row, text in enumerate(texts)}
    names = ", ".join(dataset.name for dataset in datasets)
    prompt = prompt_of(encoder, datasets[0])
    encoded = EmbeddingStore(store, encoder, prompt).lookup(texts, encoder.layer)
    scores = []
    with one_thread():
        for (postprocessing, similarity), vectors in _iter_settings(
            names, texts, encoded, settings, encoder.postprocessing
        ):

            def lookup(wanted: Sequence[str], vectors: Floats = vectors) -> Floats:
                return vectors[[row_of[text] for text in wanted]]

            compare = cosines if similarity == "cosine" else inverse_distances
            for dataset, part in zip(datasets, rows, strict=True):
                predicted = compare(*np.split(part.features(lookup), 2, axis=1))
                facts = described[dataset.name]
                score = SimilarityScore(
                    **dataset.facts("language"),
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


def _iter_settings(
    names: str,
    texts: Sequence[str],
    encoded: Floats,
    settings: Sequence[_Setting],
    encoder_postprocessing: Postprocess,
) -> Iterator[tuple[_Setting, Floats]]:
    """Yield the texts' vectors for each setting; settings are grouped by post-processing."""
    fitting = Fitting(Fitting(encoded).postprocess(encoder_postprocessing))
    for name, same in groupby(settings, lambda setting: setting[0]):
        if name == "whitening" and len(encoded) <= encoded.shape[1]:
            continue
        vectors = fitting.postprocess(name)
        too_large = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(too_large):
            where, found = (
                f"{names}, test: {texts[too_large[0]]!r}",
                "an infinite or too large number",
            )
            expected = "a vector of finite numbers after post-processing"
            todo = "scale the encoder's vectors down: they are near the limit of float32"
            raise InputError(where, expected, found, todo)
        for setting in same:
            yield setting, vectors
