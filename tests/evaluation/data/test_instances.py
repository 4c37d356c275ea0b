"""Finding datasets, reading splits, and what is said of folders that are not right."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from instance_files import row, write_dataset

from corpora_recipes.running.errors import InputError
from evaluation.datasets import find_datasets

ROWS = [row(i, i % 2, sentences=[f"Uno {i}.", f"Dos {i}."]) for i in range(6)]
RANKED = row(0, None, text="Uno.") | {"positives": []}
SPLITS = {"train": ROWS[:3], "validation": ROWS[3:4], "test": ROWS[4:]}


def test_datasets_are_found_at_each_depth(tmp_path: Path) -> None:
    write_dataset(tmp_path / "wiki" / "bso_wiki", "sentence_ordering", SPLITS, shards=2)
    write_dataset(tmp_path / "bso_alone", "sentence_ordering", SPLITS)
    write_dataset(tmp_path / "rankings" / "rank" / "rank", "sentence_ranking", {"test": [RANKED]})
    (tmp_path / "wiki" / "metrics.json").write_text("{}")
    alone, wiki, ranking = find_datasets(tmp_path)
    assert (ranking.name, list(ranking.files)) == ("rank", ["test"])
    assert (alone.name, wiki.name) == ("bso_alone", "bso_wiki")
    assert (wiki.task, wiki.corpus, wiki.language) == ("sentence_ordering", "wiki", "es")
    assert wiki.labels == ("swapped", "original")
    shards = [f"train-0000{number}-of-00002.parquet" for number in range(2)]
    assert [file.name for file in wiki.files["train"]] == shards
    assert wiki.read("train", ["id"])["id"].to_pylist() == ["i0", "i2", "i1"]
    rows = [{"label": 0, "id": "i4"}, {"label": 1, "id": "i5"}]
    assert alone.read("test", ["label", "id"]).to_pylist() == rows


def test_the_digest_is_that_of_the_files(tmp_path: Path) -> None:
    for name, splits in (("a", SPLITS), ("b", SPLITS), ("c", {**SPLITS, "test": ROWS[5:]})):
        write_dataset(tmp_path / name / "wiki" / "bso", "sentence_ordering", splits)
    a, b, c = (find_datasets(tmp_path / name)[0].digest() for name in "abc")
    assert len(a) == 64
    assert a == b != c


def test_a_missing_split_or_shard(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS, shards=2)
    for shard in ("test-00000", "validation-00001"):
        (folder / f"{shard}-of-00002.parquet").unlink()
        with pytest.raises(InputError, match=f"all 2 shards of the split {shard[:-6]}"):
            find_datasets(tmp_path)
        write_dataset(folder, "sentence_ordering", SPLITS, shards=2)
    write_dataset(tmp_path / "one", "sentence_ordering", {"train": ROWS, "test": ROWS})
    with pytest.raises(InputError, match="the splits train, validation, test"):
        find_datasets(tmp_path)


def test_a_dataset_with_folds_has_train_alone(tmp_path: Path) -> None:
    rows = [row(i, i % 2, fold=i % 3, sentence=f"Uno {i}.") for i in range(6)]
    write_dataset(tmp_path / "fac", "sentence_classification", {"train": rows}, shards=2)
    (dataset,) = find_datasets(tmp_path)
    assert list(dataset.files) == ["train"]
    assert (dataset.folds, dataset.target) == (True, "label")
    assert dataset.folder == tmp_path / "fac"
    assert dataset.read("train", ["fold"])["fold"].to_pylist() == [0, 2, 1, 1, 0, 2]


def test_a_dataset_with_classes_and_scores(tmp_path: Path) -> None:
    """Of similarity, for which nothing is trained, it has test alone."""
    texts = {"sentence1": "Uno.", "sentence2": "Dos."}
    splits = {split: [row(0, 1, score=0.5, **texts)] for split in SPLITS}
    for name, task in (("sick_e", "pair_classification"), ("sick_r", "relatedness")):
        write_dataset(tmp_path / name, task, splits, labels=["no", "yes"])
    write_dataset(tmp_path / "sts", "similarity", {"test": [row(0, None, score=1.5, **texts)]})
    found = find_datasets(tmp_path)
    assert [dataset.target for dataset in found] == ["label", "score", "score"]
    assert (found[2].labels, [dataset.folds for dataset in found]) == ((), [False] * 3)


@pytest.mark.parametrize(
    ("task", "split", "fold", "expected"),
    [
        ("sentence_classification", "train", None, "or only train, with a column fold"),
        ("sentence_classification", "test", 0, "or only train, with a column fold"),
        ("similarity", "train", 0, "or only test"),
    ],
)
def test_one_split_where_there_must_be_others(
    tmp_path: Path, task: str, split: str, fold: int | None, expected: str
) -> None:
    texts = {"sentence": "Uno."} if task != "similarity" else {"sentence1": "a", "sentence2": "b"}
    rows = [row(0, 0, score=1.0, fold=fold, **texts)]
    write_dataset(tmp_path / "x", task, {split: rows}, labels=["a", "b"])
    with pytest.raises(InputError, match=expected) as caught:
        find_datasets(tmp_path)
    assert (caught.value.where, caught.value.found) == (str(tmp_path / "x"), split)


def check_refused(folder: Path, words: str) -> None:
    with pytest.raises(InputError, match=words):
        find_datasets(folder)


def test_files_that_are_not_there_or_do_not_fit_each_other(tmp_path: Path) -> None:
    check_refused(tmp_path, "no such file")
    check_refused(tmp_path / "nowhere", "no such folder")
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    write_dataset(folder, "sentence_ordering", {"test": ROWS}, labels=["original", "swapped"])
    check_refused(tmp_path, "the description of train-00000")
    pq.write_table(pa.table({"label": [1]}), folder / "test-00000-of-00001.parquet")
    check_refused(tmp_path, r"test-00000.*\n.*metadata `probeta`")
    (folder / "train-00000-of-00001.parquet").write_bytes(b"PAR1 no more")
    check_refused(tmp_path, "train-00000")
    for corpus in ("a", "b"):
        write_dataset(tmp_path / "two" / corpus / "bso", "sentence_ordering", SPLITS)
    check_refused(tmp_path / "two", "one dataset per name")
    splits = {split: [row(0, 0)] for split in SPLITS}
    write_dataset(tmp_path / "three" / "x", "haiku", splits, labels=["a"])
    check_refused(tmp_path / "three", "'haiku'")


def test_instances_without_tokens(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bso", "sentence_ordering", SPLITS)
    for file in folder.iterdir():
        pq.write_table(pq.ParquetFile(file).read().drop_columns("tokens"), file)
    (dataset,) = find_datasets(tmp_path)
    assert len(dataset.read("test", ["sentences"])) == 2
    with pytest.raises(InputError, match="`probeta package` wrote: it adds the tokens"):
        dataset.read("test", ["tokens"])
    with pytest.raises(InputError, match="no colour among id, sentences"):
        dataset.read("test", ["id", "colour"])
    dataset.files["test"][0].write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="a Parquet file"):
        dataset.read("test", ["id"])


@pytest.mark.parametrize("sentences", [None, ["a", None]])
def test_a_null(tmp_path: Path, sentences: list[str | None] | None) -> None:
    bad = {**ROWS[1], "sentences": sentences}
    write_dataset(tmp_path / "bso", "sentence_ordering", {**SPLITS, "test": [ROWS[0], bad]})
    with pytest.raises(InputError, match="null in row 1"):
        find_datasets(tmp_path)[0].read("test", ["sentences"])
