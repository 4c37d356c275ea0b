"""Reads the tables of ROCStories into documents, one per story.

A table is CSV with a header; a sentence with a comma or a quotation mark is quoted, as usual::

    storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5
    8bbe…,The Kite,"Ana, who is six, has a kite.",It got lost.,…
"""

from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.formats.archives import Member
from corpora_recipes.formats.tables import Row, csv_rows
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Document, Drops, split_at_drops
from corpora_recipes.running.errors import RawError
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
    with block.path.open("rb") as file:
        for row in csv_rows(whole_lines(file, block.path), str(block.path), _columns):
            if row.line > MOST_RECORDS:
                raise row.error(f"at most {MOST_RECORDS:,} stories", "more", "divide the table")
            with result.counting("documents", row):
                if row.fault:
                    raise row.fault
                result.records.append(_document(row, corpus.language, result.drops))
    return result


def _columns(header: Sequence[str], where: str) -> list[str]:
    """Return the columns that a header names; RawError if some are missing."""
    names = [name.strip() for name in header]
    if missing := [column for column in COLUMNS if column not in names]:
        found = f"no {', '.join(missing)} in {', '.join(names)[:200]!r}"
        todo = "use the tables of whole stories (ROCStories, not the Story Cloze Test)"
        raise RawError(where, f"the columns {', '.join(COLUMNS)}", found, todo)
    return names


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
