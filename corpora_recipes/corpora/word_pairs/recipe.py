"""Reads lists of pairs of words that mean the same, scored or not.

A file has a pair a line: two words, and perhaps a score. Between them are tabs; if the line has
none, semicolons; if it has none of these either, commas; else blanks, and then no word can be made
of several. Lines that begin with # are comments::

    # in some sentence they can stand for each other
    coche<TAB>automóvil
    cuarto de baño;aseo
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora_recipes.casing import lower_case
from corpora_recipes.errors import InputError
from corpora_recipes.examples import collect, natural, number_of
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.tables import Row, decoded_lines

_SEPARATORS = ("\t", ";", ",", None)
_WORD = re.compile(r"[^\"“”«»]*[^\W\d_][^\"“”«»]*")


@dataclass(frozen=True, slots=True)
class Lists:
    """The one block: all files, because a pair may be repeated in another one.

    Attributes:
        key: "pairs".
        files: name of each file in the corpus and its path, sorted.
    """

    key: str
    files: tuple[tuple[str, Path], ...]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Lists]:
    """Return the lists of the folder.

    Raises:
        InputError: there is none.
    """
    patterns = [source["pattern"] for source in corpus.facts["sources"]]
    files = sorted({p for pattern in patterns for p in raw.glob(pattern) if p.is_file()})
    if not files:
        raise InputError(
            raw,
            expected=f"pairs of words in files named {', '.join(patterns)}",
            found="none",
            todo=f"set `path` of corpora.{corpus.name} in params.yaml and run fetch again",
        )
    # The user's own file, of which fetch has made a link, is the one to name in messages.
    return [Lists("pairs", tuple((path.name, path.resolve()) for path in files))]


def read_block(block: Lists, corpus: Corpus) -> BlockResult:
    """Read the pairs; their ids are pairs/<file>/<number of the line>.

    Words are in lower case and NFC. A pair is the same whichever word comes first.

    Dropped examples: ``same_text``, ``repeated_pair`` (the first one stays, whatever the scores),
    ``negative_score``.

    Raises:
        InputError: a line is not two words, or two words and a score, or one of a file has a score
            and another has none.
    """
    met: set[frozenset[str]] = set()

    def example(row: Row) -> Example:
        words = tuple(natural(lower_case(row.fields[name])) for name in ("first", "second"))
        score = number_of(row.fields["score"]) if "score" in row.fields else None
        if words[0] == words[1]:
            raise Dropped("same_text")
        if score is not None and score < 0:
            raise Dropped("negative_score")
        if frozenset(words) in met:
            raise Dropped("repeated_pair")
        met.add(frozenset(words))
        key = f"pairs/{row.fields['line']}"
        return Example(
            id=key, collection="pairs", texts=words, label=None, score=score, document_id=key
        )

    return collect((row for name, path in block.files for row in _rows(name, path)), example)


def _rows(name: str, path: Path) -> Iterator[Row]:
    """Yield the lines of a file that hold a pair, as the fields first, second and perhaps score."""
    columns = 0
    for where, line in decoded_lines(path.read_bytes().split(b"\n"), str(path)):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        separator = next(s for s in _SEPARATORS if s is None or s in line)
        fields = [field.strip() for field in line.split(separator)]
        # Spreadsheets write empty columns at the end.
        while len(fields) > 2 and not fields[-1]:
            fields.pop()
        named = dict(zip(("first", "second", "score"), fields, strict=False))
        row = Row(where, named | {"line": f"{name}/{where.rpartition(' ')[2]}"})
        if len(fields) not in (2, 3) or not all(map(_WORD.fullmatch, fields[:2])):
            raise row.error(
                "two words, and perhaps a score, between tabs, semicolons, commas or blanks",
                repr(line[:200]),
                "correct the line, or put # before it",
            )
        columns = columns or len(fields)
        if len(fields) != columns:
            raise row.error(
                "a score in all lines of a file or in none",
                f"{'one' if columns == 2 else 'none'} in {line[:200]!r}, unlike the first pair",
            )
        if columns == 3 and math.isnan(number_of(fields[2])):
            raise row.error(
                "a number as score, such as 7.5",
                repr(fields[2]),
                "correct it; if it is the name of a column, put # before the line",
            )
        yield row
