"""Tests of the recipe of PAWS-X: an archive with three tables a language."""

import io
import tarfile
from pathlib import Path

import pytest
from conftest import corpus_of, read_by_id
from recipe_reading import checked, refused

from corpora_recipes.corpora.paws_x.recipe import blocks, read_block
from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example

SAMPLE = RECIPES / "paws_x" / "sample"
HEADER = "id\tsentence1\tsentence2\tlabel"


def read_all(raw: Path, language: str = "es") -> tuple[dict[str, Example], Drops]:
    return read_by_id(raw, corpus_of("paws_x", language))


def archive(raw: Path, **files: bytes) -> None:
    """Write x-final.tar.gz; a file es__dev_2k is x-final/es/dev_2k.tsv."""
    with tarfile.open(raw / "x-final.tar.gz", "w:gz", compresslevel=1) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(f"x-final/{name.replace('__', '/')}.tsv")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def table(*lines: str, header: str = HEADER) -> bytes:
    return ("\n".join([header, *lines]) + "\n").encode()


def read(raw: Path, data: bytes):
    archive(raw, es__dev_2k=data)
    (block,) = blocks(raw, corpus_of("paws_x"))
    return checked(read_block(block, corpus_of("paws_x")))


# Oddities


def test_english_has_another_name_for_its_training_file(tmp_path: Path):
    data = table("1\tIt rains.\tRain falls.\t1")
    archive(tmp_path, en__train=data, en__test_2k=data, es__dev_2k=data, en__notes=b"x")
    examples, _ = read_all(tmp_path, "en")
    assert {example.id: example.split for example in examples.values()} == {
        "pairs/train/1": "train",
        "pairs/test_2k/1": "test",
    }


def test_drops_are_counted(tmp_path: Path):
    rows = ["1\tNS\tLlueve.\t0", "2\tLlueve.\t NS \t1", "3\tNS", "4\tLlueve.\tNieva."]
    rows += ["5\tLlueve.", "6", "7\tLlueve.\tNieva.\t", "8\t\t\t0", "9\tLlueve.\t \t0", ""]
    result = read(tmp_path, table(*rows, "10\tEl NS manda.\tManda el NS.\t1"))
    assert [record.id for record in result.records] == ["pairs/dev_2k/10"]
    dropped = {"empty_text": 2, "incomplete_row": 4, "not_translated": 3}
    assert result.drops.as_dict()["examples"] == {"seen": 10, "kept": 1, "dropped": dropped}


def test_rows_that_end_early_before_windows_line_ends(tmp_path: Path):
    result = read(tmp_path, table("4\tLlueve.\tNieva.", "", "5\tA.\tB.\t1").replace(b"\n", b"\r\n"))
    assert [record.texts for record in result.records] == [("A.", "B.")]
    assert result.drops.as_dict()["examples"]["dropped"] == {"incomplete_row": 1}


# Bad input


@pytest.mark.parametrize(
    ("data", "line", "expected"),
    [
        (table("1\ta\tb\t0", header="id\tsentence1\tsentence_2\tlabel"), 1, "sentence2"),
        (table("1\ta\tb\t0", "2\ta\tb\t2"), 3, "among 0, 1"),
        (table("1\ta\tb\t0", " \ta\tb\t0"), 3, "the column id"),
        (table("1\ta\tb\t0", "\tNS"), 3, "the column id"),
    ],
)
def test_bad_tables(tmp_path: Path, data: bytes, line: int, expected: str):
    with refused(f"x-final.tar.gz, x-final/es/dev_2k.tsv, line {line}", expected):
        read(tmp_path, data)


def test_a_language_that_is_not_there():
    with refused("", "x-final/it/ with translated_train.tsv", "x-final/es, x-final/fr"):
        blocks(SAMPLE, corpus_of("paws_x", "it"))
