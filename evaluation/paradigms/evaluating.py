"""ParaLex for one encoder: its scores on every dataset of paradigms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import chain, groupby, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.memo import Cache
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

VOCABULARIES: tuple[Literal["own", "shared"], ...] = ("own", "shared")


def evaluate_paradigms(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    coherence_threshold: int,
    casings: Sequence[Casing],
    memo: Cache | None = None,
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

    jobs = {
        f"{dataset.name} {vocabulary} {casing}": _Job(dataset.name, vocabulary, casing)
        for vocabulary, casing, dataset in product(VOCABULARIES, casings, asked.values())
        if (isinstance(encoder, HasWords) if vocabulary == "own" else dataset.language in rankings)
    }
    inputs = {part: [asdict(each) for each in described[jobs[part].dataset]] for part in jobs}

    def compute(new: Sequence[str]) -> Iterator[tuple[str, Part]]:
        paradigms = {
            dataset: _Paradigms(
                asked[dataset], _read_clusters(asked[dataset], known.form), described[dataset]
            )
            for dataset in dict.fromkeys(jobs[part].dataset for part in new)
        }
        of_encoder = {part: jobs[part] for part in new if jobs[part].vocabulary == "own"}
        shared = {part: jobs[part] for part in new if part not in of_encoder}
        words = open_vocabulary(store, encoder) if of_encoder else None
        spaces = chain(
            _own_spaces(of_encoder, words, known) if words is not None else (),
            _shared_spaces(shared, paradigms, rankings, opened, known, casings),
        )
        with one_thread(), progress(len(new), f"paradigms {name}", "part") as bar:
            for part, in_spaces in spaces:
                of_dataset = paradigms[jobs[part].dataset]
                yield part, Part([_score(of_dataset, s, coherence_threshold) for s in in_spaces])
                bar.update()

    def place(score: ParadigmScore) -> tuple[Any, ...]:
        order = casings.index(score.casing), known.layers.index(score.layer)
        return score.dataset, score.vocabulary, *order

    parts, new = score_parts(results, inputs, ParadigmScore, compute, memo)
    scores = sorted((score for part in parts.values() for score in part.scores), key=place)
    return replace(results, scores=tuple(scores)), len({jobs[part].dataset for part in new})


class _Job(NamedTuple):
    """What is scored together: a dataset with a vocabulary in a casing, in all layers."""

    dataset: str
    vocabulary: Literal["own", "shared"]
    casing: Casing


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
    """Read the clusters of a dataset, by name."""
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


def _own_spaces(
    jobs: Mapping[str, _Job], vocabulary: Vocabulary, encoder: Description
) -> Iterator[tuple[str, Iterable[_Space]]]:
    """Yield each part with its space among the encoder's own words."""
    vocabulary = _processed(vocabulary, encoder)
    # They may be many: they are in memory in one casing at a time.
    for casing, parts in groupby(jobs, lambda part: jobs[part].casing):
        space = _make_space("own", "", vocabulary, encoder.layer, casing)
        yield from ((part, [space]) for part in parts)


def _shared_spaces(
    jobs: Mapping[str, _Job],
    paradigms: Mapping[str, _Paradigms],
    rankings: Mapping[str, Sequence[Dataset]],
    store: EmbeddingStore,
    encoder: Description,
    casings: Sequence[Casing],
) -> Iterator[tuple[str, Iterable[_Space]]]:
    """Yield each part with its spaces among the words of the word rankings and its own terms."""
    for part, (dataset, _, casing) in jobs.items():
        ranked = rankings[paradigms[dataset].dataset.language]
        words = _words_of(ranked, encoder.form)
        for cluster in paradigms[dataset].clusters.values():
            for term, encoded in cluster.items():
                words.setdefault(cased(term, casing), cased(encoded, casing))
        layers = encoder.layers if casing == casings[0] else [encoder.layer]
        yield part, (_shared_space(words, ranked, store, encoder, at, casing) for at in layers)


def _shared_space(
    words: Mapping[str, str],
    rankings: Sequence[Dataset],
    store: EmbeddingStore,
    encoder: Description,
    layer: str,
    casing: Casing,
) -> _Space:
    vectors = store.lookup(list(words.values()), layer)
    shared = _processed(Vocabulary(list(words), vectors, norms_of(vectors)), encoder)
    return _make_space("shared", vocabulary_digest(rankings), shared, layer, casing)


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
