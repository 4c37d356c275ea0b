"""`probeta rank`: rank paraphrases among all texts (EvalRank)."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.params import load_params
from corpora_recipes.running.commands import add_stage, add_workers
from corpora_recipes.running.folders import PACKAGE, RANKED
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.telling import tell
from evaluation.data.instances import find_datasets
from evaluation.encoders.encoder import Encoder
from evaluation.per_encoder import score_encoders
from evaluation.ranking.params import evalrank_params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta rank`."""
    add_stage(parser, "encoders")
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    """Rank the pairs of all rankings with every encoder, and print the scores."""
    params = load_params(options.params)
    evalrank, seed = evalrank_params(params, options.params), params["seed"]
    datasets = find_datasets(PACKAGE)

    def rank(name: str, encoder: Encoder, store: Path, out: Path) -> Mapping[str, Any]:
        from evaluation.ranking.evaluating import rank_datasets
        from evaluation.results.rankings import write_rankings

        results, ranks, _ = rank_datasets(
            name,
            encoder,
            datasets,
            store,
            seed=seed,
            **evalrank,
            workers=options.workers,
            memo=Cache(f"ranked/{name}"),
        )
        write_rankings(results, ranks, out)
        for score in results.plain:
            tell(f"{name}, {score.dataset}: MRR {100 * score.mrr:.1f} ({score.similarity})")
        return {}

    score_encoders(
        "rank",
        "evaluation.ranking.evaluating",
        options,
        folder=RANKED,
        datasets=datasets,
        parameters=[seed, evalrank],
        score=rank,
    )
