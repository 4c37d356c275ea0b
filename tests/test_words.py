"""Phrases that a reader has to translate into the terms of the field, wherever text is read."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_tables import read_tables
from documentation import PAGES
from imports import PACKAGES, REPOSITORY

TABLES = read_tables(__file__)

# Phrase to what is written instead.
PHRASES = TABLES["phrases"]
# Names that have stood for a score, a path, a table, a flag …; `found`, `where` and `todo` stay the
# parts of an error.
VAGUE_NAMES = {"own", "memo", "given", "known", "told", "way", "gone", "lacking", "retain"}
SUFFIXES = (".py", ".yaml", ".jinja", ".html", ".js", ".md")
SHELVES = ("documentation", "params.yaml", *PACKAGES)


def files(shelf: str) -> list[Path]:
    """Return the files of a package, the pages of the documentation, or one file."""
    if shelf == "documentation":
        return [REPOSITORY / name for name in [*PAGES, "CHANGELOG.md", "CITATION.cff"]]
    if shelf not in PACKAGES:
        return [REPOSITORY / shelf]
    found = [path for path in (REPOSITORY / shelf).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path for path in found if "sample" not in path.parts)


def passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the text of a file, and the line where it begins; of a module strings and comments.

    Strings and comments that follow each other are one text, since a phrase may cross lines.
    """
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield 1, text
        return
    start, found = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            start = start or token.start[0]
            found += token.string.strip("\"'# ") + " "
        elif token.type != tokenize.NL and found:
            yield start, found
            start, found = 0, ""


def hits(path: Path) -> Iterator[str]:
    for start, text in passages(path):
        for phrase, instead in PHRASES.items():
            # Line breaks, with the marks of a comment, are spaces.
            pattern = phrase.replace(" ", r"\s+(?:# )?")
            for match in re.finditer(pattern, text, re.IGNORECASE):
                line = start + text[: match.start()].count("\n")
                where = f"{path.relative_to(REPOSITORY)}:{line}"
                yield f"{where}: {' '.join(match[0].split())!r}: {instead}"


@pytest.mark.parametrize("shelf", SHELVES)
def test_words_are_those_of_the_field(shelf: str) -> None:
    found = [hit for path in files(shelf) for hit in hits(path)]
    assert found == [], "\n".join(found)


def test_a_phrase_is_found_across_lines() -> None:
    # Over two lines of a comment: it stands
    # there.
    assert any("'stands # there'" in hit for hit in hits(Path(__file__)))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_says_what_it_holds(package: str) -> None:
    for path in (REPOSITORY / package).rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        names = {getattr(node, "id", getattr(node, "arg", None)) for node in nodes}
        assert names & VAGUE_NAMES == set(), path
