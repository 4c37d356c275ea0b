"""All that a reader of the report sees, a file per language, key by key the same.

Python and the template take a text by ``phrase``, the page's script its own by their names. The
language is that of the running call, so that nobody has to pass it on through every table and cell,
and no call sees that of another.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml
from evaluation.measures.intervals import COVERAGE

FILES = {"en": "en.yaml"}
"""Language to its file."""
# The coverage of all intervals.
COVERED = f"{100 * COVERAGE:.0f} %"
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


def texts() -> dict[str, dict[str, Any]]:
    """Return all texts; "phrases", "notes" …, those of a table by its name."""
    return _read(language())


def phrase(key: str, /, **words: object) -> str:
    """Return a phrase, with words in its braces."""
    text: str = texts()["phrases"][key]
    return text.format(**words)


def title_of(key: str, /, **words: object) -> str:
    """Return the title of a table."""
    text: str = texts()[key].get("title", "")
    return text.format(**words)


def paragraphs(key: str, part: str = "about", /, **words: object) -> tuple[str, ...]:
    """Return what explains a table, "about" it or as its "caption"."""
    written = (text.format(covered=COVERED, **words) for text in texts()[key].get(part, ()))
    return tuple(filter(None, written))


@cache
def _read(language: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name(FILES[language]))
    return found
