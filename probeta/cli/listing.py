"""`probeta list`: the corpora, datasets and encoders of params.yaml, checked."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from builders.audit_report import DETECTABLE_AT_MOST, detectable_of, read_audit
from builders.plan.groups import load_groups
from builders.plan.listing import datasets_listing
from corpora_recipes.languages import languages_listing
from corpora_recipes.listing import listing
from corpora_recipes.params import load_params
from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.extras import check_packages
from corpora_recipes.running.folders import AUDIT
from evaluation.data.texts import check_prompt_names
from evaluation.entries import encoders_of, encoders_params
from evaluation.paradigms.params import paralex_params
from evaluation.probing.costs import costs_listing
from evaluation.probing.params import probing_params
from evaluation.ranking.params import evalrank_params
from evaluation.training.params import trained_params


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta list`."""
    add_params(parser)
    parser.add_argument(
        "--languages", action="store_true", help="list languages and their corpora instead"
    )


def run(options: argparse.Namespace) -> None:
    """Print what params.yaml asks for, or the languages of all recipes."""
    if options.languages:
        print(*languages_listing(), sep="\n")
    else:
        show(options.params)


def check(path: Path) -> list[str]:
    """Check a file of parameters, but not that files and packages are there.

    Returns:
        The names of its corpora, rankings and encoders.
    """
    datasets_listing(path)
    return _check_sections(load_params(path), path)


def _check_sections(params: dict[str, Any], path: Path) -> list[str]:
    for section in (trained_params, probing_params, evalrank_params, paralex_params):
        section(params, path)
    return [*params["corpora"], *params["rankings"], *encoders_params(params, path)]


def show(path: Path) -> None:
    """Print what a file of parameters asks for."""
    for line in listing(path):
        print(line)
    print(f"Datasets of {path}:")
    print(datasets_listing(path, _detected()))
    print(f"Encoders of {path}:")
    params = load_params(path)
    datasets = [*params["rankings"]]
    for corpus in params["corpora"].values():
        datasets += corpus.get("datasets") or ()
    trained = trained_params(params, path)
    entries = encoders_params(params, path)
    for name, make in encoders_of(path).items():
        if name in trained:
            continue
        encoder = make()
        encoder.check()
        check_prompt_names(encoder, datasets)
        entry = entries[name]
        chosen = ", ".join(f"{key} {value}" for key, value in entry.items() if key != "encoder")
        print(f"  {name}: {encoder.name}" + (f" ({chosen})" if chosen else ""))
    for name, training in trained.items():
        chosen = ", ".join(f"{key} {weight:g}" for key, weight in training.objectives.items())
        print(f"  {name}: trained on {training.corpus} ({chosen})")
    if trained:
        check_packages("train", "torch", "sentence_transformers")
    _check_sections(params, path)
    probing = probing_params(params, path)
    settings = asdict(probing) | {"transfer": " ".join(probing.transfer) or "none"}
    print("Probing: " + ", ".join(f"{key} {value}" for key, value in settings.items()))
    built = [dataset for group in load_groups(path) for dataset in group.datasets]
    if costs := costs_listing(built, probing):
        print(costs)


def _detected() -> dict[str, str]:
    """Return dataset to the difference that its test detects, in words, by the audit if any."""
    try:
        audited = read_audit(AUDIT / "audit.json")["datasets"]
    except InputError:
        return {}
    found = {name: detectable_of(facts) for name, facts in audited.items()}
    return {
        name: f", detects {100 * value:.1f} points"
        + (" (too small for an average)" if value > DETECTABLE_AT_MOST else "")
        for name, value in found.items()
        if value is not None
    }
