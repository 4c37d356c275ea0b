"""Treebanks: files and splits, .rs3 and .dis with all their oddities."""

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_text import FORMS, HEADER, group, grow, rs3, segment, shape

from corpora_recipes.formats.treebanks import (
    FILES_PER_BLOCK,
    CrossingError,
    IrregularError,
    carve_splits,
    choose_held_out,
    find_treebank,
    group_in_blocks,
    is_withheld,
    possible_treebanks,
    read_dis,
    read_rs3,
    read_split_list,
    read_text,
    treebank_sources,
)
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.running.limits import DEEPEST_TREE

TABLES = read_tables(__file__)


def the_corpus(language: str = "en", treebank: str = "any") -> Corpus:
    return corpus_of("rst_discourse_treebank", language, treebank=treebank, classes=True)


def touch(raw: Path, *names: str) -> None:
    for name in names:
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).touch()


@pytest.mark.parametrize(("language", "treebank", "possible"), TABLES["names"])
def test_the_language_or_the_name_decides(language, treebank, possible) -> None:
    assert list(possible_treebanks(the_corpus(language, treebank))) == possible


def test_of_several_treebanks_no_file_is_needed() -> None:
    assert all(source.optional for source in treebank_sources(the_corpus()))
    needed = [s.file for s in treebank_sources(the_corpus(treebank="gum")) if not s.optional]
    assert needed == ["gum/splits.md"]


def test_the_first_treebank_that_is_there_is_read(tmp_path: Path) -> None:
    touch(tmp_path, "gum/lisp_nary/b.dis", "gum/lisp_nary/a.dis", "gum/rs4/c.rs4", "gum/splits.md")
    touch(tmp_path, "pcc/rs3/x.rs3")
    found = find_treebank(tmp_path, the_corpus())
    assert found == ("gum", ["gum/lisp_nary/a.dis", "gum/lisp_nary/b.dis", "gum/rs4/c.rs4"])
    assert find_treebank(tmp_path, the_corpus("de"))[0] == "pcc"
    touch(tmp_path, "rst_dt/TEST/wsj.dis")
    assert find_treebank(tmp_path, the_corpus())[0] == "rst_dt"


@pytest.mark.parametrize(
    ("language", "expected"), [("en", "rst_dt: rst_dt/TRAINING"), ("fr", "fr")]
)
def test_no_treebank_is_there(tmp_path: Path, language: str, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        find_treebank(tmp_path, the_corpus(language))
    assert expected in raised.value.expected
    assert "LDC2002T07" in raised.value.todo
    assert "https://github.com/amir-zeldes/gum" in raised.value.todo


def test_blocks_have_the_splits_of_their_own_texts(tmp_path: Path) -> None:
    names = [f"t{number:02}" for number in range(FILES_PER_BLOCK + 2)]
    first, second = group_in_blocks(tmp_path, "gum", names, {"t00": "train", "t33": "test"})
    assert (len(first.names), first.splits) == (FILES_PER_BLOCK, {"t00": "train"})
    assert (second.key, second.names, second.splits) == ("t32", ("t32", "t33"), {"t33": "test"})


def test_one_text_less_changes_one_held_out_text_at_most() -> None:
    names = {f"t{number}" for number in range(100)}
    chosen = choose_held_out(names, 20, the_corpus(), "validation")
    fewer = choose_held_out(names - {"t7"}, 20, the_corpus(), "validation")
    assert len(chosen) == len(fewer) == 20
    assert len(chosen - fewer) <= 1
    assert chosen != choose_held_out(names, 20, replace(the_corpus(), seed=2), "validation")


def test_texts_that_share_a_long_unit_are_held_out_together_or_not_at_all() -> None:
    names = [f"t{number}" for number in range(100)]
    edus = {name: [f"El resumen {name} trata de muchas otras cosas.", "Así es."] for name in names}
    for first, second in ((0, 1), (1, 2), (3, 4)):
        edus[f"t{first}"] = [*edus[f"t{first}"], f"Lo que dice {first} lo dice otro también."]
        edus[f"t{second}"] = [*edus[f"t{second}"], f"¡Lo que dice {first} lo dice otro también!"]
    for number in range(50, 90):
        edus[f"t{number}"] = [*edus[f"t{number}"], "Los autores dan las gracias a todos."]
    with_links = set()
    for seed in range(20):
        corpus = replace(the_corpus(), seed=seed)
        splits = carve_splits(names, corpus, edus)
        for linked in (("t0", "t1", "t2"), ("t3", "t4")):
            (split,) = {splits[name] for name in linked}
            with_links.add((linked, split))
        # A group that is larger than a part is left to train.
        assert {splits[f"t{number}"] for number in range(50, 90)} == {"train"}
        assert Counter(splits.values()) == {"train": 60, "validation": 20, "test": 20}
    assert len(with_links) == 6


@pytest.mark.parametrize(("number", "sizes"), TABLES["few_texts"])
def test_few_texts_give_three_splits_too(number: int, sizes: dict[str, int]) -> None:
    splits = carve_splits([f"t{n}" for n in range(number)], the_corpus())
    assert Counter(splits.values()) == sizes


def test_splits_from_a_list(tmp_path: Path) -> None:
    path = tmp_path / "splits.md"
    path.write_text(
        "# Splits\n\nOf the * first release.\n\n## dev\n\n  * b\n## test\n- c\n\n## test2\n * d\n"
        "\n## train\n\n  * a\n  * e\n\n### Notes\n* f\n",
        "utf-8-sig",
    )
    splits = {"b": "validation", "c": "test", "a": "train", "e": "train"}
    assert read_split_list(path) == splits
    path.write_bytes(path.read_bytes().replace(b"Splits", "División".encode("latin-1")))
    assert read_split_list(path) == splits


def test_a_list_without_a_split_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "splits.md"
    path.write_text("## dev\n* b\n## train\n* a\n## test2\n* c\n")
    with pytest.raises(InputError, match="none below test"):
        read_split_list(path)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\ufeffa\n".encode(), "\ufeffa\n"),
        ("“é”".encode("cp1252"), "“é”"),
    ],
)
def test_text_in_either_encoding_with_any_line_ends(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "t").write_bytes(data)
    assert read_text(tmp_path / "t") == text


@pytest.mark.parametrize(
    ("text", "withheld"),
    [("___ __ _", True), ("___ __ .", True), ("snake_case", False), ("...", False), ("", False)],
)
def test_withheld_text(text: str, withheld: bool) -> None:
    assert is_withheld(text) == withheld


Parse = Callable[[str], DiscourseTree]


@pytest.fixture
def parse_dis(tmp_path: Path) -> Parse:
    def parse_dis(text: str) -> DiscourseTree:
        path = tmp_path / "wsj_0699.out.dis"
        path.write_text(text, "utf-8")
        return read_dis(path)

    return parse_dis


def leaf(number: int, relation: str, text: str = "", role: str = "Nucleus") -> str:
    text = text or f"unit {number}"
    return f"( {role} (leaf {number}) (rel2par {relation}) (text _!{text}_!) )\n"


def satellite(number: int, relation: str) -> str:
    return leaf(number, relation, role="Satellite")


def root(last: int, *nodes: str) -> str:
    return f"( Root (span 1 {last})\n{''.join(nodes)})\n"


INNER = f"( Nucleus (span 2 3) (rel2par span)\n{leaf(2, 'span')}{satellite(3, 'purpose')})\n"
LEFT, RIGHT = satellite(1, "a") + satellite(2, "b"), satellite(4, "c") + satellite(5, "d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (root(3, leaf(1, "List"), leaf(2, "List"), leaf(3, "List")), "List(1* 2* 3*)"),
        (root(3, satellite(1, "circumstance"), INNER), "circumstance(1 purpose(2* 3)*)"),
        # Satellites right of the nucleus attach first, the nearest first.
        (root(5, LEFT, leaf(3, "span"), RIGHT), "a(1 b(2 d(c(3* 4)* 5)*)*)"),
        ("( Root (leaf 1) (text _!unit 1_!) )", "1"),
    ],
)
def test_structures_of_dis(parse_dis: Parse, text: str, expected: str) -> None:
    tree = parse_dis(text)
    assert shape(tree.root) == expected
    assert tree.edus == [f"unit {n + 1}" for n in range(len(tree.edus))]
    assert (tree.id, tree.split) == ("wsj_0699.out", None)


@pytest.mark.parametrize(("written", "read"), TABLES["texts"])
def test_texts(parse_dis: Parse, written: str, read: str) -> None:
    assert parse_dis(root(2, leaf(1, "List", written), leaf(2, "List"))).edus[0] == read


def test_comments_of_the_treebank_and_line_ends_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "x.dis"
    text = root(2, leaf(1, "List").replace("\n", "//TT_ERR\n"), leaf(2, "List"))
    path.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert shape(read_dis(path).root) == "List(1* 2*)"


@pytest.mark.parametrize(
    ("text", "line", "expected", "found"),
    [
        ("", 1, "one ( Root … )", "none"),
        (root(2, leaf(1, "List"), leaf(2, "List"))[:-2], 1, "parentheses", "stays open"),
        (root(1, "( Nucleus ((leaf 1)"), 2, "a name after", "another parenthesis"),
        (root(2, leaf(1, "List"), leaf(3, "List")), 3, "EDUs 2 to 2", "3 to 3"),
        (root(2, leaf(1, "List", " <P>"), leaf(2, "List")), 2, "a text or with nodes", "neither"),
        (root(2, leaf(1, "List")[:-3] + leaf(2, "List") + ")"), 2, "a text or", "both"),
        (root(2, leaf(1, "List"), "(leaf two)"), 3, "(span A B)", "(leaf two)"),
        (root(2, leaf(1, "List"), "beside", leaf(2, "List")), 3, "a parenthesis", "'beside'"),
        (leaf(1, "List"), 1, "one ( Root", "Nucleus"),
        ("(span 1 2)", 1, "a node around", "(span 1 2)"),
    ],
)
def test_damaged_files(parse_dis: Parse, text: str, line: int, expected: str, found: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_dis(text)
    error = raised.value
    assert error.where.endswith(f"wsj_0699.out.dis:{line}")
    assert expected in error.expected
    assert found in error.found


@pytest.mark.parametrize(
    "nodes",
    [
        (leaf(1, "List"), leaf(2, "Contrast")),
        (leaf(1, "span"), leaf(2, "span")),
        (satellite(1, "purpose"), satellite(2, "purpose")),
        (leaf(1, "List"), satellite(2, "purpose")),
        # A node that does not have all of the units that it says.
        ("( Nucleus (span 1 2) (rel2par span)", leaf(1, "List"), ")", satellite(2, "purpose")),
    ],
)
def test_what_is_no_relation_is_told_apart(parse_dis: Parse, nodes: tuple[str, ...]) -> None:
    with pytest.raises(IrregularError, match=r"wsj_0699\.out\.dis:[12]\n"):
        parse_dis(root(2, *nodes))


def test_undecodable_dis(tmp_path: Path) -> None:
    path = tmp_path / "x.dis"
    path.write_bytes(b"( Root \x81 )")
    with pytest.raises(InputError, match="byte 0x81 at offset 7"):
        read_dis(path)


def to_dis(tree: DiscourseTree) -> str:
    def write(node: DiscourseNode, head: str) -> str:
        if node.edu is not None:
            return f"( {head} (text _!{tree.edus[node.edu]}_!) )\n"
        lines = []
        for child, nucleus in zip(node.children, node.nuclei, strict=True):
            relation = node.relation if all(node.nuclei) or not nucleus else "span"
            role = "Nucleus" if nucleus else "Satellite"
            lines.append(write(child, f"{role} {extent(child)} (rel2par {relation})"))
        return f"( {head}\n{''.join(lines)})\n"

    return write(tree.root, f"Root {extent(tree.root)}")


def extent(node: DiscourseNode) -> str:
    edus = node.edus()
    if node.children:
        return f"(span {edus[0] + 1} {edus[-1] + 1})"
    return f"(leaf {edus[0] + 1})"


def deep(depth: int) -> str:
    """Write a text in which each relation has a unit and the rest of the text."""
    parts = [
        leaf(n, "List") + f"( Nucleus (span {n + 1} {depth + 1}) (rel2par List)\n"
        for n in range(1, depth)
    ]
    last = leaf(depth, "List") + leaf(depth + 1, "List")
    return root(depth + 1, *parts, last, ")" * len(parts))


def test_deep_dis_trees_reach_another_process(parse_dis: Parse) -> None:
    tree = parse_dis(deep(DEEPEST_TREE))
    assert pickle.loads(pickle.dumps(tree)) == tree
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse_dis(deep(DEEPEST_TREE + 1))
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse_dis(deep(20_000))
    satellites = [satellite(n, "purpose") for n in range(2, DEEPEST_TREE + 3)]
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse_dis(root(DEEPEST_TREE + 2, leaf(1, "span"), *satellites))


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


@pytest.mark.parametrize(("declaration", "encoding"), TABLES["encodings"])
def test_encodings(tmp_path: Path, declaration: str, encoding: str):
    path = tmp_path / "texto.rs3"
    body = segment(1, text=ACCENTS) + segment(2, "1:Elaboración")
    path.write_bytes((declaration + rs3(body)).encode(encoding))
    tree = read_rs3(path)[0]
    assert tree.edus[0] == ACCENTS
    assert tree.root.relation == "Elaboración"


@pytest.mark.parametrize(("written", "read"), TABLES["segments"])
def test_text_of_a_segment(parse, written: str, read: str):
    assert parse(segment(1, text=written), segment(2, "1:Fondo")).edus[0] == read


# Errors


ALONE = segment(1)
WITH_CAUSE = segment(1) + segment(2, "1:Causa")


FAULTS = [
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
    # A repeated id that a reference could mean twice.
    (ALONE + WITH_CAUSE, "8: segment 2", "texto.rs3:7: segment 1 (segment)"),
]
UNREADABLE = [
    (segment(1, text="a &nbsp; b"), "texto.rs3:6", "Entity 'nbsp' not defined"),
    (segment(1, text="a &#129; b"), "6: segment 1", "U+0081"),
]
IRREGULAR = [
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
]
CROSSING = [
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
]
KINDS = {RawError: UNREADABLE, IrregularError: [*FAULTS, *IRREGULAR], CrossingError: CROSSING}


@pytest.mark.parametrize(
    ("kind", "body", "where", "found"),
    [(kind, *row) for kind, rows in KINDS.items() for row in rows],
)
def test_errors(parse, kind: type[InputError], body: str, where: str, found: str):
    """Irregular groups and crossing structures are told apart."""
    with pytest.raises(kind) as raised:
        parse(body)
    assert type(raised.value) is kind
    assert raised.value.where.endswith(where)
    assert found in raised.value.found


def test_a_multinuclear_group_may_be_typed_as_a_span(parse) -> None:
    nuclei = segment(1, "3:Lista") + segment(2, "3:Lista")
    tree = parse(nuclei + group(3, "span"))
    assert tree == parse(nuclei + group(3, "multinuc"))
    assert (tree.root.relation, tree.root.nuclei) == ("Lista", (True, True))


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


# Any tree


# In .dis, "_!" ends a text.
WORDS = st.text("abcñáéíóúü¿¡&<>\"'()_;.", min_size=1, max_size=8).filter(lambda s: s[-1] != "_")


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


@pytest.mark.parametrize("kind", ["rs3", "dis"])
@settings(max_examples=50)
@given(form=FORMS, data=st.data())
def test_what_is_written_is_read_back(tmp_path_factory, kind, form, data):
    edus = count()
    top = grow(form, edus)
    number = next(edus)
    texts = data.draw(st.lists(WORDS, min_size=number, max_size=number))
    tree = DiscourseTree("texto", texts, top)
    path = tmp_path_factory.getbasetemp() / f"texto.{kind}"
    if kind == "rs3":
        path.write_text(to_rs3(tree, data.draw(st.permutations(range(1, 3 * number + 1)))), "utf-8")
        assert read_rs3(path)[0] == tree
    else:
        path.write_text(to_dis(tree), "utf-8")
        assert read_dis(path) == tree


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
