"""The encoders of params.yaml, given or trained, and the arguments of the verbs that take one."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from evaluation.encoders.encoder import Encoder


TRAINED = "data/trained"
"""Where dvc.yaml lets `probeta train` write its models, each in a folder of its name."""


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names an encoder."""
    parser.add_argument(
        "encoder",
        metavar="ENCODER",
        help="an entry of `encoders` or `trained` in params.yaml",
    )


def add_instances(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder of the instances."""
    parser.add_argument(
        "--instances",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the instances, such as dist/hub",
    )


def add_embedded(parser: argparse.ArgumentParser) -> None:
    """Add what a verb reads after `embed`: encoder, instances, their vectors, and params.yaml."""
    add_encoder(parser)
    add_instances(parser)
    parser.add_argument(
        "--embeddings", type=Path, required=True, metavar="DIR", help="folder that embed wrote"
    )
    add_params(parser)


def encoders_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return the encoders of a run: those of `encoders`, and models that are `trained`.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Returns:
        Name to options.

    Raises:
        InputError: an entry is no mapping.
    """
    for name, entry in params["encoders"].items():
        where = f"{path}: encoders.{name}"
        if not isinstance(entry or {}, dict):
            raise InputError(
                where,
                expected="options, such as {dimension: 512}",
                found=repr(entry),
                todo=f"write them as in {name}: {{dimension: 512}}, or nothing for the defaults",
            )
    given = {name: entry or {} for name, entry in params["encoders"].items()}
    trained = {
        name: {"encoder": "sentence_transformers", "model": f"{TRAINED}/{name}"}
        for name in params.get("trained", {})
    }
    return given | trained


def encoder_of(path: Path, name: str) -> "Encoder":
    """Make the encoder of an entry of params.yaml.

    Args:
        path: of params.yaml.
        name: key of the entry.

    Raises:
        InputError: there is no such entry, or its options are wrong.
    """
    from corpora_recipes.params import load_params
    from evaluation.encoders import make_encoder

    encoders = encoders_params(load_params(path), path)
    if name not in encoders:
        raise InputError(
            path,
            expected=f"an encoder of {', '.join(map(str, encoders))}",
            found=repr(name),
            todo="add it under `encoders`, or name one that is there",
        )
    return make_encoder(name, encoders[name], f"{path}: encoders.{name}")
