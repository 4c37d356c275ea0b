"""The verbs of this package: `probeta fetch` and `probeta read`."""

import argparse
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from corpora_recipes.fetching.sources import fetch, list_local_files, origin_of
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus, MissingCorpus
from corpora_recipes.running.cache import Cache, Key, open_cache
from corpora_recipes.running.code import code_digest, stage_versions, write_environment
from corpora_recipes.running.console import announce, log
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import RAW, READING, RECORDS, records_of
from corpora_recipes.running.stage import Entry, run_entries, select_entries

# The units that are records; sentences, of treebanks alone.
_RECORDS = ("documents", "examples", "sentences")


def run_fetch(options: argparse.Namespace) -> None:
    """Fetch corpora, until one cannot be had."""
    sources = load_params(options.params)["sources"]
    corpora = {corpus.name: corpus for corpus in load_corpora(options.params)}
    with open_cache(verify=options.check):
        for name in select_entries(corpora, options.only, "corpora"):
            print(f"{name}: {len(fetched(corpora[name], sources)):,} files")


def fetched(corpus: Corpus, sources: str) -> dict[str, str]:
    """Fetch the raw files of a corpus into data/raw, and return path to SHA-256 of each.

    They are fetched again only if the parameters have changed, or files are missing or changed.
    Links are followed, so that a changed file of a mirror is noticed.

    Args:
        corpus: the corpus.
        sources: `sources` of params.yaml.
    """
    out, cache, origin = RAW / corpus.name, Cache("fetch"), origin_of(corpus, sources)
    try:
        local = origin != "upstream"
        # Links are absolute: in a copy of a folder they lead to the files of the other one.
        files = [
            (name, str(path.resolve()))
            for name, path in (list_local_files(corpus, origin, out)[1] if local else ())
        ]
    except MissingCorpus:
        # The user may have put them there.
        files = None
    key = {"parameters": corpus.parameters, "sources": repr(corpus.facts.sources), "files": files}
    if not local and corpus.options.get("partial"):
        # Its code decides which parts are needed.
        key["code"] = code_digest(f"corpora_recipes.corpora.{corpus.recipe}.recipe")
    if cache.get(corpus.name, key) is None:
        # What is there is not whole until this one has ended.
        cache.delete(corpus.name)
        fetch(corpus, sources, out)
        cache.put(corpus.name, key, [out])
    return cache.files(corpus.name)


def run_read(options: argparse.Namespace) -> None:
    """Read all corpora, and print the counts of records and drops."""
    params = load_params(options.params)
    entries = {}
    for corpus in load_corpora(options.params):
        outputs = [records_of(corpus.name), records_of(corpus.name).with_suffix(".json")]
        get_key = cache(partial(_read_key, corpus, params["sources"]))
        entries[corpus.name] = Entry(outputs, get_key, partial(_read, corpus, options, get_key))
    with open_cache(verify=options.check):
        facts_of = run_entries(
            "read", entries, options, unit="corpora", folder=RECORDS, any_fault=True
        )
        Cache(READING).prune(entries.keys() - facts_of)
    write_environment()
    notes = [f"{name}: {note}" for name, facts in facts_of.items() for note in facts["notes"]]
    if notes and options.strict:
        todo = "inspect the raw files, or read them without --strict"
        raise InputError(RECORDS, "no share of drops above its limit", "; ".join(notes), todo)
    for note in notes:
        print(f"note: {note}")


def _read_key(corpus: Corpus, sources: str) -> Key:
    """Fetch a corpus, and return the key of its records in the cache."""
    return {
        "inputs": fetched(corpus, sources),
        "parameters": corpus.parameters,
        "code": code_digest(
            "corpora_recipes.reading", f"corpora_recipes.corpora.{corpus.recipe}.recipe"
        ),
        "versions": stage_versions("read"),
    }


def _read(
    corpus: Corpus, options: argparse.Namespace, get_key: Callable[[], Key]
) -> Mapping[str, Any]:
    from corpora_recipes.reading import above_limits, read

    drops = read(
        corpus,
        RAW / corpus.name,
        records_of(corpus.name),
        workers=options.workers,
        executor=options.executor,
        strict=options.strict,
        key=get_key(),
    )
    n_texts = n_used_texts = 0
    for unit, counts in drops.as_dict().items():
        n_read, n_used = counts["seen"], counts["kept"]
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts["dropped"].items() if n)
        share = f", {1 - n_used / n_read:.1%} dropped: {reasons}" if reasons else ""
        # Of a few that are named, the reasons; of all, the share, and what was restored.
        show = announce if options.only or unit == "restored_texts" else log
        show(f"{corpus.name}: {n_read:,} {unit.replace('_', ' ')}{share}")
        # All of some units are dropped, such as boilerplate: texts are cleaned of them.
        if n_used:
            n_texts, n_used_texts = n_texts + n_read, n_used_texts + n_used
    # Documents have sentences; records are the largest unit.
    n = next(filter(None, map(drops.kept, _RECORDS)), 0)
    return {
        "counts": drops.as_dict(),
        "notes": above_limits(corpus, drops),
        "work": {"records": (n, n)},
        "dropped": (n_texts - n_used_texts, n_texts),
    }
