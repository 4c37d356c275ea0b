"""`probeta train`: train sentence encoders on the structure of a corpus's documents."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.hashing import sha256_of
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.extras import check_packages
from corpora_recipes.running.folders import PACKAGE, TRAINED, records_of
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import Cache, Key, digest_file, open_cache
from corpora_recipes.running.outputs import whole_file
from corpora_recipes.running.telling import tell
from corpora_recipes.running.walking import Entry, walk
from evaluation.training.params import OBJECTIVES, SETTINGS, Training, trained_params

if TYPE_CHECKING:
    from evaluation.training.material import HeldOut
    from evaluation.training.training import Trained


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta train`."""
    add_stage(parser, "trained encoders")


def run(options: argparse.Namespace) -> None:
    """Train the encoders, and print what they have learnt from."""
    params = load_params(options.params)
    facts = {corpus.name: repr(corpus.facts) for corpus in load_corpora(options.params)}
    without = read_left_out("read")
    with open_cache(verify=options.check):
        entries = {
            name: Entry(
                [TRAINED / name],
                partial(_key, training, facts[training.corpus]),
                partial(_train, name, training, params["corpora"]),
            )
            for name, training in trained_params(params, options.params).items()
            if training.corpus not in without
        }
        counts = walk(
            "train",
            entries,
            unit="encoders",
            folder=TRAINED,
            only=options.only,
            strict=options.strict,
        )
        with whole_file(TRAINED / "models.json") as temporary:
            temporary.write_text(json.dumps(counts, indent=2) + "\n", "utf-8")


def _key(training: Training, facts: str) -> Key:
    from evaluation.data.instances import parquet_files

    check_packages("train", "torch", "sentence_transformers")
    return {
        "inputs": [
            digest_file(records_of(training.corpus)),
            *map(digest_file, parquet_files(PACKAGE)),
        ],
        "parameters": [asdict(training), facts],
        "code": code_digest(__name__),
        "versions": stage_versions("train"),
    }


def _train(name: str, training: Training, corpora: Mapping[str, Any]) -> dict[str, Any]:
    from evaluation.training.material import HeldOut
    from evaluation.training.training import train

    records = records_of(training.corpus)
    held_out = HeldOut(PACKAGE)
    trained, kept = train(
        name,
        training,
        records,
        held_out,
        TRAINED / name,
        lambda trained: _model_card(name, corpora, records, held_out, trained),
        Cache("models"),
    )
    counts = trained.counts
    tell(
        f"{name}: {counts['sentences']} sentences in {counts['documents']} documents, "
        f"{counts['held_out']} left out as they are in tests{'; model kept' if kept else ''}"
    )
    if trained.curve:
        first, last = (
            ", ".join(f"{key} {value:.3f}" for key, value in point.items() if key != "step")
            for point in (trained.curve[0], trained.curve[-1])
        )
        tell(f"{name}: losses at first {first}; at last {last}")
    return counts


def _model_card(
    name: str, corpora: Mapping[str, Any], records: Path, held_out: "HeldOut", trained: "Trained"
) -> str:
    """Return the model card, README.md: what an encoder has learnt from, and how."""
    from corpora_recipes.escaping import render

    training = trained.setting["training"]
    objectives = training["objectives"]
    points = [
        [point["step"], *(f"{point[key]:.3f}" if key in point else "–" for key in objectives)]
        for point in trained.curve
    ]
    return render(
        Path(__file__).with_name("card.md.jinja"),
        {
            "name": name,
            "training": training,
            "sizes": None if training["model"] else SETTINGS[training["setting"]],
            "corpus": corpora[training["corpus"]]["corpus"],
            "records": sha256_of(records),
            "held_out": held_out,
            "digest": held_out.digest(),
            "trained": trained,
            "objectives": [(key, OBJECTIVES[key], f"{objectives[key]:g}") for key in objectives],
            "curve": points,
        },
    )
