"""`probeta embed`: encode the sentences of all datasets, each once."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from corpora_recipes.params import load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_executor, add_stage
from corpora_recipes.running.folders import EMBEDDINGS, PACKAGE
from corpora_recipes.running.memo import Cache, Key, open_cache
from corpora_recipes.running.telling import counted, tell
from corpora_recipes.running.walking import Entry, walk
from evaluation.data.instances import Dataset, find_datasets
from evaluation.data.texts import check_prompt_names
from evaluation.embedding.store import fingerprint, made_by
from evaluation.encoders.encoder import Encoder
from evaluation.entries import encoders_of, encoders_params, stores_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta embed`."""
    add_stage(parser, "encoders")
    add_executor(parser, "blocks of texts encoded")


def run(options: argparse.Namespace) -> None:
    """Encode new texts, and print their number."""
    stores = stores_of(encoders_params(load_params(options.params), options.params))
    datasets = find_datasets(PACKAGE)
    with open_cache(verify=options.check):
        entries = {
            name: Entry(
                [EMBEDDINGS / name],
                partial(_key, make, datasets),
                partial(_embed, name, make, datasets, options),
            )
            for name, make in encoders_of(options.params).items()
            if stores[name] == name
        }
        only = options.only and [stores.get(name, name) for name in options.only]
        strict = options.strict
        walk("embed", entries, unit="encoders", only=only, strict=strict, any_fault=True)


def _key(make: Any, datasets: Sequence[Dataset]) -> Key:
    encoder: Encoder = make()
    return {
        "inputs": {dataset.name: dataset.digest() for dataset in datasets},
        "parameters": [asdict(cast("DataclassInstance", encoder)), fingerprint(encoder)],
        "code": [made_by(encoder)["code"], code_digest("evaluation.embedding.embedding")],
        "versions": made_by(encoder)["versions"],
    }


def _embed(
    name: str, make: Any, datasets: Sequence[Dataset], options: argparse.Namespace
) -> dict[str, Any]:
    """Bring a store up to date, and print what was counted."""
    from evaluation.embedding.embedding import embed_datasets
    from evaluation.embedding.vocabulary import write_vocabulary
    from evaluation.encoders import release
    from evaluation.measures.threads import all_threads

    encoder: Encoder = make()
    check_prompt_names(encoder, (dataset.name for dataset in datasets))
    store, known = EMBEDDINGS / name, Cache("embed").files(name)
    try:
        with all_threads():
            described, new = embed_datasets(
                store, encoder, datasets, options.workers, options.executor, known
            )
        words = None
        if any(dataset.task == "paradigms" for dataset in datasets):
            words = write_vocabulary(store, encoder, known)
    finally:
        release()
    tell(f"{name}: {counted(new, 'texts')} encoded now, for {counted(len(datasets), 'datasets')}")
    if words is not None:
        tell(f"{name}: {counted(words, 'words')} in its vocabulary, for nearest neighbours")
    if counts := [dataset.coverage for dataset in described.values() if dataset.coverage]:
        tokens = sum(count["tokens"] for count in counts)
        unknown = sum(count["out_of_vocabulary"] for count in counts)
        tell(f"{name}: {unknown / max(1, tokens):.1%} of {tokens} tokens are not in its vocabulary")
    return {}
