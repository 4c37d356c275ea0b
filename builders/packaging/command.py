"""`probeta package`: put all instances in one folder for the Hugging Face Hub."""

import argparse

from builders.plan.groups import left_out_datasets, load_groups, without
from corpora_recipes.params import load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import AUDIT, INSTANCES, PACKAGE
from corpora_recipes.running.memo import Cache, digest_files, open_cache
from corpora_recipes.running.walking import tell_outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta package`."""
    add_stage(parser)


def run(options: argparse.Namespace) -> None:
    """Package all instances."""
    params, groups = load_params(options.params), load_groups(options.params)
    left_out = left_out_datasets(groups, "read", "build", "compose", "audit")
    made = without(groups, left_out)
    folders = [INSTANCES / group.folder for group in made if group.datasets]
    if not folders:
        todo = "read the messages of the stages before, or add a corpus to params.yaml"
        found = "none that could be made without a fault"
        raise InputError(INSTANCES, "at least one dataset", found, todo)
    facts = {origin.corpus.recipe: origin.corpus.facts for g in groups for origin in g.origins}
    with open_cache(verify=options.check):
        key = {
            "inputs": digest_files([*folders, AUDIT / "audit.json"]),
            "parameters": [
                *(params[name] for name in ("seed", "sources", "corpora", "rankings")),
                repr(facts),
                repr(left_out),
            ],
            "code": code_digest("builders.packaging.hub"),
            "versions": stage_versions("package"),
        }
        memo, new = Cache("package"), 0
        if memo.get("all", key) is None:
            from builders.packaging.hub import package

            audit = AUDIT / "audit.json"
            new = package(made, INSTANCES, audit, PACKAGE, left_out=left_out, earlier=PACKAGE)
            memo.put("all", key, [PACKAGE])
        tell_outcome("package", "datasets", sum(len(group.datasets) for group in made), new, {})
