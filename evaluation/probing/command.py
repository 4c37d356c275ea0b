"""`probeta probe`: fit and score a probe for every dataset."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpora_recipes.params import load_params
from corpora_recipes.running.commands import add_executor, add_stage
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import PACKAGE, PROBED
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.telling import tell
from evaluation.data.instances import find_probed
from evaluation.encoders.encoder import Encoder
from evaluation.per_encoder import score_encoders
from evaluation.probing.params import probing_params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta probe`."""
    add_stage(parser, "encoders")
    add_executor(parser, "probes computed")


def run(options: argparse.Namespace) -> None:
    """Probe every dataset with every encoder, and print the scores."""
    params = load_params(options.params)
    probing, seed = probing_params(params, options.params), params["seed"]
    datasets = find_probed(PACKAGE)

    def score(name: str, encoder: Encoder, store: Path, out: Path) -> Mapping[str, Any]:
        from evaluation.probing.probing import probe_datasets
        from evaluation.probing.transfer import add_transfers
        from evaluation.results.probes import write_results

        faults: dict[str, InputError] | None = None if options.strict else {}
        results, predictions, _ = probe_datasets(
            name,
            encoder,
            datasets,
            store,
            seed=seed,
            probing=probing,
            workers=options.workers,
            executor=options.executor,
            memo=Cache(f"probed/{name}"),
            faults=faults,
        )
        if probing.transfer and probing.protocol == "standard":
            results = add_transfers(results, encoder, datasets, store, probing)
        write_results(results, predictions, out)
        for result in results.main:
            majority = result.majority
            beside = "Pearson" if majority is None else f"majority {100 * majority:.1f}"
            tell(f"{name}, {result.dataset}: {100 * result.value:.1f} ({beside})")
        return {"left_out": {dataset: str(fault) for dataset, fault in (faults or {}).items()}}

    score_encoders(
        "probe",
        "evaluation.probing.transfer",
        options,
        folder=PROBED,
        datasets=datasets,
        parameters=[seed, asdict(probing)],
        score=score,
    )
