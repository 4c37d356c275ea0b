"""Tests of reading the .dis files of the RST Discourse Treebank and of GUM."""

import pickle
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs3_text import FORMS, grow, shape

from corpora_recipes.formats.treebanks import IrregularError, read_dis
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import DEEPEST_TREE

Parse = Callable[[str], DiscourseTree]


@pytest.fixture
def parse(tmp_path: Path) -> Parse:
    def parse(text: str) -> DiscourseTree:
        path = tmp_path / "wsj_0699.out.dis"
        path.write_text(text, "utf-8")
        return read_dis(path)

    return parse


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
def test_structures(parse: Parse, text: str, expected: str) -> None:
    tree = parse(text)
    assert shape(tree.root) == expected
    assert tree.edus == [f"unit {n + 1}" for n in range(len(tree.edus))]
    assert (tree.id, tree.split) == ("wsj_0699.out", None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("end of a paragraph.<P>", "end of a paragraph."),
        ("two. <s> sentences <s>", "two. sentences"),
        ("(in brackets) and one ) more (", "(in brackets) and one ) more ("),
        ("over\n   two lines", "over two lines"),
        ("cafe\N{COMBINING ACUTE ACCENT} – ça", "café – ça"),
    ],
)
def test_texts(parse: Parse, written: str, read: str) -> None:
    assert parse(root(2, leaf(1, "List", written), leaf(2, "List"))).edus[0] == read


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
def test_damaged_files(parse: Parse, text: str, line: int, expected: str, found: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(text)
    error = raised.value
    assert not isinstance(error, IrregularError)
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
def test_what_is_no_relation_is_told_apart(parse: Parse, nodes: tuple[str, ...]) -> None:
    with pytest.raises(IrregularError, match=r"wsj_0699\.out\.dis:[12]\n"):
        parse(root(2, *nodes))


def test_undecodable(tmp_path: Path) -> None:
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


@settings(max_examples=40)
@given(FORMS, st.data())
def test_what_is_written_is_read_back(tmp_path_factory, form, data) -> None:
    edus = count()
    made = grow(form, edus)
    number = next(edus)
    words = st.text("abcé()\"'<>_;.", min_size=1, max_size=8).filter(
        lambda s: "_!" not in s + "_!"[:-1] and not s.endswith("_")
    )
    texts = data.draw(st.lists(words, min_size=number, max_size=number))
    tree = DiscourseTree("text", texts, made)
    path = tmp_path_factory.getbasetemp() / "text.dis"
    path.write_text(to_dis(tree), "utf-8")
    assert read_dis(path) == tree


def deep(depth: int) -> str:
    """Write a text in which each relation has a unit and the rest of the text."""
    parts = [
        leaf(n, "List") + f"( Nucleus (span {n + 1} {depth + 1}) (rel2par List)\n"
        for n in range(1, depth)
    ]
    last = leaf(depth, "List") + leaf(depth + 1, "List")
    return root(depth + 1, *parts, last, ")" * len(parts))


def test_deep_trees_reach_another_process(parse: Parse) -> None:
    tree = parse(deep(DEEPEST_TREE))
    assert pickle.loads(pickle.dumps(tree)) == tree
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse(deep(DEEPEST_TREE + 1))
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse(deep(20_000))
    satellites = [satellite(n, "purpose") for n in range(2, DEEPEST_TREE + 3)]
    with pytest.raises(InputError, match="at most 150 relations in each other"):
        parse(root(DEEPEST_TREE + 2, leaf(1, "span"), *satellites))
