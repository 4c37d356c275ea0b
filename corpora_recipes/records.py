"""Records, the output of recipes: documents, dialogues, trees, examples, parsed sentences.

As Parquet rows, their columns are their fields, with two exceptions: the nodes of a discourse tree
are a list in pre-order, and each field of the words and tokens of a parsed sentence is a column of
lists.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import pyarrow as pa

from corpora_recipes.hashing import keyed_uniform
from corpora_recipes.running.errors import MAX_FAULTS, RawError

T = TypeVar("T")
Split = Literal["train", "validation", "test"]
Kind = Literal["documents", "dialogues", "trees", "examples", "parsed_sentences"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
# Between the ids of two documents that one example depends on, such as the pairs of an analogy.
TWO_DOCUMENTS = "␟"
# 60/20/20, as in Araujo et al. (2022), Appendix A, for corpora without a split.
TRAIN, VALIDATION = 0.6, 0.8


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
    filled = [[sentences for sentences in piece if sentences] for piece in pieces]
    if not any(filled):
        return []
    sections = [Section(heading, level, piece) for piece in filled]
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
        stack = [self]
        while stack:
            node = stack.pop()
            if node.edu is not None:
                edus.append(node.edu)
            stack.extend(reversed(node.children))
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
        id: stable and unique in its corpus; of examples with the same id, `read` keeps one.
        collection: the name of its collection in corpus.yaml.
        texts: one, or the two of a pair, in natural text.
        label: its class as corpus.yaml names it; None if it only has a score.
        score: on the collection's scale; None if it only has a label.
        document_id: an id that dependent examples share, such as the hypotheses of one premise;
            otherwise the example's id.
        columns: further columns of the source, by the names under which corpus.yaml describes them.
        split: the source's part; None if the source has no parts: `build` then gives the rows
            folds, by keyed hash. A part that the recipe makes up would be called the source's.
    """

    id: str
    collection: str
    texts: tuple[str, ...]
    label: str | None = None
    score: float | None = None
    document_id: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    split: Split | None = None

    def __post_init__(self) -> None:
        if not self.document_id:
            object.__setattr__(self, "document_id", self.id)


class Word(NamedTuple):
    """A syntactic word of a parsed sentence, as Universal Dependencies define it.

    Attributes:
        form: as written; of a part of a multiword token, as annotated ("de" and "el" of "del").
        lemma: "" if it is not annotated.
        upos: universal part of speech, such as "NOUN"; "" if it is not annotated.
        features: morphological features, such as "Gender=Fem|Number=Sing", or "".
        head: number of its head in the sentence, from 1; 0 for the root.
        relation: to its head, with the subtype: "nsubj:pass".
    """

    form: str
    lemma: str
    upos: str
    features: str
    head: int
    relation: str

    def feature(self, name: str) -> str:
        """Return the value of a feature, such as "Sing" for "Number"; "" if the word lacks it."""
        _, _, rest = f"|{self.features}".partition(f"|{name}=")
        return rest.partition("|")[0]


class Token(NamedTuple):
    """A token as the text shows it: one word, or several written as one ("del" = de + el).

    Attributes:
        form: as written.
        words: how many words it covers, 1 or more.
        space_after: whether a space follows; False at the end of the sentence.
    """

    form: str
    words: int
    space_after: bool


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence with its dependency tree.

    Attributes:
        id: stable and unique in its corpus; it begins with the treebank, as in "es_gsd/s1".
        treebank: its treebank, such as "es_gsd".
        document_id: of the document that it comes from; unique in its corpus.
        words: the words in their order; exactly one is the root, and there are no cycles.
        tokens: the tokens in their order; together they cover each word once.
        licence: of its treebank.
        split: the treebank's part, or where its document was put.
    """

    id: str
    treebank: str
    document_id: str
    words: tuple[Word, ...]
    tokens: tuple[Token, ...]
    licence: str
    split: Split

    @property
    def text(self) -> str:
        """The natural text, with single spaces."""
        return text_of(self.tokens)


def text_of(tokens: Iterable[Token]) -> str:
    """Return the natural text of some tokens, without a space at the end."""
    return "".join(f"{form} " if space else form for form, _, space in tokens).rstrip(" ")


Record = Document | Dialogue | DiscourseTree | Example | ParsedSentence


class Place(Protocol):
    """What knows its place in a raw file, such as a line; an error about it, too."""

    @property
    def where(self) -> str:
        """The file and the line, for messages."""


@dataclass(slots=True)
class Drops:
    """Numbers of items seen, and of items dropped by reason.

    Units are ``record_unit`` of the corpus, those of ``CONTENTS``, and others of which nothing is
    kept, such as pieces of boilerplate.

    Attributes:
        seen: unit ("documents", "sentences" …) to the number seen.
        dropped: (unit, reason) to the number dropped.
        places: (unit, reason) to the places of the first ``MAX_FAULTS``, as far as they are known;
            of what cannot be read, the errors.
    """

    seen: Counter[str] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: dict[tuple[str, str], list[Place | str]] = field(default_factory=dict)

    def add(self, other: "Drops") -> None:
        """Add the counts of another part of the same corpus."""
        self.seen.update(other.seen)
        self.dropped.update(other.dropped)
        for key, places in other.places.items():
            first = self.places.setdefault(key, [])
            first += places[: MAX_FAULTS - len(first)]

    def drop(self, unit: str, reason: str, place: Place | str = "") -> None:
        """Count an item, which was counted as seen, as dropped."""
        self.dropped[unit, reason] += 1
        first = self.places.setdefault((unit, reason), [])
        if place and len(first) < MAX_FAULTS:
            first.append(place)

    def faults(self, unit: str = "", reason: str = "") -> list[RawError]:
        """Return the first errors of items that cannot be read: all, or of a unit and a reason."""
        listed = self.places.items()
        chosen = (places for key, places in listed if not unit or key == (unit, reason))
        return [place for places in chosen for place in places if isinstance(place, RawError)]

    def sift(self, unit: str, text: str, reason: str | None) -> str | None:
        """Count a text as seen and return it; if there is a reason, count it as dropped: None."""
        self.seen[unit] += 1
        if not reason:
            return text
        self.dropped[unit, reason] += 1
        return None

    def kept(self, unit: str) -> int:
        """Return the number of items of a unit that were seen and not dropped."""
        return self.seen[unit] - sum(n for (of, _), n in self.dropped.items() if of == unit)

    def facts(self) -> dict[str, Any]:
        """Return all as JSON; of an error its parts, of another place its name."""
        places = [
            [*key, [p.args if isinstance(p, RawError) else getattr(p, "where", p) for p in of]]
            for key, of in self.places.items()
        ]
        dropped = [[*key, n] for key, n in self.dropped.items()]
        return {"seen": self.seen, "dropped": dropped, "places": places}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "Drops":
        """Return what ``facts`` returned, with places as text."""
        places: dict[tuple[str, str], list[Place | str]] = {
            (unit, reason): [p if isinstance(p, str) else RawError(*p) for p in of]
            for unit, reason, of in facts["places"]
        }
        dropped = {(unit, reason): n for unit, reason, n in facts["dropped"]}
        return cls(Counter(facts["seen"]), Counter(dropped), places)

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return unit to {"seen", "kept", "dropped": {reason: count}}, sorted by name."""
        units = sorted(set(self.seen) | {unit for unit, _ in self.dropped})
        table = {}
        for unit in units:
            reasons = {r: n for (u, r), n in sorted(self.dropped.items()) if u == unit}
            table[unit] = {"seen": self.seen[unit], "kept": self.kept(unit), "dropped": reasons}
        return table


def record_unit(kind: str) -> str:
    """Return the unit in which records of a kind are counted, such as "documents"."""
    return {"examples": "examples", "parsed_sentences": "sentences"}.get(kind, "documents")


def decide_split(seed: int, corpus: str, document_id: str) -> Split:
    """Return the split of a document, for a corpus without splits.

    It depends only on the document's id: no other document can change it.
    """
    point = keyed_uniform(seed, corpus, document_id, "split")
    return "train" if point < TRAIN else "validation" if point < VALIDATION else "test"


def link_groups(
    groups: Sequence[Sequence[T]], keys: Callable[[T], Iterable[int]], max_size: int
) -> list[list[T]]:
    """Return groups of items, merged if items of them have a key in common, such as a sentence.

    The rarest keys link first. One that would make a group of more than ``max_size`` items links
    nothing, so that a sentence of very many documents does not put them all into one part.
    """
    groups_of_key: dict[int, set[int]] = {}
    for number, group in enumerate(groups):
        for key in {key for item in group for key in keys(item)}:
            groups_of_key.setdefault(key, set()).add(number)
    merged = {number: [number] for number in range(len(groups))}
    for _, numbers in sorted(groups_of_key.items(), key=lambda entry: (len(entry[1]), entry[0])):
        joined = sorted({member for number in numbers for member in merged[number]})
        if sum(len(groups[number]) for number in joined) <= max_size:
            merged |= dict.fromkeys(joined, joined)
    return [
        [item for number in numbers for item in groups[number]]
        for first, numbers in merged.items()
        if numbers[0] == first
    ]


def connected_groups(
    items: Iterable[T], keys: Callable[[T], Iterable[Hashable]], max_merged: float = math.inf
) -> list[list[T]]:
    """Return the connected components of items, which are linked by equal keys (union-find).

    An item that would merge several groups into one of more than ``max_merged`` is left out.
    """
    parent: dict[Hashable, Hashable] = {}
    groups: dict[Hashable, list[T]] = {}

    def find_root(key: Hashable) -> Hashable:
        while (above := parent.setdefault(key, key)) != key:
            parent[key] = key = parent[above]
        return key

    for item in items:
        roots = dict.fromkeys(map(find_root, keys(item)))
        to_merge = [groups[root] for root in roots if root in groups]
        if len(to_merge) > 1 and sum(map(len, to_merge)) >= max_merged:
            continue
        new_root, *old_roots = roots
        parent |= dict.fromkeys(old_roots, new_root)
        groups[new_root] = [*(member for group in to_merge for member in group), item]
        for root in old_roots:
            groups.pop(root, None)
    return list(groups.values())


# The units in which recipes count what records of a kind hold.
CONTENTS: dict[Kind, tuple[str, ...]] = {
    "documents": ("sentences", "summary_sentences"),
    "dialogues": ("turns",),
    "trees": ("edus",),
    "examples": ("texts",),
    "parsed_sentences": (),
}


def count_contents(record: Record) -> dict[str, int]:
    """Return what a record holds: the units of ``CONTENTS`` to their numbers."""
    if isinstance(record, DiscourseTree):
        return {"edus": len(record.edus)}
    if isinstance(record, Example):
        return {"texts": len(record.texts)}
    if isinstance(record, ParsedSentence):
        return {}
    if isinstance(record, Dialogue):
        return {"turns": sum(map(len, record.conversations))}
    sentences = sum(len(paragraph) for s in record.sections for paragraph in s.paragraphs)
    return {"sentences": sentences, "summary_sentences": len(record.summary)}


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
            columns += _list_columns(_WORD_COLUMNS, Word)
        elif name == "tokens":
            columns += _list_columns(_TOKEN_COLUMNS, Token)
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


def _list_columns(columns: Sequence[str], kind: type) -> list[tuple[str, pa.DataType]]:
    """Return the columns of lists for the fields of a type, in their order."""
    types = get_type_hints(kind).values()
    return [(name, pa.list_(_column_type(t))) for name, t in zip(columns, types, strict=True)]


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
    return pa.struct([(name, _column_type(t)) for name, t in get_type_hints(declared).items()])


def _flatten(root: DiscourseNode) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    stack = [(root, -1, True)]
    while stack:
        node, parent, nucleus = stack.pop()
        edu = -1 if node.edu is None else node.edu
        index = len(rows)
        rows.append(_Node(parent, nucleus, node.relation, edu)._asdict())
        children = zip(node.children, node.nuclei, strict=True)
        stack.extend(reversed([(child, index, is_nucleus) for child, is_nucleus in children]))
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
