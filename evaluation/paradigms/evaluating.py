"""ParaLex for one encoder: its scores on every dataset of paradigms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.memo import Key, Memo
from corpora_recipes.running.telling import progress
from evaluation.data.instances import Dataset
from evaluation.data.texts import DEFAULT, text_columns
from evaluation.embedding.store import EmbeddingStore, EncodedDataset, read_described
from evaluation.embedding.vocabulary import Vocabulary, open_vocabulary
from evaluation.encoders.encoder import Description, Encoder, Form, HasWords, describe
from evaluation.measures.intervals import leave_out_means, score_interval
from evaluation.measures.threads import one_thread
from evaluation.paradigms.neighbours import Neighbours
from evaluation.paradigms.suggestion import run_tests
from evaluation.paradigms.vocabulary import (
    Casing,
    Forms,
    cased,
    forms_of,
    make_vocabulary,
)
from evaluation.results.paradigms import (
    FORMAT,
    MEASURES,
    ClusterScore,
    ParadigmResults,
    ParadigmScore,
)
from evaluation.results.stored import encoder_facts, library_versions, typed

_VOCABULARIES = ("own", "shared")
_REBUILD = "build the dataset again with `probeta build`"


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
    asked = [dataset for dataset in in_order if dataset.task == "paradigms"]
    rankings: dict[str, list[Dataset]] = {}
    for dataset in in_order:
        if dataset.task == "word_ranking":
            rankings.setdefault(dataset.language, []).append(dataset)
    there_are = ", ".join(sorted(rankings)) or "none"
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
            f"{there_are}), and the encoder has no vocabulary of its own"
            for dataset in asked
            if dataset.language not in rankings and not isinstance(encoder, HasWords)
        },
    )
    languages = {dataset.language for dataset in asked} & rankings.keys()
    vocabularies = {language: vocabulary_digest(rankings[language]) for language in languages}
    keys = {
        dataset.name: _key(
            results,
            [read_described(store, own) for own in (dataset, *rankings.get(dataset.language, ()))],
        )
        for dataset in asked
    }
    kept = {name: memo.kept(name, key) for name, key in keys.items()} if memo else {}
    there = {name for name, facts in kept.items() if facts is not None}
    scores: list[ParadigmScore] = [
        typed(ParadigmScore, facts) for name in sorted(there) for facts in kept[name]
    ]
    paradigms = [
        _read_paradigms(dataset, known.form) for dataset in asked if dataset.name not in there
    ]
    own = open_vocabulary(store, encoder) if paradigms else None
    shared = {
        language: _Words(_words_of(rankings[language], known.form), vocabularies[language])
        for language in languages & {one.dataset.language for one in paradigms}
    }
    with one_thread(), progress(None, f"paradigms {name}", "score") as bar:
        for one, space in _spaces(paradigms, own, shared, opened, known, casings):
            words = shared.get(one.dataset.language)
            vectors = [
                read_described(store, own).vectors[space.layer]
                for own in (one.dataset, *rankings.get(one.dataset.language, ()))
            ]
            score = _score(one, space, words, coherence_threshold)
            scores.append(replace(score, vectors=vectors))
            bar.update()
    scores.sort(
        key=lambda score: (
            score.dataset,
            _VOCABULARIES.index(score.vocabulary),
            casings.index(score.casing),
            known.layers.index(score.layer),
        )
    )
    if memo:
        for asked_of, key in keys.items():
            found = [asdict(score) for score in scores if score.dataset == asked_of]
            memo.keep(asked_of, key, facts=found)
        memo.retain(keys)
    return replace(results, scores=tuple(scores)), len(keys) - len(there)


def _key(results: ParadigmResults, described: Sequence[EncodedDataset]) -> Key:
    """Return all that decides the scores on a dataset.

    Args:
        results: without scores.
        described: what the store says of the dataset, and of the word rankings of its language.
    """
    facts = asdict(results)
    del facts["scores"], facts["left_out"]
    code, versions = facts.pop("code"), facts.pop("versions")
    inputs = [asdict(own) for own in described]
    return {"inputs": inputs, "parameters": facts, "code": code, "versions": versions}


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster: its terms as they are, to what of them is encoded."""

    name: str
    terms: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Paradigms:
    """A dataset of paradigms that was read."""

    dataset: Dataset
    digest: str
    clusters: tuple[_Cluster, ...]


@dataclass(frozen=True, slots=True)
class _Space:
    """Words, in a layer and casing, and the neighbours that they have."""

    vocabulary: Literal["own", "shared"]
    layer: str
    casing: Casing
    forms: Forms
    left_out: dict[str, int]
    neighbours: Neighbours


def _read_paradigms(dataset: Dataset, form: Form) -> _Paradigms:
    """Read a dataset.

    Raises:
        InputError: it has no clusters, two of one name, or other tokens than terms.
    """
    ((terms,), (encoded,)) = (text_columns(dataset.task, own) for own in ("natural", form))
    rows = dataset.read("test", list(dict.fromkeys(("cluster", terms, encoded)))).to_pylist()
    clusters: dict[str, _Cluster] = {}
    for number, row in enumerate(rows):
        where = f"{dataset.folder}, row {number} {row['cluster']}"
        if row["cluster"] in clusters:
            raise InputError(where, "each cluster once", "the second one", _REBUILD)
        if len(row[terms]) != len(row[encoded]):
            raise InputError(
                where,
                f"as many {encoded} as {terms}, {len(row[terms])}",
                str(len(row[encoded])),
                _REBUILD,
            )
        own = dict(zip(row[terms], row[encoded], strict=True))
        clusters[row["cluster"]] = _Cluster(row["cluster"], own)
    if not clusters:
        raise InputError(dataset.folder, "clusters", "none", _REBUILD)
    in_order = tuple(cluster for _, cluster in sorted(clusters.items()))
    return _Paradigms(dataset, dataset.digest(), in_order)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a language's word rankings.

    Attributes:
        encoded: word to what of it is encoded.
        digest: SHA-256 of the rankings' files.
    """

    encoded: Mapping[str, str]
    digest: str


def vocabulary_digest(rankings: Sequence[Dataset]) -> str:
    """Return the SHA-256 of the files of a language's word rankings."""
    digests = "".join(dataset.digest() for dataset in rankings)
    return sha256(digests.encode()).hexdigest()


def _words_of(rankings: Sequence[Dataset], form: Form) -> dict[str, str]:
    """Return the words of a language's word rankings, each to what of it is encoded."""
    words: dict[str, str] = {}
    for dataset in rankings:
        columns = [text_columns(dataset.task, own)[0] for own in ("natural", form)]
        table = dataset.read("test", list(dict.fromkeys(columns)))
        pairs = zip(*(table[column].to_pylist() for column in columns), strict=True)
        for word, encoded in pairs:
            words.setdefault(word, encoded)
    return words


def _spaces(
    paradigms: Sequence[_Paradigms],
    own: Vocabulary | None,
    shared: Mapping[str, _Words],
    store: EmbeddingStore,
    encoder: Description,
    casings: Sequence[Casing],
) -> Iterator[tuple[_Paradigms, _Space]]:
    """Yield each dataset with every space in which it is scored."""
    # An own vocabulary may be large: its words are in memory in one casing at a time.
    if own is not None:
        for casing in casings:
            space = _make_space("own", own, encoder.layer, casing)
            for one in paradigms:
                yield one, space
    for one in paradigms:
        if one.dataset.language not in shared:
            continue
        for casing in casings:
            words = dict(shared[one.dataset.language].encoded)
            for cluster in one.clusters:
                for term, encoded in cluster.terms.items():
                    words.setdefault(cased(term, casing), cased(encoded, casing))
            for layer in encoder.layers if casing == casings[0] else [encoder.layer]:
                vocabulary = make_vocabulary(words, store, layer)
                yield one, _make_space("shared", vocabulary, layer, casing)


def _make_space(
    name: Literal["own", "shared"], vocabulary: Vocabulary, layer: str, casing: Casing
) -> _Space:
    forms = forms_of(vocabulary, casing)
    neighbours = Neighbours(vocabulary.vectors, vocabulary.norms, forms.words)
    left_out = vocabulary.left_out | {"same_form": vocabulary.directed - len(forms.rows)}
    return _Space(name, layer, casing, forms, left_out, neighbours)


def _score(one: _Paradigms, space: _Space, shared: _Words | None, threshold: int) -> ParadigmScore:
    """Return the scores of a dataset in a space."""
    rows = space.forms.rows
    # Terms that fall together count once.
    terms = [
        list(dict.fromkeys(cased(term, space.casing) for term in cluster.terms))
        for cluster in one.clusters
    ]
    tested = run_tests(
        [[rows[term] for term in own if term in rows] for own in terms],
        space.neighbours,
        threshold,
    )
    clusters = tuple(
        ClusterScore(
            cluster=cluster.name,
            terms=len(own),
            left_out=_left_out(own, space.forms),
            suggestion=test.suggestion,
            deviation=test.deviation,
            coherence=test.coherence,
        )
        for cluster, own, test in zip(one.clusters, terms, tested, strict=True)
    )
    return ParadigmScore(
        dataset=one.dataset.name,
        language=one.dataset.language,
        version=one.dataset.version,
        digest=one.digest,
        layer=space.layer,
        vocabulary=space.vocabulary,
        vocabulary_digest=shared.digest if shared and space.vocabulary == "shared" else "",
        words=len(rows),
        words_left_out=space.left_out,
        casing=space.casing,
        **measure_clusters(clusters),
        clusters=clusters,
    )


def measure_clusters(clusters: Sequence[ClusterScore]) -> dict[str, Any]:
    """Return the means over clusters and their intervals, fields of ``ParadigmScore``."""
    names = np.array([cluster.cluster for cluster in clusters])
    values = np.array([[getattr(cluster, what) for cluster in clusters] for what in MEASURES])
    left_out = leave_out_means(values, names)
    measured: dict[str, Any] = {}
    for what, own, without in zip(MEASURES, values, left_out, strict=True):
        mean = float(own.mean())
        interval = score_interval("accuracy", mean, without, len(clusters))
        measured |= {what: mean, f"{what}_interval": interval}
    return measured


def _left_out(terms: Sequence[str], forms: Forms) -> dict[str, list[str]]:
    """Return by reason the terms that are not in the vocabulary."""
    found: dict[str, list[str]] = {}
    for term in terms:
        if term not in forms.rows:
            reason = "no_vector" if term in forms.without else "out_of_vocabulary"
            found.setdefault(reason, []).append(term)
    return found
