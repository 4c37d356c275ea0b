"""`probeta fetch`: download or link the raw files of corpora."""

import argparse

from corpora_recipes.entries import load_corpora
from corpora_recipes.fetching.sources import fetch, origin_of
from corpora_recipes.params import load_params
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.commands import add_stage
from corpora_recipes.running.folders import RAW
from corpora_recipes.running.memo import Memo, digests_of, remembering
from corpora_recipes.running.walking import chosen

HELP = """\
examples:
  probeta fetch
  probeta fetch --only wikipedia

Raw files go to data/raw/CORPUS. `sources` in params.yaml is their origin: the sample in the
project, the servers that publish the corpus, or a folder. `probeta read` fetches too. An
interrupted download is resumed; complete files are not fetched again.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta fetch`."""
    add_stage(parser, "corpora")


def run(options: argparse.Namespace) -> None:
    """Fetch corpora, until one cannot be had."""
    sources = load_params(options.params)["sources"]
    corpora = {corpus.name: corpus for corpus in load_corpora(options.params)}
    with remembering(check=options.check):
        for name in chosen(corpora, options.only, "corpora"):
            print(f"{name}: {len(fetched(corpora[name], sources)):,} files")


def fetched(corpus: Corpus, sources: str) -> dict[str, str]:
    """Fetch the raw files of a corpus into data/raw, and return path to SHA-256 of each.

    Servers are not asked again while what they gave is there, for what is asked of them now.

    Args:
        corpus: the corpus.
        sources: `sources` of params.yaml.

    Raises:
        InputError: see ``fetch``.
    """
    out, memo = RAW / corpus.name, Memo("fetch")
    if origin_of(corpus, sources) != "upstream":
        memo.forget(corpus.name)
        fetch(corpus, sources, out)
        return digests_of([out])
    key = {"parameters": corpus.asked, "sources": repr(corpus.facts.sources)}
    if memo.kept(corpus.name, key) is None:
        fetch(corpus, sources, out)
        memo.keep(corpus.name, key, [out])
    return memo.files(corpus.name)
