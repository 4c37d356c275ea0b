"""The `list` command: the corpora of params.yaml, and all recipes."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

from corpora_recipes.fetching.sources import check_files
from corpora_recipes.missing import MissingCorpus
from corpora_recipes.params import corpus_of, load_params
from corpora_recipes.recipe import load_facts, recipe_names
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import RAW


def listing(path: Path) -> Iterator[str]:
    """Yield the lines of the listing; a fault in one entry does not hide the others.

    Args:
        path: of params.yaml.

    Raises:
        InputError: params.yaml is invalid. For a fault in one entry or in its corpus.yaml, or a
            file that is not there, the error comes after the last line.
    """
    faults = []
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
