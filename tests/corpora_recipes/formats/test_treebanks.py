"""Tests of what recipes of treebanks share: splits, encodings, and which treebank is read."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import corpus_of

from corpora_recipes.formats.treebanks import (
    FILES_PER_BLOCK,
    carve_splits,
    choose_held_out,
    find_treebank,
    group_in_blocks,
    is_withheld,
    possible_treebanks,
    read_split_list,
    read_text,
    treebank_sources,
)
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError


def the_corpus(language: str = "en", treebank: str = "any") -> Corpus:
    return corpus_of("rst_discourse_treebank", language, treebank=treebank, classes=True)


def touch(raw: Path, *names: str) -> None:
    for name in names:
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).touch()


@pytest.mark.parametrize(
    ("language", "treebank", "possible"),
    [
        ("en", "any", ["rst_dt", "gum"]),
        ("en-GB", "any", ["rst_dt", "gum"]),
        ("de", "any", ["pcc"]),
        ("en", "gum", ["gum"]),
        ("fr", "any", []),
    ],
)
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


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (100, {"train": 60, "validation": 20, "test": 20}),
        (7, {"train": 5, "validation": 1, "test": 1}),
        (3, {"train": 1, "validation": 1, "test": 1}),
    ],
)
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
