"""The treebanks of a language, their licences and files, by the table treebanks.yaml."""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.facts import Source
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.yaml_text import load_yaml

_TABLE = Path(__file__).with_name("treebanks.yaml")
_SERVER = "https://raw.githubusercontent.com/UniversalDependencies"
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
        return [_treebank(*item) for item in known.items() if "apart" not in item[1]]
    by_folder = {entry["repository"]: name for name, entry in known.items()}
    chosen = []
    for name in map(str, named):
        key = by_folder.get(name, name)
        if key in known:
            chosen.append(_treebank(key, known[key]))
        elif _FOLDER.fullmatch(name):
            chosen.append(_any_other(name))
        else:
            raise _error(corpus, f"{', '.join(known)}, or names of folders (UD_…)", repr(name))
    if len({treebank.repository for treebank in chosen}) < len(chosen):
        raise _error(corpus, "each treebank once", ", ".join(map(str, named)))
    return chosen


def _error(corpus: Corpus, expected: str, found: str) -> InputError:
    return InputError(
        f"{corpus.where}.corpus.treebanks",
        expected=f"treebanks in {corpus.language}: {expected}",
        found=found,
        todo="correct the list, or leave it out for the usual treebanks of the language",
    )


def _treebank(name: str, entry: dict[str, Any]) -> Treebank:
    repository = entry["repository"]
    address = f"{_SERVER}/{repository}/{entry['revision']}"
    sources = []
    for part, pin in entry["files"].items():
        file = f"{entry['prefix']}_{name}-ud-{part}.conllu"
        size, sha256 = pin.split() if pin else (None, None)
        url = f"{address}/{file}"
        sources.append(
            Source(
                file=f"{repository}/{file}",
                urls=(url,),
                optional=True,
                size=size and int(size),
                sha256=sha256,
            )
        )
    licence = entry.get("licence", _UNKNOWN.format(repository))
    return Treebank(repository, licence, tuple(sources))


def _any_other(folder: str) -> Treebank:
    """Return a treebank that is not in the table."""
    return Treebank(folder, _UNKNOWN.format(folder), (Source(file=f"{folder}/*.conllu"),))


def _known(language: str) -> dict[str, dict[str, Any]]:
    """Return the treebanks of a language in the table, by their short names."""
    table = _table()
    spoken = language.partition("-")[0]
    return {
        name: {"revision": table["release"], "prefix": spoken} | entry
        for name, entry in table["languages"].get(spoken, {}).items()
    }


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_yaml(_TABLE)
    return table
