"""The `list` command: the corpora of params.yaml, and all recipes."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from corpora_recipes.facts import Cost
from corpora_recipes.fetching.downloads import sizes_in_words
from corpora_recipes.fetching.pins import read_fetched
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.missing import MissingCorpus
from corpora_recipes.params import corpus_of, load_params
from corpora_recipes.recipe import Corpus, load_facts, recipe_names
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import RAW


def listing(path: Path) -> Iterator[str]:
    """Yield the lines of the listing; a fault in one entry does not hide the others.

    Args:
        path: of params.yaml.
    """
    faults = []
    sizes: list[int | None] = []
    params = load_params(path)
    yield f"Corpora of {path}:"
    for name in params["corpora"]:
        try:
            corpus = corpus_of(params, path, name)
            datasets = ", ".join(corpus.datasets) or "no datasets"
            check_files(corpus, params["sources"], RAW / name)
        except MissingCorpus as missing:
            yield f"  {name} (recipe {corpus.recipe}): missing, must be asked for: {datasets}"
            yield f"    {missing.found}"
        except InputError as error:
            faults.append(error)
            yield f"  {name}: wrong, see below"
        else:
            yield f"  {name} (recipe {corpus.recipe}): {datasets}"
            if left := _to_download(corpus, params["sources"]):
                sizes += left
                cost = _estimate(corpus)
                about, minutes = ("about ", cost.minutes) if cost else ("", 0)
                time = f", {minutes} minutes or more" if minutes else ""
                yield f"    to download: {about}{sizes_in_words(left)}{time}"
    if sizes:
        yield f"To download in all: {sizes_in_words(sizes)}"
    yield "Recipes:"
    for name in recipe_names():
        try:
            facts = load_facts(name)
        except InputError as error:
            text = f"wrong: {error.where}: expected {error.expected}, found {error.found}"
        else:
            text = shorten(facts.description, 92 - len(name), placeholder=" …")
        yield f"  {name}: {text}"
    for fault in faults:
        raise fault


def _to_download(corpus: Corpus, sources: str) -> list[int | None]:
    """Return the bytes of each file that a fetch would download; None where nobody has said."""
    folder = RAW / corpus.name
    if origin_of(corpus, sources) != "upstream" or "path" in corpus.options:
        return []
    fetched = read_fetched(folder)
    if fetched is not None and fetched.complete and fetched.source == "upstream":
        return []
    if cost := _estimate(corpus):
        return [cost.download]
    files = [source for source in list_sources(corpus) if source.urls]
    sizes = [(file.packed or file).size for file in files if not (folder / file.file).exists()]
    # The files of some are known only to their servers.
    return sizes if files or corpus.facts.manual else [None]


def _estimate(corpus: Corpus) -> Cost | None:
    facts = corpus.facts
    usual = all(corpus.options[name] == value for name, value in facts.options.items())
    return facts.costs.get(corpus.language) if usual else None
