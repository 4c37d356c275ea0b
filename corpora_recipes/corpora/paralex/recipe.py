"""Reads ParaLex: clusters of words that belong to one paradigm, in 46 languages.

ParaLex.csv is one table with a header line; a row is a cluster in a language, with as many terms as
it has and empty fields behind them::

    Language,Comment,Test label,Term 1,Term 2,Term 3,…,Term 46
    ES,Spanish,nordics,suecia,finlandia,dinamarca,noruega,islandia,,…

It is a CSV with quoting: a few terms hold a line break. Others have blanks around them, a cluster
may have an empty field between its terms, a term twice, or no term at all, and the comment is not
always the language's name. A term may be several words.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from corpora_recipes.archives import Member, members
from corpora_recipes.errors import InputError
from corpora_recipes.examples import natural
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Drops, Example
from corpora_recipes.tables import Row

FILE = "ParaLex.csv"
LANGUAGE, COMMENT, LABEL = "Language", "Comment", "Test label"


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """Return the one file.

    Raises:
        InputError: it is not there.
    """
    if not (raw / FILE).is_file():
        raise InputError(raw, expected=FILE, found="no such file", todo="fetch it, or put it there")
    return members(raw / FILE, raw)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the clusters of all languages; their ids are <language>/<label>, such as es/weekdays.

    An example's texts are the terms in their order, each once and in its own case. The collection
    is the language, its code in lower case.

    Dropped examples: ``empty_cluster``. Dropped terms: ``repeated_term``.

    Raises:
        InputError: the file is no CSV in UTF-8 with the columns of ParaLex, or a row has another
            number of fields, no label, no code or one that corpus.yaml does not list, or language
            and label of another row.
    """
    result = BlockResult()
    places: dict[str, str] = {}
    for row in _rows(block):
        example = _cluster(row, corpus, result.drops)
        if (before := places.setdefault(example.id, row.where)) != row.where:
            found = f"{example.id} again, which stands in {before}"
            raise row.error("a cluster that no other row has", found, "join them, or remove one")
        result.drops.seen["examples"] += 1
        if example.texts:
            result.records.append(example)
        else:
            result.drops.dropped["examples", "empty_cluster"] += 1
    return result


def _cluster(row: Row, corpus: Corpus, drops: Drops) -> Example:
    language, label = row.fields[LANGUAGE].strip().lower(), row.fields[LABEL].strip()
    if language not in corpus.facts["collections"]:
        raise row.error(
            f"a language code among {', '.join(corpus.facts['collections'])}",
            repr(row.fields[LANGUAGE]),
            "correct it, or name the language under `collections` in paralex/corpus.yaml",
        )
    if not label:
        raise row.error(f"the cluster's name as {LABEL}", "none")
    terms: dict[str, None] = {}
    for column, cell in row.fields.items():
        if column in (LANGUAGE, COMMENT, LABEL):
            continue
        with suppress(Dropped):  # the field is empty
            term = natural(cell)
            drops.seen["terms"] += 1
            if term in terms:
                drops.dropped["terms", "repeated_term"] += 1
            terms[term] = None
    key = f"{language}/{label}"
    return Example(
        id=key,
        collection=language,
        texts=tuple(terms),
        label=None,
        score=None,
        document_id=key,
        columns={"cluster": label},
    )


def _rows(block: Member) -> Iterator[Row]:
    """Yield the rows of the table, less empty ones; a row names the line that it begins in."""
    try:
        text = block.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            block.where, expected="UTF-8", found=str(error), todo="convert the file to UTF-8"
        ) from None
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        columns = _columns(next(table, []), f"{block.where}, line 1")
        line = table.line_num + 1
        for cells in table:
            where = f"{block.where}, line {line}"
            line = table.line_num + 1
            if cells and len(cells) != len(columns):
                raise InputError(
                    where,
                    expected=f"{len(columns)} fields between commas, as in the header",
                    found=f"{len(cells)}, which begin with {', '.join(cells[:4])}",
                    todo="take the file as its publisher gives it, or correct the line",
                )
            if any(cell.strip() for cell in cells):
                yield Row(where, dict(zip(columns, cells, strict=True)))
    except csv.Error as error:
        raise InputError(
            f"{block.where}, line {line}",
            expected="a CSV, whose quotation marks close",
            found=str(error),
            todo="fetch the file again",
        ) from None


def _columns(header: Sequence[str], where: str) -> list[str]:
    names = [name.strip() for name in header]
    terms = [f"Term {number}" for number in range(1, len(names) - 2)]
    if names != [LANGUAGE, COMMENT, LABEL, *terms] or not terms:
        raise InputError(
            where,
            expected=f"the columns {LANGUAGE}, {COMMENT}, {LABEL}, Term 1, Term 2 and so on",
            found=", ".join(names)[:200] or "none",
            todo="take the file as its publisher gives it",
        )
    return names
