"""Reads treebanks of rhetorical structure (.dis, .rs3), and chooses their files and splits.

A .dis file, of the RST Discourse Treebank or of GUM, is one S-expression (Carlson, Marcu and
Okurowski 2001, "Building a discourse-tagged corpus in the framework of Rhetorical Structure
Theory"; GUM writes the same in UTF-8)::

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

An .rs3 file is XML as RSTTool writes it (O'Donnell 2000, "RSTTool 2.4: a markup tool for Rhetorical
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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType

from lxml import etree

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import ANY_TREEBANK, Corpus, Source, TreebankFacts, no_files
from corpora_recipes.records import DiscourseNode, DiscourseTree, Split, link_groups
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import (
    DEEPEST_TREE,
    LARGEST_XML,
    MOST_NODES,
    is_number,
    read_whole,
)
from corpora_recipes.text.cleaning import nfc
from corpora_recipes.text.tokens import telling_hashes

FILES_PER_BLOCK = 32

# As GUM and DISRPT name splits. GUM has a "test2" too, of further genres, which is not used.
PARTS: Mapping[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
_HEADING = re.compile(r"#+\s*(.*?)\s*")
_ITEM = re.compile(r"\s*[*-]\s+(\S+)\s*")


class IrregularError(RawError):
    """The nodes of a file make no tree of nuclei of one relation, and of nuclei with satellites."""

    reason = "irregular"


@dataclass(frozen=True, slots=True)
class Texts:
    """A block: some annotated texts of a treebank."""

    key: str  # the first of the names
    raw: Path
    treebank: str  # its name in corpus.yaml
    names: tuple[str, ...]  # paths of the annotations in ``raw``
    splits: Mapping[str, Split]  # by name; a text without one is not used


def possible_treebanks(corpus: Corpus) -> dict[str, TreebankFacts]:
    """Return the treebanks that an entry can mean: the one it names, or all of its language."""
    named, language = corpus.options["treebank"], corpus.language.partition("-")[0]
    return {
        name: facts
        for name, facts in corpus.facts.treebanks.items()
        if named == name or (named == ANY_TREEBANK and facts.language == language)
    }


def treebank_sources(corpus: Corpus) -> list[Source]:
    """Return the raw files of the treebanks that an entry can mean; none of several is needed."""
    possible = possible_treebanks(corpus)
    listed = [source for facts in possible.values() for source in facts.sources]
    return [replace(s, optional=True) for s in listed] if len(possible) > 1 else listed


def find_treebank(raw: Path, corpus: Corpus) -> tuple[str, list[str]]:
    """Find the first treebank that an entry can mean and that is in a folder.

    Returns:
        Its name, and the paths in the folder of the files that match its patterns, sorted within
        each pattern; or of all its files, if it has no patterns.
    """
    possible = possible_treebanks(corpus)
    for name, facts in possible.items():
        exact = [source.file for source in facts.sources]
        patterns = [source.file for source in facts.sources if source.is_pattern] or exact
        paths = [sorted(path.relative_to(raw).as_posix() for path in raw.glob(p)) for p in patterns]
        if any(paths):
            return name, list(chain.from_iterable(paths))
    files = {
        name: ", ".join(source.file for source in facts.sources) for name, facts in possible.items()
    }
    expected = "; or ".join(f"{name}: {names}" for name, names in files.items())
    raise no_files(corpus, raw, expected or f"a treebank in {corpus.language}")


def group_in_blocks(
    raw: Path, treebank: str, names: Sequence[str], splits: Mapping[str, Split]
) -> list[Texts]:
    """Return texts as blocks of ``FILES_PER_BLOCK``, each with the splits of its texts."""
    chunks = (tuple(names[i : i + FILES_PER_BLOCK]) for i in range(0, len(names), FILES_PER_BLOCK))
    return [
        Texts(
            chunk[0], raw, treebank, chunk, {name: splits[name] for name in chunk if name in splits}
        )
        for chunk in chunks
    ]


# Text to its EDUs, by which texts are linked.
Edus = Mapping[str, Sequence[str]]
NO_EDUS: Edus = MappingProxyType({})


def choose_held_out(
    keys: Collection[str], number: int, corpus: Corpus, part: str, edus: Edus = NO_EDUS
) -> frozenset[str]:
    """Choose ``number`` texts for a part by keyed hash; one text less changes one group at most.

    Texts that share an EDU of six words or more, given the ``edus`` of each, are a group, which is
    chosen as a whole. One that is too large for the part stays outside.
    """
    order = sorted(keys, key=lambda key: keyed_hash(corpus.seed, corpus.name, key, part))
    sentences = {key: telling_hashes(edus.get(key, ())) for key in order}
    chosen: set[str] = set()
    for group in link_groups([[key] for key in order], sentences.__getitem__, len(order)):
        if len(chosen) + len(group) <= number:
            chosen.update(group)
    return frozenset(chosen)


def carve_splits(keys: Collection[str], corpus: Corpus, edus: Edus = NO_EDUS) -> dict[str, Split]:
    """Return key to split for texts without official splits: a fifth, one or more, for each test.

    Validation and test have a fifth of the texts each (60/20/20, as Araujo et al. 2022, appendix
    A), chosen by keyed hash, so that even a few texts give three splits; for ``edus`` see
    ``choose_held_out``.
    """
    number = max(1, round(len(keys) / 5))
    test = choose_held_out(keys, number, corpus, "test", edus)
    validation = choose_held_out(set(keys) - test, number, corpus, "validation", edus)
    return {
        key: "test" if key in test else "validation" if key in validation else "train"
        for key in keys
    }


def read_edus(path: Path) -> Sequence[str]:
    """Return the EDUs of a text as written; none if it cannot be read, as its reader then says."""
    try:
        return (read_dis(path) if path.suffix == ".dis" else read_rs3(path)[0]).edus
    except RawError:
        return ()


def read_split_list(path: Path) -> dict[str, Split]:
    """Return the split of each text in a list in Markdown, as GUM has it (splits.md).

    It has the headings ``## train``, ``## dev`` and ``## test``, each with a list of names below;
    texts below other headings belong to no split.
    """
    splits = dict(_items(path))
    if missing := [name for name, split in PARTS.items() if split not in splits.values()]:
        expected = f"a list of texts below each of ## {', ## '.join(PARTS)}"
        raise RawError(path, expected, f"none below {', '.join(missing)}")
    return splits


def _items(path: Path) -> Iterator[tuple[str, Split]]:
    split: Split | None = None
    for line in read_text(path).removeprefix("\ufeff").splitlines():
        if heading := _HEADING.fullmatch(line):
            split = PARTS.get(heading[1].lower())
        elif split and (item := _ITEM.fullmatch(line)):
            yield item[1], split


def read_text(path: Path) -> str:
    """Return a text in UTF-8, or if it is not UTF-8 in windows-1252, each line end as a line feed.

    A byte order mark stays: TED-MDB counts it as a character.
    """
    data = read_whole(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError as error:
            found = f"byte 0x{data[error.start]:02X} at offset {error.start}"
            raise RawError(path, "text in UTF-8 or windows-1252", found) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean_text(text: str, where: Path | str) -> str:
    """Return a text in NFC and with single spaces; ``where`` is its place, for messages.

    C1 control characters are replaced by the windows-1252 characters of the same code: they come
    from windows-1252 text that was decoded as ISO-8859-1.
    """
    # Before splitting: U+0085 is a line break for Python and an ellipsis in windows-1252.
    try:
        repaired = re.sub("[\x80-\x9f]", lambda c: c[0].encode("latin-1").decode("cp1252"), text)
    except UnicodeDecodeError as error:
        found = f"U+{error.object[error.start]:04X}, which windows-1252 has not either"
        raise RawError(where, "text without control characters", found) from None
    return nfc(" ".join(repaired.split()))


def is_withheld(text: str) -> bool:
    """Return whether a text is underscores that stand for words which may not be published."""
    return "_" in text and not any(map(str.isalnum, text))


_TOKEN = re.compile(r"_!(?P<text>.*?)_!|//TT_ERR|[()]|[^\s()]+", re.DOTALL)
_MARK = re.compile(r"<[sSpP]>")
_ROLES = ("Root", "Nucleus", "Satellite")


@dataclass(slots=True)
class _DisNode:
    """A node of the file, with its children in text order."""

    line: int  # of its parenthesis
    role: str  # one of _ROLES
    first: int = 0  # number of its first EDU, from 1; 0 as long as it is unknown
    last: int = 0
    relation: str = ""  # its rel2par
    text: str = ""  # of a leaf
    children: list["_DisNode"] = field(default_factory=list)


def read_dis(path: Path) -> DiscourseTree:
    """Read one .dis file.

    Nuclei of a multinuclear relation become the children of one node. Several satellites of one
    nucleus attach one after the other, as in ``read_rs3``: first those to its right, then those to
    its left, the nearest first.

    Returns:
        The tree with the name of the file as its id and without a split. EDUs are in NFC, with
        single spaces, and without marks of sentences and paragraphs; relations are as written.
    """
    root = _parse_dis(read_text(path).removeprefix("\ufeff"), path)
    nodes = list(_preorder(root))
    edus: list[str] = []
    subtrees: dict[int, DiscourseNode] = {}
    depths: dict[int, int] = {}
    for node in nodes:
        if bool(node.text) == bool(node.children):
            found = "both" if node.text else "neither"
            raise _error(path, node.line, "a node with a text or with nodes", found)
        if node.text:
            subtrees[id(node)] = DiscourseNode(edu=len(edus))
            edus.append(node.text)
            _check_span(node, len(edus), len(edus), path)
    for node in reversed(nodes):
        if node.children:
            _check_span(node, node.children[0].first, node.children[-1].last, path)
            subtrees[id(node)] = _join_children(node, subtrees, path)
            below = max(depths.get(id(child), 0) for child in node.children)
            depths[id(node)] = below + (
                1 if all(subtrees[id(node)].nuclei) else len(node.children) - 1
            )
            if depths[id(node)] > DEEPEST_TREE:
                expected = f"a tree of at most {DEEPEST_TREE} relations in each other"
                raise _error(path, node.line, expected, "a deeper one")
    return DiscourseTree(path.stem, edus, subtrees[id(root)])


def _parse_dis(text: str, path: Path) -> _DisNode:
    """Return the root of the nodes, with what the file says of each."""
    roots: list[_DisNode] = []
    ancestors: list[_DisNode] = []
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
            node = _DisNode(line, word)
            (ancestors[-1].children if ancestors else roots).append(node)
            ancestors.append(node)
        elif word != ")":
            if expression is None:
                raise _error(path, line, "a parenthesis", repr(word[:40]))
            expression.append(word if token["text"] is None else token["text"])
        elif expression is not None:
            if not ancestors:
                raise _error(path, line, "a node around", f"({' '.join(expression)[:40]})")
            _set_property(ancestors[-1], expression, path, line)
            expression = None
        elif ancestors:
            ancestors.pop()
        else:
            raise _error(path, line, "as many parentheses closed as opened", "one closed too many")
    if ancestors or opened or expression is not None:
        where = ancestors[-1].line if ancestors else line
        raise _error(path, where, "as many parentheses closed as opened", "one that stays open")
    if len(roots) != 1 or roots[0].role != "Root":
        found = ", ".join(node.role for node in roots[:3]) or "none"
        raise _error(path, roots[-1].line if roots else 1, "one ( Root … )", found)
    return roots[0]


def _set_property(node: _DisNode, expression: Sequence[str], path: Path, line: int) -> None:
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


def _preorder(root: _DisNode) -> Iterator[_DisNode]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _check_span(node: _DisNode, first: int, last: int, path: Path) -> None:
    """Check that a node covers the EDUs that it says."""
    if (node.first, node.last) != (first, last):
        expected, found = (
            f"EDUs {first} to {last}, which stand here",
            f"{node.first} to {node.last}",
        )
        raise IrregularError(f"{path}:{node.line}", expected, found)


def _join_children(node: _DisNode, subtrees: dict[int, DiscourseNode], path: Path) -> DiscourseNode:
    """Join the children of a node by their relations."""
    nuclei = [child for child in node.children if child.role == "Nucleus"]
    relations = {child.relation for child in nuclei}
    parts = [subtrees[id(child)] for child in node.children]
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


_DECLARATION = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']+)[\"']")


class CrossingError(RawError):
    """A relation of the file connects parts of text that are not adjacent."""

    reason = "crossing"


# Character sets among the encodings that files declare.
_CHARSET = re.compile(
    r"utf-?(?:8|16)|us-ascii|ascii|latin-?1|(?:iso-?)?8859-\d{1,2}|(?:windows|cp)-?\d{3,4}|koi8-\w"
    r"|mac-?roman|gb\w+|big5|euc-\w+|shift_jis",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class _Rs3Node:
    """A segment or group of the file; its children, in document order, are of two kinds."""

    where: str  # file, line and element, for messages
    type: str  # "segment", "span" or "multinuc"
    id: str
    parent_id: str | None
    relation: str  # its relname, "" without a parent
    text: str  # of a segment, "" in a group
    parent: "_Rs3Node | None" = None
    children: list["_Rs3Node"] = field(default_factory=list)
    nuclei: list["_Rs3Node"] = field(default_factory=list)
    satellites: list["_Rs3Node"] = field(default_factory=list)


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
    types, nodes = _parse_rs3(path)
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
        raise IrregularError(roots[1].where, "one node without a parent", found, todo)
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


def _parse_rs3(path: Path) -> tuple[dict[str, set[str]], list[_Rs3Node]]:
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
        raise IrregularError(path, "<rst> with a <body> of segments", found)
    return types, nodes


def _node(element: etree._Element, path: Path) -> _Rs3Node:
    where = f"{path}:{element.sourceline}: {element.tag} {element.get('id')}"
    kind = element.get("type", "") if element.tag == "group" else "segment"
    text = "".join(map(str, element.itertext())) if kind == "segment" else ""
    parent_id = element.get("parent")
    relation = "" if parent_id is None else clean_text(element.get("relname", ""), where)
    node = _Rs3Node(
        where, kind, element.get("id", ""), parent_id, relation, clean_text(text, where)
    )
    for is_valid, expected, found in (
        (node.id, "an id", "none"),
        (kind in ("segment", "span", "multinuc"), "type span or multinuc", repr(kind)),
        (node.text or kind != "segment", "a text", "an empty segment"),
        (node.relation or parent_id is None, "a relname beside the parent", "none"),
    ):
        if not is_valid:
            raise IrregularError(where, expected, found)
    return node


def _link(nodes: Sequence[_Rs3Node], types: dict[str, set[str]]) -> None:
    """Set the parents of the nodes, and with them children, nuclei and satellites."""
    nodes_by_id: dict[str, list[_Rs3Node]] = {}
    for node in nodes:
        nodes_by_id.setdefault(node.id, []).append(node)
    for node in nodes:
        if node.parent_id is not None:
            node.parent = _find_parent(node, nodes_by_id.get(node.parent_id, []), types)
            node.parent.children.append(node)
    for node in nodes:
        names = Counter(child.relation for child in node.children)
        for child in node.children:
            nucleus = _is_nucleus(child.relation, node, names, types)
            (node.nuclei if nucleus else node.satellites).append(child)


def _find_parent(
    node: _Rs3Node, candidates: Sequence[_Rs3Node], types: dict[str, set[str]]
) -> _Rs3Node:
    """Return the only node among those of an id that can be the parent."""
    # Some tools type a multinuclear group as "span".
    types_allowed = ["span", "multinuc"]
    if types.get(node.relation) == {"multinuc"}:
        exact = any(candidate.type == "multinuc" for candidate in candidates)
        types_allowed = ["multinuc"] if exact else types_allowed
    elif node.relation != "span":
        types_allowed = ["segment", *types_allowed]
    parents = [candidate for candidate in candidates if candidate.type in types_allowed]
    if len(parents) != 1:
        expected = f"for relname {node.relation!r} one parent {node.parent_id!r} of type "
        expected += " or ".join(types_allowed)
        found = ", ".join(f"{n.where} ({n.type})" for n in candidates) or "no such node"
        raise IrregularError(node.where, expected, found)
    return parents[0]


def _is_nucleus(
    relation: str, parent: _Rs3Node, siblings: Counter[str], types: dict[str, set[str]]
) -> bool:
    declared = types.get(relation)
    if relation == "span" or declared == {"multinuc"}:
        return True
    if declared == {"rst"} or parent.type != "multinuc":
        return False
    certain = any(name == "span" or types.get(name) == {"multinuc"} for name in siblings)
    return siblings[relation] > 1 and not certain


def _from_root(roots: Sequence[_Rs3Node], nodes: Sequence[_Rs3Node]) -> list[_Rs3Node]:
    """Return the nodes so that each comes before its children."""
    order = list(roots)
    for node in order:  # the list grows while it is walked through
        order.extend(node.children)
    if len(order) < len(nodes):
        reached = set(map(id, order))
        node = next(node for node in nodes if id(node) not in reached)
        seen: dict[int, _Rs3Node] = {}
        while id(node) not in seen:
            seen[id(node)] = node
            assert node.parent is not None  # only the root has no parent, and it was reached
            node = node.parent
        cycle = list(seen.values())[list(seen).index(id(node)) :]
        found = f"a cycle of {' → '.join(n.id for n in [*cycle, node])}"
        raise IrregularError(node.where, "parents that lead to one root", found)
    return order


def _constituents(order: Sequence[_Rs3Node], edus: dict[int, int]) -> DiscourseNode:
    """Join the nodes, ordered before their children, to constituents, bottom up."""
    spans: dict[int, _Span] = {}
    for node in reversed(order):
        span = _core(node, spans, edus)
        for relation, satellite in _attached(node, spans, span):
            span = _join(node, relation, [(span, True), (satellite, False)])
        spans[id(node)] = span
    return spans[id(order[0])].tree


def _core(node: _Rs3Node, spans: dict[int, _Span], edus: dict[int, int]) -> _Span:
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


def _attached(node: _Rs3Node, spans: dict[int, _Span], core: _Span) -> Iterator[tuple[str, _Span]]:
    """Yield relation and span of the satellites in the order of attachment."""
    satellites = [(s.relation, spans[id(s)]) for s in node.satellites]
    satellites.sort(key=lambda s: s[1].first)
    yield from (s for s in satellites if s[1].first > core.first)
    yield from (s for s in reversed(satellites) if s[1].first < core.first)


def _join(node: _Rs3Node, relation: str, parts: list[tuple[_Span, bool]]) -> _Span:
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
