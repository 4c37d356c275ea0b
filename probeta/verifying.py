"""Verify results: recompute stored scores, and compare vectors with those of the encoder."""

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
from evaluation.paradigms import apply_casing, measure_clusters, vocabulary_digest
from evaluation.params import encoder_factories, encoders_params, store_names
from evaluation.probing.controls import measure_information, without_controls
from evaluation.probing.probing import INTERVALS, score_predictions
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.probing.words import WORD_TASKS
from evaluation.ranking import RANKED, measure_ranks
from evaluation.results.scores import (
    CONTROL_MEASURES,
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
    iter_predictions,
    iter_ranks,
    predictions_digest,
    ranks_digest,
    read_paradigms,
    read_rankings,
    read_results,
)
from evaluation.results.stored import description_of, encoder_facts, library_versions

# Another version of numpy, or another processor, may add in another order.
TOLERANCE = 1e-9
# The share of a vector's length by which libraries that form batches may round.
MAX_RELATIVE_DISTANCE = 1e-5
# That by which float16 rounds.
MAX_HALF_ROUNDING = 2.0**-11

AnyScore = Score | RankScore | SimilarityScore | ParadigmScore
Key = tuple[str, ...]
"""What a score is of: its dataset, layer and so on."""


@dataclass(slots=True)
class Verification:
    """Verification of the results of an encoder.

    Attributes:
        results: to verify.
        folder: of the data.
        datasets: those in it, by name.
        requested: the names of those to verify; None for all that the results have.
        kind: of the results, in words.
        recomputed: the number of scores that were computed again.
        differences: in words.
        notes: what else is to be known, in words.
    """

    results: Results | RankingResults | ParadigmResults
    folder: Path
    datasets: Mapping[str, Dataset]
    requested: Collection[str] | None
    kind: str = ""
    recomputed: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _tolerance: float = TOLERANCE
    _texts: dict[str, str] = field(default_factory=dict)

    def begin(self, kind: str, stage: str, module: str, tasks: Collection[str]) -> None:
        """Compare versions, and the code of a stage's module and datasets, with those here."""
        self.kind = kind
        stored, here = self.results.versions, library_versions(stage)
        other_versions = [
            f"{k} {stored.get(k)} (here {v})" for k, v in here.items() if stored.get(k) != v
        ]
        precision = f"up to {TOLERANCE}: made with {', '.join(other_versions)}"
        if not other_versions:
            self._tolerance, precision = 0.0, "exactly: same platform and libraries"
        self.notes.append(f"numbers compared {precision}")
        if (code := code_digest(module)) != self.results.code:
            self.notes.append(f"made by other code, {self.results.code} (here {code})")
        scored = {score.dataset for score in self.scores()}
        if self.requested is None:
            missing = sorted(scored - self.datasets.keys())
            self.differences += [f"{name}: no such dataset in {self.folder}" for name in missing]
        scorable = {name for name, dataset in self.datasets.items() if dataset.task in tasks}
        if unscored := sorted(scorable & {*(self.requested or scorable)} - scored):
            named = f": {', '.join(unscored)}" if self.requested or len(unscored) == 1 else ""
            self.notes.append(f"{plural(len(unscored), 'datasets')} of the data not scored{named}")

    def includes(self, name: str) -> bool:
        """Return whether a dataset exists and is to be verified."""
        return name in self.datasets and (self.requested is None or name in self.requested)

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

    def compare_keys(self, label: str, stored: Sequence[Key], expected: Iterable[Key]) -> None:
        """Record missing, unexpected and duplicate keys, or a different order."""
        counts, unique = Counter(stored), dict.fromkeys(expected)
        faults = [f"none of {', '.join(key)}" for key in unique if key not in counts]
        faults += [f"{', '.join(key)}: not expected" for key in counts if key not in unique]
        faults += [f"{', '.join(key)}: {count} times" for key, count in counts.items() if count > 1]
        if not faults and [*stored] != [*unique]:
            faults = ["in another order"]
        self.differences += [f"{label}: {fault}" for fault in faults]

    def compare(self, where: str, stored: object, recomputed: Mapping[str, Any]) -> None:
        """Record the attributes that differ from recomputed ones; within mappings, the entries."""
        for name, value in recomputed.items():
            self._compare(f"{where}: {name}", getattr(stored, name), value)

    def _compare(self, where: str, stored: Any, recomputed: Any) -> None:
        if isinstance(stored, Mapping) and isinstance(recomputed, Mapping):
            for key in dict.fromkeys((*stored, *recomputed)):
                self._compare(f"{where} {key}", stored.get(key), recomputed.get(key))
        elif not _is_close(stored, recomputed, self._tolerance):
            self.differences.append(f"{where}: stored {stored}, recomputed {recomputed}")


def _is_close(stored: Any, recomputed: Any, tolerance: float) -> bool:
    if isinstance(stored, list | tuple) and isinstance(recomputed, list | tuple):
        pairs = zip(stored, recomputed, strict=False)
        return len(stored) == len(recomputed) and all(_is_close(*pair, tolerance) for pair in pairs)
    if isinstance(stored, float) and isinstance(recomputed, float | int):
        return math.isclose(stored, recomputed, rel_tol=tolerance, abs_tol=tolerance)
    return bool(stored == recomputed)


def verify_probes(verification: Verification, results: Results, folder: Path) -> None:
    """Recompute scores from the predictions in a folder; ``verification`` gets what differs."""
    kind, module = "probes", "evaluation.probing.probing"
    if not results.probed:
        kind, module = "answers of a language model", "probeta.exchange.lm_eval"
    tasks = [name for name, task in TASKS.items() if task.target != "neighbours"]
    verification.begin(kind, "probe", module, tasks)
    verification.compare("results", results, {"intervals": INTERVALS})
    keys = [(score.dataset, score.layer) for score in results.scores]
    names = sorted({name for name, _ in keys})
    verification.compare_keys("scores", keys, product(names, results.encoder["layers"]))
    scores = dict(zip(keys, results.scores, strict=True))
    groups = []
    for key, answers in iter_predictions(folder):
        groups.append(key)
        if key in scores and verification.includes(key[0]):
            dataset = verification.datasets[key[0]]
            _verify_probe(
                verification, ", ".join(key), scores[key], answers, dataset, results.probed
            )
    verification.compare_keys(f"row groups of {PREDICTIONS}", groups, keys)
    _verify_transfers(verification, results)


_OF_DATASET = ("task", "corpus", "language", "version", "digest", "rows")
_OF_TEST = ("folds", "test_documents", "metric", "majority", "chance")


def _verify_transfers(verification: Verification, results: Results) -> None:
    """Compare what transfers say of their datasets; their answers are not stored."""
    scores = {(score.dataset, score.layer): score for score in results.scores}
    keys = [(*each.sources, each.score.dataset, each.score.layer) for each in results.transfers]
    verification.compare_keys("transfers", keys, dict.fromkeys(keys))
    for key, transfer in zip(keys, results.transfers, strict=True):
        *names, layer = key
        scored = [scores.get((name, layer)) for name in names]
        if len({score and score.task for score in scored}) > 1 or not scored[-1]:
            fault = f"transfer {', '.join(key)}: not among datasets of one task that are scored"
            verification.differences.append(fault)
        else:
            facts = {name: getattr(scored[-1], name) for name in (*_OF_DATASET, *_OF_TEST)}
            verification.compare(f"transfer {', '.join(key)}", transfer.score, facts)


def _verify_probe(
    verification: Verification,
    where: str,
    score: Score,
    answers: Predictions,
    dataset: Dataset,
    probed: bool,
) -> None:
    facts = {"texts": "", "vectors": "", "fitted_on": ""}
    if probed:
        encoder = description_of(verification.results.encoder)
        facts = {"texts": verification.texts_of(dataset), "fitted_on": fitted_on(encoder, dataset)}
    verification.compare(where, score, facts)
    verification.recomputed += 1
    parts = {split: ProbeRows(dataset, split) for split in dataset.files}
    if row_difference := _describe_other_rows(parts[dataset.tested], answers):
        verification.compare(where, score, {"digest": dataset.digest()})
        verification.differences.append(f"{where}: {row_difference}")
        return
    # Answers may be of any size.
    with one_thread(), np.errstate(all="ignore"):
        recomputed = asdict(score_predictions(dataset, score.layer, parts, answers.predicted)[0])
        if answers.information is not None:
            value, interval = measure_information(answers.information, answers.documents)
            recomputed["measures"]["information"] = value
            recomputed["answers"] = predictions_digest(answers)
            controls = score.controls or without_controls("")
            intervals = {**controls.intervals, "information": interval}
            verification.compare(where, controls, {"intervals": intervals})
    # What needs the vectors, and what is compared above.
    needs_vectors = ("chosen", "validation") if probed and dataset.trained else ()
    for name in (*needs_vectors, "coverage", "texts", "vectors", "fitted_on", "controls"):
        del recomputed[name]
    if probed:
        more = {*CONTROL_MEASURES} - {"information"}
        if ablation := ABLATIONS.get(dataset.task):
            more.add(ablation.name)
        if dataset.task in WORD_TASKS:
            more |= score.measures.keys() - recomputed["measures"].keys()
        other_measures = {name: v for name, v in score.measures.items() if name not in more}
        score = replace(score, measures=other_measures)
    verification.compare(where, score, recomputed)


def _describe_other_rows(expected_rows: ProbeRows, answers: Predictions) -> str:
    """Return the first of the rows that differ, or the numbers of rows; "" if none does."""
    if len(expected_rows.ids) != len(answers.ids):
        return f"rows: stored {len(answers.ids):,}, in the data {len(expected_rows.ids):,}"
    for label, stored, expected in (
        ("id", answers.ids, expected_rows.ids),
        ("document", answers.documents, expected_rows.documents),
        ("right answer", answers.gold, expected_rows.y),
    ):
        rows = np.flatnonzero(stored != expected)
        if len(rows):
            row = rows[0]
            position = f"{label} of row {row} ({expected_rows.ids[row]}; {len(rows):,} rows differ)"
            return f"{position}: stored {stored[row]}, in the data {expected[row]}"
    return ""


_setting_of = attrgetter("dataset", "layer", "postprocessing", "similarity")


def verify_rankings(verification: Verification, results: RankingResults, folder: Path) -> None:
    """Recompute the scores whose ranks are stored; see ``verify_probes``.

    These are of the main layer's vectors as they are; of the others, the facts on the data are
    compared.
    """
    verification.begin("rankings", "rank", "evaluation.ranking", {*RANKED, "similarity"})
    _compare_settings(verification, results)
    ranks = [((pairs.dataset, pairs.similarity), pairs) for pairs in iter_ranks(folder)]
    plain = [(score.dataset, score.similarity) for score in results.plain]
    verification.compare_keys(f"row groups of {RANKS}", [key for key, _ in ranks], plain)
    ranks_of = dict(ranks)
    all_scores: list[RankScore | SimilarityScore] = [*results.scores, *results.similarities]
    for score in all_scores:
        if not verification.includes(score.dataset):
            continue
        dataset = verification.datasets[score.dataset]
        where = ", ".join(_setting_of(score))
        recomputed: dict[str, Any] = {
            "language": dataset.language,
            "digest": dataset.digest(),
            "texts": verification.texts_of(dataset),
        }
        if isinstance(score, RankScore):
            recomputed |= {"task": dataset.task, "version": dataset.version}
            if score not in results.plain:
                recomputed["answers"] = ""
            elif pairs := ranks_of.get((score.dataset, score.similarity)):
                recomputed |= _recompute_ranks(verification, where, pairs, dataset)
                verification.recomputed += 1
        verification.compare(where, score, recomputed)


def verify_paradigms(verification: Verification, results: ParadigmResults) -> None:
    """Recompute the means over clusters and their intervals; see ``verify_probes``."""
    verification.begin("paradigms", "paradigms", "evaluation.paradigms", {"paradigms"})
    keys = [*map(attrgetter("dataset", "vocabulary", "casing", "layer"), results.scores)]
    # Whether there is a vocabulary, the encoder and the language's word rankings decide.
    expected = {key[:2] for key in keys}
    expected |= {
        (score.dataset, "shared") for score in results.scores if word_rankings(verification, score)
    }
    main = results.encoder["layer"]
    combinations = product(sorted(expected), results.casings, results.encoder["layers"])
    expected_keys = [
        (*of, casing, layer)
        for of, casing, layer in combinations
        if layer == main or (of[1] == "shared" and casing == results.casings[0])
    ]
    verification.compare_keys("scores", keys, expected_keys)
    for key, score in zip(keys, results.scores, strict=True):
        if verification.includes(score.dataset):
            _verify_clusters(verification, ", ".join(key), score)


def word_rankings(verification: Verification, score: ParadigmScore) -> list[Dataset]:
    """Return the datasets whose words are the shared vocabulary of a score."""
    return [
        dataset
        for _, dataset in sorted(verification.datasets.items())
        if dataset.task == "word_ranking" and dataset.language == score.language
    ]


def _compare_settings(verification: Verification, results: RankingResults) -> None:
    """Compare the scores with one for each dataset, layer, post-processing and similarity."""
    main, layers = results.encoder["layer"], results.encoder["layers"]
    settings = [*product(results.evalrank["postprocessings"], results.evalrank["similarities"])]
    for label, scores, setting_layers in (
        ("scores", results.scores, layers),
        ("similarities", results.similarities, [main]),
    ):
        keys = [*map(_setting_of, scores)]
        expected = (
            (name, layer, *setting)
            for name, layer in product(sorted({key[0] for key in keys}), setting_layers)
            for setting in (settings if layer == main else [(PLAIN, settings[0][1])])
        )
        # Few texts are not whitened.
        verification.compare_keys(
            label, keys, [key for key in expected if key in keys or key[2] != "whitening"]
        )


def _recompute_ranks(
    verification: Verification, where: str, pair_ranks: PairRanks, dataset: Dataset
) -> dict[str, Any]:
    """Return what ranks give; nothing if they are not those of the dataset's pairs."""
    table = dataset.read("test", ["id", "positives", "document_id"])
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    expected_pairs = [
        (query, positive, group) for query, positives, group in rows for positive in positives
    ]
    columns = (
        ids.tolist() for ids in (pair_ranks.queries, pair_ranks.positives, pair_ranks.documents)
    )
    stored = [*zip(*columns, strict=True)]
    if stored != sorted(expected_pairs):
        aligned = [
            *zip(stored, sorted(expected_pairs), strict=False),
            (len(stored), len(expected_pairs)),
        ]
        stored_pair, expected_pair = next(pair for pair in aligned if pair[0] != pair[1])
        verification.differences.append(
            f"{where}: pairs of texts: stored {stored_pair}, in the data {expected_pair}"
        )
        return {}
    if not ((pair_ranks.ranks >= 1) & (pair_ranks.ranks <= len(table))).all():
        verification.differences.append(f"{where}: ranks: stored others than 1 … {len(table):,}")
        return {}
    # In the order in which they were added.
    positions = {pair: position for position, pair in enumerate(stored)}
    order = np.array([positions[pair] for pair in expected_pairs])
    with one_thread():
        return measure_ranks(pair_ranks.ranks[order], pair_ranks.documents[order]) | {
            "queries": len({query for query, *_ in expected_pairs}),
            "pairs": len(expected_pairs),
            "answers": ranks_digest(pair_ranks),
        }


def _verify_clusters(verification: Verification, where: str, score: ParadigmScore) -> None:
    dataset, rankings = verification.datasets[score.dataset], word_rankings(verification, score)
    verification.recomputed += 1
    (column,) = text_columns(dataset.task, "natural")
    table = dataset.read("test", ["cluster", column])
    terms = dict(zip(*(table[name].to_pylist() for name in ("cluster", column)), strict=True))
    names = [(cluster.cluster,) for cluster in score.clusters]
    verification.compare_keys(f"{where}: clusters", names, [(name,) for name in sorted(terms)])
    for cluster in score.clusters:
        distinct = {apply_casing(term, score.casing) for term in terms.get(cluster.cluster, ())}
        verification.compare(f"{where}, {cluster.cluster}", cluster, {"terms": len(distinct)})
    measured = [getattr(cluster, name) for cluster in score.clusters for name in PARADIGM_MEASURES]
    if not measured:
        return
    with one_thread():
        recomputed = measure_clusters(score.clusters) | {
            "language": dataset.language,
            "version": dataset.version,
            "digest": dataset.digest(),
        }
    if score.vocabulary == "own":
        recomputed["vocabulary_digest"] = ""
    elif rankings:
        recomputed["vocabulary_digest"] = vocabulary_digest(rankings)
    else:
        verification.notes.append("shared vocabularies not compared: no word rankings in the data")
    verification.compare(where, score, recomputed)


def verify_vectors(verification: Verification, params: Path, count: int) -> None:
    """Compare the vectors of a store with the digests in scores, and with the encoder's.

    Args:
        check: gets what differs.
        params: params.yaml, with the encoder under the name of the results.
        count: how many texts of each dataset are encoded again.
    """
    if isinstance(verification.results, Results) and not verification.results.probed:
        verification.notes.append("not encoded again: a language model has no vectors")
        return
    name, encoders = verification.results.name, encoder_factories(params)
    if name not in encoders:
        expected = f"the encoder {name}, to encode texts again"
        todo = "add it, or name another file with --params, or verify without --encode"
        raise InputError(params, expected, f"the encoders {', '.join(encoders)}", todo)
    encoder = encoders[name]()
    if not encoder.vectors.keep:
        verification.notes.append("not encoded again: the vectors are not kept")
        return
    folder = EMBEDDINGS / store_names(encoders_params(load_params(params), params))[name]
    description = describe(encoder)
    store = EmbeddingStore(folder, description)
    verification.compare(
        "results", verification.results, {"encoder": encoder_facts(description, store.dimension)}
    )
    digests: dict[str, dict[str, str]] = {}
    max_distance, half = 0.0, encoder.vectors.dtype == "float16"
    for score in verification.scores():
        if not verification.includes(score.dataset):
            continue
        ranked_words = (
            word_rankings(verification, score) if isinstance(score, ParadigmScore) else []
        )
        datasets = [verification.datasets[score.dataset], *ranked_words]
        for dataset in datasets:
            if dataset.name in digests:
                continue
            texts = sorted(unique_texts(dataset, description.form))
            store = EmbeddingStore(folder, description, prompt_of(description, dataset))
            _, vectors = store.digests(texts)
            digests[dataset.name] = vectors
            # Which texts, all vectors decide: nobody can choose them and make up the others.
            order = np.argsort(text_keys(texts, vectors[description.layer]), kind="stable")
            sampled = [texts[row] for row in order[:count]]
            encoded = encode_checked(encoder, sampled, store.prompt)
            for number, layer in enumerate(description.layers):
                distance = _max_relative_distance(encoded[:, number], store.lookup(sampled, layer))
                max_distance = max(distance, max_distance)
                if distance > MAX_RELATIVE_DISTANCE + half * MAX_HALF_ROUNDING:
                    how_far = f"encoded again, up to {distance:.2g} of their length away"
                    verification.differences.append(f"{dataset.name}, {layer}: vectors: {how_far}")
        stored = [digests[dataset.name].get(score.layer) for dataset in datasets]
        facts = {"vectors": stored if isinstance(score, ParadigmScore) else stored[0]}
        verification.compare(f"{score.dataset}, {score.layer}", score, facts)
    release()
    how_far = (
        f"at most {max_distance:.1g} of their length away"
        if max_distance
        else "the same to the bit"
    )
    verification.notes.append(
        f"{plural(count, 'texts')} of each of {plural(len(digests), 'datasets')} encoded again: "
        f"vectors {how_far}"
    )
    if store.made_by != made_by(encoder):
        verification.notes.append(f"the vectors in {folder} were made by other code or libraries")


def _max_relative_distance(encoded: Floats, stored: Floats) -> float:
    """Return the largest distance of two vectors, as a share of the length of the stored one."""
    distances = np.linalg.norm(encoded.astype(np.float64) - stored, axis=1)
    lengths = np.linalg.norm(stored.astype(np.float64), axis=1)
    with np.errstate(divide="ignore"):
        return max((distances[distances > 0] / lengths[distances > 0]).tolist(), default=0.0)


def read_any_results(path: Path) -> Results | RankingResults | ParadigmResults:
    """Read the results of a folder or file: those of probes, rankings or paradigms."""
    if path.is_file():
        return read_paradigms(path)
    return read_rankings(path) if (path / RANKS).is_file() else read_results(path)


def verify_results(
    results: Results | RankingResults | ParadigmResults,
    path: Path,
    folder: Path,
    datasets: Mapping[str, Dataset],
    requested: Collection[str] | None = None,
) -> Verification:
    """Verify results that ``read_any_results`` has read from a path."""
    verification = Verification(results, folder, datasets, requested)
    if isinstance(results, ParadigmResults):
        verify_paradigms(verification, results)
    elif isinstance(results, RankingResults):
        verify_rankings(verification, results, path)
    else:
        verify_probes(verification, results, path)
    if not verification.recomputed and not verification.differences:
        expected = f"scores on {', '.join(requested or datasets)}"
        raise InputError(path, expected, "none", "name datasets that the results have")
    return verification
