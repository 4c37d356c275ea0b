"""Reads the files of the English SentEval, each set in the form in which it was published.

``special.layouts`` in corpus.yaml has for each collection the form of its files, and the files: by
class, by part, by source of the sentences, or one with all rows. Texts are tokenised, and many are
in lower case; they are not changed, because published scores are on them.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, Members
from corpora_recipes.recipe import BlockResult, Corpus, Source, no_files
from corpora_recipes.records import SPLITS, Example, Split
from corpora_recipes.running.errors import RawError

TEXTS = ("text", "sentence_1", "sentence_2")
PARTS: dict[str, Split] = {"tr": "train", "va": "validation", "te": "test"}
RELATED = ("Index", "SourceID", "SubsetID", "PairID", "Text", "Score")

# Form to the pattern of a line, and the line in words.
_LINES = {
    "text_class": (r"(?P<text>[^\t]*)\t(?P<label>\S+)", "a text, a tab and a class"),
    "class_text": (
        r"(?P<label>[^\s:]+)(?::(?P<fine_class>\S+))? (?P<text>.*)",
        "a class (of a question: also a colon and a fine class), a space and a text",
    ),
    # The sentence is the last field: SentEval says that there are these "at least".
    "part_class_text": (
        r"(?P<part>tr|va|te)\t(?P<label>[^\t]+)\t(?:.*\t)?(?P<text>[^\t]*)",
        "tr, va or te, a class and a sentence, with tabs between them",
    ),
}


def sources(corpus: Corpus) -> list[Source]:
    """Return the files with their pins; the first folder of a name tells the address."""
    addresses, pins = (corpus.facts.special[key] for key in ("addresses", "pins"))
    return [
        Source(name, (f"{addresses[name.partition('/')[0]]}/{name}",), optional=True, **pin)
        for name, pin in pins.items()
    ]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Members]:
    """List the files that exist."""
    parts = []
    for collection, layout in corpus.facts.special["layouts"].items():
        for name, listed in layout["files"].items():
            files = [listed] if isinstance(listed, str) else listed
            missing = [file for file in files if not (raw / file).is_file()]
            if not missing:
                members = tuple(Member(file, raw / file) for file in files)
                parts.append(Members(f"{collection}/{name}", members))
            elif len(missing) < len(files):
                (half,) = {*files} - {*missing}
                expected = f"the other half of {half}"
                raise no_files(corpus, raw / missing[0], expected, "no such file")
    if not parts:
        raise no_files(corpus, raw, f"files of SentEval, such as {sources(corpus)[0].file}")
    return parts


def read_block(block: Members, corpus: Corpus) -> BlockResult:
    """Read a file, or two, of sentences and of their scores; ids are as in "mr/neg/17".

    They have the collection, which of its files, and the line number.

    Dropped examples: ``no_score``, a pair of STS 2015 or 2016 that has none; ``empty_text``.
    """
    collection, name = block.key.split("/")
    facts = corpus.facts.collections[collection]
    layout = corpus.facts.special["layouts"][collection]
    file_split: Split | None = next((split for split in SPLITS if split == name), None)

    def example(row: tables.Row) -> Example:
        fields = row.fields
        label = score = None
        if facts.scale is not None:
            score = tables.parse_score(tables.scored(row), collection, corpus, row)
        if facts.labels is not None:
            label = tables.parse_class(fields.get("label", name), collection, corpus, row)
        key = f"{block.key}/{row.line}"
        return Example(
            id=key,
            collection=collection,
            texts=tuple(tables.natural_text(fields[text]) for text in TEXTS if text in fields),
            label=label,
            score=score,
            columns={column: fields.get(column, name) for column in facts.columns},
            split=PARTS.get(fields.get("part", ""), file_split),
        )

    return tables.collect_examples(_rows(block, layout), example)


def _rows(block: Members, layout: Mapping[str, Any]) -> Iterator[tables.Row]:
    """Yield the rows of a file: ``TEXTS``, label, score, part, and what the collection has more."""
    file, form = block.files[0], layout["form"]
    if form == "gold":
        return tables.scored_pairs(*block.files)
    if form == "json":
        return _citations(file)
    if form == "csv":
        return _related(file)
    if form == "table":
        return _table(file, layout["columns"], header=layout["header"])
    data = file.read()
    if form == "text":
        return (
            replace(row, fields={"text": row.fields["line"]})
            for row in tables.every_line(data, file.where)
        )
    if "encoding" in layout:
        data = data.decode(layout["encoding"]).encode()
    pattern, expected = _LINES[form]
    return tables.matched_rows(data, file.where, re.compile(pattern), expected)


def _table(file: Member, columns: Mapping[str, str], *, header: bool) -> Iterator[tables.Row]:
    """Yield the rows of a table, whose columns get other names."""
    for row in tables.table_rows(file.read(), file.where, list(columns), header=header):
        yield replace(
            row, fields={field: row.fields.get(column, "") for column, field in columns.items()}
        )


def _citations(file: Member) -> Iterator[tables.Row]:
    """Yield the rows of SciCite: an object a line, with "text" and "label"."""
    for line, data in tables.locate_lines(io.BytesIO(file.read()), file.path):
        row = tables.Row(file.where, line.number, {})
        try:
            value = line.parse(data)
        except RawError as fault:
            yield replace(row, fault=fault)
            continue
        record = value if isinstance(value, dict) else {}
        fields: dict[str, Any] = {key: record.get(key, 0) for key in ("text", "label")}
        fields["text"] = "" if fields["text"] is None else fields["text"]
        if all(isinstance(field, str) for field in fields.values()):
            yield replace(row, fields=fields)
        else:
            yield row.refused('an object with "text" and "label"', repr(value)[:200])


def _related(file: Member) -> Iterator[tables.Row]:
    """Yield the rows of STR, whose two texts are one field with a line break between them."""
    for row in tables.csv_rows(io.BytesIO(file.read()), file.where, _columns):
        text = row.fields.get("Text", "")
        if row.fault:
            yield row
        elif text.count("\n") != 1:
            yield row.refused("two texts and a line break between them", repr(text[:200]))
        else:
            fields = dict(zip(TEXTS[1:], text.split("\n"), strict=True))
            fields |= {"score": row.fields["Score"], "subset": row.fields["SourceID"]}
            yield replace(row, fields=fields)


def _columns(header: Sequence[str], where: str) -> Sequence[str]:
    if tuple(header) != RELATED:
        expected = f"the columns {', '.join(RELATED)}"
        raise RawError(where, expected, ", ".join(header)[:200] or "none")
    return header
