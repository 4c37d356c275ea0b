"""Reads the .dis files of the RST Discourse Treebank, and of GUM, into discourse trees.

A file is one S-expression (Carlson, Marcu and Okurowski 2001, "Building a discourse-tagged corpus
in the framework of Rhetorical Structure Theory"; GUM writes the same in UTF-8)::

    ( Root (span 1 3)
      ( Satellite (leaf 1) (rel2par circumstance) (text _!When it rains,_!) )
      ( Nucleus (span 2 3) (rel2par span)
        ( Nucleus (leaf 2) (rel2par List) (text _!the market closes_!) )
        ( Nucleus (leaf 3) (rel2par List) (text _!and people go home.<P>_!) )
      )
    )

``rel2par`` of a satellite, or of each nucleus of a multinuclear relation, names the relation;
``span`` marks the nucleus of a mononuclear one. A text stands between ``_!`` and ``_!``, and may
hold parentheses, quotation marks that are never closed, and marks of sentence (``<s>``) and
paragraph (``<P>``). Some lines of the RST Discourse Treebank end in ``//TT_ERR``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora_recipes.formats.treebanks import IrregularError, read_text
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import DEEPEST_TREE, is_number
from corpora_recipes.text.cleaning import nfc

_TOKEN = re.compile(r"_!(?P<text>.*?)_!|//TT_ERR|[()]|[^\s()]+", re.DOTALL)
_MARK = re.compile(r"<[sSpP]>")
_ROLES = ("Root", "Nucleus", "Satellite")


@dataclass(slots=True)
class _Node:
    """A node of the file, with its children in text order."""

    line: int  # of its parenthesis
    role: str  # one of _ROLES
    first: int = 0  # number of its first EDU, from 1; 0 as long as it is unknown
    last: int = 0
    relation: str = ""  # its rel2par
    text: str = ""  # of a leaf
    children: list["_Node"] = field(default_factory=list)


def read_dis(path: Path) -> DiscourseTree:
    """Read one .dis file.

    Nuclei of a multinuclear relation become the children of one node. Several satellites of one
    nucleus attach one after the other, as in ``read_rs3``: first those to its right, then those to
    its left, the nearest first.

    Returns:
        The tree with the name of the file as its id and without a split. EDUs are in NFC, with
        single spaces, and without marks of sentences and paragraphs; relations are as written.
    """
    root = _parse(read_text(path).removeprefix("\ufeff"), path)
    nodes = list(_preorder(root))
    edus: list[str] = []
    made: dict[int, DiscourseNode] = {}
    depths: dict[int, int] = {}
    for node in nodes:
        if bool(node.text) == bool(node.children):
            found = "both" if node.text else "neither"
            raise _error(path, node.line, "a node with a text or with nodes", found)
        if node.text:
            made[id(node)] = DiscourseNode(edu=len(edus))
            edus.append(node.text)
            _check_span(node, len(edus), len(edus), path)
    for node in reversed(nodes):
        if node.children:
            _check_span(node, node.children[0].first, node.children[-1].last, path)
            made[id(node)] = _joined(node, made, path)
            below = max(depths.get(id(child), 0) for child in node.children)
            depths[id(node)] = below + (1 if all(made[id(node)].nuclei) else len(node.children) - 1)
            if depths[id(node)] > DEEPEST_TREE:
                expected = f"a tree of at most {DEEPEST_TREE} relations in each other"
                raise _error(path, node.line, expected, "a deeper one")
    return DiscourseTree(path.stem, edus, made[id(root)])


def _parse(text: str, path: Path) -> _Node:
    """Return the root of the nodes, with what the file says of each."""
    roots: list[_Node] = []
    above: list[_Node] = []
    line, position = 1, 0
    expression: list[str] | None = None  # an open (span …), (leaf …), (rel2par …) or (text …)
    opened = False
    for token in _TOKEN.finditer(text):
        line += text.count("\n", position, token.start())
        position = token.start()
        word = token[0]
        if word == "//TT_ERR":
            continue
        if word == "(":
            if opened or expression is not None:
                raise _error(path, line, "a name after the parenthesis", "another parenthesis")
            opened = True
        elif opened:
            opened = False
            if word not in _ROLES:
                expression = [word]
                continue
            node = _Node(line, word)
            (above[-1].children if above else roots).append(node)
            above.append(node)
        elif word != ")":
            if expression is None:
                raise _error(path, line, "a parenthesis", repr(word[:40]))
            expression.append(word if token["text"] is None else token["text"])
        elif expression is not None:
            if not above:
                raise _error(path, line, "a node around", f"({' '.join(expression)[:40]})")
            _set(above[-1], expression, path, line)
            expression = None
        elif above:
            above.pop()
        else:
            raise _error(path, line, "as many parentheses closed as opened", "one closed too many")
    if above or opened or expression is not None:
        where = above[-1].line if above else line
        raise _error(path, where, "as many parentheses closed as opened", "one that stays open")
    if len(roots) != 1 or roots[0].role != "Root":
        found = ", ".join(node.role for node in roots[:3]) or "none"
        raise _error(path, roots[-1].line if roots else 1, "one ( Root … )", found)
    return roots[0]


def _set(node: _Node, expression: Sequence[str], path: Path, line: int) -> None:
    """Store what an expression inside of a node says of it."""
    match expression:
        case ["span", first, last] if is_number(first) and is_number(last):
            node.first, node.last = int(first), int(last)
        case ["leaf", number] if is_number(number):
            node.first = node.last = int(number)
        case ["rel2par", *words] if words:
            node.relation = " ".join(words)
        case ["text", *words]:
            # A text without its marks was split at its blanks.
            plain = _MARK.sub(" ", " ".join(words))
            node.text = nfc(" ".join(plain.split()))
        case _:
            found = f"({' '.join(expression)[:60]})"
            raise _error(path, line, "(span A B), (leaf N), (rel2par NAME) or (text _!…_!)", found)


def _preorder(root: _Node) -> Iterator[_Node]:
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(node.children))


def _check_span(node: _Node, first: int, last: int, path: Path) -> None:
    """Check that a node covers the EDUs that it says."""
    if (node.first, node.last) != (first, last):
        error = RawError if node.text else IrregularError
        found = f"{node.first} to {node.last}"
        raise error(f"{path}:{node.line}", f"EDUs {first} to {last}, which stand here", found)


def _joined(node: _Node, made: dict[int, DiscourseNode], path: Path) -> DiscourseNode:
    """Join the children of a node by their relations."""
    nuclei = [child for child in node.children if child.role == "Nucleus"]
    relations = {child.relation for child in nuclei}
    parts = [made[id(child)] for child in node.children]
    if len(nuclei) == len(parts) > 1 and len(relations) == 1 and relations != {"span"}:
        (relation,) = relations
        return DiscourseNode(relation=relation, children=tuple(parts), nuclei=(True,) * len(parts))
    satellites = [child.relation for child in node.children if child.role == "Satellite"]
    if (
        (relations, len(nuclei)) != ({"span"}, 1)
        or not satellites
        or {"", "span"} & set(satellites)
    ):
        expected = "nuclei of one relation, or one nucleus by `span` and satellites"
        found = ", ".join(f"{child.role} {child.relation}" for child in node.children)
        raise IrregularError(f"{path}:{node.line}", expected, found)
    nucleus = node.children.index(nuclei[0])
    joined = parts[nucleus]
    for i in [*range(nucleus + 1, len(parts)), *reversed(range(nucleus))]:
        on_left = i < nucleus
        joined = DiscourseNode(
            relation=node.children[i].relation,
            children=(parts[i], joined) if on_left else (joined, parts[i]),
            nuclei=(not on_left, on_left),
        )
    return joined


def _error(path: Path, line: int, expected: str, found: str) -> RawError:
    return RawError(f"{path}:{line}", expected, found)
