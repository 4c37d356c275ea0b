"""A value of any type at any place of params.yaml is accepted or refused with a clear message."""

from collections.abc import Callable, Iterator
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from imports import REPOSITORY

from builders.plan.datasets import datasets_of
from builders.plan.groups import datasets_listing
from corpora_recipes.fetching.sources import check_files, list_sources
from corpora_recipes.params import corpus_of, load_params
from corpora_recipes.recipe import load_recipe
from corpora_recipes.running.errors import InputError
from evaluation.params import encoder_factories, evalrank_params, paralex_params, trained_params
from evaluation.probing.protocols import probing_params
from probeta.cli.listing import corpora_listing

TABLES = read_tables(__file__)
Place = tuple[str | int, ...]
LONGEST_MESSAGE = 11_000

WRONG = [*TABLES["wrong"], "x" * 5000]


@cache
def shipped() -> dict[str, Any]:
    params: dict[str, Any] = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    for section, entries in TABLES["more"].items():
        params[section] |= entries
    return params


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a tree of mappings and lists."""
    yield above
    if isinstance(value, dict | list):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inside, (*above, key))


def put(value: Any, place: Place, new: Any, key: Any = None) -> Any:
    """Return the tree with another value at a place, or with another key for it."""
    if not place:
        return new
    changed = value.copy()
    first, rest = place[0], place[1:]
    if not rest and key is not None and isinstance(changed, dict):
        changed[key] = changed.pop(first)
    else:
        changed[first] = put(changed[first], rest, new, key)
    return changed


def loaders(path: Path) -> Iterator[Callable[[], object]]:
    """Yield what loads the parts of a params.yaml for the verbs."""
    params = load_params(path)
    for section in (probing_params, evalrank_params, paralex_params, trained_params):
        yield partial(section, params, path)
    yield from encoder_factories(path).values()
    for name in shipped()["corpora"]:
        yield partial(load_entry, params, path, name)
    yield partial(datasets_listing, path)
    yield lambda: list(corpora_listing(path))


def load_entry(params: dict[str, Any], path: Path, name: str) -> None:
    """Load an entry of ``corpora`` as fetch, read and audit do."""
    corpus = corpus_of(params, path, name)
    list_sources(corpus)
    load_recipe(corpus.recipe).boilerplate(corpus)
    datasets_of(corpus, params["sources"])
    check_files(corpus, params["sources"], path.parent / "raw")


def refusals(params: Any, path: Path) -> list[InputError]:
    """Return the errors of those that refuse a params.yaml; another exception is a fault."""
    path.write_text(yaml.dump(params, Dumper=yaml.CSafeDumper, allow_unicode=True), "utf-8")
    errors = []
    try:
        for load in loaders(path):
            try:
                load()
            except InputError as error:
                errors.append(error)
            except OSError as error:
                if not error.filename:  # otherwise `commands.run` says it in four parts
                    raise
    except InputError as error:
        errors.append(error)
    return errors


PLACES = list(places(shipped()))


@settings(max_examples=20)
@given(place=st.sampled_from(PLACES), new=st.sampled_from(WRONG), as_key=st.booleans())
def test_a_value_or_key_of_any_type(
    place: Place, new: Any, as_key: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    key = new if as_key and isinstance(new, str | int | float | date) else None
    path = tmp_path_factory.mktemp("params") / "params.yaml"
    for error in refusals(put(shipped(), place, new, key), path):
        assert len(str(error)) <= LONGEST_MESSAGE


def test_a_wrong_place_is_refused(tmp_path: Path) -> None:
    """The loaders look at what is put there."""
    path = tmp_path / "params.yaml"
    right = len(refusals(shipped(), path))
    place = ("corpora", "wikipedia", "corpus", "documents")
    for params in (put(shipped(), place, -1), put(shipped(), place, None, "document")):
        assert len(refusals(params, path)) > right
