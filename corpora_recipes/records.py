"""The kinds of records, and their form as Parquet rows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import pyarrow as pa

Split = Literal["train", "validation", "test"]
Kind = Literal["documents", "dialogues", "trees", "examples"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
# The key of a file of records under which its window is, as JSON, if there is one.
WINDOW = b"probeta_window"
# And how to get its corpus, if people must ask for it and it is not there.
MISSING = b"probeta_missing"


@dataclass(frozen=True, slots=True)
class Window:
    """When the documents of a corpus were made.

    Attributes:
        after: the day after which, as in 2026-01-01.
        until: the last day; "" if it is not known.
        uncertain_days: how far from ``after`` a document may have been judged wrongly.
        known_by: how this is known, in words.
    """

    after: str
    until: str
    uncertain_days: int
    known_by: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under one heading.

    Attributes:
        heading: its heading, "" for text before the first heading.
        level: depth of the heading, 1 for text before the first heading (the lead, or the whole
            of a document without headings), 2 for a section, 3 for a subsection …
        paragraphs: the paragraphs of running prose, each a list of sentences in natural text.
            Lists, tables and captions are not prose and are left out. The sentences of a section
            are neighbours in the source: at a dropped sentence the section ends, and the rest is
            another section of the same heading and level (so a section is empty if its first
            sentence was dropped).
    """

    heading: str
    level: int
    paragraphs: Sequence[Sequence[str]]


def split_at_drops(
    heading: str, level: int, paragraphs: Sequence[Sequence[str | None]]
) -> list[Section]:
    """Return the sections that a section is split into at its dropped sentences.

    Args:
        heading: of the section.
        level: of the section.
        paragraphs: its sentences, with None for a dropped one.

    Returns:
        The sections between drops, without empty ones; only an empty first section is kept, to
        show that the next is not the beginning of the text. Nothing if no sentence is left.
    """
    if not any(None in paragraph for paragraph in paragraphs):
        whole = cast("list[list[str]]", [paragraph for paragraph in paragraphs if paragraph])
        return [Section(heading, level, whole)] if whole else []
    pieces: list[list[list[str]]] = [[]]
    for paragraph in paragraphs:
        pieces[-1].append([])
        for sentence in paragraph:
            if sentence is None:
                pieces.append([[]])
            else:
                pieces[-1][-1].append(sentence)
    kept = [[sentences for sentences in piece if sentences] for piece in pieces]
    if not any(kept):
        return []
    sections = [Section(heading, level, piece) for piece in kept]
    return [section for section in sections if section.paragraphs or section is sections[0]]


@dataclass(frozen=True, slots=True)
class Document:
    """A text of sections, paragraphs and sentences.

    Attributes:
        id: stable and unique in its corpus.
        title: its title, "" if it has none.
        topics: categories, subjects or keywords, in the order of the source.
        sections: in the order of the text.
        split: the corpus's split; None if the corpus has no splits (the split is then decided by
            keyed hash when the records are written).
        summary: the sentences of a summary above the text, such as the subhead of a news item or
            the abstract of a paper; they are not in the sections.
    """

    id: str
    title: str
    topics: Sequence[str]
    sections: Sequence[Section]
    split: Split | None = None
    summary: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The dialogue of a film, a book or a similar work.

    Attributes:
        id: stable and unique in its corpus.
        title: its title, "" if it has none.
        conversations: each a list of turns (what one speaker says, in natural text) that follow
            each other in the source; at a dropped turn the conversation ends.
        split: the corpus's split; None if the corpus has no splits.
    """

    id: str
    title: str
    conversations: Sequence[Sequence[str]]
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class DiscourseNode:
    """A node of a discourse tree in constituent form: every child covers adjacent text.

    A leaf is one elementary discourse unit (EDU). An inner node joins its children by one
    relation: one nucleus and one satellite, or two or more nuclei of a multinuclear relation.

    Attributes:
        edu: index of the EDU if the node is a leaf, else None.
        relation: the relation's name in the corpus's spelling, "" in a leaf.
        children: in text order; empty in a leaf, two or more otherwise.
        nuclei: for each child whether it is a nucleus.
    """

    edu: int | None = None
    relation: str = ""
    children: tuple["DiscourseNode", ...] = ()
    nuclei: tuple[bool, ...] = ()

    def edus(self) -> list[int]:
        """Return the indices of the EDUs that the node covers, in text order."""
        # Not recursive: a multinuclear list can be deep once it is nested.
        edus: list[int] = []
        todo = [self]
        while todo:
            node = todo.pop()
            if node.edu is not None:
                edus.append(node.edu)
            todo.extend(reversed(node.children))
        return edus


@dataclass(frozen=True, slots=True)
class DiscourseTree:
    """A text with its rhetorical structure.

    Attributes:
        id: stable and unique in its corpus.
        edus: the elementary discourse units in text order.
        root: covers every EDU exactly once.
        split: the corpus's split, or None.
    """

    id: str
    edus: Sequence[str]
    root: DiscourseNode
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A text, or a pair of texts, with a label or a score from people or from a rule.

    Attributes:
        id: stable and unique in its corpus.
        collection: the name of its collection in corpus.yaml.
        texts: one, or the two of a pair, in natural text.
        label: its class as corpus.yaml names it; None if it only has a score.
        score: on the collection's scale; None if it only has a label.
        document_id: an id that dependent examples share, such as the hypotheses of one premise;
            otherwise the example's id.
        columns: further columns of the source, by their names in corpus.yaml.
        split: the source's part; None if the source has no parts.
    """

    id: str
    collection: str
    texts: tuple[str, ...]
    label: str | None
    score: float | None
    document_id: str
    columns: Mapping[str, str] = field(default_factory=dict)
    split: Split | None = None


Record = Document | Dialogue | DiscourseTree | Example


@dataclass(slots=True)
class Drops:
    """Numbers of items seen, and of items dropped by reason.

    Units are ``record_unit`` of the corpus, those of ``contents``, and others of which nothing
    is kept, such as pieces of boilerplate.

    Attributes:
        seen: unit ("documents", "sentences" …) to the number seen.
        dropped: (unit, reason) to the number dropped.
    """

    seen: Counter[str] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: "Drops") -> None:
        """Add the counts of another part of the same corpus."""
        self.seen.update(other.seen)
        self.dropped.update(other.dropped)

    def kept(self, unit: str) -> int:
        """Return the number of items of a unit that were seen and not dropped."""
        return self.seen[unit] - sum(n for (own, _), n in self.dropped.items() if own == unit)

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return unit to {"seen", "kept", "dropped": {reason: count}}, sorted by name."""
        units = sorted(set(self.seen) | {unit for unit, _ in self.dropped})
        table = {}
        for unit in units:
            reasons = {r: n for (u, r), n in sorted(self.dropped.items()) if u == unit}
            table[unit] = {
                "seen": self.seen[unit],
                "kept": self.kept(unit),
                "dropped": reasons,
            }
        return table


def record_unit(kind: Kind) -> str:
    """Return the unit in which records of a kind are counted: "documents" or "examples"."""
    return "examples" if kind == "examples" else "documents"


# The units in which recipes count what records of a kind hold.
CONTENTS: dict[Kind, tuple[str, ...]] = {
    "documents": ("sentences", "summary_sentences"),
    "dialogues": ("turns",),
    "trees": ("edus",),
    "examples": ("texts",),
}


def contents(record: Record) -> dict[str, int]:
    """Return what a record holds: the units of ``CONTENTS`` to their numbers."""
    if isinstance(record, DiscourseTree):
        return {"edus": len(record.edus)}
    if isinstance(record, Example):
        return {"texts": len(record.texts)}
    if isinstance(record, Dialogue):
        return {"turns": sum(map(len, record.conversations))}
    sentences = sum(len(paragraph) for s in record.sections for paragraph in s.paragraphs)
    return {"sentences": sentences, "summary_sentences": len(record.summary)}


def document_schema() -> "pa.Schema":
    """Return the pyarrow schema of documents."""
    import pyarrow as pa

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


def dialogue_schema() -> "pa.Schema":
    """Return the pyarrow schema of dialogues."""
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("title", pa.string()),
            ("conversations", pa.list_(pa.list_(pa.string()))),
            ("split", pa.string()),
        ]
    )


def tree_schema() -> "pa.Schema":
    """Return the pyarrow schema of discourse trees; nodes are in pre-order.

    ``parent`` is the index of the parent node (-1 for the root), ``edu`` the index of the EDU in a
    leaf (-1 in an inner node).
    """
    import pyarrow as pa

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


def example_schema() -> "pa.Schema":
    """Return the pyarrow schema of examples."""
    import pyarrow as pa

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


def record_schema(kind: str) -> "pa.Schema":
    """Return the schema of records: of documents, dialogues, trees or examples (corpus.yaml)."""
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


_KINDS: dict[str, tuple[Callable[[], "pa.Schema"], Callable[[dict[str, Any]], Record]]] = {
    "documents": (document_schema, document_from_row),
    "dialogues": (dialogue_schema, dialogue_from_row),
    "trees": (tree_schema, tree_from_row),
    "examples": (example_schema, example_from_row),
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
