"""ParaLex for one encoder: its scores on every dataset of paradigms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.memo import Memo
from corpora_recipes.running.telling import progress
from evaluation.data.instances import Dataset
from evaluation.data.texts import DEFAULT, text_columns
from evaluation.embedding.postprocessing import Fitting
from evaluation.embedding.store import EmbeddingStore, EncodedDataset, read_described
from evaluation.embedding.vocabulary import Vocabulary, open_vocabulary
from evaluation.encoders.encoder import Description, Encoder, Form, HasWords, describe
from evaluation.measures.intervals import leave_out_means, score_interval
from evaluation.measures.similarity import norms_of
from evaluation.measures.threads import one_thread
from evaluation.paradigms.neighbours import Casing, Forms, Neighbours, cased, forms_of
from evaluation.paradigms.suggestion import run_tests
from evaluation.results.paradigms import (
    FORMAT,
    MEASURES,
    ClusterScore,
    ParadigmResults,
    ParadigmScore,
)
from evaluation.results.parts import Part, score_parts
from evaluation.results.stored import encoder_facts, library_versions


def evaluate_paradigms(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    coherence_threshold: int,
    casings: Sequence[Casing],
    memo: Memo | None = None,
) -> tuple[ParadigmResults, int]:
    """Score every dataset of paradigms.

    Neighbours are looked for among the words of all word rankings of the dataset's language and
    its own terms ("shared"), and, where the encoder has its own vocabulary, also among its words
    ("own"). Layers besides the main one get the shared vocabulary in the first casing alone.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds.
        datasets: in any order; besides those of paradigms, the word rankings are looked at.
        store: folder of the embedding store.
        seed: the run's seed.
        coherence_threshold: how many seeds must suggest a term for it to become a seed.
        casings: in which words are compared.
        memo: what remembers the scores of datasets; None to score all.

    Returns:
        The results, with the datasets for which there was no vocabulary; and the number of datasets
        that were scored now.

    Raises:
        InputError: the store lacks a text or the encoder's vocabulary; or a dataset has no
            clusters, two of one name, or other tokens than terms.
    """
    known = describe(encoder)
    # All words have one prompt, see ``prompt_of``.
    opened = EmbeddingStore(store, known, known.prompts.get(DEFAULT))
    in_order = sorted(datasets, key=lambda dataset: dataset.name)
    asked = {dataset.name: dataset for dataset in in_order if dataset.task == "paradigms"}
    rankings: dict[str, list[Dataset]] = {}
    for dataset in in_order:
        if dataset.task == "word_ranking":
            rankings.setdefault(dataset.language, []).append(dataset)
    results = ParadigmResults(
        format=FORMAT,
        name=name,
        encoder=encoder_facts(known, opened.dimension),
        coherence_threshold=coherence_threshold,
        casings=[*casings],
        seed=seed,
        versions=library_versions("paradigms", opened.made_by),
        code=code_digest(__name__),
        scores=(),
        left_out={
            dataset.name: f"no word ranking is in {dataset.language} (there are some in: "
            f"{', '.join(sorted(rankings)) or 'none'}), and the encoder has no vocabulary of its "
            "own"
            for dataset in asked.values()
            if dataset.language not in rankings and not isinstance(encoder, HasWords)
        },
    )
    described = {
        dataset.name: [
            read_described(store, encoded)
            for encoded in (dataset, *rankings.get(dataset.language, ()))
        ]
        for dataset in asked.values()
    }

    def compute(new: Sequence[str]) -> Iterator[tuple[str, Part]]:
        every = [
            _Paradigms(asked[of], _read_clusters(asked[of], known.form), described[of])
            for of in new
        ]
        scores: dict[str, list[ParadigmScore]] = {of: [] for of in new}
        vocabulary = open_vocabulary(store, encoder) if new else None
        with one_thread(), progress(None, f"paradigms {name}", "score") as bar:
            for paradigms, space in _spaces(every, vocabulary, rankings, opened, known, casings):
                of_dataset = _score(paradigms, space, coherence_threshold)
                scores[paradigms.dataset.name].append(of_dataset)
                bar.update()
        yield from ((of, Part(of_dataset)) for of, of_dataset in scores.items())

    def place(score: ParadigmScore) -> tuple[Any, ...]:
        order = casings.index(score.casing), known.layers.index(score.layer)
        return score.dataset, score.vocabulary, *order

    inputs = {of: [asdict(encoded) for encoded in every] for of, every in described.items()}
    parts, new = score_parts(results, inputs, ParadigmScore, compute, memo)
    found = sorted((score for part in parts.values() for score in part.scores), key=place)
    return replace(results, scores=tuple(found)), len(new)


@dataclass(frozen=True, slots=True)
class _Paradigms:
    """A dataset of paradigms that was read.

    Attributes:
        dataset: on disk.
        clusters: name to the cluster's terms as they are, each to what of it is encoded.
        described: what the store says of the dataset, and of the word rankings of its language.
    """

    dataset: Dataset
    clusters: Mapping[str, Mapping[str, str]]
    described: Sequence[EncodedDataset]


@dataclass(frozen=True, slots=True)
class _Space:
    """Words, in a layer and casing, and the neighbours that they have."""

    vocabulary: Literal["own", "shared"]
    digest: str
    layer: str
    casing: Casing
    forms: Forms
    left_out: dict[str, int]
    neighbours: Neighbours


def _read_clusters(dataset: Dataset, form: Form) -> dict[str, dict[str, str]]:
    """Read the clusters of a dataset, by name.

    Raises:
        InputError: it has no clusters, two of one name, or other tokens than terms.
    """
    ((terms,), (encoded,)) = (text_columns(dataset.task, of) for of in ("natural", form))
    rows = dataset.read("test", list(dict.fromkeys(("cluster", terms, encoded)))).to_pylist()
    clusters: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows):
        where = f"{dataset.folder}, row {number} {row['cluster']}"
        if row["cluster"] in clusters:
            raise OutputError(where, "each cluster once", "the second one")
        if len(row[terms]) != len(row[encoded]):
            expected = f"as many {encoded} as {terms}, {len(row[terms])}"
            raise OutputError(where, expected, str(len(row[encoded])))
        clusters[row["cluster"]] = dict(zip(row[terms], row[encoded], strict=True))
    if not clusters:
        raise OutputError(dataset.folder, "clusters", "none")
    return dict(sorted(clusters.items()))


def vocabulary_digest(rankings: Sequence[Dataset]) -> str:
    """Return the SHA-256 of the files of a language's word rankings."""
    digests = "".join(dataset.digest() for dataset in rankings)
    return sha256(digests.encode()).hexdigest()


def _words_of(rankings: Sequence[Dataset], form: Form) -> dict[str, str]:
    """Return the words of a language's word rankings, each to what of it is encoded."""
    words: dict[str, str] = {}
    for dataset in rankings:
        columns = [text_columns(dataset.task, of)[0] for of in ("natural", form)]
        table = dataset.read("test", list(dict.fromkeys(columns)))
        pairs = zip(*(table[column].to_pylist() for column in columns), strict=True)
        for word, encoded in pairs:
            words.setdefault(word, encoded)
    return words


def _spaces(
    every: Sequence[_Paradigms],
    vocabulary: Vocabulary | None,
    rankings: Mapping[str, Sequence[Dataset]],
    store: EmbeddingStore,
    encoder: Description,
    casings: Sequence[Casing],
) -> Iterator[tuple[_Paradigms, _Space]]:
    """Yield each dataset with every space in which it is scored."""
    # An own vocabulary may be large: its words are in memory in one casing at a time.
    if vocabulary is not None:
        vocabulary = _processed(vocabulary, encoder)
        for casing in casings:
            space = _make_space("own", "", vocabulary, encoder.layer, casing)
            for paradigms in every:
                yield paradigms, space
    for language in rankings.keys() & {paradigms.dataset.language for paradigms in every}:
        ranked = _words_of(rankings[language], encoder.form)
        digest = vocabulary_digest(rankings[language])
        of_language = [each for each in every if each.dataset.language == language]
        for paradigms, casing in product(of_language, casings):
            words = dict(ranked)
            for cluster in paradigms.clusters.values():
                for term, encoded in cluster.items():
                    words.setdefault(cased(term, casing), cased(encoded, casing))
            for layer in encoder.layers if casing == casings[0] else [encoder.layer]:
                vectors = store.lookup(list(words.values()), layer)
                shared = _processed(Vocabulary(list(words), vectors, norms_of(vectors)), encoder)
                yield paradigms, _make_space("shared", digest, shared, layer, casing)


def _processed(vocabulary: Vocabulary, encoder: Description) -> Vocabulary:
    """Return words with their vectors post-processed as the encoder asks, fitted on all of them."""
    if encoder.postprocessing == "none":
        return vocabulary
    vectors = Fitting(vocabulary.vectors).postprocess(encoder.postprocessing)
    return replace(vocabulary, vectors=vectors, norms=norms_of(vectors))


def _make_space(
    name: Literal["own", "shared"], digest: str, vocabulary: Vocabulary, layer: str, casing: Casing
) -> _Space:
    forms = forms_of(vocabulary, casing)
    neighbours = Neighbours(vocabulary.vectors, vocabulary.norms, forms.words)
    left_out = vocabulary.left_out | {"same_form": vocabulary.directed - len(forms.rows)}
    return _Space(name, digest, layer, casing, forms, left_out, neighbours)


def _score(paradigms: _Paradigms, space: _Space, threshold: int) -> ParadigmScore:
    """Return the scores of a dataset in a space."""
    rows, dataset = space.forms.rows, paradigms.dataset
    # Terms that fall together count once.
    every = [
        list(dict.fromkeys(cased(term, space.casing) for term in terms))
        for terms in paradigms.clusters.values()
    ]
    known = [[rows[term] for term in terms if term in rows] for terms in every]
    tested = run_tests(known, space.neighbours, threshold)
    clusters = tuple(
        ClusterScore(name, len(terms), _left_out(terms, space.forms), **asdict(outcome))
        for name, terms, outcome in zip(paradigms.clusters, every, tested, strict=True)
    )
    return ParadigmScore(
        dataset=dataset.name,
        language=dataset.language,
        version=dataset.version,
        digest=paradigms.described[0].digest,
        layer=space.layer,
        vocabulary=space.vocabulary,
        vocabulary_digest=space.digest,
        words=len(rows),
        words_left_out=space.left_out,
        casing=space.casing,
        **measure_clusters(clusters),
        clusters=clusters,
        vectors=[encoded.vectors[space.layer] for encoded in paradigms.described],
    )


def measure_clusters(clusters: Sequence[ClusterScore]) -> dict[str, Any]:
    """Return the means over clusters and their intervals, fields of ``ParadigmScore``."""
    names = np.array([cluster.cluster for cluster in clusters])
    values = np.array([[getattr(cluster, what) for cluster in clusters] for what in MEASURES])
    left_out = leave_out_means(values, names)
    measured: dict[str, Any] = {}
    for what, of_clusters, without in zip(MEASURES, values, left_out, strict=True):
        mean = float(of_clusters.mean())
        interval = score_interval("accuracy", mean, without, names)
        measured |= {what: mean, f"{what}_interval": interval}
    return measured


def _left_out(terms: Sequence[str], forms: Forms) -> dict[str, list[str]]:
    """Return by reason the terms that are not in the vocabulary."""
    left_out: dict[str, list[str]] = {}
    for term in terms:
        if term not in forms.rows:
            reason = "no_vector" if term in forms.without else "out_of_vocabulary"
            left_out.setdefault(reason, []).append(term)
    return left_out
