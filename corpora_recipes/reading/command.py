"""`probeta read`: raw files to records."""

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

from corpora_recipes.fetching.command import fetched
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_executor, add_stage
from corpora_recipes.running.environment import stage_versions, write_environment
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import RAW, RECORDS, records_of
from corpora_recipes.running.memo import Key, open_cache
from corpora_recipes.running.telling import tell
from corpora_recipes.running.walking import Entry, walk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta read`."""
    add_stage(parser, "corpora")
    add_executor(parser, "blocks read")


def run(options: argparse.Namespace) -> None:
    """Read all corpora, and print the counts of records kept and dropped."""
    params = load_params(options.params)
    entries = {
        corpus.name: Entry(
            [records_of(corpus.name), records_of(corpus.name).with_suffix(".json")],
            partial(_key, corpus, params["sources"]),
            partial(_read, corpus, options),
        )
        for corpus in load_corpora(options.params)
    }
    with open_cache(verify=options.check):
        facts_of = walk(
            "read",
            entries,
            unit="corpora",
            folder=RECORDS,
            only=options.only,
            strict=options.strict,
            any_fault=True,
        )
        write_environment()
    notes = [f"{name}: {note}" for name, facts in facts_of.items() for note in facts["notes"]]
    if notes and options.strict:
        todo = "inspect the raw files, or read them without --strict"
        raise InputError(RECORDS, "no share of drops above its limit", "; ".join(notes), todo)
    for note in notes:
        print(f"note: {note}")


def _key(corpus: Corpus, sources: str) -> Key:
    """Fetch a corpus, and return all that decides its records."""
    return {
        "inputs": fetched(corpus, sources),
        "parameters": corpus.asked,
        "code": code_digest(
            "corpora_recipes.reading.reading", f"corpora_recipes.corpora.{corpus.recipe}.recipe"
        ),
        "versions": stage_versions("read"),
    }


def _read(corpus: Corpus, options: argparse.Namespace) -> Mapping[str, Any]:
    from corpora_recipes.reading.reading import above_limits, read

    drops = read(
        corpus,
        RAW / corpus.name,
        records_of(corpus.name),
        workers=options.workers,
        executor=options.executor,
        strict=options.strict,
    )
    for unit, counts in drops.as_dict().items():
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts["dropped"].items() if n)
        kept = f"{corpus.name}: {counts['kept']:,} of {counts['seen']:,} {unit} kept"
        tell(f"{kept}; dropped: {reasons}" if reasons else kept)
    return {"counts": drops.as_dict(), "notes": above_limits(corpus, drops)}
