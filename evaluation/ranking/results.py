"""The results of EvalRank for one encoder: what they hold, and the file that they are kept in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.stored import read_stored, write_stored

FORMAT = 1
HITS = (1, 3)


@dataclass(frozen=True, slots=True)
class RankScore:
    """How high the positives of one ranking dataset stand, in one layer, by one similarity.

    Attributes:
        dataset: its name.
        task: "sentence_ranking" or "word_ranking".
        language: BCP 47 code.
        version: of the dataset.
        digest: SHA-256 of the dataset's files.
        layer: of the encoder.
        similarity: "cosine" or "l2".
        postprocessing: "none", or what was done to the vectors before.
        background: number of texts that are ranked, those of the queries and positives included; by
            cosine without those whose vector is 0.
        queries: number of texts with a positive that was ranked.
        pairs: number of pairs of a query and a positive that were ranked.
        left_out: reason to the number of pairs that were not, such as "no_vector".
        mrr: mean reciprocal rank, 0 … 1; 0, as all that follows, if no pair was ranked.
        interval: its 95 % bootstrap interval over the groups of texts that positives link.
        hits: "1" and "3" to the share of pairs whose rank is not above it, 0 … 1.
        median_rank: of the pairs.
        ties: number of pairs whose positive shares its score with another text.
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
    left_out: dict[str, int]
    mrr: float
    interval: tuple[float, float]
    hits: dict[str, float]
    median_rank: float
    ties: int


@dataclass(frozen=True, slots=True)
class SimilarityScore:
    """How well a similarity agrees with people's scores, for comparison with the ranks.

    Attributes:
        dataset: its name, of the task "similarity".
        language: BCP 47 code.
        layer: of the encoder.
        similarity: "cosine" or "l2".
        postprocessing: "none", or what was done to the vectors before.
        spearman: Spearman's correlation, -1 … 1.
        pearson: Pearson's correlation, -1 … 1.
    """

    dataset: str
    language: str
    layer: str
    similarity: str
    postprocessing: str
    spearman: float
    pearson: float


@dataclass(frozen=True, slots=True)
class RankingResults:
    """The scores of one encoder and what they depend on.

    Attributes:
        format: version of this layout.
        name: key of the encoder's entry in params.yaml.
        encoder: its name, revision, form, dimension, layers, main layer and options.
        seed: the run's seed, which the bootstrap depends on.
        versions: of Python, the libraries that compute, Probeta and the platform.
        scores: by dataset; the main layer with every similarity and post-processing, the others
            with the first similarity alone.
        similarities: the same of the datasets of similarity, of the main layer alone.
    """

    format: int
    name: str
    encoder: dict[str, Any]
    seed: int
    versions: dict[str, str]
    scores: tuple[RankScore, ...]
    similarities: tuple[SimilarityScore, ...]

    @property
    def main(self) -> tuple[RankScore, ...]:
        """The scores of the layer that stands for the encoder."""
        return tuple(score for score in self.scores if score.layer == self.encoder["layer"])


def write_rankings(results: RankingResults, path: Path) -> None:
    """Write results, the same bytes for the same results."""
    write_stored(results, path)


def read_rankings(path: Path) -> RankingResults:
    """Read what ``write_rankings`` wrote.

    Raises:
        InputError: the file is missing, or not in the present layout.
    """
    return read_stored(path, FORMAT, _made, "rank")


def _made(content: dict[str, Any]) -> RankingResults:
    scores = tuple(
        RankScore(**{**score, "interval": _interval(score["interval"])})
        for score in content.pop("scores")
    )
    similarities = tuple(SimilarityScore(**score) for score in content.pop("similarities"))
    return RankingResults(**content, scores=scores, similarities=similarities)


def _interval(ends: list[float]) -> tuple[float, float]:
    low, high = ends
    return low, high
