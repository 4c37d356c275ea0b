"""Finds the dump of a language's Wikipedia in a folder."""

import re
from pathlib import Path

from corpora_recipes.corpora.wikipedia.plan import index_path
from corpora_recipes.running.errors import InputError

_DUMP_NAME = re.compile(
    r"(?P<wiki>\w+)-(?P<date>\d{8}|latest)-pages-articles(?:-multistream)?\.xml(?:\.bz2)?"
)


def wiki_of(language: str) -> str:
    """Return the name of a language's Wikipedia, such as eswiki."""
    return f"{language.split('-')[0].lower()}wiki"


def find_dump(raw: Path, language: str) -> Path:
    """Return the newest dump of the language's Wikipedia in folder ``raw``.

    Of two dumps of one date the one with an index is preferred, then the compressed one. A partly
    fetched dump (``<dump>.parts``) counts as present.

    Raises:
        InputError: no dump was found.
    """
    wiki = wiki_of(language)
    found = []
    names = []
    places = list(raw.glob("*-pages-articles*.xml*")) if raw.is_dir() else []
    places += [path.parent.with_suffix("") for path in raw.glob("*.xml.bz2.parts/manifest.json")]
    for path in sorted(set(places)):
        match = _DUMP_NAME.fullmatch(path.name)
        if not match:
            continue
        names.append(path.name)
        if match["wiki"] == wiki:
            compressed = path.suffix == ".bz2"
            found.append((match["date"], index_path(path).exists(), compressed, path))
    if not found:
        raise InputError(
            raw,
            expected=f"a dump {wiki}-<date>-pages-articles[-multistream].xml[.bz2]",
            found=", ".join(names) or ("no dump" if raw.is_dir() else "no such folder"),
            todo="run fetch, or put the dump (and its index) into this folder",
        )
    return max(found)[-1]
