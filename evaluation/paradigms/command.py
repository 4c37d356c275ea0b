"""`probeta paradigms`: complete paradigms of words (ParaLex)."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.params import load_params
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.folders import COMPLETED, PACKAGE
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.telling import tell
from evaluation.data.instances import find_datasets
from evaluation.encoders.encoder import Encoder
from evaluation.paradigms.params import paralex_params
from evaluation.per_encoder import score_encoders


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta paradigms`."""
    add_stage(parser, "encoders")


def run(options: argparse.Namespace) -> None:
    """Evaluate all paradigms with every encoder, and print the scores."""
    params = load_params(options.params)
    paralex, seed = paralex_params(params, options.params), params["seed"]
    datasets = find_datasets(PACKAGE)

    def complete(name: str, encoder: Encoder, store: Path, out: Path) -> Mapping[str, Any]:
        from evaluation.paradigms.evaluating import evaluate_paradigms
        from evaluation.results.stored import write_stored

        results, _ = evaluate_paradigms(
            name, encoder, datasets, store, seed=seed, **paralex, memo=Cache(f"completed/{name}")
        )
        write_stored(results, out)
        for score in results.main:
            tell(
                f"{name}, {score.dataset} ({score.vocabulary} vocabulary, "
                f"{score.casing.replace('_', ' ')}): suggestion {100 * score.suggestion:.1f}, "
                f"coherence {100 * score.coherence:.1f}"
            )
        for dataset, reason in results.left_out.items():
            tell(f"{name}, {dataset}: not scored: {reason}")
        return {}

    score_encoders(
        "paradigms",
        "evaluation.paradigms.evaluating",
        options,
        folder=COMPLETED,
        suffix=".json",
        datasets=datasets,
        parameters=[seed, paralex],
        score=complete,
    )
