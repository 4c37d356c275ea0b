"""The results of ParaLex for one encoder and their file."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from builders.tasks.examples import FEWEST_TERMS
from evaluation.results.stored import EncoderResults, Stored, parsed, read_stored

FORMAT = 5
MEASURES = ("suggestion", "coherence")


@dataclass(frozen=True, slots=True)
class ClusterScore(Stored):
    """The scores of a cluster of terms.

    Attributes:
        cluster: its name, such as "weekdays".
        terms: number of distinct terms.
        left_out: reason ("out_of_vocabulary", "no_vector") to the terms that it excludes.
        suggestion: mean recall over all pairs of seeds, 0 … 1; 0 with fewer than three terms left.
        deviation: the standard deviation of that recall over the pairs.
        coherence: the share of ordered pairs of terms whose second term is a neighbour of the
            first, 0 … 1; 0 with fewer than three terms left.
    """

    cluster: str
    terms: int
    left_out: dict[str, list[str]]
    suggestion: float
    deviation: float
    coherence: float

    @property
    def left(self) -> int:
        """The number of terms that were not left out."""
        return self.terms - sum(map(len, self.left_out.values()))


@dataclass(frozen=True, slots=True)
class ParadigmScore(Stored):
    """The two scores of one dataset of clusters, in one layer, vocabulary and casing.

    Attributes:
        dataset, language, version, digest, layer: as of ``probes.Score``.
        vocabulary: "own", the words of the encoder's file, or "shared", the words of the language's
            word rankings and the terms.
        vocabulary_digest: of a shared one the SHA-256 of the word rankings' files; else empty.
        words: number of words with a vector that neighbours are looked for among.
        casing: "as_is", or "lower": terms and vocabulary in lower case.
        suggestion, coherence: means over the clusters of their scores.
        suggestion_interval, coherence_interval: their intervals, over the clusters.
        clusters: one each, by name.
        words_left_out: reason ("no_vector", "repeated_word", or "same_form" of one that has come
            before, as casing makes them) to the number of words of the vocabulary that neighbours
            are not looked for among.
        vectors: SHA-256 of the vectors of the terms, and of each word ranking of the language, see
            ``EmbeddingStore.digests``.
    """

    dataset: str
    language: str
    version: str
    digest: str
    layer: str
    vocabulary: Literal["own", "shared"]
    vocabulary_digest: str
    words: int
    casing: Literal["as_is", "lower"]
    suggestion: float
    suggestion_interval: tuple[float, float]
    coherence: float
    coherence_interval: tuple[float, float]
    clusters: tuple[ClusterScore, ...]
    words_left_out: dict[str, int] = field(default_factory=dict)
    vectors: list[str] = field(default_factory=list)

    @property
    def skipped(self) -> int:
        """The number of clusters with fewer than three terms left, which score 0."""
        return sum(cluster.left < FEWEST_TERMS for cluster in self.clusters)

    def key(self, measure: str) -> str:
        """Return a name for one of ``MEASURES``, such as "paralex_es suggestion shared lower"."""
        return f"{self.dataset} {measure} {self.vocabulary} {self.casing}"


@dataclass(frozen=True, slots=True)
class ParadigmResults(EncoderResults):
    """The scores of one encoder by ParaLex: by dataset, then vocabulary, casing and layer.

    Attributes:
        coherence_threshold: how many seeds must suggest a term for it to become a seed.
        casings: those that params.yaml asks for.
        left_out: dataset to why it was not scored, in words.
    """

    scores: tuple[ParadigmScore, ...]
    coherence_threshold: int
    casings: list[str]
    left_out: dict[str, str]


def read_paradigms(path: Path) -> ParadigmResults:
    """Read the file of an encoder, see ``write_stored``."""
    make = partial(parsed, ParadigmResults)
    results: ParadigmResults = read_stored(path, FORMAT, make, "paradigms")
    return results
