"""The verbs of this package: `probeta train`, `embed`, `probe`, `rank` and `paradigms`."""

import argparse
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.running.cache import Cache, Key, digest_file, digest_files, open_cache
from corpora_recipes.running.code import code_digest, stage_versions
from corpora_recipes.running.console import log, plural
from corpora_recipes.running.errors import InputError, OutputError, check_packages
from corpora_recipes.running.outputs import (
    COMPLETED,
    EMBEDDINGS,
    ENCODED,
    PACKAGE,
    PROBED,
    RANKED,
    TRAINED,
    records_of,
    whole_file,
)
from corpora_recipes.running.stage import Entry, read_skipped, remove_others, run_entries
from evaluation.datasets import Dataset, find_datasets, find_probed, parquet_files
from evaluation.embedding.store import HEADER, changed_files, fingerprint, made_by, read_header
from evaluation.encoders.encoder import Encoder, settings_of
from evaluation.features import check_prompt_names
from evaluation.params import (
    Training,
    embedded_encoders,
    encoder_factories,
    encoders_params,
    evalrank_params,
    paralex_params,
    store_names,
    trained_params,
)
from evaluation.probing.protocols import probing_params

Score = Callable[[str, Encoder, list[Dataset], Path, Path], Mapping[str, Any]]
"""Scores the encoder of a name on datasets by the store in a folder, writes the results to a path,
and returns facts for ``run_entries``."""


def score_encoders(
    stage: str,
    module: str,
    options: argparse.Namespace,
    results: Path,
    datasets: Sequence[Dataset],
    parameters: Any,
    score: Score,
    suffix: str = "",
) -> None:
    """Score every encoder of params.yaml that has vectors.

    Args:
        stage: its name.
        module: full name of the module that scores.
        options: of the command line, those of a stage.
        results: their folder; they have the names of the encoders.
        datasets: on which the scores depend; an encoder is scored on those in its language.
        parameters: values of params.yaml on which they depend; JSON.
        score: scores one encoder.
        suffix: of the names of the results.
    """

    def key_of(store: str, make: Callable[[], Encoder]) -> Key:
        return {
            "inputs": [
                {dataset.name: dataset.digest() for dataset in datasets},
                digest_vectors(store),
            ],
            "parameters": [parameters, settings_of(make())],
            "code": code_digest(module),
            "versions": stage_versions(stage),
        }

    def make_scores(
        name: str, make: Callable[[], Encoder], store: str, out: Path
    ) -> Mapping[str, Any]:
        encoder, folder = make(), EMBEDDINGS / store
        if not encoder.vectors.keep:
            header, folder = read_header(folder), ENCODED / store
            if read_header(folder) != header:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                shutil.copy(EMBEDDINGS / store / HEADER, folder)
        return score(name, encoder, in_language(datasets, encoder), folder, out)

    entries = {}
    for name, (make, store) in embedded_encoders(options.params).items():
        out = results / f"{name}{suffix}"
        entries[name] = Entry(
            [out], partial(key_of, store, make), partial(make_scores, name, make, store, out)
        )
    run_entries(stage, entries, options, unit="encoders", folder=results)


def in_language(datasets: Sequence[Dataset], encoder: Encoder) -> list[Dataset]:
    """Return the datasets in the option `language` of an encoder; all without that option."""
    language = encoder.options.get("language")
    return [dataset for dataset in datasets if language in (None, dataset.language)]


def digest_vectors(name: str) -> dict[str, str]:
    """Return path to SHA-256 of an encoder's vectors; OutputError if `embed` left other ones."""
    files, recorded = digest_files([EMBEDDINGS / name]), Cache("embed").files(name)
    if recorded and files != recorded:
        wrong = min(path for path in {*files, *recorded} if files.get(path) != recorded.get(path))
        expected = f"the vectors of {name} as `probeta embed` has left them"
        found = "another file" if wrong in files else "no such file"
        todo = f"run `probeta embed --only {name}`, which encodes what is damaged again"
        raise OutputError(wrong, expected, found, todo)
    return files


def run_train(options: argparse.Namespace) -> None:
    """Train the encoders, and print the sizes of their training data."""
    params = load_params(options.params)
    facts = {corpus.name: repr(corpus.facts) for corpus in load_corpora(options.params)}
    skipped = read_skipped("read")
    entries = {
        name: Entry(
            [TRAINED / name],
            partial(_train_key, training, facts[training.corpus]),
            partial(_train, name, training, params["corpora"]),
        )
        for name, training in trained_params(params, options.params).items()
        if training.corpus not in skipped
    }
    counts = run_entries("train", entries, options, unit="encoders", folder=TRAINED)
    with whole_file(TRAINED / "models.json") as temporary:
        temporary.write_text(json.dumps(counts, indent=2) + "\n", "utf-8")


def _train_key(training: Training, facts: str) -> Key:
    check_packages("train", "torch", "sentence_transformers")
    return {
        "inputs": [
            digest_file(records_of(training.corpus)),
            *map(digest_file, parquet_files(PACKAGE)),
        ],
        "parameters": [asdict(training), facts],
        "code": code_digest("evaluation.training.training"),
        "versions": stage_versions("train"),
    }


def _train(name: str, training: Training, corpora: Mapping[str, Any]) -> dict[str, Any]:
    from evaluation.training.material import HeldOut
    from evaluation.training.training import model_card, train

    records = records_of(training.corpus)
    held_out = HeldOut(PACKAGE)
    trained, is_reused = train(
        name,
        training,
        records,
        held_out,
        TRAINED / name,
        lambda trained: model_card(name, corpora, records, held_out, trained),
        Cache("models"),
    )
    counts = trained.counts
    log(
        f"{name}: {counts['sentences']} sentences in {counts['documents']} documents, "
        f"{counts['held_out']} skipped as they are in tests{'; model reused' if is_reused else ''}"
    )
    if trained.curve:
        first, last = (
            ", ".join(f"{key} {value:.3f}" for key, value in point.items() if key != "step")
            for point in (trained.curve[0], trained.curve[-1])
        )
        log(f"{name}: losses at first {first}; at last {last}")
    return counts


def run_embed(options: argparse.Namespace) -> None:
    """Encode new texts, and print their number."""
    stores = store_names(encoders_params(load_params(options.params), options.params))
    datasets = find_datasets(PACKAGE)
    entries = {
        name: Entry(
            [EMBEDDINGS / name],
            partial(_embed_key, make, datasets),
            partial(_embed, name, make, datasets, options),
        )
        for name, make in encoder_factories(options.params).items()
        if stores[name] == name
    }
    options.only = options.only and [stores.get(name, name) for name in options.only]
    remove_others(ENCODED, {ENCODED / name for name in entries})
    with open_cache(verify=options.check):
        for name in options.only or entries:
            if changed := changed_files(read_header(EMBEDDINGS / name)):
                log(f"{name}: {changed[0]} has changed, its texts are encoded again")
                Cache("embed").delete(name)
        run_entries("embed", entries, options, unit="encoders", any_fault=True)


def _embed_key(make: Any, datasets: Sequence[Dataset]) -> Key:
    encoder: Encoder = make()
    return {
        "inputs": {dataset.name: dataset.digest() for dataset in datasets},
        "parameters": [settings_of(encoder), fingerprint(encoder)],
        "code": [made_by(encoder)["code"], code_digest("evaluation.embedding.embedding")],
        "versions": made_by(encoder)["versions"],
    }


def _embed(
    name: str, make: Any, datasets: Sequence[Dataset], options: argparse.Namespace
) -> dict[str, Any]:
    """Bring a store up to date, and print numbers of texts and words."""
    from evaluation.embedding.embedding import embed_datasets
    from evaluation.embedding.store import add_files, prepare_store, write_vocabulary
    from evaluation.encoders import release
    from evaluation.measures import all_threads

    encoder: Encoder = make()
    datasets = in_language(datasets, encoder)
    check_prompt_names(encoder, (dataset.name for dataset in datasets))
    store = EMBEDDINGS / name
    _remove_changed(store, Cache("embed").files(name))
    if not encoder.vectors.keep:
        shutil.rmtree(store, ignore_errors=True)
        prepare_store(store, encoder)
        add_files(store, encoder)
        release()
        log(f"{name}: its vectors are not kept: the stages that score encode its texts")
        return {}
    shutil.rmtree(ENCODED / name, ignore_errors=True)
    try:
        with all_threads():
            encoded, n_new, n_texts = embed_datasets(
                store, encoder, datasets, options.workers, options.executor
            )
        n_words = None
        if any(dataset.task in ("paradigms", "analogies") for dataset in datasets):
            n_words = write_vocabulary(store, encoder)
    finally:
        release()
    log(f"{name}: {plural(n_new, 'texts')} encoded now, for {plural(len(datasets), 'datasets')}")
    if n_words is not None:
        log(f"{name}: {plural(n_words, 'words')} in its vocabulary, for nearest neighbours")
    if counts := [dataset.coverage for dataset in encoded.values() if dataset.coverage]:
        tokens = sum(count["tokens"] for count in counts)
        unknown = sum(count["out_of_vocabulary"] for count in counts)
        log(f"{name}: {unknown / max(1, tokens):.1%} of {tokens} tokens are not in its vocabulary")
    return {"work": {"vectors": (n_new, n_texts)}}


def _remove_changed(store: Path, recorded: Mapping[str, str]) -> None:
    """Remove the files that are not as the last run recorded them: they are made again."""
    # Chunks without a record may be of a killed run; the store checks them, and its header. It does
    # not check a vocabulary.
    for path, digest in digest_files([store]).items():
        file = Path(path)
        is_checked = file.parent == store and path not in recorded
        if recorded.get(path) != digest and not is_checked and file.name != HEADER:
            file.unlink()


def run_probe(options: argparse.Namespace) -> None:
    """Probe every dataset with every encoder, and print the scores."""
    params = load_params(options.params)
    probing, seed = probing_params(params, options.params), params["seed"]

    def score(
        name: str, encoder: Encoder, datasets: list[Dataset], store: Path, out: Path
    ) -> Mapping[str, Any]:
        from evaluation.probing.probing import probe_datasets
        from evaluation.probing.transfer import add_transfers
        from evaluation.results.scores import write_results

        faults: dict[str, InputError] | None = None if options.strict else {}
        results, predictions, n_new = probe_datasets(
            name,
            encoder,
            datasets,
            store,
            seed=seed,
            probing=probing,
            workers=options.workers,
            executor=options.executor,
            cache=Cache(f"probed/{name}"),
            faults=faults,
        )
        if probing.transfer and probing.protocol == "standard":
            of_run = options.workers, options.executor
            results = add_transfers(results, encoder, datasets, store, probing, *of_run)
        write_results(results, predictions, out)
        for result in results.main:
            majority = result.majority
            note = "Pearson" if majority is None else f"majority {100 * majority:.1f}"
            log(f"{name}, {result.dataset}: {100 * result.value:.1f} ({note})")
        failed = {dataset: str(fault) for dataset, fault in (faults or {}).items()}
        n_probed = len({result.dataset for result in results.scores})
        return {"left_out": failed, "work": {"scores": (n_new, n_probed)}}

    datasets, module = find_probed(PACKAGE), "evaluation.probing.transfer"
    score_encoders("probe", module, options, PROBED, datasets, [seed, asdict(probing)], score)


def run_rank(options: argparse.Namespace) -> None:
    """Rank the pairs of all rankings with every encoder, and print the scores."""
    params = load_params(options.params)
    evalrank, seed = evalrank_params(params, options.params), params["seed"]

    def rank(
        name: str, encoder: Encoder, datasets: list[Dataset], store: Path, out: Path
    ) -> Mapping[str, Any]:
        from evaluation.ranking import rank_datasets
        from evaluation.results.scores import write_rankings

        of_run = {"seed": seed, "workers": options.workers, "cache": Cache(f"ranked/{name}")}
        results, ranks, n_new = rank_datasets(name, encoder, datasets, store, **evalrank, **of_run)
        write_rankings(results, ranks, out)
        for score in results.plain:
            log(f"{name}, {score.dataset}: MRR {100 * score.mrr:.1f} ({score.similarity})")
        names = {score.dataset for score in results.scores}
        names |= {score.dataset for score in results.similarities}
        return {"work": {"scores": (n_new, len(names))}}

    datasets, module = find_datasets(PACKAGE), "evaluation.ranking"
    score_encoders("rank", module, options, RANKED, datasets, [seed, evalrank], rank)


def run_paradigms(options: argparse.Namespace) -> None:
    """Evaluate all paradigms with every encoder, and print the scores."""
    params = load_params(options.params)
    paralex, seed = paralex_params(params, options.params), params["seed"]

    def complete(
        name: str, encoder: Encoder, datasets: list[Dataset], store: Path, out: Path
    ) -> Mapping[str, Any]:
        from evaluation.paradigms import evaluate_paradigms
        from evaluation.results.stored import write_stored

        of_run = {"seed": seed, "cache": Cache(f"completed/{name}")}
        results, n_new = evaluate_paradigms(name, encoder, datasets, store, **paralex, **of_run)
        write_stored(results, out)
        for score in results.main:
            log(
                f"{name}, {score.dataset} ({score.vocabulary} vocabulary, "
                f"{score.casing.replace('_', ' ')}): suggestion {100 * score.suggestion:.1f}, "
                f"coherence {100 * score.coherence:.1f}"
            )
        for dataset, reason in results.left_out.items():
            log(f"{name}, {dataset}: not scored: {reason}")
        n_scored = len({score.dataset for score in results.scores})
        return {"work": {"scores": (n_new, n_scored)}}

    datasets, of_params = find_datasets(PACKAGE), [seed, paralex]
    module, suffix = "evaluation.paradigms", ".json"
    score_encoders("paradigms", module, options, COMPLETED, datasets, of_params, complete, suffix)
