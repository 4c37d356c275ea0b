"""The treebanks of a language, their licences and files, by the table treebanks.yaml."""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.facts import Source
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.yaml_text import load_yaml

_TABLE = Path(__file__).with_name("treebanks.yaml")
_FOLDER = re.compile(r"UD_\w+(?:-\w+)?")
_UNKNOWN = "that of the treebank, see LICENSE.txt of {}"


class Treebank(NamedTuple):
    """A treebank.

    Attributes:
        repository: its name, and that of its folder, such as "UD_Spanish-GSD".
        licence: of its texts, or where it is stated.
        sources: its raw files.
    """

    repository: str
    licence: str
    sources: tuple[Source, ...]


def chosen_treebanks(corpus: Corpus) -> list[Treebank]:
    """Return the treebanks of an entry: those of its option ``treebanks``, in their order.

    A treebank is named as in the table ("gsd"), or by its folder ("UD_Spanish-GSD"), which need
    not be in the table. If none is named, they are those of the language in the table, without
    the ones that are set apart there.

    Raises:
        InputError: one is not in the table and not the name of a folder, or is named twice.
    """
    known = _known(corpus.language)
    named = corpus.options["treebanks"]
    if not named:
        return [_treebank(entry) for entry in known.values() if "apart" not in entry]
    by_folder = {entry["repository"]: name for name, entry in known.items()}
    chosen = []
    for name in map(str, named):
        key = by_folder.get(name, name)
        if key in known:
            chosen.append(_treebank(known[key]))
        elif _FOLDER.fullmatch(name):
            chosen.append(_any_other(name))
        else:
            raise _error(corpus, f"{', '.join(known)}, or names of folders (UD_…)", repr(name))
    if len({treebank.repository for treebank in chosen}) < len(chosen):
        raise _error(corpus, "each treebank once", ", ".join(map(str, named)))
    return chosen


def _error(corpus: Corpus, expected: str, found: str) -> ParamsError:
    where = f"{corpus.where}.corpus.treebanks"
    todo = "correct the list, or leave it out for the usual treebanks of the language"
    return ParamsError(where, f"treebanks in {corpus.language}: {expected}", found, todo)


def _treebank(entry: dict[str, Any]) -> Treebank:
    repository, server = entry["repository"], _table()["server"]
    sources = tuple(
        Source(
            file=f"{repository}/{file}",
            urls=(f"{server}/{repository}/{entry['revision']}/{file}",),
            optional=True,
            **pin,
        )
        for file, pin in entry["files"].items()
    )
    return Treebank(repository, entry.get("licence", _UNKNOWN.format(repository)), sources)


def _any_other(folder: str) -> Treebank:
    """Return a treebank that is not in the table."""
    return Treebank(folder, _UNKNOWN.format(folder), (Source(file=f"{folder}/*.conllu"),))


def _known(language: str) -> dict[str, dict[str, Any]]:
    """Return the treebanks of a language in the table, by their short names."""
    entries = _table()["languages"].get(language.partition("-")[0], {})
    return {name: {"revision": _table()["release"]} | entry for name, entry in entries.items()}


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_yaml(_TABLE)
    return table
