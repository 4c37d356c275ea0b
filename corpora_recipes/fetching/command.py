"""`probeta fetch`: download or link the raw files of corpora."""

import argparse

from corpora_recipes.fetching.sources import fetch, local_files, origin_of
from corpora_recipes.missing import MissingCorpus
from corpora_recipes.params import load_corpora, load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.folders import RAW
from corpora_recipes.running.memo import Cache, open_cache
from corpora_recipes.running.walking import chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta fetch`."""
    add_stage(parser, "corpora")


def run(options: argparse.Namespace) -> None:
    """Fetch corpora, until one cannot be had."""
    sources = load_params(options.params)["sources"]
    corpora = {corpus.name: corpus for corpus in load_corpora(options.params)}
    with open_cache(verify=options.check):
        for name in chosen(corpora, options.only, "corpora"):
            print(f"{name}: {len(fetched(corpora[name], sources)):,} files")


def fetched(corpus: Corpus, sources: str) -> dict[str, str]:
    """Fetch the raw files of a corpus into data/raw, and return path to SHA-256 of each.

    It is not fetched again while the same is asked for, and what was fetched is there. Links are
    followed, so that a changed file of a mirror is noticed.

    Args:
        corpus: the corpus.
        sources: `sources` of params.yaml.
    """
    out, memo, origin = RAW / corpus.name, Cache("fetch"), origin_of(corpus, sources)
    try:
        local = origin != "upstream"
        # Links are absolute: in a copy of a folder they lead to the files of the other one.
        files = [
            (name, str(path.resolve()))
            for name, path in (local_files(corpus, origin, out)[1] if local else ())
        ]
    except MissingCorpus:
        # The user may have put them there.
        files = None
    key = {"parameters": corpus.asked, "sources": repr(corpus.facts.sources), "files": files}
    if not local and corpus.options.get("partial"):
        # Its code decides which parts are needed.
        key["code"] = code_digest(f"corpora_recipes.corpora.{corpus.recipe}.recipe")
    if memo.get(corpus.name, key) is None:
        # What is there is not whole until this one has ended.
        memo.delete(corpus.name)
        fetch(corpus, sources, out)
        memo.put(corpus.name, key, [out])
    return memo.files(corpus.name)
