"""The verbs of this package: `probeta build`, `compose` and `package`."""

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

from builders.plan.datasets import RankingDataset, rankings_of
from builders.plan.groups import BuildGroup, load_groups, skipped_datasets, without_datasets
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.cache import Cache, Key, digest_file, digest_files, open_cache
from corpora_recipes.running.code import code_digest, stage_versions
from corpora_recipes.running.console import log
from corpora_recipes.running.errors import InputError, OutputError, SmallSample
from corpora_recipes.running.outputs import (
    AUDIT,
    CORPORA,
    INSTANCES,
    PACKAGE,
    RANKINGS,
    RECORDS,
    records_of,
)
from corpora_recipes.running.stage import Entry, log_outcome, read_skipped, run_entries


def run_build(options: argparse.Namespace) -> None:
    """Build the datasets of corpora, and print their numbers of rows."""
    sources = load_params(options.params)["sources"]
    skipped = read_skipped("read")
    entries = {
        group.name: Entry(
            [INSTANCES / group.folder],
            partial(_build_key, group.origins[0].corpus, sources),
            partial(_build, group, sources, strict=options.strict),
        )
        for group in load_groups(options.params)
        if not group.of_ranking and group.name not in skipped
    }
    run_entries("build", entries, options, unit="corpora", folder=CORPORA)


def _digest_records(corpus: Corpus) -> str:
    """Return the digest of a corpus's records, which `probeta read` writes."""
    path = records_of(corpus.name)
    if not path.exists():
        todo = f"run `probeta read --only {corpus.name}` first, or all stages: `probeta repro`"
        raise OutputError(path, f"the records of {corpus.name}", "no such file", todo)
    return digest_file(path)


def _build_key(corpus: Corpus, sources: str) -> Key:
    return {
        "inputs": _digest_records(corpus),
        "parameters": [corpus.parameters, corpus.datasets, repr(corpus.facts), sources],
        "code": code_digest("builders.building"),
        "versions": stage_versions("build"),
    }


def _build(group: BuildGroup, sources: str, *, strict: bool) -> dict[str, Any]:
    from builders.building import build
    from builders.store import describe_rows

    corpus = group.origins[0].corpus
    faults: dict[str, InputError] | None = None if strict else {}
    out = INSTANCES / group.folder
    report = build(corpus, records_of(corpus.name), out, sources, faults)
    for dataset in group.datasets:
        if dataset.name in report:
            log(describe_rows(dataset.name, report[dataset.name]))
    n_rows = sum(sum(of["rows"].values()) for of in report.values())
    failed = faults or {}
    return {
        "rows": {name: of["rows"] for name, of in report.items()},
        "left_out": {name: str(fault) for name, fault in failed.items()},
        "too_small": [name for name, fault in failed.items() if isinstance(fault, SmallSample)],
        "work": {"datasets": [len(report)] * 2, "rows": [n_rows] * 2},
    }


def run_compose(options: argparse.Namespace) -> None:
    """Compose rankings, and print the numbers of their rows and pairs."""
    params = load_params(options.params)
    sources, corpora = params["sources"], load_corpora(options.params)
    rankings = rankings_of(params["rankings"], corpora, sources, options.params)
    skipped = read_skipped("read")
    entries = {
        ranking.name: Entry(
            [RANKINGS / ranking.name],
            partial(_compose_key, ranking, sources),
            partial(_compose, ranking, sources),
        )
        for ranking in rankings
        if not any(corpus.name in skipped for corpus in ranking.corpora)
    }
    run_entries("compose", entries, options, unit="rankings", folder=RANKINGS)


def _compose_key(ranking: RankingDataset, sources: str) -> Key:
    # The datasets of a corpus decide what is left out of it, which about() states.
    corpora = [replace(corpus, datasets={}) for corpus in ranking.corpora]
    return {
        "inputs": {corpus.name: _digest_records(corpus) for corpus in corpora},
        "parameters": repr([ranking.about(), sources, corpora]),
        "code": code_digest("builders.composing"),
        "versions": stage_versions("compose"),
    }


def _compose(ranking: RankingDataset, sources: str) -> dict[str, Any]:
    from builders.composing import compose
    from builders.store import describe_rows

    report = compose(ranking, RECORDS, RANKINGS / ranking.name, sources)[ranking.name]
    log(describe_rows(ranking.name, report))
    log("pairs: " + ", ".join(f"{outcome} {n:,}" for outcome, n in report["pairs"].items()))
    n_rows = sum(report["rows"].values())
    return {"rows": report["rows"], "work": {"rows": [n_rows] * 2}}


def run_package(options: argparse.Namespace) -> None:
    """Package all instances."""
    params, groups = load_params(options.params), load_groups(options.params)
    skipped = skipped_datasets(groups, "read", "build", "compose", "audit")
    built = without_datasets(groups, skipped)
    folders = [INSTANCES / group.folder for group in built if group.datasets]
    if not folders:
        todo = "run `probeta build` and `audit` first; read the messages of the stages before"
        found = "none that could be made without a fault"
        raise InputError(INSTANCES, "at least one dataset", found, todo)
    facts = {origin.corpus.recipe: origin.corpus.facts for g in groups for origin in g.origins}
    with open_cache(verify=options.check):
        key = {
            "inputs": digest_files([*folders, AUDIT / "audit.json"]),
            "parameters": [
                *(params[name] for name in ("name", "seed", "sources", "corpora", "rankings")),
                repr(facts),
                repr(skipped),
            ],
            "code": code_digest("builders.packaging.hub"),
            "versions": stage_versions("package"),
        }
        cache, new = Cache("package"), 0
        again = cache.has("all")
        if cache.get("all", key) is None:
            from builders.packaging.hub import package

            new = package(
                built,
                INSTANCES,
                AUDIT / "audit.json",
                PACKAGE,
                name=params["name"],
                left_out=skipped,
                earlier=PACKAGE,
            )
            cache.put("all", key, [PACKAGE])
        n_datasets = sum(len(group.datasets) for group in built)
        log_outcome("package", "datasets", n_datasets, [again] * new, {})
