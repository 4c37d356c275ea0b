"""Reads the two files of FAC, subjective and objective sentences about films.

Only the form that the benchmark of 2022 published is known: fac.subjective and fac.objective, one
text a line (one sentence or a few), lower-cased, its tokens parted by blanks. What that form shows
to be left of web pages, or broken by its making, is mended by ``natural_text``.
"""

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora_recipes.archives import Member, members
from corpora_recipes.detokenize import detokenize
from corpora_recipes.errors import InputError
from corpora_recipes.examples import class_of, collect, natural
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.tables import Row, table_rows
from corpora_recipes.text import clean, damage

# What is left of a link's icon at the end of a text, and other tags.
_ICON = re.compile(r'(?:&nbsp ?;)?\s*<img .*?>\s*(?:</div>)?(?:\s*"\s*\.)?\s*$')
_TAG = re.compile(r"</?(?:div|br) ?/?>")
_REFERENCE = re.compile(r"&(#?\w+) ?;")
_TWO_STOPS = re.compile(r" \.(?: +\.)+(?= |$)")
# A quotation of several words was closed after the first one as well: ' el ' faro rojo '. That is
# certain where the text has no other mark.
_CLOSED_TWICE = re.compile(r"^([^']*' [^' ]+) '( [^']+'[^']*)$")


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the two files.

    Raises:
        InputError: one is missing (each is a class).
    """
    paths = [raw / source["file"] for source in corpus.facts["sources"]]
    for path in paths:
        if not path.is_file():
            raise InputError(
                path,
                expected="the texts of one of the two classes",
                found="no such file",
                todo="fetch it again",
            )
    return [member for path in paths for member in members(path, raw)]


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file into examples of the collection ``texts``; the file's name is the class.

    Raises:
        InputError: a line is not in UTF-8, or holds a tab.
    """
    first_of: dict[str, str] = {}

    def example(row: Row) -> Example:
        spelling = row.fields["class"]
        text = natural_text(row.fields["text"], corpus.language)
        key = f"texts/{spelling}/{row.fields['line']}"
        return Example(
            id=key,
            collection="texts",
            texts=(text,),
            label=class_of(spelling, "texts", corpus, row),
            score=None,
            # A text that stands there twice belongs together.
            document_id=first_of.setdefault(text, key),
        )

    return collect(_rows(block), example)


def natural_text(line: str, language: str) -> str:
    """Return a line as natural text.

    Remains of tags and doubled full stops go, character references are resolved (those to
    invisible characters go), quotation marks are put right (see ``_quotations``), and blanks go
    that a tokeniser set.

    Raises:
        Dropped: "empty_text", or the name of a damage (see ``text.damage``).
    """
    text = _TAG.sub(" ", _ICON.sub("", line))
    for _ in range(2):  # some are &amp;#8203;
        text = _REFERENCE.sub(lambda match: html.unescape(f"&{match[1]};"), text)
    text = _quotations(_TWO_STOPS.sub(" .", clean(text)))
    if (reason := damage(text)) is not None:
        raise Dropped(reason)
    return natural(detokenize(text, language))


def _quotations(text: str) -> str:
    """Return a tokenised text with quotation marks that open and close, or with none.

    One pair stays as it is. Where more marks stand, what they quoted can no longer be told, but
    for one quotation that was closed twice.
    """
    text = _CLOSED_TWICE.sub(r"\1\2", text)
    return text if text.count("'") == 2 else " ".join(text.replace("'", " ").split())


def _rows(block: Member) -> Iterator[Row]:
    """Yield the file's lines with their numbers and the class that the file's name says."""
    spelling = block.path.suffix.removeprefix(".")
    for row in table_rows(block.read(), block.where, ["text"], header=False):
        line = row.where.rpartition(" ")[2]
        yield Row(row.where, {**row.fields, "class": spelling, "line": line})
