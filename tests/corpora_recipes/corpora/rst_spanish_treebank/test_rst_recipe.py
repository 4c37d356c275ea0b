"""Tests of the recipe of the RST Spanish Treebank: labels, splits and drops."""

import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import corpus_of
from recipe_reading import read_settled, refused, write_files
from rs3_text import group, rs3, segment

from corpora_recipes.corpora.rst_spanish_treebank.recipe import blocks, read_block
from corpora_recipes.formats.treebanks import FILES_PER_BLOCK
from corpora_recipes.recipe import RECIPES, Corpus, load_facts

SAMPLE = RECIPES / "rst_spanish_treebank" / "sample"


def the_corpus(seed: int = 1111) -> Corpus:
    return replace(corpus_of("rst_spanish_treebank"), seed=seed)


def test_sample_has_the_published_labels_and_no_others():
    trees, _ = read_settled(SAMPLE, the_corpus())
    nodes = [tree.root for tree in trees.values()]
    for node in nodes:  # the list grows
        nodes += node.children
    labels = {("NN-" if all(n.nuclei) else "NS-") + n.relation for n in nodes if n.children}
    assert tuple(sorted(labels)) == load_facts("rst_spanish_treebank").labels


def test_blocks_hold_every_file_once_and_not_annotator_b(tmp_path: Path):
    for folder, number in (("train", 70), ("test/annotator-a", 3), ("test/annotator-b", 3)):
        write_files(tmp_path, {f"{folder}/t{i:02}.rs3": "" for i in range(number)})
    found = blocks(tmp_path, the_corpus())
    assert [(block.key, len(block.names)) for block in found] == [
        ("train/t00.rs3", FILES_PER_BLOCK),
        ("train/t32.rs3", FILES_PER_BLOCK),
        ("train/t64.rs3", 6),
        ("test/annotator-a/t00.rs3", 3),
    ]
    names = [name for block in found for name in block.names]
    assert len(set(names)) == len(names) == 73
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("missing", ["train", "test/annotator-a"])
def test_blocks_of_an_incomplete_folder(tmp_path: Path, missing: str):
    for folder in {"train", "test/annotator-a"} - {missing}:
        write_files(tmp_path, {f"{folder}/t.rs3": ""})
    with refused(str(tmp_path / missing / "*.rs3"), "http://corpus.iingen.unam.mx/rst"):
        blocks(tmp_path, the_corpus())


def write_corpus(raw: Path, train: dict[str, str]) -> None:
    files = {f"train/{name}.rs3": text for name, text in train.items()}
    files["test/annotator-a/t.rs3"] = rs3(segment(1), segment(2, "1:Fondo"))
    write_files(raw, files)


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
            "irregular": rs3(segment(1, "3:span"), segment(2, "3:span"), group(3, "span")),
        },
    )
    trees, total = read_settled(tmp_path, the_corpus())
    assert sorted(trees) == ["test/annotator-a/t", "train/titled", "train/whole"]
    assert total.as_dict() == {
        "documents": {
            "seen": 8,
            "kept": 3,
            "dropped": {"crossing": 1, "irregular": 1, "lost_character": 1, "single_edu": 2},
        },
        "edus": {
            "seen": 13,
            "kept": 7,
            "dropped": {"in_dropped_document": 4, "unrelated_title": 2},
        },
    }


def splits_of(folder: Path, seed: int = 1111) -> dict[str, str]:
    corpus = the_corpus(seed)
    return {
        record.id: str(record.split)
        for block in blocks(folder, corpus)
        for record in read_block(block, corpus).records
    }


def test_validation_is_a_sixth(tmp_path: Path):
    write_corpus(tmp_path, {f"t{i:03}": rs3(segment(1), segment(2, "1:Fondo")) for i in range(300)})
    splits = splits_of(tmp_path)
    assert Counter(splits.values()) == {"train": 250, "validation": 50, "test": 1}


@pytest.mark.parametrize("seed", range(10))
def test_a_small_corpus_has_a_validation_text_whatever_the_seed(tmp_path: Path, seed: int):
    write_corpus(tmp_path, {f"t{i}": rs3(segment(1), segment(2, "1:Fondo")) for i in range(3)})
    assert list(splits_of(tmp_path, seed).values()).count("validation") == 1
