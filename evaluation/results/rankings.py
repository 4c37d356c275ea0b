"""The results of EvalRank for one encoder and the folder with their files.

A folder of results has two files, which appear together or not at all:

    scores.json    ``RankingResults``: the scores, and what they depend on
    ranks.parquet  a row for every pair of a query and a positive, dataset by dataset and similarity
                   by similarity, of the main layer's vectors as they are: dataset, similarity,
                   query, positive, document_id: string, ids but the first two; rank: float64
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from corpora_recipes.parquet import array_of
from evaluation.arrays import Doubles, Values
from evaluation.results.stored import EncoderResults, ScoresFolder, Stored, parsed

FORMAT = 7
RANKS = "ranks.parquet"
HITS = (1, 3)
MEASURES = ("MRR", *(f"Hits@{place}" for place in HITS))
# The post-processing of vectors that nothing is done to.
PLAIN: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class RankScore(Stored):
    """The ranks of the positives of one ranking dataset, in one layer, by one similarity.

    Attributes:
        dataset: its name.
        task: "sentence_ranking" or "word_ranking".
        language, version, digest, layer, texts, vectors: as of ``probes.Score``.
        similarity: "cosine" or "l2".
        postprocessing: "none", or what was done to the vectors before.
        background: number of texts that are ranked, those of the queries and positives included; by
            cosine without those whose vector is 0.
        queries: number of texts with a positive that was ranked.
        pairs: number of pairs of a query and a positive that were ranked.
        without_vector: number of pairs with a text without a vector; they get the rank of chance,
            the mean of all that are possible.
        mrr: mean reciprocal rank, 0 … 1; 0, as all that follows, if no pair was ranked.
        interval: its interval, over the groups of texts that positives link.
        hits: "1" and "3" to the share of pairs whose rank is not above it, 0 … 1.
        median_rank, mean_rank: of the pairs.
        ties: number of pairs whose positive shares its score with another text.
        answers: SHA-256 of the ranks, see ``ranks_digest``; empty where they are not stored.
        alignment, uniformity: see ``evaluation.measures.similarity``, of the pairs and of the
            texts, by cosine; None by l2, or without any.
    """

    dataset: str
    task: str
    language: str
    version: str
    digest: str
    layer: str
    similarity: str
    postprocessing: str
    background: int
    queries: int
    pairs: int
    without_vector: int
    mrr: float
    interval: tuple[float, float]
    hits: dict[str, float]
    median_rank: float
    mean_rank: float
    ties: int
    texts: str = ""
    vectors: str = ""
    answers: str = ""
    alignment: float | None = None
    uniformity: float | None = None

    @property
    def measures(self) -> dict[str, float]:
        """What the pairs reach on average, by the names of ``MEASURES``."""
        hits = {f"Hits@{place}": self.hits[str(place)] for place in HITS}
        return {"MRR": self.mrr, **hits}

    def key(self, measure: str) -> str:
        """Return what one of ``MEASURES`` is called among many: "evalrank_es mrr cosine"."""
        return f"{self.dataset} {measure.lower()} {self.similarity}"


@dataclass(frozen=True, slots=True)
class SimilarityScore(Stored):
    """How well a similarity agrees with people's scores, for comparison with the ranks.

    Attributes:
        dataset: its name, of the task "similarity".
        spearman: Spearman's correlation, -1 … 1.
        pearson: Pearson's correlation, -1 … 1.

    All others are as of ``RankScore``.
    """

    dataset: str
    language: str
    digest: str
    layer: str
    similarity: str
    postprocessing: str
    spearman: float
    pearson: float
    texts: str = ""
    vectors: str = ""


@dataclass(frozen=True, slots=True)
class RankingResults(EncoderResults):
    """The scores of one encoder by EvalRank.

    Attributes:
        evalrank: "similarities" and "postprocessings", those that params.yaml asks for.
        scores: by dataset; the main layer with every similarity and post-processing, the others
            with the first similarity alone.
        similarities: the same of the datasets of similarity, of the main layer alone.
    """

    scores: tuple[RankScore, ...]
    evalrank: dict[str, list[str]]
    similarities: tuple[SimilarityScore, ...]

    @property
    def plain(self) -> tuple[RankScore, ...]:
        """Those of them that are of the vectors as they are."""
        return tuple(score for score in self.main if score.postprocessing == PLAIN)


@dataclass(frozen=True, slots=True)
class PairRanks:
    """The ranks of all pairs of one dataset, of the main layer's vectors as they are.

    Attributes:
        dataset: its name.
        similarity: "cosine" or "l2".
        queries: ids of the queries, [pairs], in order; then the positives are.
        positives: ids of the positives, [pairs].
        documents: ids of the groups of texts that positives link, [pairs].
        ranks: float64 [pairs].
    """

    dataset: str
    similarity: str
    queries: Values
    positives: Values
    documents: Values
    ranks: Doubles


def ranks_digest(pairs: PairRanks) -> str:
    """Return the SHA-256 of ranks, with the ids of their pairs."""
    digest = sha256()
    for ids in (pairs.queries, pairs.positives, pairs.documents):
        digest.update(json.dumps(ids.tolist(), ensure_ascii=False).encode())
    digest.update(np.ascontiguousarray(pairs.ranks, "<f8").tobytes())
    return digest.hexdigest()


def measure_pairs(ranks: Doubles) -> Doubles:
    """Return the ``MEASURES`` of each pair, float64 [measures, pairs]; scores are their means."""
    measures: Doubles = np.stack([1 / ranks, *(ranks <= place for place in HITS)])
    return measures


def _made(content: dict[str, Any]) -> RankingResults:
    results: RankingResults = parsed(RankingResults, content)
    parsed(list[Literal["cosine", "l2"]], results.evalrank["similarities"])
    if not (results.evalrank["similarities"] and results.evalrank["postprocessings"]):
        raise ValueError("evalrank: no similarity or post-processing")
    if any(score.hits.keys() != {*map(str, HITS)} for score in results.scores):
        raise ValueError("scores: other hits")
    return results


_NAMES = ("dataset", "similarity", "query", "positive", "document_id")
SCHEMA = pa.schema([*((name, pa.string()) for name in _NAMES), ("rank", pa.float64())])
"""Of ranks.parquet."""
_REPEATED = ["dataset", "similarity", "document_id"]
_FOLDER = ScoresFolder("rank", FORMAT, _made, RANKS, SCHEMA, _REPEATED)
write_rankings, read_rankings = _FOLDER.write, _FOLDER.read


def ranks_table(pairs: PairRanks) -> pa.Table:
    """Return the rows of ranks.parquet for one dataset and similarity."""
    count = len(pairs.ranks)
    ids = (column.tolist() for column in (pairs.queries, pairs.positives, pairs.documents))
    columns = [[pairs.dataset] * count, [pairs.similarity] * count, *ids, pairs.ranks]
    return pa.table(columns, schema=SCHEMA)


def read_ranks(folder: Path, dataset: str, similarity: str) -> PairRanks:
    """Read the ranks of one dataset by one similarity."""
    what = f"ranks in {dataset} by {similarity}"
    return ranks_of(_FOLDER.table(folder, (dataset, similarity), what), dataset, similarity)


def all_ranks(folder: Path) -> Iterator[PairRanks]:
    """Yield the ranks of all datasets and similarities, in the order of the file."""
    for (dataset, similarity), table in _FOLDER.row_groups(folder):
        yield ranks_of(table, dataset, similarity)


def ranks_of(table: pa.Table, dataset: str, similarity: str) -> PairRanks:
    """Return what a table of ``ranks_table`` holds."""
    names = ("query", "positive", "document_id", "rank")
    return PairRanks(dataset, similarity, *(array_of(table[name]) for name in names))
