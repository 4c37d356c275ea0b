"""Reads the tables of ROCStories into documents, one per story.

A table is CSV with a header; a sentence with a comma or a quotation mark is quoted, as usual::

    storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5
    8bbe…,The Kite,"Ana, who is six, has a kite.",It got lost.,…
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora_recipes.formats.tables import Row, decoded_lines
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Document, Drops, split_at_drops
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import MOST_RECORDS, whole_lines
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.tidying import flaw, pair_quotes, tidy

SENTENCES = tuple(f"sentence{number}" for number in range(1, 6))
COLUMNS = ("storyid", "storytitle", *SENTENCES)


@dataclass(frozen=True, slots=True)
class Table:
    """A block: one table."""

    key: str
    path: Path


def blocks(raw: Path, corpus: Corpus) -> Sequence[Table]:
    """List the tables.

    Raises:
        InputError: no table was found.
    """
    paths = sorted(path for path in raw.rglob("*.csv") if path.is_file())
    if not paths:
        raise InputError(
            raw,
            expected="the tables of ROCStories, *.csv",
            found="none",
            todo=" ".join(corpus.facts.manual.split()),
        )
    return [Table(path.relative_to(raw).as_posix(), path) for path in paths]


def read_block(block: Table, corpus: Corpus) -> BlockResult:
    """Read the stories of one table.

    Raises:
        InputError: a column is missing, a row has another number of fields, or a quotation mark
            is not closed in its line.
    """
    result = BlockResult()
    for row in _rows(block.path):
        result.drops.seen["documents"] += 1
        try:
            result.records.append(_document(row, corpus.language, result.drops))
        except Dropped as dropped:
            result.drops.dropped["documents", dropped.reason] += 1
    return result


def _rows(path: Path) -> Iterator[Row]:
    """Yield the rows; each is one line, so that a quotation mark cannot swallow other lines."""
    names: list[str] = []
    with path.open("rb") as file:
        for number, line in decoded_lines(whole_lines(file, path), str(path)):
            row = Row(str(path), number, {})
            try:
                # Not strict, it would take an unclosed quotation mark for one closed at the end.
                fields = next(csv.reader([line], strict=True))
            except csv.Error as error:
                raise row.error(
                    "a row of CSV, in which each quotation mark that opens a field closes it",
                    f"{error}, in {line[:60]!r} …",
                    "close or double the quotation mark in this line",
                ) from None
            if not names:
                names = [field.strip() for field in fields]
                if missing := [column for column in COLUMNS if column not in names]:
                    raise row.error(
                        f"the columns {', '.join(COLUMNS)}",
                        f"no {', '.join(missing)} in {line[:200]!r}",
                        "use the tables of whole stories (ROCStories, not the Story Cloze Test)",
                    )
                continue
            if number > MOST_RECORDS:
                raise row.error(f"at most {MOST_RECORDS:,} stories", "more", "divide the table")
            if len(fields) != len(names):
                raise row.error(
                    f"{len(names)} fields: {', '.join(names)}",
                    f"{len(fields)} in {line[:60]!r} …",
                    "quote the sentences that have commas",
                )
            yield Row(str(path), number, dict(zip(names, fields, strict=True)))


def _document(row: Row, language: str, drops: Drops) -> Document:
    fields = row.fields
    if not fields["storyid"].strip():
        raise row.error("the id of the story in storyid", "nothing")
    sentences = [clean(fields[name]) for name in SENTENCES]
    if not all(sentences):
        raise Dropped("missing_sentence")
    checked = [_checked(pair_quotes(tidy(s, language)), drops) for s in sentences]
    sections = split_at_drops("", 1, [checked])
    if not sections:
        raise Dropped("no_sentences")
    title = clean(fields["storytitle"])
    return Document(fields["storyid"].strip(), title, [], sections)


def _checked(sentence: str, drops: Drops) -> str | None:
    """Count the sentence and return it, or None if it cannot be used."""
    drops.seen["sentences"] += 1
    reason = flaw(sentence)
    if reason is None:
        return sentence
    drops.dropped["sentences", reason] += 1
    return None
