"""Reads discourse relations from the Penn Discourse Treebank and from treebanks in its format.

The folder holds one or more of these, and the entry's option ``treebank`` says which is read (any:
the first of the entry's language)::

    pdtb2/SS/wsj_SSNN.pipe                         48 columns, with the texts
    pdtb3/gold/SS/wsj_SSNN   pdtb3/raw/SS/wsj_SSNN   34 columns, and the text in another file
    gdtb/gold/00/NAME        gdtb/raw/00/NAME        gdtb/splits.md
    ted_mdb/LANGUAGE/ann/01/NAME   ted_mdb/LANGUAGE/raw/01/NAME

A line is a relation between two arguments, its columns separated by bars. The columns are those of
the annotation manuals (The PDTB Research Group 2008, "The PDTB 2.0 annotation manual"; Webber,
Prasad, Lee and Joshi 2019, "The Penn Discourse Treebank 3.0 annotation manual"). In 34 columns an
argument is one span of characters or several, ``195..236;241..260``, the end exclusive; each line
end of the raw text is one character, whatever the file has.

Splits of the Wall Street Journal are its sections: 2 to 14, 15 to 18 and 19 to 23 (Chen, Chu and
Gimpel 2019, section 3.1); GDTB has a list of its own. In other treebanks a fifth of the texts each
is validation and test, chosen by keyed hash, and texts that were annotated twice stay together.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import treebanks
from corpora_recipes.formats.tables import Row, collect_examples, natural_text
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example, Record, Split
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import MOST_DIGITS
from corpora_recipes.text.tokens import detokenize

# Folders of annotations; the raw texts are beside them, in "raw".
ANNOTATIONS = ("gold", "ann")
SECTIONS: tuple[tuple[range, Split], ...] = (
    (range(2, 15), "train"),
    (range(15, 19), "validation"),
    (range(19, 24), "test"),
)
# Types of relations that have a dataset, to its collection in corpus.yaml.
COLLECTIONS = {"Explicit": "explicit", "Implicit": "implicit"}
OTHER_TYPES = ("AltLex", "AltLexC", "EntRel", "NoRel", "Hypophora")

# A sense of two levels or more below one of the four classes of both hierarchies.
_SENSE = re.compile(r"((?:Comparison|Contingency|Expansion|Temporal)\.[^.]+)(?:\..*)?")
_SPAN = re.compile(rf"(\d{{1,{MOST_DIGITS}}})\.\.(\d{{1,{MOST_DIGITS}}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Relation:
    """A line of either format, with what it says of the first and of the second argument."""

    rejected: bool  # by the annotators
    connective: str  # as it stands in the text, or as the annotators inserted it
    senses: tuple[str, ...]  # as annotated, without empty ones
    texts: tuple[str, str]
    starts: tuple[int, int]  # the first character of each


# The raw files of the treebanks that the entry can mean.
sources = treebanks.treebank_sources


def blocks(raw: Path, corpus: Corpus) -> Sequence[treebanks.Texts]:
    """List the annotated texts, a few to a block."""
    treebank, paths = treebanks.find_treebank(raw, corpus)
    names = [
        path
        for path in paths
        if _has_texts(treebank) or PurePosixPath(path).parts[-3] in ANNOTATIONS
    ]
    return treebanks.group_in_blocks(raw, treebank, names, _splits(raw, treebank, names, corpus))


def _has_texts(treebank: str) -> bool:
    """Return whether the lines of a treebank hold the texts themselves: 48 columns."""
    return treebank == "pdtb2"


def _text_of(raw: Path, name: str) -> str:
    """Return the raw text of an annotated text."""
    path = PurePosixPath(name)
    file = raw / path.parents[2] / "raw" / path.parent.name / path.name
    if not file.is_file():
        todo = "put the folder raw beside the annotations, as its publisher gives both"
        raise RawError(file, f"the text that {path.name} annotates", "no such file", todo)
    return treebanks.read_text(file)


def _splits(raw: Path, treebank: str, names: Sequence[str], corpus: Corpus) -> dict[str, Split]:
    if (file := raw / treebank / "splits.md").is_file():
        listed = treebanks.read_split_list(file)
        return {name: listed[key] for name in names if (key := PurePosixPath(name).stem) in listed}
    if treebank in ("pdtb2", "pdtb3"):
        return {name: split for name in names if (split := _section_split(name)) is not None}
    same: dict[str, str] = {}
    first = {}
    for name in names:
        text = name  # of one without a text, whose relations are dropped when they are read
        with suppress(RawError):
            text = _text_of(raw, name)
        first[name] = same.setdefault(text, name)
    splits = treebanks.carve_splits(set(first.values()), corpus)
    return {name: splits[first[name]] for name in names}


def _section_split(name: str) -> Split | None:
    section = PurePosixPath(name).parent.name
    number = int(section) if section.isdecimal() else -1
    return next((split for numbers, split in SECTIONS if number in numbers), None)


def read_block(block: treebanks.Texts, corpus: Corpus) -> BlockResult:
    """Read the relations of some texts into examples.

    The collection is the type of the relation, the texts are the first and the second argument
    as annotated, which is not always their order in the text, and the label is the second level of
    the first sense. A relation of several senses is one example, whether one line has them or
    several: ``second_sense`` has the next one. An example's id is the treebank, the text and the
    line, such as "gdtb/GUM_news_nasa/17".

    Dropped examples: ``no_split`` (texts in no split), ``other_type`` (neither explicit nor
    implicit), ``rejected`` (by the annotators), ``no_sense``, ``other_sense`` (of one level, or
    none of the hierarchy), ``empty_text`` (an argument without text), ``withheld_text``
    (underscores for words that may not be published), ``second_sense`` (a line with another sense
    of the relation of an earlier line), ``repeated`` (a line with the same sense).
    """
    result = BlockResult()
    for name in block.names:
        read_relation = (
            _read_pdtb2
            if _has_texts(block.treebank)
            else partial(_read_pdtb3, cache(partial(_text_of, block.raw, name)))
        )
        examples = collect_examples(
            _rows(block, name), partial(_example, read_relation, block, name, corpus)
        )
        result.records += _merge_senses(examples)
        result.drops.add(examples.drops)
    return result


def _rows(block: treebanks.Texts, name: str) -> Iterator[Row]:
    """Yield the lines of an annotation; the columns of a row are named by their numbers."""
    file = block.raw / name
    columns = 48 if _has_texts(block.treebank) else 34
    try:
        lines = treebanks.read_text(file).removeprefix("\ufeff").split("\n")
    except RawError as fault:
        yield Row(str(file), 0, {}, fault)
        return
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        fields = line.split("|")
        row = Row(str(file), number, {str(column): field for column, field in enumerate(fields)})
        if len(fields) != columns:
            found = f"{len(fields)} in {line[:100]!r}"
            row = row.refused(f"{columns} columns between bars", found)
        yield row


def _example(
    read_relation: Callable[[Row], _Relation],
    block: treebanks.Texts,
    name: str,
    corpus: Corpus,
    row: Row,
) -> Example:
    kind = row.fields["0"].strip()
    if name not in block.splits:
        raise Dropped("no_split")
    if kind in OTHER_TYPES:
        raise Dropped("other_type")
    if kind not in COLLECTIONS:
        types = ", ".join([*COLLECTIONS, *OTHER_TYPES])
        raise row.error(f"one of {types} in the first column", repr(kind[:40]))
    relation = read_relation(row)
    if relation.rejected:
        raise Dropped("rejected")
    if not relation.senses:
        raise Dropped("no_sense")
    levels = [match[1] for sense in relation.senses if (match := _SENSE.fullmatch(sense))]
    if not levels:
        raise Dropped("other_sense")
    if any(map(treebanks.is_withheld, relation.texts)):
        raise Dropped("withheld_text")

    def text(written: str) -> str:
        tokens = corpus.facts.treebanks[block.treebank].tokenised
        return natural_text(
            detokenize(written, corpus.language, tokens=True) if tokens else written
        )

    key = f"{block.treebank}/{PurePosixPath(name).stem}"
    other_levels = [level for level in levels if level != levels[0]]
    return Example(
        id=f"{key}/{row.line}",
        collection=COLLECTIONS[kind],
        texts=(text(relation.texts[0]), text(relation.texts[1])),
        label=levels[0],
        document_id=key,
        columns={
            "second_sense": other_levels[0] if other_levels else "",
            "connective": " ".join(relation.connective.split()),
            "first_in_text": "Arg2" if relation.starts[1] < relation.starts[0] else "Arg1",
        },
        split=block.splits[name],
    )


def _read_pdtb2(row: Row) -> _Relation:
    column = row.fields
    senses = tuple(sense for n in range(11, 15) if (sense := column[str(n)].strip()))
    starts = [_parse_spans(column[number], row) for number in ("22", "32")]
    return _Relation(
        rejected=False,
        connective=column["5"] or column["9"],
        senses=senses,
        texts=(column["24"], column["34"]),
        starts=(_start(starts[0]), _start(starts[1])),
    )


def _read_pdtb3(read: Callable[[], str], row: Row) -> _Relation:
    text, column = read(), row.fields
    senses = tuple(sense for n in (8, 9, 11, 12) if (sense := column[str(n)].strip()))
    connective, *arguments = (
        _parse_spans(column[number], row, text) for number in ("1", "14", "20")
    )
    return _Relation(
        rejected=column["27"].strip() == "Rejected",
        connective=_join_spans(connective, text) or column["7"],
        senses=senses,
        texts=(_join_spans(arguments[0], text), _join_spans(arguments[1], text)),
        starts=(_start(arguments[0]), _start(arguments[1])),
    )


def _parse_spans(written: str, row: Row, text: str | None = None) -> list[tuple[int, int]]:
    """Return spans such as "195..236;241..260" as first characters and those after the last."""
    spans = []
    for part in filter(None, written.strip().split(";")):
        match = _SPAN.fullmatch(part)
        if match is None or int(match[1]) >= int(match[2]):
            raise row.error("spans such as 195..236;241..260", repr(written[:60]))
        spans.append((int(match[1]), int(match[2])))
        if text is not None and spans[-1][1] > len(text):
            expected = f"spans within the {len(text)} characters of the raw text"
            todo = "take the raw text and the annotation of the same release"
            raise row.error(expected, repr(part), todo)
    return spans


def _join_spans(spans: Sequence[tuple[int, int]], text: str) -> str:
    """Return the text of some spans, without the commas that were set around what is between."""
    covered = ""
    for start, end in spans:
        piece = " ".join(text[start:end].split())
        if not covered or covered[-1] in ",;:":
            piece = piece.lstrip(",;: ")
        covered = f"{covered} {piece}".strip()
    return covered


def _start(spans: Sequence[tuple[int, int]]) -> int:
    return min((start for start, _ in spans), default=0)


def _merge_senses(result: BlockResult) -> Iterator[Record]:
    """Yield one example for the lines with the same two texts, and count the other lines."""
    merged: dict[tuple[str, ...], Example] = {}
    for record in result.records:
        assert isinstance(record, Example)
        key = (record.collection, *record.texts)
        first = merged.setdefault(key, record)
        if first is record:
            continue
        senses = (first.label, first.columns["second_sense"])
        reason = "repeated" if record.label in senses else "second_sense"
        result.drops.dropped["examples", reason] += 1
        if reason == "second_sense" and not senses[1]:
            columns: Mapping[str, str] = {**first.columns, "second_sense": record.label or ""}
            merged[key] = replace(first, columns=columns)
    yield from merged.values()
