"""Reads ParaLex: clusters of words that belong to one paradigm, in 46 languages.

ParaLex.csv is one table with a header line; a row is a cluster in a language, with its terms
followed by empty fields::

    Language,Comment,Test label,Term 1,Term 2,Term 3,…,Term 46
    ES,Spanish,nordics,suecia,finlandia,dinamarca,noruega,islandia,,…

It is a CSV with quoting: a few terms contain a line break. Others are surrounded by spaces, a
cluster may have an empty field between its terms, a term twice, or no term, and the comment is not
always the language's name. A term may have several words.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.formats.tables import INVISIBLE, Row, csv_rows, natural_text
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import LARGEST_TEXT

FILE = "ParaLex.csv"
LANGUAGE, COMMENT, LABEL = "Language", "Comment", "Test label"


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """Return the only file."""
    return existing_members(raw, [FILE], corpus)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the clusters of all languages; their ids are <language>/<label>, such as es/weekdays.

    An example's texts are the terms in their order, each once, with their case kept. The collection
    is the language code in lower case.

    Dropped examples: ``empty_cluster``. Dropped texts: ``repeated_term``.
    """
    result = BlockResult()
    places: dict[str, str] = {}
    for row in csv_rows(BytesIO(block.read(LARGEST_TEXT)), block.where, _columns):
        with result.counting("examples", row):
            if row.fault:
                raise row.fault
            example = _cluster(row, corpus, result.drops)
            if (before := places.setdefault(example.id, row.where)) != row.where:
                found = f"{example.id}, which is also in {before}"
                raise row.error("one row per cluster", found, "join the rows, or remove one")
            if not example.texts:
                raise Dropped("empty_cluster")
            result.records.append(example)
    return result


def _cluster(row: Row, corpus: Corpus, drops: Drops) -> Example:
    language = row.fields[LANGUAGE].strip().lower()
    if language not in corpus.facts.collections:
        expected = f"a language code among {', '.join(corpus.facts.collections)}"
        todo = "correct it, or add the language to `collections` in paralex/corpus.yaml"
        raise row.error(expected, repr(row.fields[LANGUAGE]), todo)
    label = row.filled(LABEL)
    terms: dict[str, None] = {}
    for column, cell in row.fields.items():
        if column in (LANGUAGE, COMMENT, LABEL) or not INVISIBLE.sub("", cell).strip():
            continue
        try:
            term = natural_text(cell)
        except Dropped as dropped:
            drops.sift("texts", cell, dropped.reason)
            continue
        drops.sift("texts", term, "repeated_term" if term in terms else None)
        terms[term] = None
    key = f"{language}/{label}"
    return Example(id=key, collection=language, texts=tuple(terms), columns={"cluster": label})


def _columns(header: Sequence[str], where: str) -> list[str]:
    names = [name.strip() for name in header]
    terms = [f"Term {number}" for number in range(1, len(names) - 2)]
    if names != [LANGUAGE, COMMENT, LABEL, *terms] or not terms:
        expected = f"the columns {LANGUAGE}, {COMMENT}, {LABEL}, Term 1, Term 2 and so on"
        raise RawError(where, expected, ", ".join(names)[:200] or "none")
    return names
