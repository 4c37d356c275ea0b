"""Reads the .rs3 files of RSTTool into discourse trees.

A file is XML as RSTTool writes it (O'Donnell 2000, "RSTTool 2.4: a markup tool for Rhetorical
Structure Theory"), often without a declaration::

    <rst>
      <header><relations>
        <rel name="Preparación" type="rst"/>
        <rel name="Lista" type="multinuc"/>
      </relations></header>
      <body>
        <segment id="1" parent="4" relname="Preparación">Un título</segment>
        <segment id="2" parent="4" relname="Lista">Una frase</segment>
        <segment id="3" parent="4" relname="Lista">y otra.</segment>
        <group id="4" type="multinuc"/>
      </body>
    </rst>

Segments are the elementary discourse units (EDUs), in text order whatever their ids. A node whose
relname is ``span`` is the nucleus of its parent; one whose relname is a multinuclear relation is
one of several nuclei of its parent; any other is a satellite, and then its parent is the nucleus.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lxml import etree

from corpora_recipes.formats.treebanks import IrregularError, clean_text
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import DEEPEST_TREE, LARGEST_XML, MOST_NODES, read_whole

_DECLARATION = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']+)[\"']")


class CrossingError(RawError):
    """A relation of the file connects parts of text that are not adjacent."""


# Character sets among the encodings that files declare.
_CHARSET = re.compile(
    r"utf-?(?:8|16)|us-ascii|ascii|latin-?1|(?:iso-?)?8859-\d{1,2}|(?:windows|cp)-?\d{3,4}|koi8-\w"
    r"|mac-?roman|gb\w+|big5|euc-\w+|shift_jis",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class _Node:
    """A segment or group of the file; its children, in document order, are of two kinds."""

    where: str  # file, line and element, for messages
    type: str  # "segment", "span" or "multinuc"
    id: str
    parent_id: str | None
    relation: str  # its relname, "" without a parent
    text: str  # of a segment, "" in a group
    parent: "_Node | None" = None
    children: list["_Node"] = field(default_factory=list)
    nuclei: list["_Node"] = field(default_factory=list)
    satellites: list["_Node"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Span:
    """A complete subtree, the first and last EDU that it covers, and its depth in relations."""

    tree: DiscourseNode
    first: int
    last: int
    depth: int = 0


def read_rs3(path: Path) -> tuple[DiscourseTree, int]:
    """Read one RSTTool file.

    The tree is in constituent form. Several satellites of one nucleus attach one after the other:
    first those to its right, then those to its left, in both cases the nearest first, so that a
    title at the left relates to the whole text. The nuclei of a multinuclear group become the
    children of one node. A first segment without relations is a title outside the structure, and is
    left out.

    A relation name that the header declares with both types, without a type or not at all marks a
    nucleus if the parent is a multinuclear group, at least two of the group's children have that
    name, and no child has the name of a relation that can only be multinuclear; else a satellite.

    An id may be repeated if each reference fits only one node: ``span`` can only refer to a group,
    and the name of a multinuclear relation only to a multinuclear group.

    Args:
        path: an .rs3 file, in the encoding that it declares; without a declaration UTF-8 or, if it
            is not UTF-8, windows-1252.

    Returns:
        The tree with the name of the file as its id and without a split, and the number of titles
        that were left out, 0 or 1. EDUs are in NFC, with single spaces; C1 control characters are
        replaced by the windows-1252 characters of the same code (they come from windows-1252 text
        that was decoded as ISO-8859-1).
    """
    types, nodes = _parse(path)
    _link(nodes, types)
    roots = [node for node in nodes if node.parent is None]
    segments = [node for node in nodes if node.type == "segment"]
    titles = 0
    if len(roots) == 2 and segments[0] in roots and not segments[0].children:
        titles = 1
        title = segments.pop(0)
        nodes.remove(title)
        roots.remove(title)
    if len(roots) > 1:
        todo = "join the parts of the text in RSTTool, or delete the remaining parts"
        found = f"another one: {roots[0].where}"
        raise RawError(roots[1].where, "one node without a parent", found, todo)
    order = _from_root(roots, nodes)
    tree = _constituents(order, {id(node): edu for edu, node in enumerate(segments)})
    return DiscourseTree(path.stem, [node.text for node in segments], tree), titles


def _decode(path: Path) -> str:
    data = read_whole(path, LARGEST_XML).removeprefix(codecs.BOM_UTF8)
    declared = _DECLARATION.match(data)
    encodings = [declared[1].decode("latin-1")] if declared else ["utf-8", "cp1252"]
    for encoding in encodings:
        try:
            if not _CHARSET.fullmatch(encoding):
                raise LookupError  # such as punycode, whose time is quadratic
            return data.decode(encoding)
        except UnicodeDecodeError as error:
            found = f"byte 0x{data[error.start]:02X} at offset {error.start}"
        except LookupError:
            found = "an encoding of that name does not exist, or is not one of XML files"
    todo = "save the file as UTF-8, or correct the encoding that it declares"
    raise RawError(path, f"text in {' or '.join(encodings)}", found, todo)


def _parse(path: Path) -> tuple[dict[str, set[str]], list[_Node]]:
    """Return the types that the header gives each relation name, and the nodes of the body."""
    text = _decode(path)
    if "<!DOCTYPE" in text:
        # Entities can read other files or grow without bound.
        raise RawError(path, "no DOCTYPE", "a DOCTYPE", "delete it: RSTTool writes none")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise RawError(f"{path}:{error.lineno}", "well-formed XML", str(error.msg)) from None
    types: dict[str, set[str]] = {}
    for relation in root.iter("rel"):
        name = clean_text(relation.get("name", ""), path)
        types.setdefault(name, set()).add(relation.get("type", ""))
    nodes = [_node(element, path) for element in root.iter("segment", "group")]
    if len(nodes) > MOST_NODES:
        raise RawError(path, f"at most {MOST_NODES:,} segments and groups", f"{len(nodes):,}")
    if not any(node.type == "segment" for node in nodes):
        found = f"<{root.tag}> without a segment"
        raise RawError(path, "<rst> with a <body> of segments", found)
    return types, nodes


def _node(element: etree._Element, path: Path) -> _Node:
    where = f"{path}:{element.sourceline}: {element.tag} {element.get('id')}"
    kind = element.get("type", "") if element.tag == "group" else "segment"
    text = "".join(map(str, element.itertext())) if kind == "segment" else ""
    parent_id = element.get("parent")
    relation = "" if parent_id is None else clean_text(element.get("relname", ""), where)
    node = _Node(where, kind, element.get("id", ""), parent_id, relation, clean_text(text, where))
    for fits, expected, found in (
        (node.id, "an id", "none"),
        (kind in ("segment", "span", "multinuc"), "type span or multinuc", repr(kind)),
        (node.text or kind != "segment", "a text", "an empty segment"),
        (node.relation or parent_id is None, "a relname beside the parent", "none"),
    ):
        if not fits:
            raise RawError(where, expected, found)
    return node


def _link(nodes: Sequence[_Node], types: dict[str, set[str]]) -> None:
    """Set the parents of the nodes, and with them children, nuclei and satellites."""
    of_id: dict[str, list[_Node]] = {}
    for node in nodes:
        of_id.setdefault(node.id, []).append(node)
    for node in nodes:
        if node.parent_id is not None:
            node.parent = _parent(node, of_id.get(node.parent_id, []), types)
            node.parent.children.append(node)
    for node in nodes:
        names = Counter(child.relation for child in node.children)
        for child in node.children:
            nucleus = _is_nucleus(child.relation, node, names, types)
            (node.nuclei if nucleus else node.satellites).append(child)


def _parent(node: _Node, candidates: Sequence[_Node], types: dict[str, set[str]]) -> _Node:
    """Return the only node among those of an id that can be the parent."""
    fitting = ["multinuc"]
    if types.get(node.relation) != {"multinuc"}:
        fitting = ["span", *fitting] if node.relation == "span" else ["segment", "span", *fitting]
    parents = [candidate for candidate in candidates if candidate.type in fitting]
    if len(parents) != 1:
        what = f"one parent {node.parent_id!r} of type {' or '.join(fitting)}"
        found = ", ".join(f"{n.where} ({n.type})" for n in candidates) or "no such node"
        raise RawError(node.where, f"for relname {node.relation!r} {what}", found)
    return parents[0]


def _is_nucleus(
    relation: str, parent: _Node, siblings: Counter[str], types: dict[str, set[str]]
) -> bool:
    declared = types.get(relation)
    if relation == "span" or declared == {"multinuc"}:
        return True
    if declared == {"rst"} or parent.type != "multinuc":
        return False
    certain = any(name == "span" or types.get(name) == {"multinuc"} for name in siblings)
    return siblings[relation] > 1 and not certain


def _from_root(roots: Sequence[_Node], nodes: Sequence[_Node]) -> list[_Node]:
    """Return the nodes so that each comes before its children."""
    order = list(roots)
    for node in order:  # the list grows while it is walked through
        order.extend(node.children)
    if len(order) < len(nodes):
        reached = set(map(id, order))
        node = next(node for node in nodes if id(node) not in reached)
        seen: dict[int, _Node] = {}
        while id(node) not in seen:
            seen[id(node)] = node
            assert node.parent is not None  # only the root has no parent, and it was reached
            node = node.parent
        cycle = list(seen.values())[list(seen).index(id(node)) :]
        found = f"a cycle of {' → '.join(n.id for n in [*cycle, node])}"
        raise RawError(node.where, "parents that lead to one root", found)
    return order


def _constituents(order: Sequence[_Node], edus: dict[int, int]) -> DiscourseNode:
    """Join the nodes, ordered before their children, to constituents, bottom up."""
    spans: dict[int, _Span] = {}
    for node in reversed(order):
        span = _core(node, spans, edus)
        for relation, satellite in _attached(node, spans, span):
            span = _join(node, relation, [(span, True), (satellite, False)])
        spans[id(node)] = span
    return spans[id(order[0])].tree


def _core(node: _Node, spans: dict[int, _Span], edus: dict[int, int]) -> _Span:
    """Return the span of a node without its satellites."""
    if node.type == "segment":
        edu = edus[id(node)]
        return _Span(DiscourseNode(edu=edu), edu, edu)
    relations = Counter(nucleus.relation for nucleus in node.nuclei)
    if relations == {"span": 1}:
        return spans[id(node.nuclei[0])]
    if len(relations) != 1 or relations["span"] or len(node.nuclei) < 2:
        expected = "one nucleus by `span`, or two or more by one multinuclear relation"
        found = ", ".join(f"{n} × {name}" for name, n in sorted(relations.items())) or "none"
        raise IrregularError(node.where, expected, found)
    nuclei = [(spans[id(nucleus)], True) for nucleus in node.nuclei]
    return _join(node, node.nuclei[0].relation, nuclei)


def _attached(node: _Node, spans: dict[int, _Span], core: _Span) -> Iterator[tuple[str, _Span]]:
    """Yield relation and span of the satellites in the order of attachment."""
    satellites = [(s.relation, spans[id(s)]) for s in node.satellites]
    satellites.sort(key=lambda s: s[1].first)
    yield from (s for s in satellites if s[1].first > core.first)
    yield from (s for s in reversed(satellites) if s[1].first < core.first)


def _join(node: _Node, relation: str, parts: list[tuple[_Span, bool]]) -> _Span:
    parts = sorted(parts, key=lambda part: part[0].first)
    for (left, _), (right, _) in pairwise(parts):
        if left.last + 1 != right.first:
            edus = f"EDUs {left.first + 1}–{left.last + 1} and {right.first + 1}–{right.last + 1}"
            raise CrossingError(node.where, f"adjacent parts for {relation}", edus)
    depth = 1 + max(span.depth for span, _ in parts)
    if depth > DEEPEST_TREE:
        expected = f"a tree of at most {DEEPEST_TREE} relations in each other"
        raise RawError(node.where, expected, "a deeper one")
    children = tuple(span.tree for span, _ in parts)
    nuclei = tuple(nucleus for _, nucleus in parts)
    joined = DiscourseNode(relation=relation, children=children, nuclei=nuclei)
    return _Span(joined, parts[0][0].first, parts[-1][0].last, depth)
