"""Reads the tables of ROCStories into documents, one per story.

A table is CSV with a header; a sentence with a comma or a quotation mark is quoted, as usual::

    storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5
    8bbe…,The Kite,"Ana, who is six, has a kite.",It got lost.,…
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora_recipes.formats.archives import Member
from corpora_recipes.formats.tables import Row, decoded_lines
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Document, Drops, split_at_drops
from corpora_recipes.running.limits import MOST_RECORDS, whole_lines
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.tidying import find_flaw, pair_quotes, tidy

SENTENCES = tuple(f"sentence{number}" for number in range(1, 6))
COLUMNS = ("storyid", "storytitle", *SENTENCES)


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the tables."""
    paths = sorted(path for path in raw.rglob("*.csv") if path.is_file())
    if not paths:
        raise no_files(corpus, raw, "the tables of ROCStories, *.csv")
    return [Member(path.relative_to(raw).as_posix(), path) for path in paths]


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the stories of one table."""
    result = BlockResult()
    for row in _rows(block.path):
        with result.counting("documents"):
            result.records.append(_document(row, corpus.language, result.drops))
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
                found = f"{error}, in {line[:60]!r} …"
                raise row.error("a row of CSV, with closed quotation marks", found) from None
            if not names:
                names = [field.strip() for field in fields]
                if missing := [column for column in COLUMNS if column not in names]:
                    found = f"no {', '.join(missing)} in {line[:200]!r}"
                    todo = "use the tables of whole stories (ROCStories, not the Story Cloze Test)"
                    raise row.error(f"the columns {', '.join(COLUMNS)}", found, todo)
                continue
            if number > MOST_RECORDS:
                raise row.error(f"at most {MOST_RECORDS:,} stories", "more", "divide the table")
            if len(fields) != len(names):
                found = f"{len(fields)} in {line[:60]!r} …"
                todo = "quote the sentences that have commas"
                raise row.error(f"{len(names)} fields: {', '.join(names)}", found, todo)
            yield Row(str(path), number, dict(zip(names, fields, strict=True)))


def _document(row: Row, language: str, drops: Drops) -> Document:
    story_id = row.filled("storyid")
    sentences = [clean(row.fields[name]) for name in SENTENCES]
    if not all(sentences):
        raise Dropped("missing_sentence")
    sentences = [pair_quotes(tidy(sentence, language)) for sentence in sentences]
    checked = [drops.sift("sentences", sentence, find_flaw(sentence)) for sentence in sentences]
    sections = split_at_drops("", 1, [checked])
    if not sections:
        raise Dropped("no_sentences")
    return Document(story_id, clean(row.fields["storytitle"]), [], sections)
