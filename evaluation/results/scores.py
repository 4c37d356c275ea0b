"""Scores of probes, rankings and paradigms, the rows behind them, and their files.

The folder of an encoder's results has two files, which appear together or not at all:

    probe  scores.json          ``Results``: a score for every dataset and layer, and what they
                                depend on
           predictions.parquet  a row for every test row, dataset by dataset and layer by layer:
                                dataset, layer, id, document_id: string; gold: float64, a class
                                number or a score; predicted: list<float64>, one a random start;
                                information: float64, bits, null where it is not measured
    rank   scores.json          ``RankingResults``: the scores, and what they depend on
           ranks.parquet        a row for every pair of a query and a positive, dataset by dataset
                                and similarity by similarity, of the main layer's vectors as they
                                are: dataset, similarity, query, positive, document_id: string, ids
                                except the first two; rank: float64

Paradigms (``ParadigmResults``) have no rows: each encoder has one JSON file.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
import pyarrow as pa
from pydantic import Field

from builders.tasks import TASKS
from builders.tasks.examples import FEWEST_TERMS
from corpora_recipes.parquet import array_of
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from evaluation.arrays import Doubles, Values
from evaluation.encoders.encoder import Postprocess
from evaluation.measures import Metric
from evaluation.results.stored import (
    Correlation,
    Count,
    EncoderResults,
    Interval,
    Number,
    ScoresFolder,
    Share,
    Stored,
    Text,
    among,
    like,
    parse_json,
    read_stored,
)

Similarity = Literal["cosine", "l2"]
"""By which texts are ranked."""
Casing = Literal["as_is", "lower"]
"""In which words of paradigms are compared."""

PROBES_FORMAT = 8
PREDICTIONS = "predictions.parquet"
# The protocol of results that are not of a probe, but of a language model.
LM_EVAL_PROTOCOL = "lm-eval"
CONTROL_MEASURES = ("selectivity", "code_length", "compression", "information")
"""Keys of ``Score.measures`` that say what a probe adds, see ``Controls``."""


_BOTH = Field(min_length=2)


@dataclass(frozen=True, slots=True)
class CurvePoint(Stored):
    """A point of a learning curve: rows that were fitted on, and the metric on unseen rows."""

    rows: Count
    value: Correlation


@dataclass(frozen=True, slots=True)
class Controls(Stored):
    """What belongs to the ``CONTROL_MEASURES`` of a score, see ``evaluation.probing.controls``.

    Attributes:
        intervals: measure to its interval over documents, in its unit.
        not_applicable: measure to the reason why a score has none.
        control: the metric of the same probe on control labels.
        control_rows: number of test rows that it is measured on; the others begin with a word that
            train lacks.
        uniform_code_length: of the classes of train, in bits; compression is this divided by the
            code length.
        control_code_length: of the control labels, in bits, if it was asked for.
        curve: the learning curve, by the portions of the code; at its end the score itself.
    """

    intervals: dict[Annotated[str, among(CONTROL_MEASURES)], Interval]
    not_applicable: dict[Annotated[str, among(CONTROL_MEASURES)], Text]
    control: Correlation | None = None
    control_rows: Count = 0
    uniform_code_length: Number | None = None
    control_code_length: Number | None = None
    curve: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Score(Stored):
    """The result of one layer of an encoder on one dataset; accuracies 0 … 1, correlations -1 … 1.

    Attributes:
        dataset: its name.
        task: e.g. "sentence_position".
        corpus: name of the corpus.
        language: BCP 47 code.
        version: of the dataset.
        digest: SHA-256 of the dataset's files.
        rows: number of instances in each split that there is.
        folds: number of folds, each used once as test; 0 if the dataset has splits.
        test_documents: number of documents that the rows of test come from; below
            ``MIN_DOCUMENTS`` the interval says nothing of other documents.
        layer: of the encoder.
        metric: what ``value`` is: "accuracy", or "pearson" where scores are asked for.
        value: the metric on test, or on the rows of all folds together; the mean over random
            starts.
        deviation: its standard deviation over the random starts, with one degree of freedom less;
            None if nothing is random.
        interval: see ``evaluation.measures``.
        measures: all that was measured, by name, see ``evaluation.measures``; means over
            random starts. With controls also ``CONTROL_MEASURES``: selectivity, a difference of two
            scores; the code length of train's classes in bits, and its compression; information in
            bits a row.
        majority: accuracy of always answering with the most frequent class of train; None for
            correlations.
        chance: 1 / number of classes that occur in the rows; None for correlations.
        chosen: what was chosen on validation, for each fit, by the name of the setting; empty if
            nothing is trained.
        validation: the metric there with that choice, the mean over folds and starts; None if
            nothing is trained.
        coverage: for an encoder with a vocabulary, the numbers of "tokens" and of those
            "out_of_vocabulary" in the dataset; else None.
        answers: SHA-256 of the predictions behind all of this, see ``predictions_digest``.
        texts: SHA-256 of the dataset's texts in the encoder's form, with their prompt; empty for a
            language model.
        vectors: SHA-256 of their vectors, see ``EmbeddingStore.digests``; empty likewise.
        fitted_on: the texts that the encoder's post-processing is fitted on, if it has one: of
            "train", or all the dataset's "own".
        controls: what belongs to the ``CONTROL_MEASURES``, if they were asked for.
    """

    dataset: Text
    task: Annotated[str, among(TASKS)]
    corpus: Text
    language: Text
    version: Text
    digest: Text
    rows: dict[Split, Count]
    folds: Count
    test_documents: Count
    layer: Text
    metric: Metric
    value: Correlation
    deviation: Number | None
    interval: Interval
    measures: Annotated[dict[Text, Number], Field(max_length=100)]
    majority: Share | None
    chance: Share | None
    chosen: Annotated[dict[Text, list[Number]], Field(max_length=100)]
    validation: Correlation | None
    coverage: (
        Annotated[dict[Annotated[str, among(("tokens", "out_of_vocabulary"))], Count], _BOTH] | None
    )
    answers: Text
    texts: Text = ""
    vectors: Text = ""
    fitted_on: Text = ""
    controls: Controls | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows that ``value`` is measured on."""
        return self.rows["train" if self.folds else "test"]


@dataclass(frozen=True, slots=True)
class Transfer(Stored):
    """The score on a dataset of a probe that was trained on one other dataset, or on all others."""

    sources: Annotated[tuple[Text, ...], Field(min_length=1)]
    score: Score


@dataclass(frozen=True, slots=True)
class _ProtocolFacts(Stored):
    """What ``Probing.as_protocol`` returns; of a language model, the first two."""

    name: Text
    version: Count
    engine: Text = ""
    pair_features: Text = ""
    ablations: bool = False


@dataclass(frozen=True, slots=True)
class Results(EncoderResults):
    """The scores of one encoder by probes, or of a language model.

    Attributes:
        protocol: name and version of the probe's protocol, its engine and the pair features;
            ``LM_EVAL_PROTOCOL`` and a version for a language model.
        intervals: how they were made.
        transfers: of probes to datasets that they were not trained on, if they were asked for.
        controls: whether scores have controls; "full" with the code length of control labels.
    """

    scores: tuple[Score, ...]
    protocol: Annotated[dict[str, Any], like(_ProtocolFacts)]
    intervals: dict[Text, Text | int | Number]
    transfers: tuple[Transfer, ...] = ()
    controls: bool | Literal["full"] = False

    @property
    def probed(self) -> bool:
        """Whether these are scores of probes; if not, of a language model."""
        return bool(self.protocol["name"] != LM_EVAL_PROTOCOL)


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions for one dataset from one layer.

    Attributes:
        ids: of the rows, [rows].
        documents: ids of their documents, [rows].
        gold: class numbers or scores, float64 [rows].
        predicted: the same, float64 [starts, rows].
        information: usable information in bits, float64 [rows]; None if it is not measured.
    """

    ids: Values
    documents: Values
    gold: Values
    predicted: Values
    information: Doubles | None = None


def predictions_digest(predictions: Predictions) -> str:
    """Return the SHA-256 of predictions: of ids, documents, gold, predicted values, information."""
    numbers = predictions.gold, predictions.predicted, predictions.information
    return _digest((predictions.ids, predictions.documents), numbers)


def _digest(names: Iterable[Values], numbers: Iterable[Values | None]) -> str:
    digest = sha256()
    for ids in names:
        digest.update(json.dumps(ids.tolist(), ensure_ascii=False).encode())
    for values in numbers:
        if values is not None:
            digest.update(np.ascontiguousarray(values, "<f8").tobytes())
    return digest.hexdigest()


def _make_results(content: dict[str, Any]) -> Results:
    # Format 7 lacks controls only.
    results: Results = parse_json(Results, content | {"format": PROBES_FORMAT})
    for score in (*results.scores, *(transfer.score for transfer in results.transfers)):
        if ("train" if score.folds else "test") not in score.rows:
            raise ValueError(f"{score.dataset}: no rows that are tested")
    return results


_NUMBERS = {"gold": pa.float64(), "predicted": pa.list_(pa.float64()), "information": pa.float64()}
PREDICTIONS_SCHEMA = pa.schema(
    dict.fromkeys(("dataset", "layer", "id", "document_id"), pa.string()) | _NUMBERS
)
"""Of predictions.parquet."""
_PROBES = ScoresFolder(
    "probe",
    PROBES_FORMAT,
    _make_results,
    PREDICTIONS,
    PREDICTIONS_SCHEMA,
    ["dataset", "layer"],
    optional=("information",),
    oldest=7,
)
write_results, read_results = _PROBES.write, _PROBES.read


def predictions_table(dataset: str, layer: str, predictions: Predictions) -> pa.Table:
    """Return the rows of predictions.parquet for one dataset and layer."""
    starts, rows = predictions.predicted.shape
    predicted = pa.ListArray.from_arrays(
        np.arange(0, starts * (rows + 1), starts, dtype=np.int32),
        predictions.predicted.T.astype(np.float64).ravel(),
    )
    ids, documents = predictions.ids.tolist(), predictions.documents.tolist()
    gold = predictions.gold.astype(np.float64)
    information = predictions.information
    bits = pa.nulls(rows, pa.float64()) if information is None else pa.array(information)
    columns = [[dataset] * rows, [layer] * rows, ids, documents, gold, predicted, bits]
    return pa.table(columns, schema=PREDICTIONS_SCHEMA)


def read_predictions(folder: Path, dataset: str, layer: str) -> Predictions:
    """Read the predictions for a dataset from a layer."""
    expected = f"predictions for {dataset} from layer {layer}"
    table = _PROBES.table(folder, (dataset, layer), expected)
    return parse_predictions(table, folder / PREDICTIONS)


def iter_predictions(folder: Path) -> Iterator[tuple[tuple[str, str], Predictions]]:
    """Yield (dataset, layer) and the predictions for it, in the order of the file."""
    for key, table in _PROBES.row_groups(folder):
        yield key, parse_predictions(table, folder / PREDICTIONS)


def parse_predictions(table: pa.Table, path: Path) -> Predictions:
    """Return the predictions of a table of ``predictions_table``; ``path`` is for the message."""
    predicted = table["predicted"].combine_chunks()
    numbers = np.from_dlpack(predicted.flatten())
    starts = len(numbers) // len(table)
    if {*predicted.value_lengths().to_pylist()} != {starts or 1} or not np.isfinite(numbers).all():
        expected = "as many predictions in each row of a dataset and layer, finite numbers"
        found, todo = "more in some than in others, none, or others", "run `probeta probe` again"
        raise InputError(path, expected, found, todo)
    bits = table["information"]
    return Predictions(
        ids=array_of(table["id"]),
        documents=array_of(table["document_id"]),
        gold=array_of(table["gold"]),
        predicted=numbers.reshape(len(table), starts).T,
        information=None if bits.null_count else array_of(bits),
    )


RANKINGS_FORMAT = 7
RANKS = "ranks.parquet"
HITS = (1, 3)
RANK_MEASURES = ("MRR", *(f"Hits@{top}" for top in HITS))
# The post-processing of vectors that nothing is done to.
PLAIN: Literal["none"] = "none"


@dataclass(frozen=True, slots=True)
class RankScore(Stored):
    """The ranks of the positives of one ranking dataset, in one layer, by one similarity.

    Attributes:
        dataset: its name.
        task: "sentence_ranking" or "word_ranking".
        language, version, digest, layer, texts, vectors: as of ``Score``.
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
        alignment, uniformity: see ``evaluation.measures``, of the pairs and of the
            texts, by cosine; None by l2, or without any.
    """

    dataset: Text
    task: Annotated[str, among(TASKS)]
    language: Text
    version: Text
    digest: Text
    layer: Text
    similarity: Annotated[str, among(get_args(Similarity))]
    postprocessing: Annotated[str, among(get_args(Postprocess))]
    background: Count
    queries: Count
    pairs: Count
    without_vector: Count
    mrr: Share
    interval: Interval
    hits: Annotated[dict[Annotated[str, among([*map(str, HITS)])], Share], _BOTH]
    median_rank: Number
    mean_rank: Number
    ties: Count
    texts: Text = ""
    vectors: Text = ""
    answers: Text = ""
    alignment: Number | None = None
    uniformity: Number | None = None

    @property
    def measures(self) -> dict[str, float]:
        """The means over the pairs, by the names of ``RANK_MEASURES``."""
        hits = {f"Hits@{top}": self.hits[str(top)] for top in HITS}
        return {"MRR": self.mrr, **hits}

    def key(self, measure: str) -> str:
        """Return the key of one of ``RANK_MEASURES``, such as "evalrank_es mrr cosine"."""
        return f"{self.dataset} {measure.lower()} {self.similarity}"


@dataclass(frozen=True, slots=True)
class SimilarityScore(Stored):
    """The agreement of a similarity with human scores, for comparison with the ranks.

    Attributes:
        dataset: its name, of the task "similarity".
        spearman: Spearman's correlation, -1 … 1.
        pearson: Pearson's correlation, -1 … 1.

    All others are as of ``RankScore``.
    """

    dataset: Text
    language: Text
    digest: Text
    layer: Text
    similarity: Annotated[str, among(get_args(Similarity))]
    postprocessing: Annotated[str, among(get_args(Postprocess))]
    spearman: Correlation
    pearson: Correlation
    texts: Text = ""
    vectors: Text = ""


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
    evalrank: Annotated[
        dict[
            Annotated[str, among(("similarities", "postprocessings"))],
            Annotated[list[Text], Field(min_length=1, max_length=9)],
        ],
        _BOTH,
    ]
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
    return _digest((pairs.queries, pairs.positives, pairs.documents), [pairs.ranks])


def measure_pairs(ranks: Doubles) -> Doubles:
    """Return ``RANK_MEASURES`` of each pair, float64 [measures, pairs]; scores are means."""
    measures: Doubles = np.stack([1 / ranks, *(ranks <= top for top in HITS)])
    return measures


_RANK_KEYS = ("dataset", "similarity", "query", "positive", "document_id")
RANKS_SCHEMA = pa.schema([*((name, pa.string()) for name in _RANK_KEYS), ("rank", pa.float64())])
"""Of ranks.parquet."""
_RANK_DICTIONARIES = ["dataset", "similarity", "document_id"]
_RANKINGS = ScoresFolder(
    "rank",
    RANKINGS_FORMAT,
    partial(parse_json, RankingResults),
    RANKS,
    RANKS_SCHEMA,
    _RANK_DICTIONARIES,
)
write_rankings, read_rankings = _RANKINGS.write, _RANKINGS.read


def ranks_table(pairs: PairRanks) -> pa.Table:
    """Return the rows of ranks.parquet for one dataset and similarity."""
    n_pairs = len(pairs.ranks)
    ids = (column.tolist() for column in (pairs.queries, pairs.positives, pairs.documents))
    columns = [[pairs.dataset] * n_pairs, [pairs.similarity] * n_pairs, *ids, pairs.ranks]
    return pa.table(columns, schema=RANKS_SCHEMA)


def read_ranks(folder: Path, dataset: str, similarity: str) -> PairRanks:
    """Read the ranks of one dataset by one similarity."""
    expected = f"ranks in {dataset} by {similarity}"
    table = _RANKINGS.table(folder, (dataset, similarity), expected)
    return parse_ranks(table, dataset, similarity)


def iter_ranks(folder: Path) -> Iterator[PairRanks]:
    """Yield the ranks of all datasets and similarities, in the order of the file."""
    for (dataset, similarity), table in _RANKINGS.row_groups(folder):
        yield parse_ranks(table, dataset, similarity)


def parse_ranks(table: pa.Table, dataset: str, similarity: str) -> PairRanks:
    """Return the ranks of a table of ``ranks_table``."""
    names = ("query", "positive", "document_id", "rank")
    return PairRanks(dataset, similarity, *(array_of(table[name]) for name in names))


PARADIGMS_FORMAT = 5
PARADIGM_MEASURES = ("suggestion", "coherence")


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

    cluster: Text
    terms: Count
    left_out: dict[Text, list[Text]]
    suggestion: Share
    deviation: Share
    coherence: Share

    @property
    def left(self) -> int:
        """The number of terms that are in the vocabulary."""
        return self.terms - sum(map(len, self.left_out.values()))


def cluster_values(clusters: Sequence[ClusterScore]) -> Doubles:
    """Return ``PARADIGM_MEASURES`` of each cluster, float64 [measures, clusters]."""
    return np.array([[getattr(each, name) for each in clusters] for name in PARADIGM_MEASURES])


@dataclass(frozen=True, slots=True)
class ParadigmScore(Stored):
    """The two scores of one dataset of clusters, in one layer, vocabulary and casing.

    Attributes:
        dataset, language, version, digest, layer: as of ``Score``.
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

    dataset: Text
    language: Text
    version: Text
    digest: Text
    layer: Text
    vocabulary: Literal["own", "shared"]
    vocabulary_digest: Text
    words: Count
    casing: Casing
    suggestion: Share
    suggestion_interval: Interval
    coherence: Share
    coherence_interval: Interval
    clusters: tuple[ClusterScore, ...]
    words_left_out: dict[Text, Count] = field(default_factory=dict)
    vectors: list[Text] = field(default_factory=list)

    @property
    def skipped(self) -> int:
        """The number of clusters with fewer than three terms left, which score 0."""
        return sum(cluster.left < FEWEST_TERMS for cluster in self.clusters)

    def key(self, measure: str) -> str:
        """Return the key of a measure, such as "paralex_es suggestion shared lower"."""
        return f"{self.dataset} {measure} {self.vocabulary} {self.casing}"


@dataclass(frozen=True, slots=True)
class ParadigmResults(EncoderResults):
    """The scores of one encoder by ParaLex: by dataset, then vocabulary, casing and layer.

    Attributes:
        coherence_threshold: how many seeds must suggest a term for it to become a seed.
        casings: those that params.yaml asks for.
        left_out: skipped datasets, each to the reason.
    """

    scores: tuple[ParadigmScore, ...]
    coherence_threshold: Count
    casings: list[Casing]
    left_out: dict[Text, str]


def read_paradigms(path: Path) -> ParadigmResults:
    """Read the file of an encoder, see ``write_stored``."""
    make = partial(parse_json, ParadigmResults)
    results: ParadigmResults = read_stored(path, PARADIGMS_FORMAT, make, "paradigms")
    return results
