"""What `probe`, `rank` and `paradigms` share: a stage that scores the vectors of every encoder."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.folders import EMBEDDINGS
from corpora_recipes.running.memo import Key, open_cache
from corpora_recipes.running.walking import Entry, walk
from evaluation.data.instances import Dataset
from evaluation.encoders.encoder import Encoder
from evaluation.entries import embedded_encoders, vectors_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Score = Callable[[str, Encoder, Path, Path], Mapping[str, Any]]
"""Scores the encoder of a name by the store in a folder, writes the results to a path, and returns
facts for ``walk``."""


def score_encoders(
    stage: str,
    module: str,
    options: argparse.Namespace,
    *,
    folder: Path,
    suffix: str = "",
    datasets: Sequence[Dataset],
    parameters: Any,
    score: Score,
) -> None:
    """Score every encoder of params.yaml whose vectors there are.

    Args:
        stage: its name.
        module: full name of the module that scores.
        options: of the command line, see ``add_stage``.
        folder: for the results, each with the name of its encoder.
        suffix: at the end of these names.
        datasets: that the scores depend on.
        parameters: of params.yaml that they depend on; JSON.
        score: scores one encoder.
    """

    def key_of(store: str, make: Callable[[], Encoder]) -> Key:
        return {
            "inputs": [{dataset.name: dataset.digest() for dataset in datasets}, vectors_of(store)],
            "parameters": [parameters, asdict(cast("DataclassInstance", make()))],
            "code": code_digest(module),
            "versions": stage_versions(stage),
        }

    def make_scores(
        name: str, make: Callable[[], Encoder], store: str, out: Path
    ) -> Mapping[str, Any]:
        return score(name, make(), EMBEDDINGS / store, out)

    with open_cache(verify=options.check):
        entries = {}
        for name, (make, store) in embedded_encoders(options.params).items():
            out = folder / f"{name}{suffix}"
            entries[name] = Entry(
                [out], partial(key_of, store, make), partial(make_scores, name, make, store, out)
            )
        only, strict = options.only, options.strict
        walk(stage, entries, unit="encoders", folder=folder, only=only, strict=strict)
