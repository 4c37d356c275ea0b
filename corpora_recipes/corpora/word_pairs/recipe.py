"""Reads lists of pairs of synonyms, scored or not.

A file has one pair per line: two words, and optionally a score. They are separated by tabs; if the
line has no tab, by semicolons; without these, by commas; else by spaces, and then multi-word terms
are not possible. Lines that begin with # are comments::

    # in some sentence they can replace each other
    coche<TAB>automóvil
    cuarto de baño;aseo
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Example
from corpora_recipes.running.limits import read_whole
from corpora_recipes.text.tokens import lower_case

_SEPARATORS = ("\t", ";", ",", None)
_WORD = re.compile(r"[^\"“”«»]*[^\W\d_][^\"“”«»]*")


@dataclass(frozen=True, slots=True)
class Lists:
    """The only block: all files, because a pair may be repeated in another file."""

    key: str
    files: tuple[tuple[str, Path], ...]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Lists]:
    """Return the lists of the folder."""
    patterns = [source.file for source in corpus.facts.sources]
    files = sorted({p for pattern in patterns for p in raw.glob(pattern) if p.is_file()})
    if not files:
        raise no_files(corpus, raw, f"pairs of words in files named {', '.join(patterns)}")
    # fetch has made links; messages name the user's files.
    return [Lists("pairs", tuple((path.name, path.resolve()) for path in files))]


def read_block(block: Lists, corpus: Corpus) -> BlockResult:
    """Read the pairs; their ids are pairs/<file>/<line number>.

    Words are in lower case and NFC. The order of the words in a pair does not matter.

    Dropped examples: ``same_text``, ``repeated_pair`` (the first one stays, whatever the scores),
    ``negative_score``.
    """
    met: set[frozenset[str]] = set()

    def example(row: tables.Row) -> Example:
        words = tuple(
            tables.natural_text(lower_case(row.fields[name])) for name in ("first", "second")
        )
        score = tables.parse_number(row.fields["score"]) if "score" in row.fields else None
        if words[0] == words[1]:
            raise Dropped("same_text")
        if score is not None and score < 0:
            raise Dropped("negative_score")
        if frozenset(words) in met:
            raise Dropped("repeated_pair")
        met.add(frozenset(words))
        key = f"pairs/{row.fields['file']}/{row.line}"
        return Example(id=key, collection="pairs", texts=words, score=score)

    return tables.collect_examples(
        (row for name, path in block.files for row in _rows(name, path)), example
    )


def _rows(name: str, path: Path) -> Iterator[tables.Row]:
    """Yield the lines of a file that hold a pair, with fields first, second and maybe score."""
    columns = 0
    todo = "correct the line; or if it is no pair, such as a header, put # before it"
    for read_row in tables.decoded_lines(read_whole(path), str(path)):
        line = read_row.fields["line"]
        text = line.strip()
        if read_row.fault:
            yield read_row
        if not text or text.startswith("#"):
            continue
        separator = next(s for s in _SEPARATORS if s is None or s in line)
        fields = [field.strip() for field in line.split(separator)]
        # Spreadsheets write empty columns at the end.
        while len(fields) > 2 and not fields[-1]:
            fields.pop()
        named = dict(zip(("first", "second", "score"), fields, strict=False))
        row = replace(read_row, fields=named | {"file": name})
        if len(fields) not in (2, 3) or not all(map(_WORD.fullmatch, fields[:2])):
            expected = "two words, perhaps a score, between tabs, semicolons, commas or spaces"
            yield row.refused(expected, repr(line[:200]), todo)
            continue
        columns = columns or len(fields)
        if len(fields) != columns:
            found = f"{len(fields)} fields in {line[:200]!r}, {columns} in the first pair"
            row = row.refused("a score in all lines of a file or in none", found, todo)
        elif columns == 3 and math.isnan(tables.parse_number(fields[2])):
            row = row.refused("a number as score, such as 7.5", repr(fields[2]), todo)
        yield row
