"""Tests of reading RSTTool files with all their oddities."""

import pickle
from itertools import count
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_text import FORMS, HEADER, group, grow, rs3, segment, shape

from corpora_recipes.formats.treebanks import CrossingError, IrregularError, read_rs3
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import DEEPEST_TREE


@pytest.fixture
def parse(tmp_path: Path):
    def parse(*body: str, header: str = HEADER) -> DiscourseTree:
        path = tmp_path / "texto.rs3"
        path.write_text(rs3(*body, header=header), "utf-8")
        return read_rs3(path)[0]

    return parse


# Structure


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Satellites right of the nucleus attach first, the nearest first.
        (
            segment(1, "3:Preparación")
            + segment(2, "3:Fondo")
            + segment(3, "6:span")
            + segment(4, "3:Elaboración")
            + segment(5, "3:Causa")
            + group(6, "span"),
            "Preparación(1 Fondo(2 Causa(Elaboración(3* 4)* 5)*)*)",
        ),
        # No group is the root.
        (
            segment(1, "2:Preparación") + segment(2) + segment(3, "2:Causa"),
            "Preparación(1 Causa(2* 3)*)",
        ),
        # Satellites of a nucleus and of the group above it.
        (
            segment(1, "2:span")
            + group(2, "span", "5:span")
            + segment(3, "1:Causa")
            + segment(4, "2:Fondo")
            + group(5, "span"),
            "Fondo(Causa(1* 2)* 3)",
        ),
        # A multinuclear group with a satellite of its own and one of a nucleus.
        (
            segment(1, "9:Lista")
            + segment(2, "1:Causa")
            + segment(3, "9:Lista")
            + segment(4, "9:Lista")
            + segment(5, "9:Fondo")
            + group(9, "multinuc"),
            "Fondo(Lista(Causa(1* 2)* 3* 4*)* 5)",
        ),
        # A repeated id: `span` can only mean the group 2; nothing refers to 5.
        (
            segment(2, "7:span")
            + segment(5, "3:Lista")
            + segment(5, "3:Lista")
            + group(3, "multinuc", "7:Causa")
            + group(7, "span", "2:span")
            + group(2, "span"),
            "Causa(1* Lista(2* 3*))",
        ),
    ],
)
def test_structures(parse, body: str, expected: str):
    tree = parse(body)
    assert shape(tree.root) == expected
    assert (tree.id, tree.split) == ("texto", None)


def test_document_order_counts_and_a_title_is_left_out(parse):
    segments = [segment(n, "1:Lista", text) for n, text in ((30, "uno"), (7, "dos"), (12, "tres"))]
    assert parse(group(1, "multinuc"), *segments).edus == ["uno", "dos", "tres"]
    tree = parse(group(9, "span"), segment(1), segment(2, "9:span"), segment(3, "2:Causa"))
    assert (tree.edus, shape(tree.root)) == (["texto 2", "texto 3"], "Causa(1* 2)")


REFORMULATION = '<rel name="Reformulación" type="rst"/><rel name="Reformulación" type="multinuc"/>'


@pytest.mark.parametrize(
    "header",
    [
        HEADER + REFORMULATION,
        HEADER + '<rel name="Reformulación"/>',
        HEADER + '<rel name="Reformulación" type=""/>',
        HEADER,
    ],
    ids=["both types", "no type", "empty type", "not declared"],
)
def test_structure_decides_where_the_type_of_a_relation_does_not(parse, header):
    in_group = [segment(n, "3:Reformulación") for n in (1, 2, 4, 5)]
    of_segment = [segment(n, "1:Reformulación") for n in (2, 3)]
    lists = [segment(n, "3:Lista") for n in (1, 2)]
    multinuclear = group(3, "multinuc")
    for body, expected in (
        ([*in_group[:2], multinuclear], "Reformulación(1* 2*)"),
        ([segment(1), *of_segment[:1]], "Reformulación(1* 2)"),
        ([segment(1), *of_segment], "Reformulación(Reformulación(1* 2)* 3)"),
        ([*lists, *in_group[2:], multinuclear], "Reformulación(Reformulación(Lista(1* 2*)* 3)* 4)"),
    ):
        assert shape(parse(*body, header=header).root) == expected


# Text and XML


ACCENTS = "“Acción” – ñandú…"


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ("", "utf-8"),
        ("", "utf-8-sig"),
        ("", "windows-1252"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "utf-8"),
        ("<?xml version='1.0' encoding='windows-1252'?>\n", "windows-1252"),
        ('<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>\n', "windows-1252"),
    ],
)
def test_encodings(tmp_path: Path, declaration: str, encoding: str):
    path = tmp_path / "texto.rs3"
    body = segment(1, text=ACCENTS) + segment(2, "1:Elaboración")
    path.write_bytes((declaration + rs3(body)).encode(encoding))
    tree = read_rs3(path)[0]
    assert tree.edus[0] == ACCENTS
    assert tree.root.relation == "Elaboración"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("uno\n\n  dos\t tres \r\n", "uno dos tres"),
        ("cafe\N{COMBINING ACUTE ACCENT}", "café"),
        ("\x93Sí\x94 \x96 dijo\x85 y", "“Sí” – dijo… y"),
        ("&#147;Sí&#148;", "“Sí”"),
        ("a &amp; b &lt; c &#241;", "a & b < c ñ"),
        ("uno <b>dos</b> tres", "uno dos tres"),
        ("uno <!-- nota -->dos", "uno dos"),
        ("<![CDATA[uno < dos]]>", "uno < dos"),
    ],
)
def test_text_of_a_segment(parse, written: str, read: str):
    assert parse(segment(1, text=written), segment(2, "1:Fondo")).edus[0] == read


# Errors


ALONE = segment(1)
WITH_CAUSE = segment(1) + segment(2, "1:Causa")


@pytest.mark.parametrize(
    ("body", "where", "found"),
    [
        (WITH_CAUSE + segment(3) + segment(4, "3:Causa"), "8: segment 3", "6: segment 1"),
        # Three roots, the first of them a title.
        (ALONE + segment(2) + segment(3), "7: segment 2", "6: segment 1"),
        (ALONE + segment(2, "77:Causa"), "7: segment 2", "no such node"),
        (segment(1, "2:Causa") + segment(2, "1:Fondo"), "6: segment 1", "cycle of 1 → 2 → 1"),
        # A cycle beside the tree, met from outside.
        (
            WITH_CAUSE + segment(3, "4:Causa") + segment(4, "5:Causa") + segment(5, "4:Causa"),
            "9: segment 4",
            "a cycle of 4 → 5 → 4",
        ),
        ("", "texto.rs3", "<rst> without a segment"),
        (ALONE + segment(2, "1:Causa", " \n "), "7: segment 2", "an empty segment"),
        # Without an id, and without a relname.
        (ALONE + "<segment parent='1' relname='Causa'>x</segment>", "7: segment None", "none"),
        (ALONE + "<segment id='2' parent='1'>x</segment>", "7: segment 2", "none"),
        (segment(1, "2:span") + group(2, "schema"), "7: group 2", "'schema'"),
        # Nuclei of what is no multinuclear group.
        (ALONE + segment(2, "1:Lista") + segment(3, "1:Lista"), "7: segment 2", "1 (segment)"),
        (
            segment(1, "3:Lista") + segment(2, "3:Lista") + group(3, "span"),
            "6: segment 1",
            "texto.rs3:8: group 3 (span)",
        ),
        # A repeated id that a reference could mean twice.
        (ALONE + WITH_CAUSE, "8: segment 2", "texto.rs3:7: segment 1 (segment)"),
        (segment(1, text="a &nbsp; b"), "texto.rs3:6", "Entity 'nbsp' not defined"),
        (segment(1, text="a &#129; b"), "6: segment 1", "U+0081"),
    ],
)
def test_errors(parse, body: str, where: str, found: str):
    with pytest.raises(InputError) as raised:
        parse(body)
    assert not isinstance(raised.value, CrossingError | IrregularError)
    assert raised.value.where.endswith(where)
    assert found in raised.value.found


@pytest.mark.parametrize(
    ("body", "where", "found"),
    [
        # Groups without a nucleus, with nuclei of two relations, with one, and with two by span.
        (ALONE + segment(2, "3:Causa") + group(3, "span", "1:Fondo"), "8: group 3", "none"),
        (
            segment(1, "3:Lista") + segment(2, "3:Contraste") + group(3, "multinuc"),
            "8: group 3",
            "1 × Contraste, 1 × Lista",
        ),
        (
            segment(1, "3:Lista") + segment(2, "3:Causa") + group(3, "multinuc"),
            "8: group 3",
            "1 × Lista",
        ),
        (segment(1, "3:span") + segment(2, "3:span") + group(3, "span"), "8: group 3", "2 × span"),
    ],
)
def test_irregular_groups_are_told_apart(parse, body: str, where: str, found: str):
    with pytest.raises(IrregularError) as raised:
        parse(body)
    assert raised.value.where.endswith(where)
    assert found in raised.value.found


BODY = rs3(segment(1, text="a@"), segment(2, "1:Fondo"))
DOCTYPES = (
    '<!DOCTYPE rst [<!ENTITY a "ja"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
    '<!DOCTYPE rst [<!ENTITY c SYSTEM "secreto.txt">]>',
    '<!DOCTYPE rst SYSTEM "http://example.org/rst.dtd">',
)


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        *((text, "well-formed XML", "") for text in ("", "Esto no es XML.", "<rst><body>")),
        *((text, "well-formed XML", "") for text in ("<rst></rst><rst></rst>", "\x00\x01")),
        (BODY, "utf-8 or cp1252", "byte 0x81"),
        (f'<?xml version="1.0" encoding="UTF-8"?>{BODY}', "text in UTF-8", "byte 0xF3"),
        (f'<?xml version="1.0" encoding="klingon"?>{BODY}', "text in klingon", "does not exist"),
        *((doctype + BODY.replace("@", "&c;"), "no DOCTYPE", "a DOCTYPE") for doctype in DOCTYPES),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, expected: str, found: str):
    (tmp_path / "secreto.txt").write_text("secreto")
    path = tmp_path / "texto.rs3"
    path.write_bytes(text.encode("cp1252").replace(b"@", b"\x81"))
    with pytest.raises(InputError) as raised:
        read_rs3(path)
    assert raised.value.where.startswith(str(path))
    assert expected in raised.value.expected
    assert found in raised.value.found


@pytest.mark.parametrize(
    ("body", "where", "found"),
    [
        # a satellite away from its nucleus
        (
            segment(1, "4:Elaboración")
            + segment(2, "5:Fondo")
            + segment(3)
            + segment(4, "5:span")
            + group(5, "span", "3:Causa"),
            "segment 4",
            "EDUs 1–1 and 4–4",
        ),
        # a list around its own nucleus
        (
            segment(1, "9:Lista")
            + segment(2, "8:span")
            + segment(3, "9:Lista")
            + group(8, "span")
            + group(9, "multinuc", "2:Causa"),
            "group 9",
            "EDUs 1–1 and 3–3",
        ),
    ],
)
def test_crossing_structures_are_told_apart(parse, body: str, where: str, found: str):
    with pytest.raises(CrossingError) as raised:
        parse(body)
    assert raised.value.where.endswith(where)
    assert raised.value.found == found


# Any tree


WORDS = st.text("abcñáéíóúü¿¡&<>\"'", min_size=1, max_size=8)


def to_rs3(tree: DiscourseTree, ids: list[int]) -> str:
    """Write a tree as RSTTool does; the ids are used in the order of a walk from the root."""
    unused = iter(ids)
    segments: dict[int, str] = {}
    groups = []

    def write(node: DiscourseNode, node_id: int, reference: str) -> None:
        if node.edu is not None:
            segments[node.edu] = segment(node_id, reference, escape(tree.edus[node.edu]))
            return
        groups.append(group(node_id, "multinuc" if all(node.nuclei) else "span", reference))
        numbers = [next(unused) for _ in node.children]
        for child, number, nucleus in zip(node.children, numbers, node.nuclei, strict=True):
            if all(node.nuclei):
                write(child, number, f"{node_id}:{node.relation}")
            elif nucleus:
                write(child, number, f"{node_id}:span")
            else:
                write(child, number, f"{numbers[node.nuclei.index(True)]}:{node.relation}")

    write(tree.root, next(unused), "")
    return rs3(*(segments[edu] for edu in sorted(segments)), *groups)


@settings(max_examples=50)
@given(FORMS, st.data())
def test_what_is_written_is_read_back(tmp_path_factory, form, data):
    edus = count()
    root = grow(form, edus)
    number = next(edus)
    texts = data.draw(st.lists(WORDS, min_size=number, max_size=number))
    ids = data.draw(st.permutations(range(1, 3 * number + 1)))
    declaration, encoding = data.draw(
        st.sampled_from(
            [
                ("", "utf-8"),
                ("", "windows-1252"),
                ('<?xml version="1.0" encoding="iso-8859-1"?>', "iso-8859-1"),
            ]
        )
    )
    tree = DiscourseTree("texto", texts, root)
    path = tmp_path_factory.getbasetemp() / "texto.rs3"
    path.write_bytes((declaration + to_rs3(tree, ids)).encode(encoding))
    assert read_rs3(path)[0] == tree


def test_deep_trees_reach_another_process(parse):
    depth = DEEPEST_TREE + 1
    body = [segment(1)]
    body += [segment(i, f"{i - 1}:Elaboración") for i in range(2, depth + 1)]
    tree = parse(*body)
    assert tree.root.edus() == list(range(depth))
    node, levels = tree.root, 0
    while node.children:
        node, levels = node.children[1], levels + 1
    assert levels == depth - 1
    assert pickle.loads(pickle.dumps(tree)) == tree
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse(*body, segment(depth + 1, f"{depth}:Elaboración"))
