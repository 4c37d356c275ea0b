"""Tests of reading the RST Discourse Treebank, GUM and the Potsdam Commentary Corpus."""

from collections import Counter
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from recipe_reading import read_settled as read
from recipe_reading import refused
from rs3_text import rs3, segment, shape

from corpora_recipes.corpora.rst_discourse_treebank.recipe import blocks, read_block
from corpora_recipes.formats.treebanks import Texts
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import DiscourseTree

TABLES = read_tables(__file__)

PAIR = """\
( Root (span 1 2)
  ( Nucleus (leaf 1) (rel2par span) (text _!They left early_!) )
  ( Satellite (leaf 2) (rel2par {relation}) (text _!{text}_!) )
)
"""


def the_corpus(language: str = "en", treebank: str = "any", classes: bool = True) -> Corpus:
    return corpus_of("rst_discourse_treebank", language, treebank=treebank, classes=classes)


def write(raw: Path, name: str, relation: str = "purpose-e", text: str = "to see it.") -> None:
    path = raw / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAIR.format(relation=relation, text=text), "utf-8")


def test_a_text_in_two_forms_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, "gum/lisp_binary/GUM_a.dis", "causal-cause")
    write(tmp_path, "gum/lisp_nary/GUM_a.dis", "purpose-goal")
    write(tmp_path, "gum/lisp_binary/GUM_b.dis", "causal-cause")
    (tmp_path / "gum/splits.md").write_text("## train\n* GUM_a\n## dev\n* GUM_b\n## test\n* GUM_c")
    trees, _ = read(tmp_path, the_corpus())
    relations = {key: tree.root.relation for key, tree in trees.items()}
    assert relations == {"gum/GUM_a": "Purpose", "gum/GUM_b": "Causal"}


def test_the_potsdam_corpus_has_an_empty_relation_and_no_splits(tmp_path: Path) -> None:
    header = (
        '<rel name="" type="rst"/><rel name="reason" type="rst"/><rel name="list" type="multinuc"/>'
    )
    folder = tmp_path / "pcc/rs3"
    folder.mkdir(parents=True)
    for number in range(5):
        text = rs3(
            segment(1, text="Die Fähre kommt später ,"),
            segment(2, "1:reason", f"weil der Nebel {number} Stunden bleibt ."),
            header=header,
        )
        (folder / f"maz-9000{number}.rs3").write_text(text, "utf-8")
    trees, drops = read(tmp_path, the_corpus("de"))
    splits = Counter(tree.split for tree in trees.values())
    assert splits == {"train": 3, "validation": 1, "test": 1}
    tree = trees["pcc/maz-90001"]
    assert shape(tree.root) == "reason(1* 2)"
    assert tree.edus == ["Die Fähre kommt später,", "weil der Nebel 1 Stunden bleibt."]
    assert drops.dropped["documents", "single_edu"] == 0


def test_a_treebank_of_ones_own_has_any_language(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"own/text_{number}.dis", relation="my-own")
    trees, _ = read(tmp_path, the_corpus("ca", "own"))
    splits = Counter(tree.split for tree in trees.values())
    assert splits == {"train": 3, "validation": 1, "test": 1}
    assert {tree.root.relation for tree in trees.values()} == {"my-own"}


def test_drops_are_counted(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, f"rst_dt/TRAINING/wsj_06{number:02}.out.dis")
    write(tmp_path, "rst_dt/TRAINING/file5.dis", text="____ ___ .")
    write(tmp_path, "rst_dt/TEST/wsj_0701.out.dis", "span")
    (tmp_path / "rst_dt/TEST/wsj_0702.out.dis").write_text("( Root (leaf 1) (text _!Alone._!) )")
    trees, drops = read(tmp_path, the_corpus())
    assert Counter(tree.split for tree in trees.values()) == {"train": 18, "validation": 2}
    assert drops.as_dict()["documents"] == {
        "seen": 23,
        "kept": 20,
        "dropped": {"irregular": 1, "single_edu": 1, "withheld_text": 1},
    }


def test_validation_is_35_of_347(tmp_path: Path) -> None:
    for number in range(347):
        (tmp_path / "rst_dt/TRAINING").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"rst_dt/TRAINING/wsj_{number:04}.out.dis").touch()
    write(tmp_path, "rst_dt/TEST/wsj_2399.out.dis")
    splits = Counter(
        split for block in blocks(tmp_path, the_corpus()) for split in block.splits.values()
    )
    assert splits == {"train": 312, "validation": 35, "test": 1}


@pytest.mark.parametrize("missing", ["TRAINING", "TEST"])
def test_a_missing_part(tmp_path: Path, missing: str) -> None:
    (part,) = {"TRAINING", "TEST"} - {missing}
    write(tmp_path, f"rst_dt/{part}/wsj_0601.out.dis")
    with refused(str(tmp_path / "rst_dt" / missing), "RSTtrees-WSJ-main-1.0"):
        blocks(tmp_path, the_corpus())


def test_a_relation_of_no_class(tmp_path: Path) -> None:
    write(tmp_path, "rst_dt/TRAINING/wsj_0601.out.dis", "causal-cause")
    write(tmp_path, "rst_dt/TEST/wsj_0701.out.dis")
    with refused("wsj_0601.out.dis", "'causal-cause'", "classes.yaml"):
        read(tmp_path, the_corpus())
    trees, _ = read(tmp_path, the_corpus(classes=False))
    assert trees["rst_dt/wsj_0601"].root.relation == "causal-cause"


@pytest.mark.parametrize(("relation", "found"), TABLES["alike"])
def test_endings_and_capitals_do_not_matter(tmp_path: Path, relation: str, found: str) -> None:
    write(tmp_path, "rst_dt/TRAINING/wsj_0601.out.dis", relation)
    name = "rst_dt/TRAINING/wsj_0601.out.dis"
    block = Texts("x", tmp_path, "rst_dt", (name,), {name: "train"})
    (tree,) = read_block(block, the_corpus()).records
    assert isinstance(tree, DiscourseTree)
    assert tree.root.relation == found
