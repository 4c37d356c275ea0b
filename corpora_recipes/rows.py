"""The form of records as Parquet rows: columns are the fields of the types in ``records``.

Two kinds differ. The nodes of a discourse tree are a list in pre-order; of a parsed sentence, each
field of its words and tokens is a column of lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import pyarrow as pa

from corpora_recipes.records import (
    Dialogue,
    DiscourseNode,
    DiscourseTree,
    Document,
    Example,
    ParsedSentence,
    Record,
    Section,
    Token,
    Word,
)

# The key of a file of records under which its window is, as JSON, if there is one.
WINDOW = b"probeta_window"

_KINDS: dict[str, type[Record]] = {
    "documents": Document,
    "dialogues": Dialogue,
    "trees": DiscourseTree,
    "examples": Example,
    "parsed_sentences": ParsedSentence,
}
_COLUMN_TYPES = {str: pa.string(), int: pa.int32(), float: pa.float64(), bool: pa.bool_()}
# In the order of the fields of ``Word`` and ``Token``.
_WORD_COLUMNS = ("forms", "lemmas", "upos", "features", "heads", "relations")
_TOKEN_COLUMNS = ("tokens", "token_words", "spaces_after")


class _Node(NamedTuple):
    """A node of a discourse tree as a row."""

    parent: int  # index of the parent node, -1 for the root
    nucleus: bool  # of its parent
    relation: str
    edu: int  # index of the EDU in a leaf, -1 in an inner node


def record_schema(kind: str) -> pa.Schema:
    """Return the pyarrow schema of a kind of records, as corpus.yaml names it."""
    columns: list[tuple[str, pa.DataType]] = []
    for name, declared in get_type_hints(_KINDS[kind]).items():
        if name == "root":
            columns.append(("nodes", _column_type(list[_Node])))
        elif name == "words":
            columns += _lists(_WORD_COLUMNS, Word)
        elif name == "tokens":
            columns += _lists(_TOKEN_COLUMNS, Token)
        else:
            columns.append((name, _column_type(declared)))
    return pa.schema(columns)


def to_row(record: Record) -> dict[str, Any]:
    """Return the record as a row of its schema."""
    row = {field.name: getattr(record, field.name) for field in fields(record)}
    if isinstance(record, DiscourseTree):
        row["nodes"] = _flatten(row.pop("root"))
    elif isinstance(record, ParsedSentence):
        row |= zip(_WORD_COLUMNS, zip(*row.pop("words"), strict=True), strict=True)
        row |= zip(_TOKEN_COLUMNS, zip(*row.pop("tokens"), strict=True), strict=True)
    elif isinstance(record, Example):
        row["columns"] = list(record.columns.items())
    elif isinstance(record, Document):
        row["sections"] = [
            {"heading": section.heading, "level": section.level, "paragraphs": section.paragraphs}
            for section in record.sections
        ]
    return row


def from_row(kind: str, row: Mapping[str, Any]) -> Record:
    """Return the record of a row of ``record_schema(kind)``."""
    values = dict(row)
    if kind == "trees":
        values["root"] = _unflatten(values.pop("nodes"))
    elif kind == "parsed_sentences":
        values["words"] = tuple(map(Word, *map(values.pop, _WORD_COLUMNS)))
        values["tokens"] = tuple(map(Token, *map(values.pop, _TOKEN_COLUMNS)))
    elif kind == "examples":
        values |= {"texts": tuple(row["texts"]), "columns": dict(row["columns"])}
    elif kind == "documents":
        values["sections"] = [Section(**section) for section in row["sections"]]
    return _KINDS[kind](**values)


def _lists(columns: Sequence[str], kind: type) -> list[tuple[str, pa.DataType]]:
    """Return the columns of lists for the fields of a type, in their order."""
    types = get_type_hints(kind).values()
    return [(name, pa.list_(_column_type(of))) for name, of in zip(columns, types, strict=True)]


def _column_type(declared: Any) -> pa.DataType:
    """Return the type of the column for a declared type; None may stand in any column."""
    if declared in _COLUMN_TYPES:
        return _COLUMN_TYPES[declared]
    origin, parts = get_origin(declared), get_args(declared)
    if origin is Literal:
        return pa.string()
    if NoneType in parts:
        return _column_type(parts[0])
    if origin is Mapping:
        return pa.map_(*map(_column_type, parts))
    if origin in (Sequence, list, tuple):
        return pa.list_(_column_type(parts[0]))
    return pa.struct([(name, _column_type(of)) for name, of in get_type_hints(declared).items()])


def _flatten(root: DiscourseNode) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    waiting = [(root, -1, True)]
    while waiting:
        node, parent, nucleus = waiting.pop()
        edu = -1 if node.edu is None else node.edu
        here = len(rows)
        rows.append(_Node(parent, nucleus, node.relation, edu)._asdict())
        children = zip(node.children, node.nuclei, strict=True)
        waiting.extend(reversed([(child, here, is_nucleus) for child, is_nucleus in children]))
    return rows


def _unflatten(rows: Sequence[dict[str, Any]]) -> DiscourseNode:
    children: list[list[tuple[DiscourseNode, bool]]] = [[] for _ in rows]
    # In pre-order a parent precedes its children, so from the end every subtree is ready.
    for row, below in zip(reversed(rows), reversed(children), strict=True):
        if row["edu"] >= 0:
            node = DiscourseNode(edu=row["edu"])
        else:
            below.reverse()
            node = DiscourseNode(
                relation=row["relation"],
                children=tuple(child for child, _ in below),
                nuclei=tuple(nucleus for _, nucleus in below),
            )
        if row["parent"] < 0:
            return node
        children[row["parent"]].append((node, row["nucleus"]))
    raise ValueError("a tree without a root")
