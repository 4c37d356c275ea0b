"""`probeta build`: a corpus's records to the instances of its datasets."""

import argparse
from functools import partial
from typing import Any

from builders.plan.datasets import PassageDataset
from builders.plan.groups import BuildGroup, load_groups
from corpora_recipes.params import load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import CORPORA, INSTANCES, records_of
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import Key, digest_file, open_cache
from corpora_recipes.running.telling import tell
from corpora_recipes.running.walking import Entry, walk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta build`."""
    add_stage(parser, "corpora")


def run(options: argparse.Namespace) -> None:
    """Build the datasets of corpora, and print their numbers of rows and what limited them."""
    sources = load_params(options.params)["sources"]
    without = read_left_out("read")
    entries = {
        group.name: Entry(
            [INSTANCES / group.folder],
            partial(_key, group.origins[0].corpus, sources),
            partial(_build, group, sources, strict=options.strict),
        )
        for group in load_groups(options.params)
        if not group.of_ranking and group.name not in without
    }
    with open_cache(verify=options.check):
        how = {"only": options.only, "strict": options.strict}
        walk("build", entries, unit="corpora", folder=CORPORA, **how)


def _key(corpus: Corpus, sources: str) -> Key:
    return {
        "inputs": digest_file(records_of(corpus.name)),
        "parameters": [corpus.asked, corpus.datasets, repr(corpus.facts), sources],
        "code": code_digest("builders.building.building"),
        "versions": stage_versions("build"),
    }


def _build(group: BuildGroup, sources: str, *, strict: bool) -> dict[str, Any]:
    from builders.building.building import build, limit_of
    from builders.store.shards import describe_rows

    corpus = group.origins[0].corpus
    faults: dict[str, InputError] | None = None if strict else {}
    out = INSTANCES / group.folder
    report = build(corpus, records_of(corpus.name), out, sources, faults)
    for dataset in group.datasets:
        if dataset.name not in report:
            continue
        tell(describe_rows(dataset.name, report[dataset.name]))
        if isinstance(dataset, PassageDataset):
            tell(f"{dataset.name}: {limit_of(dataset, report[dataset.name])}")
    return {
        "rows": {name: of["rows"] for name, of in report.items()},
        "left_out": {name: str(fault) for name, fault in (faults or {}).items()},
    }
