"""Verifies results: stored scores are computed again."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.params import load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.console import plural
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import EMBEDDINGS
from evaluation.arrays import Floats
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import fitted_on
from evaluation.embedding.store import EmbeddingStore, made_by, text_keys
from evaluation.encoders import release
from evaluation.encoders.encoder import describe, encode_checked
from evaluation.features import ProbeRows, prompt_of, text_columns, unique_texts
from evaluation.measures import one_thread
from evaluation.paradigms import cased, measure_clusters, vocabulary_digest
from evaluation.params import encoders_of, encoders_params, stores_of
from evaluation.probing.probing import INTERVALS, score_answers
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.ranking import RANKED, measure_ranks
from evaluation.results.scores import (
    PARADIGM_MEASURES,
    PLAIN,
    PREDICTIONS,
    RANKS,
    PairRanks,
    ParadigmResults,
    ParadigmScore,
    Predictions,
    RankingResults,
    RankScore,
    Results,
    Score,
    SimilarityScore,
    all_predictions,
    all_ranks,
    ranks_digest,
    read_paradigms,
    read_rankings,
    read_results,
)
from evaluation.results.stored import description_of, encoder_facts, library_versions

# Another version of numpy, or another processor, may add in another order.
NEAR = 1e-9

AnyScore = Score | RankScore | SimilarityScore | ParadigmScore
Key = tuple[str, ...]
"""What a score is of: its dataset, layer and so on."""


@dataclass(slots=True)
class Check:
    """Results of an encoder that are verified, and what was found.

    Attributes:
        results: to verify.
        folder: of the data.
        datasets: those in it, by name.
        asked: the names of those to verify; None for all that the results have.
        kind: of the results, in words.
        recomputed: the number of scores that were computed again.
        differences: in words.
        notes: what else is to be known, in words.
    """

    results: Results | RankingResults | ParadigmResults
    folder: Path
    datasets: Mapping[str, Dataset]
    asked: Collection[str] | None
    kind: str = ""
    recomputed: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _near: float = NEAR
    _texts: dict[str, str] = field(default_factory=dict)

    def begin(self, kind: str, stage: str, module: str, tasks: Collection[str]) -> None:
        """Compare versions, and the code of a stage's module and datasets, with those here."""
        self.kind = kind
        then, here = self.results.versions, library_versions(stage)
        others = [f"{k} {then.get(k)} (here {v})" for k, v in here.items() if then.get(k) != v]
        how = f"up to {NEAR}: made with {', '.join(others)}"
        if not others:
            self._near, how = 0.0, "exactly: same platform and libraries"
        self.notes.append(f"numbers compared {how}")
        if (code := code_digest(module)) != self.results.code:
            self.notes.append(f"made by other code, {self.results.code} (here {code})")
        scored = {score.dataset for score in self.scores()}
        if self.asked is None:
            absent = sorted(scored - self.datasets.keys())
            self.differences += [f"{name}: no such dataset in {self.folder}" for name in absent]
        possible = {name for name, dataset in self.datasets.items() if dataset.task in tasks}
        if left := sorted(possible & {*(self.asked or possible)} - scored):
            self.notes.append(f"not scored: {', '.join(left)}")

    def asks(self, name: str) -> bool:
        """Return whether a dataset is there and to be verified."""
        return name in self.datasets and (self.asked is None or name in self.asked)

    def scores(self) -> list[AnyScore]:
        """Return all scores of the results, of whatever kind."""
        more = self.results.similarities if isinstance(self.results, RankingResults) else ()
        return [*self.results.scores, *more]

    def texts_of(self, dataset: Dataset) -> str:
        """Return the digest of a dataset's texts in the encoder's form, with their prompt."""
        if dataset.name not in self._texts:
            encoder = description_of(self.results.encoder)
            texts = sorted(unique_texts(dataset, encoder.form))
            keys = text_keys(texts, prompt_of(encoder, dataset))
            self._texts[dataset.name] = sha256(keys.tobytes()).hexdigest()
        return self._texts[dataset.name]

    def list_all(self, what: str, stored: Sequence[Key], wanted: Iterable[Key]) -> None:
        """Note what a list lacks, has besides, or has twice; or that its order is another."""
        times, once = Counter(stored), dict.fromkeys(wanted)
        wrong = [f"none of {', '.join(key)}" for key in once if key not in times]
        wrong += [f"{', '.join(key)}: not expected" for key in times if key not in once]
        wrong += [f"{', '.join(key)}: {count} times" for key, count in times.items() if count > 1]
        if not wrong and [*stored] != [*once]:
            wrong = ["in another order"]
        self.differences += [f"{what}: {fault}" for fault in wrong]

    def compare(self, where: str, stored: object, found: Mapping[str, Any]) -> None:
        """Note which attributes differ from what was found; within mappings, which entries."""
        for name, other in found.items():
            self._compare(f"{where}: {name}", getattr(stored, name), other)

    def _compare(self, where: str, one: Any, other: Any) -> None:
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for key in dict.fromkeys((*one, *other)):
                self._compare(f"{where} {key}", one.get(key), other.get(key))
        elif not _alike(one, other, self._near):
            self.differences.append(f"{where}: stored {one}, recomputed {other}")


def _alike(one: Any, other: Any, near: float) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(*pair, near) for pair in pairs)
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=near, abs_tol=near)
    return bool(one == other)


def verify_probes(check: Check, results: Results, folder: Path) -> None:
    """Compute scores again from the answers in a folder; ``check`` gets what differs."""
    kind, module = "probes", "evaluation.probing.probing"
    if not results.probed:
        kind, module = "answers of a language model", "probeta.exchange.lm_eval"
    tasks = [name for name, task in TASKS.items() if task.target != "neighbours"]
    check.begin(kind, "probe", module, tasks)
    check.compare("results", results, {"intervals": INTERVALS})
    keys = [(score.dataset, score.layer) for score in results.scores]
    names = sorted({name for name, _ in keys})
    check.list_all("scores", keys, product(names, results.encoder["layers"]))
    scores = dict(zip(keys, results.scores, strict=True))
    groups = []
    for key, answers in all_predictions(folder):
        groups.append(key)
        if key in scores and check.asks(key[0]):
            dataset = check.datasets[key[0]]
            _verify(check, ", ".join(key), scores[key], answers, dataset, results.probed)
    check.list_all(f"row groups of {PREDICTIONS}", groups, keys)


def _verify(
    check: Check, where: str, score: Score, answers: Predictions, dataset: Dataset, probed: bool
) -> None:
    facts = {"texts": "", "vectors": "", "fitted_on": ""}
    if probed:
        encoder = description_of(check.results.encoder)
        facts = {"texts": check.texts_of(dataset), "fitted_on": fitted_on(encoder, dataset)}
    check.compare(where, score, facts)
    check.recomputed += 1
    parts = {split: ProbeRows(dataset, split) for split in dataset.files}
    if other := _other_rows(parts[dataset.tested], answers):
        check.compare(where, score, {"digest": dataset.digest()})
        check.differences.append(f"{where}: {other}")
        return
    # Answers may be of any size.
    with one_thread(), np.errstate(all="ignore"):
        found = asdict(score_answers(dataset, score.layer, parts, answers.predicted)[0])
    # What needs the vectors, and what is compared above.
    of_model = ("chosen", "validation") if probed and dataset.trained else ()
    for name in (*of_model, "coverage", "texts", "vectors", "fitted_on"):
        del found[name]
    if probed and (ablation := ABLATIONS.get(dataset.task)):
        kept = {name: value for name, value in score.measures.items() if name != ablation.name}
        score = replace(score, measures=kept)
    check.compare(where, score, found)


def _other_rows(asked: ProbeRows, answers: Predictions) -> str:
    """Return the first of the rows that differ, or the numbers of rows; "" if none does."""
    if len(asked.ids) != len(answers.ids):
        return f"rows: stored {len(answers.ids):,}, in the data {len(asked.ids):,}"
    for what, stored, found in (
        ("id", answers.ids, asked.ids),
        ("document", answers.documents, asked.documents),
        ("right answer", answers.gold, asked.y),
    ):
        rows = np.flatnonzero(stored != found)
        if len(rows):
            row = rows[0]
            place = f"{what} of row {row} ({asked.ids[row]}; {len(rows):,} rows differ)"
            return f"{place}: stored {stored[row]}, in the data {found[row]}"
    return ""


_WAY = attrgetter("dataset", "layer", "postprocessing", "similarity")


def verify_rankings(check: Check, results: RankingResults, folder: Path) -> None:
    """Compute the scores again whose ranks are stored; see ``verify_probes``.

    These are of the main layer's vectors as they are; of the others, the facts on the data are
    compared.
    """
    check.begin("rankings", "rank", "evaluation.ranking", {*RANKED, "similarity"})
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
    check.begin("paradigms", "paradigms", "evaluation.paradigms", {"paradigms"})
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
    measured = [getattr(cluster, name) for cluster in score.clusters for name in PARADIGM_MEASURES]
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


# The share of a vector's length by which libraries that form batches may round.
FAR = 1e-5


def verify_vectors(check: Check, params: Path, count: int) -> None:
    """Compare the vectors of a store with the digests in scores, and with the encoder's.

    Args:
        check: gets what differs.
        params: params.yaml, with the encoder under the name of the results.
        count: how many texts of each dataset are encoded again.
    """
    if isinstance(check.results, Results) and not check.results.probed:
        check.notes.append("not encoded again: a language model has no vectors")
        return
    name, encoders = check.results.name, encoders_of(params)
    if name not in encoders:
        expected = f"the encoder {name}, to encode texts again"
        todo = "add it, or name another file with --params, or verify without --encode"
        raise InputError(params, expected, f"the encoders {', '.join(encoders)}", todo)
    encoder = encoders[name]()
    folder = EMBEDDINGS / stores_of(encoders_params(load_params(params), params))[name]
    known = describe(encoder)
    store = EmbeddingStore(folder, known)
    check.compare("results", check.results, {"encoder": encoder_facts(known, store.dimension)})
    digests: dict[str, dict[str, str]] = {}
    furthest = 0.0
    for score in check.scores():
        if not check.asks(score.dataset):
            continue
        words = word_rankings(check, score) if isinstance(score, ParadigmScore) else []
        datasets = [check.datasets[score.dataset], *words]
        for dataset in datasets:
            if dataset.name in digests:
                continue
            texts = sorted(unique_texts(dataset, known.form))
            store = EmbeddingStore(folder, known, prompt_of(known, dataset))
            _, vectors = store.digests(texts)
            digests[dataset.name] = vectors
            # Which texts, all vectors decide: nobody can choose them and make up the others.
            order = np.argsort(text_keys(texts, vectors[known.layer]), kind="stable")
            sample = [texts[row] for row in order[:count]]
            again = encode_checked(encoder, sample, store.prompt)
            for number, layer in enumerate(known.layers):
                far = _apart(again[:, number], store.lookup(sample, layer))
                furthest = max(far, furthest)
                if far > FAR:
                    away = f"encoded again, up to {far:.2g} of their length away"
                    check.differences.append(f"{dataset.name}, {layer}: vectors: {away}")
        stored = [digests[dataset.name].get(score.layer) for dataset in datasets]
        facts = {"vectors": stored if isinstance(score, ParadigmScore) else stored[0]}
        check.compare(f"{score.dataset}, {score.layer}", score, facts)
    release()
    away = f"at most {furthest:.1g} of their length away" if furthest else "the same to the bit"
    check.notes.append(
        f"{plural(count, 'texts')} of each of {plural(len(digests), 'datasets')} encoded again: "
        f"vectors {away}"
    )
    if store.made_by != made_by(encoder):
        check.notes.append(f"the vectors in {folder} were made by other code or libraries")


def _apart(again: Floats, kept: Floats) -> float:
    """Return how far vectors are from others at most, as a share of the length of these."""
    apart = np.linalg.norm(again.astype(np.float64) - kept, axis=1)
    lengths = np.linalg.norm(kept.astype(np.float64), axis=1)
    with np.errstate(divide="ignore"):
        return max((apart[apart > 0] / lengths[apart > 0]).tolist(), default=0.0)


def verify_results(
    path: Path, folder: Path, datasets: Mapping[str, Dataset], asked: Collection[str] | None = None
) -> Check:
    """Return the results of a folder or file, and what differs in them; see ``Check``."""
    if path.is_file():
        paradigms = read_paradigms(path)
        check = Check(paradigms, folder, datasets, asked)
        verify_paradigms(check, paradigms)
    elif (path / RANKS).is_file():
        rankings = read_rankings(path)
        check = Check(rankings, folder, datasets, asked)
        verify_rankings(check, rankings, path)
    else:
        results = read_results(path)
        check = Check(results, folder, datasets, asked)
        verify_probes(check, results, path)
    if not check.recomputed and not check.differences:
        expected = f"scores on {', '.join(asked or datasets)}"
        raise InputError(path, expected, "none", "name datasets that the results have")
    return check
