"""The form of records as Parquet rows."""

from collections.abc import Callable, Sequence
from typing import Any

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


def document_schema() -> pa.Schema:
    """Return the pyarrow schema of documents."""
    sentences = pa.list_(pa.string())
    section = pa.struct(
        [("heading", pa.string()), ("level", pa.int32()), ("paragraphs", pa.list_(sentences))]
    )
    return pa.schema(
        [
            ("id", pa.string()),
            ("title", pa.string()),
            ("topics", pa.list_(pa.string())),
            ("sections", pa.list_(section)),
            ("split", pa.string()),
            ("summary", sentences),
        ]
    )


def dialogue_schema() -> pa.Schema:
    """Return the pyarrow schema of dialogues."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("title", pa.string()),
            ("conversations", pa.list_(pa.list_(pa.string()))),
            ("split", pa.string()),
        ]
    )


def tree_schema() -> pa.Schema:
    """Return the pyarrow schema of discourse trees; nodes are in pre-order.

    ``parent`` is the index of the parent node (-1 for the root), ``edu`` the index of the EDU in a
    leaf (-1 in an inner node).
    """
    node = pa.struct(
        [
            ("parent", pa.int32()),
            ("nucleus", pa.bool_()),
            ("relation", pa.string()),
            ("edu", pa.int32()),
        ]
    )
    return pa.schema(
        [
            ("id", pa.string()),
            ("edus", pa.list_(pa.string())),
            ("nodes", pa.list_(node)),
            ("split", pa.string()),
        ]
    )


def example_schema() -> pa.Schema:
    """Return the pyarrow schema of examples."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("collection", pa.string()),
            ("texts", pa.list_(pa.string())),
            ("label", pa.string()),
            ("score", pa.float64()),
            ("document_id", pa.string()),
            ("columns", pa.map_(pa.string(), pa.string())),
            ("split", pa.string()),
        ]
    )


def parsed_sentence_schema() -> pa.Schema:
    """Return the pyarrow schema of parsed sentences: a list for each field of words and tokens."""
    texts, numbers = pa.list_(pa.string()), pa.list_(pa.int32())
    return pa.schema(
        [
            ("id", pa.string()),
            ("treebank", pa.string()),
            ("document_id", pa.string()),
            ("forms", texts),
            ("lemmas", texts),
            ("upos", texts),
            ("features", texts),
            ("heads", numbers),
            ("relations", texts),
            ("tokens", texts),
            ("token_words", numbers),
            ("spaces_after", pa.list_(pa.bool_())),
            ("licence", pa.string()),
            ("split", pa.string()),
        ]
    )


def record_schema(kind: str) -> pa.Schema:
    """Return the schema of a kind of records, as corpus.yaml names it."""
    return _KINDS[kind][0]()


def from_row(kind: str, row: dict[str, Any]) -> Record:
    """Return the record of a row of ``record_schema(kind)``."""
    return _KINDS[kind][1](row)


def to_row(record: Record) -> dict[str, Any]:
    """Return the record as a row of its schema."""
    if isinstance(record, DiscourseTree):
        return {
            "id": record.id,
            "edus": list(record.edus),
            "nodes": _flatten(record.root),
            "split": record.split,
        }
    if isinstance(record, Example):
        return {
            "id": record.id,
            "collection": record.collection,
            "texts": list(record.texts),
            "label": record.label,
            "score": record.score,
            "document_id": record.document_id,
            "columns": list(record.columns.items()),
            "split": record.split,
        }
    if isinstance(record, ParsedSentence):
        words = zip(_WORD_COLUMNS, zip(*record.words, strict=True), strict=True)
        tokens = zip(_TOKEN_COLUMNS, zip(*record.tokens, strict=True), strict=True)
        return {
            "id": record.id,
            "treebank": record.treebank,
            "document_id": record.document_id,
            **dict(words),
            **dict(tokens),
            "licence": record.licence,
            "split": record.split,
        }
    if isinstance(record, Dialogue):
        return {
            "id": record.id,
            "title": record.title,
            "conversations": [list(turns) for turns in record.conversations],
            "split": record.split,
        }
    sections = [
        {"heading": s.heading, "level": s.level, "paragraphs": s.paragraphs}
        for s in record.sections
    ]
    return {
        "id": record.id,
        "title": record.title,
        "topics": list(record.topics),
        "sections": sections,
        "split": record.split,
        "summary": list(record.summary),
    }


def document_from_row(row: dict[str, Any]) -> Document:
    """Return the document of a row of ``document_schema``."""
    sections = [Section(s["heading"], s["level"], s["paragraphs"]) for s in row["sections"]]
    return Document(row["id"], row["title"], row["topics"], sections, row["split"], row["summary"])


def dialogue_from_row(row: dict[str, Any]) -> Dialogue:
    """Return the dialogue of a row of ``dialogue_schema``."""
    return Dialogue(row["id"], row["title"], row["conversations"], row["split"])


def tree_from_row(row: dict[str, Any]) -> DiscourseTree:
    """Return the discourse tree of a row of ``tree_schema``."""
    return DiscourseTree(row["id"], row["edus"], _unflatten(row["nodes"]), row["split"])


def example_from_row(row: dict[str, Any]) -> Example:
    """Return the example of a row of ``example_schema``."""
    fields = row | {"texts": tuple(row["texts"]), "columns": dict(row["columns"])}
    return Example(**fields)


def parsed_sentence_from_row(row: dict[str, Any]) -> ParsedSentence:
    """Return the parsed sentence of a row of ``parsed_sentence_schema``."""
    return ParsedSentence(
        row["id"],
        row["treebank"],
        row["document_id"],
        tuple(map(Word, *(row[column] for column in _WORD_COLUMNS))),
        tuple(map(Token, *(row[column] for column in _TOKEN_COLUMNS))),
        row["licence"],
        row["split"],
    )


# In the order of the fields of ``Word`` and ``Token``.
_WORD_COLUMNS = ("forms", "lemmas", "upos", "features", "heads", "relations")
_TOKEN_COLUMNS = ("tokens", "token_words", "spaces_after")
_KINDS: dict[str, tuple[Callable[[], pa.Schema], Callable[[dict[str, Any]], Record]]] = {
    "documents": (document_schema, document_from_row),
    "dialogues": (dialogue_schema, dialogue_from_row),
    "trees": (tree_schema, tree_from_row),
    "examples": (example_schema, example_from_row),
    "parsed_sentences": (parsed_sentence_schema, parsed_sentence_from_row),
}


def _flatten(root: DiscourseNode) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    todo = [(root, -1, True)]
    while todo:
        node, parent, nucleus = todo.pop()
        edu = -1 if node.edu is None else node.edu
        rows.append({"parent": parent, "nucleus": nucleus, "relation": node.relation, "edu": edu})
        here = len(rows) - 1
        children = zip(node.children, node.nuclei, strict=True)
        todo.extend(reversed([(child, here, is_nucleus) for child, is_nucleus in children]))
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
