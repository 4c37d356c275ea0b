"""Finding datasets, reading splits, and what is said of folders that are not right."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from instance_files import row, write_dataset

from corpora_recipes.errors import InputError
from evaluation.instances import find_datasets

ROWS = [row(i, i % 2, sentences=[f"Uno {i}.", f"Dos {i}."]) for i in range(6)]
SPLITS = {"train": ROWS[:3], "validation": ROWS[3:4], "test": ROWS[4:]}


def test_datasets_are_found_at_both_depths(tmp_path: Path) -> None:
    write_dataset(tmp_path / "wiki" / "bso_wiki", "sentence_ordering", SPLITS, shards=2)
    write_dataset(tmp_path / "bso_alone", "sentence_ordering", SPLITS)
    (tmp_path / "wiki" / "metrics.json").write_text("{}")
    alone, wiki = find_datasets(tmp_path)
    assert (alone.name, wiki.name) == ("bso_alone", "bso_wiki")
    assert (wiki.task, wiki.corpus, wiki.language) == ("sentence_ordering", "wiki", "es")
    assert wiki.labels == ("swapped", "original")
    assert [file.name for file in wiki.files["train"]] == [
        "train-00000-of-00002.parquet",
        "train-00001-of-00002.parquet",
    ]
    assert wiki.read("train", ["id"])["id"].to_pylist() == ["i0", "i2", "i1"]
    assert alone.read("test", ["label", "id"]).to_pylist() == [
        {"label": 0, "id": "i4"},
        {"label": 1, "id": "i5"},
    ]


def test_the_digest_is_that_of_the_files(tmp_path: Path) -> None:
    for name, splits in (("a", SPLITS), ("b", SPLITS), ("c", {**SPLITS, "test": ROWS[5:]})):
        write_dataset(tmp_path / name / "wiki" / "bso", "sentence_ordering", splits)
    a, b, c = (find_datasets(tmp_path / name)[0].digest() for name in "abc")
    assert len(a) == 64
    assert a == b != c


@pytest.mark.parametrize(
    ("remove", "words"),
    [
        ("test-00000-of-00002.parquet", ["split test", "2 in number"]),
        ("validation-00001-of-00002.parquet", ["split validation", "2 in number"]),
    ],
)
def test_a_missing_shard(tmp_path: Path, remove: str, words: list[str]) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS, shards=2)
    (folder / remove).unlink()
    with pytest.raises(InputError) as caught:
        find_datasets(tmp_path)
    for word in words:
        assert word in str(caught.value)


def test_a_missing_split(tmp_path: Path) -> None:
    write_dataset(tmp_path / "bso", "sentence_ordering", {"train": ROWS, "test": ROWS})
    with pytest.raises(InputError, match="split validation"):
        find_datasets(tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none"):
        find_datasets(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        find_datasets(tmp_path / "nowhere")


def test_two_of_one_name(tmp_path: Path) -> None:
    for corpus in ("a", "b"):
        write_dataset(tmp_path / corpus / "bso", "sentence_ordering", SPLITS)
    with pytest.raises(InputError, match="a dataset name of its own"):
        find_datasets(tmp_path)


def test_a_file_without_description(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    pq.write_table(pa.table({"label": [1]}), folder / "test-00000-of-00001.parquet")
    with pytest.raises(InputError, match="metadata `probeta`") as caught:
        find_datasets(tmp_path)
    assert "test-00000" in str(caught.value)


def test_files_of_two_versions(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    write_dataset(folder, "sentence_ordering", {"test": ROWS}, labels=["original", "swapped"])
    with pytest.raises(InputError, match="the description that the other files have"):
        find_datasets(tmp_path)


def test_not_parquet(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    (folder / "train-00000-of-00001.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="train-00000"):
        find_datasets(tmp_path)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    with pytest.raises(InputError, match="no colour among id, sentences"):
        find_datasets(tmp_path)[0].read("test", ["id", "colour"])


@pytest.mark.parametrize("sentences", [None, ["a", None]])
def test_a_null(tmp_path: Path, sentences: list[str | None] | None) -> None:
    bad = {**ROWS[1], "sentences": sentences}
    write_dataset(tmp_path / "bso", "sentence_ordering", {**SPLITS, "test": [ROWS[0], bad]})
    with pytest.raises(InputError, match="null in row 1"):
        find_datasets(tmp_path)[0].read("test", ["sentences"])
