"""Tests of the recipe of the RST Spanish Treebank: RSTTool files with all their oddities."""

import pickle
import re
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.rst_spanish_treebank.recipe import (
    FILES_A_BLOCK,
    CrossingError,
    blocks,
    read_block,
    read_rs3,
)
from corpora_recipes.reading.blocks import read_corpus
from corpora_recipes.recipe import (
    RECIPES,
    Corpus,
    load_facts,
    load_recipe,
)
from corpora_recipes.records import DiscourseNode, DiscourseTree, Drops
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "rst_spanish_treebank" / "sample"
HEADER = (
    '<rel name="Elaboración" type="rst"/><rel name="Fondo" type="rst"/>'
    '<rel name="Preparación" type="rst"/><rel name="Causa" type="rst"/>'
    '<rel name="Lista" type="multinuc"/><rel name="Contraste" type="multinuc"/>'
)


def the_corpus(seed: int = 1111) -> Corpus:
    return Corpus(
        name="rst_spanish_treebank",
        recipe="rst_spanish_treebank",
        language="es",
        documents=None,
        seed=seed,
        options={},
        datasets={},
        facts=load_facts("rst_spanish_treebank"),
    )


def shape(node: DiscourseNode) -> str:
    """Write a tree as "Relation(child child*)", nuclei starred, EDUs counted from 1."""
    if node.edu is not None:
        return str(node.edu + 1)
    pairs = zip(node.children, node.nuclei, strict=True)
    children = " ".join(shape(child) + "*" * nucleus for child, nucleus in pairs)
    return f"{node.relation}({children})"


def segment(number: object, reference: str = "", text: str = "") -> str:
    parent, _, relation = reference.partition(":")
    attributes = f' parent="{parent}" relname="{relation}"' if reference else ""
    return f'<segment id="{number}"{attributes}>{text or f"texto {number}"}</segment>\n'


def group(number: object, kind: str, reference: str = "") -> str:
    parent, _, relation = reference.partition(":")
    attributes = f' parent="{parent}" relname="{relation}"' if reference else ""
    return f'<group id="{number}" type="{kind}"{attributes}/>\n'


def rs3(*body: str, header: str = HEADER) -> str:
    relations = f"<header>\n<relations>{header}</relations>\n</header>"
    return f"<rst>\n{relations}\n<body>\n{''.join(body)}</body>\n</rst>\n"


@pytest.fixture
def parse(tmp_path: Path):
    def parse(*body: str, header: str = HEADER) -> DiscourseTree:
        path = tmp_path / "texto.rs3"
        path.write_text(rs3(*body, header=header), "utf-8")
        return read_rs3(path)

    return parse


# The sample


@pytest.fixture(scope="module")
def sample() -> tuple[dict[str, DiscourseTree], Drops]:
    trees: dict[str, DiscourseTree] = {}
    total = Drops()
    for records, drops in read_corpus(blocks(SAMPLE, the_corpus()), the_corpus(), None, 1):
        trees.update({tree.id: tree for tree in records})
        total.add(drops)
    return trees, total


def test_sample_counts(sample):
    trees, drops = sample
    assert drops.as_dict() == {
        "documents": {"seen": 15, "kept": 15, "dropped": {}},
        "edus": {"seen": 216, "kept": 215, "dropped": {"unrelated_title": 1}},
    }
    assert {key: len(tree.edus) for key, tree in sorted(trees.items())} == {
        "test/annotator-a/as90003": 11,
        "test/annotator-a/ec90003": 15,
        "test/annotator-a/li90002": 14,
        "test/annotator-a/me90003": 13,
        "train/as90001": 14,
        "train/as90012": 14,
        "train/bi90001": 15,
        "train/ec90001": 13,
        "train/ec90002": 14,
        "train/ed90001": 16,
        "train/li90001": 14,
        "train/ma90001": 15,
        "train/me90002": 18,
        "train/me90007": 14,
        "train/ps90001": 15,
    }


def test_sample_splits(sample):
    trees, _ = sample
    splits = {key: tree.split for key, tree in trees.items()}
    assert {key for key, split in splits.items() if split == "test"} == {
        key for key in trees if key.startswith("test/")
    }
    assert sorted(key for key, split in splits.items() if split == "validation") == [
        "train/as90012",
        "train/me90007",
    ]


def test_sample_has_the_published_labels_and_no_others(sample):
    trees, _ = sample
    labels = set()
    for tree in trees.values():
        todo = [tree.root]
        while todo:
            node = todo.pop()
            todo.extend(node.children)
            if node.children:
                labels.add(("NN-" if all(node.nuclei) else "NS-") + node.relation)
    assert tuple(sorted(labels)) == load_facts("rst_spanish_treebank").labels
    assert len(labels) == 29


def test_sample_trees(sample):
    trees, _ = sample
    assert shape(trees["test/annotator-a/as90003"].root) == (
        "Preparación(1 Elaboración(Concesión(Causa(2* Reformulación(3* 4))* "
        "Evidencia(5* Medio(6* 7)))* Contraste(Conjunción(8* 9*)* Causa(10* 11)*))*)"
    )
    assert shape(trees["train/li90001"].root) == (
        "Preparación(1 Resultado(Medio(Antítesis(2 3*)* Unión(Same-unit(Elaboración(4* 5)* 6*)* "
        "Secuencia(7* Circunstancia(8* 9)*)*))* Reformulación(Evidencia(Conjunción(10* 11*)* "
        "Contraste(12* 13*))* 14))*)"
    )
    # A list of five nuclei is one node.
    assert "Elaboración(5* Lista(6* 7* 8* 9* 10*))" in shape(trees["train/ed90001"].root)


def test_sample_oddities(sample):
    trees, _ = sample
    assert trees["train/ec90001"].edus[:2] == [
        "Precios y salarios – ¿un círculo o una espiral?",  # windows-1252, not declared
        "Muchos manuales dan por segura la llamada “espiral inflacionaria”:",
    ]
    assert trees["train/me90007"].edus[0] == "Uso prudente de los antibióticos"  # iso-8859-1
    # Line breaks and blanks inside a segment; ids out of order; a title outside the structure.
    assert "\n  " in (SAMPLE / "train/me90002.rs3").read_text("utf-8")
    assert (
        trees["train/me90002"].edus[0] == "Efectos de una siesta breve en el personal de enfermería"
    )
    assert trees["train/ps90001"].edus[3] == "otros creen que lo refuerza."
    assert trees["train/ma90001"].edus[0].startswith("Los babilonios")


def test_sample_text_is_clean(sample):
    trees, _ = sample
    for tree in trees.values():
        for edu in tree.edus:
            assert not re.search("[\x00-\x1f\x7f-\x9f\ufffd]|  ", edu)
            assert edu == edu.strip()


# Blocks and records


def test_blocks_hold_every_file_once_and_not_annotator_b(tmp_path: Path):
    for folder, number in (("train", 70), ("test/annotator-a", 3), ("test/annotator-b", 3)):
        (tmp_path / folder).mkdir(parents=True)
        for i in range(number):
            (tmp_path / folder / f"t{i:02}.rs3").touch()
    found = blocks(tmp_path, the_corpus())
    assert [(block.key, len(block.names)) for block in found] == [
        ("train/t00.rs3", FILES_A_BLOCK),
        ("train/t32.rs3", FILES_A_BLOCK),
        ("train/t64.rs3", 6),
        ("test/annotator-a/t00.rs3", 3),
    ]
    names = [name for block in found for name in block.names]
    assert len(set(names)) == len(names) == 73
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("missing", ["train", "test/annotator-a"])
def test_blocks_of_an_incomplete_folder(tmp_path: Path, missing: str):
    for folder in {"train", "test/annotator-a"} - {missing}:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "t.rs3").touch()
    with pytest.raises(InputError) as raised:
        blocks(tmp_path, the_corpus())
    assert raised.value.where == str(tmp_path / missing / "*.rs3")
    assert "http://corpus.iingen.unam.mx/rst" in raised.value.todo


def write_corpus(raw: Path, train: dict[str, str]) -> None:
    (raw / "train").mkdir(parents=True)
    (raw / "test/annotator-a").mkdir(parents=True)
    whole = rs3(segment(1), segment(2, "1:Fondo"))
    (raw / "test/annotator-a/t.rs3").write_text(whole, "utf-8")
    for name, text in train.items():
        (raw / "train" / f"{name}.rs3").write_text(text, "utf-8")


def test_drops_are_counted(tmp_path: Path):
    write_corpus(
        tmp_path,
        {
            "whole": rs3(segment(1), segment(2, "1:Fondo"), segment(3, "1:Causa")),
            "single": rs3(segment(1)),
            "titled": rs3(segment(1), segment(2), segment(3, "2:Causa")),
            "title_and_one": rs3(segment(1), segment(2)),
            "lost": rs3(segment(1, text="si m?n , o no ?"), segment(2, "1:Fondo")),
            # 2, which relates to 3 and 4 together, stands between 1 and its nucleus 3.
            "crossing": rs3(
                segment(1, "3:Elaboración"),
                segment(2, "5:Fondo"),
                segment(3, "5:span"),
                segment(4, "5:Causa"),
                group(5, "span"),
            ),
        },
    )
    total = Drops()
    ids = []
    for block in blocks(tmp_path, the_corpus()):
        result = read_block(block, the_corpus())
        total.add(result.drops)
        ids += [record.id for record in result.records]
    assert ids == ["train/titled", "train/whole", "test/annotator-a/t"]
    assert total.as_dict() == {
        "documents": {
            "seen": 7,
            "kept": 3,
            "dropped": {"crossing": 1, "lost_character": 1, "single_edu": 2},
        },
        "edus": {"seen": 13, "kept": 9, "dropped": {"lost_character": 2, "unrelated_title": 2}},
    }


def test_damaged_file_stops_the_run(tmp_path: Path):
    write_corpus(tmp_path, {"a": rs3(segment(1)), "b": "<rst>"})
    with pytest.raises(InputError, match=r"train/b\.rs3"):
        read_block(blocks(tmp_path, the_corpus())[0], the_corpus())


def splits_of(folder: Path, seed: int = 1111) -> dict[str, str]:
    corpus = replace(the_corpus(), seed=seed)
    return {
        record.id: str(record.split)
        for block in blocks(folder, corpus)
        for record in read_block(block, corpus).records
    }


def test_validation_is_a_sixth_and_one_text_less_moves_one_at_most(tmp_path: Path):
    write_corpus(tmp_path, {f"t{i:03}": rs3(segment(1), segment(2, "1:Fondo")) for i in range(300)})
    splits = splits_of(tmp_path)
    assert Counter(splits.values()) == {"train": 250, "validation": 50, "test": 1}
    for name in ("train/t017", "train/t200"):
        (tmp_path / f"{name}.rs3").unlink()
        fewer = splits_of(tmp_path)
        assert sum(splits[key] != fewer[key] for key in fewer) <= 1
        splits = fewer


@pytest.mark.parametrize("seed", range(10))
def test_a_small_corpus_has_a_validation_text_whatever_the_seed(tmp_path: Path, seed: int):
    write_corpus(tmp_path, {f"t{i}": rs3(segment(1), segment(2, "1:Fondo")) for i in range(3)})
    assert list(splits_of(tmp_path, seed).values()).count("validation") == 1


def test_load_recipe_finds_it():
    assert load_recipe("rst_spanish_treebank").blocks is blocks


# Structure


def test_satellites_right_of_the_nucleus_attach_first_nearest_first(parse):
    tree = parse(
        segment(1, "3:Preparación"),
        segment(2, "3:Fondo"),
        segment(3, "6:span"),
        segment(4, "3:Elaboración"),
        segment(5, "3:Causa"),
        group(6, "span"),
    )
    assert shape(tree.root) == "Preparación(1 Fondo(2 Causa(Elaboración(3* 4)* 5)*)*)"
    assert tree.edus == ["texto 1", "texto 2", "texto 3", "texto 4", "texto 5"]
    assert (tree.id, tree.split) == ("texto", None)


def test_no_parentless_group(parse):
    tree = parse(segment(1, "2:Preparación"), segment(2), segment(3, "2:Causa"))
    assert shape(tree.root) == "Preparación(1 Causa(2* 3)*)"


def test_satellites_of_a_nucleus_and_of_the_group_above_it(parse):
    tree = parse(
        segment(1, "2:span"),
        group(2, "span", "5:span"),
        segment(3, "1:Causa"),
        segment(4, "2:Fondo"),
        group(5, "span"),
    )
    assert shape(tree.root) == "Fondo(Causa(1* 2)* 3)"


def test_multinuclear_group_with_a_satellite_of_its_own_and_one_of_a_nucleus(parse):
    tree = parse(
        segment(1, "9:Lista"),
        segment(2, "1:Causa"),
        segment(3, "9:Lista"),
        segment(4, "9:Lista"),
        segment(5, "9:Fondo"),
        group(9, "multinuc"),
    )
    assert shape(tree.root) == "Fondo(Lista(Causa(1* 2)* 3* 4*)* 5)"


def test_document_order_counts_and_not_the_ids(parse):
    tree = parse(
        group(1, "multinuc"),
        segment(30, "1:Lista", "primero"),
        segment(7, "1:Lista", "segundo"),
        segment(12, "1:Lista", "tercero"),
    )
    assert tree.edus == ["primero", "segundo", "tercero"]
    assert shape(tree.root) == "Lista(1* 2* 3*)"


def test_title_outside_the_structure_is_left_out(parse):
    tree = parse(group(9, "span"), segment(1), segment(2, "9:span"), segment(3, "2:Causa"))
    assert tree.edus == ["texto 2", "texto 3"]
    assert shape(tree.root) == "Causa(1* 2)"


def test_single_edu(parse):
    tree = parse(segment(1))
    assert (tree.edus, shape(tree.root)) == (["texto 1"], "1")


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
    two = parse(
        segment(1, "3:Reformulación"),
        segment(2, "3:Reformulación"),
        group(3, "multinuc"),
        header=header,
    )
    assert shape(two.root) == "Reformulación(1* 2*)"
    of_segment = parse(segment(1), segment(2, "1:Reformulación"), header=header)
    assert shape(of_segment.root) == "Reformulación(1* 2)"
    two_of_segment = parse(
        segment(1), segment(2, "1:Reformulación"), segment(3, "1:Reformulación"), header=header
    )
    assert shape(two_of_segment.root) == "Reformulación(Reformulación(1* 2)* 3)"
    beside_a_list = parse(
        segment(1, "3:Lista"),
        segment(2, "3:Lista"),
        segment(4, "3:Reformulación"),
        segment(5, "3:Reformulación"),
        group(3, "multinuc"),
        header=header,
    )
    assert shape(beside_a_list.root) == "Reformulación(Reformulación(Lista(1* 2*)* 3)* 4)"


def test_repeated_ids_that_no_reference_confuses(parse):
    # 2 is a segment and a group, and `span` can only mean the group; nothing refers to 5.
    tree = parse(
        segment(2, "7:span"),
        segment(5, "3:Lista"),
        segment(5, "3:Lista"),
        group(3, "multinuc", "7:Causa"),
        group(7, "span", "2:span"),
        group(2, "span"),
    )
    assert shape(tree.root) == "Causa(1* Lista(2* 3*))"


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
        ('<?xml version="1.0"?>\n', "windows-1252"),
    ],
)
def test_encodings(tmp_path: Path, declaration: str, encoding: str):
    path = tmp_path / "texto.rs3"
    body = segment(1, text=ACCENTS) + segment(2, "1:Elaboración")
    path.write_bytes((declaration + rs3(body)).encode(encoding))
    tree = read_rs3(path)
    assert tree.edus[0] == ACCENTS
    assert tree.root.relation == "Elaboración"


def test_iso_8859_1_without_declaration(tmp_path: Path):
    path = tmp_path / "texto.rs3"
    path.write_bytes(rs3(segment(1, text="¿Año?"), segment(2, "1:Fondo")).encode("iso-8859-1"))
    assert read_rs3(path).edus[0] == "¿Año?"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("uno\n\n  dos\t tres \r\n", "uno dos tres"),
        ("uno\N{NO-BREAK SPACE}dos", "uno dos"),
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


def test_windows_line_ends(tmp_path: Path):
    path = tmp_path / "texto.rs3"
    path.write_bytes(
        rs3(segment(1, text="uno\ndos"), segment(2, "1:Fondo")).replace("\n", "\r\n").encode()
    )
    assert read_rs3(path).edus == ["uno dos", "texto 2"]


def test_relation_names_are_cleaned_as_texts_are(parse):
    decomposed = "Elaboracio\N{COMBINING ACUTE ACCENT}n "
    assert parse(segment(1), segment(2, f"1:{decomposed}")).root.relation == "Elaboración"


# Errors


@pytest.mark.parametrize(
    ("body", "where", "expected", "found"),
    [
        pytest.param(
            segment(1) + segment(2, "1:Causa") + segment(3) + segment(4, "3:Causa"),
            "texto.rs3:8: segment 3",
            "one node without a parent",
            "texto.rs3:6: segment 1",
            id="two roots",
        ),
        pytest.param(
            segment(1) + segment(2) + segment(3),
            "texto.rs3:7: segment 2",
            "one node without a parent",
            "texto.rs3:6: segment 1",
            id="three roots, the first of them a title",
        ),
        pytest.param(
            segment(1) + segment(2, "77:Causa"),
            "texto.rs3:7: segment 2",
            "for relname 'Causa' one parent '77' of type segment or span or multinuc",
            "no such node",
            id="unknown parent",
        ),
        pytest.param(
            segment(1, "2:Causa") + segment(2, "1:Fondo"),
            "texto.rs3:6: segment 1",
            "parents that lead to one root",
            "a cycle of 1 → 2 → 1",
            id="a cycle without a root",
        ),
        pytest.param(
            segment(1) + segment(2, "2:Causa"),
            "texto.rs3:7: segment 2",
            "parents that lead to one root",
            "a cycle of 2 → 2",
            id="its own parent",
        ),
        pytest.param(
            segment(1)
            + segment(2, "1:Causa")
            + segment(3, "4:Causa")
            + segment(4, "5:Causa")
            + segment(5, "4:Causa"),
            "texto.rs3:9: segment 4",
            "parents that lead to one root",
            "a cycle of 4 → 5 → 4",
            id="a cycle beside the tree, met from outside",
        ),
        pytest.param(
            "",
            "texto.rs3",
            "<rst> with a <body> of segments",
            "<rst> without a segment",
            id="no segments",
        ),
        pytest.param(
            segment(1) + segment(2, "1:Causa", " \n "),
            "texto.rs3:7: segment 2",
            "a text",
            "an empty segment",
            id="empty segment",
        ),
        pytest.param(
            segment(1) + "<segment parent='1' relname='Causa'>x</segment>",
            "texto.rs3:7: segment None",
            "an id",
            "none",
            id="no id",
        ),
        pytest.param(
            segment(1) + "<segment id='2' parent='1'>x</segment>",
            "texto.rs3:7: segment 2",
            "a relname beside the parent",
            "none",
            id="no relname",
        ),
        pytest.param(
            segment(1, "2:span") + group(2, "schema"),
            "texto.rs3:7: group 2",
            "type span or multinuc",
            "'schema'",
            id="unknown type of group",
        ),
        pytest.param(
            segment(1) + segment(2, "1:Lista") + segment(3, "1:Lista"),
            "texto.rs3:7: segment 2",
            "for relname 'Lista' one parent '1' of type multinuc",
            "texto.rs3:6: segment 1 (segment)",
            id="a nucleus of a segment",
        ),
        pytest.param(
            segment(1, "3:Lista") + segment(2, "3:Lista") + group(3, "span"),
            "texto.rs3:6: segment 1",
            "for relname 'Lista' one parent '3' of type multinuc",
            "texto.rs3:8: group 3 (span)",
            id="several nuclei of a span",
        ),
        pytest.param(
            segment(1) + segment(1) + segment(2, "1:Causa"),
            "texto.rs3:8: segment 2",
            "for relname 'Causa' one parent '1' of type segment or span or multinuc",
            "texto.rs3:7: segment 1 (segment)",
            id="a repeated id that a reference could mean twice",
        ),
        pytest.param(
            segment(1) + segment(2, "3:Causa") + group(3, "span", "1:Fondo"),
            "texto.rs3:8: group 3",
            "one nucleus by `span`, or two or more by one multinuclear relation",
            "none",
            id="a group without nucleus",
        ),
        pytest.param(
            segment(1, "3:Lista") + segment(2, "3:Contraste") + group(3, "multinuc"),
            "texto.rs3:8: group 3",
            "one nucleus by `span`, or two or more by one multinuclear relation",
            "1 × Contraste, 1 × Lista",
            id="nuclei of two relations",
        ),
        pytest.param(
            segment(1, "3:Lista") + segment(2, "3:Causa") + group(3, "multinuc"),
            "texto.rs3:8: group 3",
            "one nucleus by `span`, or two or more by one multinuclear relation",
            "1 × Lista",
            id="one nucleus of a multinuclear relation",
        ),
        pytest.param(
            segment(1, "3:span") + segment(2, "3:span") + group(3, "span"),
            "texto.rs3:8: group 3",
            "one nucleus by `span`, or two or more by one multinuclear relation",
            "2 × span",
            id="two nuclei by span",
        ),
        pytest.param(
            segment(1, text="a &nbsp; b"),
            "texto.rs3:6",
            "well-formed XML",
            "Entity 'nbsp' not defined",
            id="an entity of HTML",
        ),
        pytest.param(
            segment(1, text="a & b"),
            "texto.rs3:6",
            "well-formed XML",
            "xmlParseEntityRef: no name",
            id="a bare ampersand",
        ),
        pytest.param(
            segment(1, text="a &#129; b"),
            "texto.rs3:6: segment 1",
            "text without control characters",
            "U+0081",
            id="a control character that windows-1252 lacks",
        ),
    ],
)
def test_errors(parse, body: str, where: str, expected: str, found: str):
    with pytest.raises(InputError) as raised:
        parse(body)
    error = raised.value
    assert not isinstance(error, CrossingError)
    assert error.where.endswith(where)
    assert error.expected == expected
    assert found in error.found
    assert error.todo


@pytest.mark.parametrize(
    "text", ["", "Esto no es XML.", "<rst><body>", "<rst></rst><rst></rst>", "\x00\x01"]
)
def test_not_xml(tmp_path: Path, text: str):
    path = tmp_path / "texto.rs3"
    path.write_text(text)
    with pytest.raises(InputError, match=r"texto\.rs3:\d+\n  expected: well-formed XML"):
        read_rs3(path)


def test_other_xml(tmp_path: Path):
    path = tmp_path / "texto.rs3"
    path.write_text("<html><body/></html>")
    with pytest.raises(InputError, match="<html> without a segment"):
        read_rs3(path)


@pytest.mark.parametrize(
    ("declaration", "expected", "found"),
    [
        (b"", "utf-8 or cp1252", "byte 0x81"),
        (b'<?xml version="1.0" encoding="UTF-8"?>', "text in UTF-8", "byte 0xF3"),
        (b'<?xml version="1.0" encoding="klingon"?>', "text in klingon", "does not exist"),
        (b'<?xml version="1.0" encoding="hex"?>', "text in hex", "does not exist"),
    ],
)
def test_undecodable(tmp_path: Path, declaration: bytes, expected: str, found: str):
    path = tmp_path / "texto.rs3"
    path.write_bytes(
        declaration + rs3(segment(1, text="a@")).encode("cp1252").replace(b"@", b"\x81")
    )
    with pytest.raises(InputError) as raised:
        read_rs3(path)
    assert expected in raised.value.expected
    assert found in raised.value.found


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rst [<!ENTITY a "ja"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
        '<!DOCTYPE rst [<!ENTITY c SYSTEM "secreto.txt">]>',
        '<!DOCTYPE rst SYSTEM "http://example.org/rst.dtd">',
    ],
    ids=["entity bomb", "external entity", "external subset"],
)
def test_doctype_is_refused(tmp_path: Path, doctype: str):
    (tmp_path / "secreto.txt").write_text("secreto")
    path = tmp_path / "texto.rs3"
    path.write_text(doctype + rs3(segment(1, text="&c;"), segment(2, "1:Fondo")), "utf-8")
    with pytest.raises(InputError) as raised:
        read_rs3(path)
    assert (raised.value.expected, raised.value.found) == ("no DOCTYPE", "a DOCTYPE")


@pytest.mark.parametrize(
    ("body", "where", "found"),
    [
        pytest.param(
            segment(1, "4:Elaboración")
            + segment(2, "5:Fondo")
            + segment(3)
            + segment(4, "5:span")
            + group(5, "span", "3:Causa"),
            "segment 4",
            "EDUs 1–1 and 4–4",
            id="a satellite away from its nucleus",
        ),
        pytest.param(
            segment(1, "9:Lista")
            + segment(2, "8:span")
            + segment(3, "9:Lista")
            + group(8, "span")
            + group(9, "multinuc", "2:Causa"),
            "group 9",
            "EDUs 1–1 and 3–3",
            id="a list around its own nucleus",
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
FORMS = st.one_of(
    st.just(None),
    st.recursive(
        st.just(None),
        lambda child: st.one_of(
            st.tuples(
                st.sampled_from(["Lista", "Contraste"]), st.lists(child, min_size=2, max_size=5)
            ),
            st.tuples(
                st.sampled_from(["Elaboración", "Fondo", "Causa"]),
                st.tuples(child, child),
                st.booleans(),
            ),
        ),
        max_leaves=25,
    ),
)


def grow(form, edus) -> DiscourseNode:
    """Make a tree: None is an EDU, a pair joins nuclei, a triple nucleus and satellite."""
    if form is None:
        return DiscourseNode(edu=next(edus))
    relation, parts, *nucleus_first = form
    nuclei = (nucleus_first[0], not nucleus_first[0]) if nucleus_first else (True,) * len(parts)
    return DiscourseNode(
        relation=relation, children=tuple(grow(part, edus) for part in parts), nuclei=nuclei
    )


def to_rs3(tree: DiscourseTree, ids: list[int]) -> str:
    """Write a tree as RSTTool does; the ids are used in the order of a walk from the root."""
    unused = iter(ids)
    segments: dict[int, str] = {}
    groups = []

    def write(node: DiscourseNode, own: int, reference: str) -> None:
        if node.edu is not None:
            segments[node.edu] = segment(own, reference, escape(tree.edus[node.edu]))
            return
        groups.append(group(own, "multinuc" if all(node.nuclei) else "span", reference))
        numbers = [next(unused) for _ in node.children]
        for child, number, nucleus in zip(node.children, numbers, node.nuclei, strict=True):
            if all(node.nuclei):
                write(child, number, f"{own}:{node.relation}")
            elif nucleus:
                write(child, number, f"{own}:span")
            else:
                write(child, number, f"{numbers[node.nuclei.index(True)]}:{node.relation}")

    write(tree.root, next(unused), "")
    return rs3(*(segments[edu] for edu in sorted(segments)), *groups)


@settings(max_examples=150)
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
    assert read_rs3(path) == tree


def test_deep_trees_need_no_recursion(parse):
    depth = 3000
    body = [segment(1)]
    body += [segment(i, f"{i - 1}:Elaboración") for i in range(2, depth + 1)]
    tree = parse(*body)
    assert tree.root.edus() == list(range(depth))
    node, levels = tree.root, 0
    while node.children:
        node, levels = node.children[1], levels + 1
    assert levels == depth - 1
