"""Tests of the recipe for SQC: every oddity of the format, and bad files."""

from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from recipe_reading import checked, refused

from corpora_recipes.corpora.sqc.recipe import blocks, read_block
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.recipe import BlockResult
from corpora_recipes.records import Example

TABLES = read_tables(__file__)

CORPUS = corpus_of("sqc")


def read(raw: Path) -> dict[str, BlockResult]:
    return {block.key: checked(read_block(block, CORPUS)) for block in blocks(raw, CORPUS)}


def questions(tmp_path: Path, text: str | bytes, name: str = "train.txt") -> list[Example]:
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / name).write_bytes(data)
    return list(read(tmp_path)[name].records)


def test_sources_are_of_one_state_and_pinned():
    train, test = list_sources(CORPUS)
    assert all(source.sha256 and source.size and source.optional for source in (train, test))
    assert test.urls[0].endswith("/test.txt.depecrated")


@pytest.mark.parametrize(("line", "fine", "question"), TABLES["lines"])
def test_a_line(tmp_path: Path, line: str, fine: str, question: str):
    (example,) = questions(tmp_path, f"{line}\n")
    assert example.label == "number"
    assert example.columns == {"fine_class": fine}
    assert example.texts == (question,)


def test_ids_are_the_numbers_of_the_lines(tmp_path: Path):
    read = questions(tmp_path, "HUM:ind ¿ Uno ?\n\n   \nHUM:ind ¿ Cuatro ?\n", "test.txt")
    assert [example.id for example in read] == ["questions/test/1", "questions/test/4"]


def test_empty_questions_are_dropped_and_counted(tmp_path: Path):
    (tmp_path / "train.txt").write_text(
        "NUM:count\nNUM:count \nNUM: \nHUM:ind ¿ Quien ?\n", "utf-8"
    )
    result = read(tmp_path)["train.txt"]
    assert [example.id for example in result.records] == ["questions/train/4"]
    assert result.drops.seen == {"examples": 4}
    assert result.drops.dropped == {("examples", "empty_text"): 3}


@pytest.mark.parametrize(
    ("data", "where", "expected", "found"),
    [
        *TABLES["bad_lines"],
        (b"HUM:ind Quien ?\nNUM: \xbf Cuantos ?\n", "train.txt, line 2", "UTF-8", "0xbf"),
    ],
)
def test_bad_lines(tmp_path: Path, data: str | bytes, where: str, expected: str, found: str):
    with refused(where, expected, found):
        questions(tmp_path, data)
