"""`probeta compose`: records of one or more corpora to the instances of rankings."""

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

from builders.plan.rankings import RankingDataset, rankings_of
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.environment import stage_versions
from corpora_recipes.running.folders import RANKINGS, RECORDS, records_of
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import Key, digest_file, open_cache
from corpora_recipes.running.telling import tell
from corpora_recipes.running.walking import Entry, walk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compose`."""
    add_stage(parser, "rankings")


def run(options: argparse.Namespace) -> None:
    """Compose rankings, and print the numbers of their rows and pairs."""
    params = load_params(options.params)
    sources, corpora = params["sources"], load_corpora(options.params)
    rankings = rankings_of(params["rankings"], corpora, sources, options.params)
    without = read_left_out("read")
    entries = {
        ranking.name: Entry(
            [RANKINGS / ranking.name],
            partial(_key, ranking, sources),
            partial(_compose, ranking, sources),
        )
        for ranking in rankings
        if not any(corpus.name in without for corpus in ranking.corpora)
    }
    with open_cache(verify=options.check):
        how = {"only": options.only, "strict": options.strict}
        walk("compose", entries, unit="rankings", folder=RANKINGS, **how)


def _key(ranking: RankingDataset, sources: str) -> Key:
    # The datasets of a corpus decide what is left out of it, which about() states.
    corpora = [replace(corpus, datasets={}) for corpus in ranking.corpora]
    return {
        "inputs": {corpus.name: digest_file(records_of(corpus.name)) for corpus in corpora},
        "parameters": repr([ranking.about(), sources, corpora]),
        "code": code_digest("builders.composing.composing"),
        "versions": stage_versions("compose"),
    }


def _compose(ranking: RankingDataset, sources: str) -> dict[str, Any]:
    from builders.composing.composing import compose
    from builders.store.shards import describe_rows

    report = compose(ranking, RECORDS, RANKINGS / ranking.name, sources)[ranking.name]
    tell(describe_rows(ranking.name, report))
    tell("pairs: " + ", ".join(f"{outcome} {n:,}" for outcome, n in report["pairs"].items()))
    return {"rows": report["rows"]}
