"""All that a reader of the report sees, a file per language, key by key the same.

Python and the template take a text by ``phrase``, the page's script its own by their names. The
language is a context variable: texts are needed in headings and cells that no object is passed to,
and it does not leak into another call or thread.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from corpora_recipes.yaml_files import load_yaml

FILES = {"en": "en.yaml", "es": "es.yaml"}
"""Language to its file."""
_LANGUAGE = ContextVar("language", default="en")


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Give all texts in a language of ``FILES``; without this they are in English."""
    before = _LANGUAGE.set(language)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def language() -> str:
    """Return the language of the texts."""
    return _LANGUAGE.get()


def all_texts() -> dict[str, dict[str, Any]]:
    """Return all texts; "phrases", "notes" …, those of a table by its name."""
    return _read(language())


def phrase(key: str, /, **words: object) -> str:
    """Return a phrase, with words in its braces."""
    text: str = all_texts()["phrases"][key]
    return text.format(**words)


def translated(name: str) -> str:
    """Return a name of the data, such as a verdict, in the language; one of the user's as it is."""
    return str(all_texts()["names"].get(name, name))


@cache
def _read(language: str) -> dict[str, dict[str, Any]]:
    texts: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name(FILES[language]))
    return texts
