"""Datasets of a folder or the Hub; their texts, rows and features."""

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from hub_server import hub, point_at
from instance_files import row, write_dataset

from builders.tasks import TASKS
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_data, find_datasets
from evaluation.encoders import make_encoder
from evaluation.features import (
    FEATURES,
    PAIR_FEATURES,
    PairFeatures,
    check_prompt_names,
    features,
    prompt_of,
    prompted_texts,
    unique_texts,
)

TABLES = read_tables(__file__)

# --- features ------------------------------------------------------------------------------------

VECTORS = {"a": [1, 2], "b": [3, 5], "c": [-1, 0], "d": [4, 4], "e": [0, 7], "f": [10, -10]}


def lookup(texts: Sequence[str]) -> Any:
    return np.array([VECTORS[text.split()[0]] for text in texts], np.float32)


def of(task: str, *rows: dict[str, Any], form: Any = "natural", **options: Any) -> Any:
    x = features(task, pa.Table.from_pylist(list(rows)), form, lookup, **options)
    assert x.dtype == np.float32
    return x.tolist()


def test_sentences() -> None:
    assert of("sentence_position", {"sentences": list("abcde")}, {"sentences": list("eeeea")}) == [
        [1, 2, -2, -3, 2, 2, -3, -2, 1, -5],
        [0, 7, 0, 0, 0, 0, 0, 0, -1, 5],
    ]
    assert of("sentence_ordering", {"sentences": ["a", "b"]}) == [[1, 2, 3, 5, -2, -3]]
    coherence = [1, 2, 3, 5, -1, 0, 4, 4, 0, 7, 10, -10]
    assert of("discourse_coherence", {"sentences": list("abcdef")}) == [coherence]
    for task in ("section_prediction", "sentence_classification", "linguistic_probing"):
        assert of(task, {"sentence": "a"}, {"sentence": "d"}) == [[1, 2], [4, 4]]
        assert of(task, {"tokens": "f ."}, form="tokens") == [[10, -10]]


def test_discourse_relations() -> None:
    rows = [{"left": ["a", "b"], "right": ["c"]}, {"left": ["d"], "right": ["a", "c", "f"]}]
    assert of("discourse_relations", *rows) == [
        [2, 3.5, -1, 0, -2, 0, 3, 3.5],
        pytest.approx([4, 4, 10 / 3, -8 / 3, 40 / 3, -32 / 3, 2 / 3, 20 / 3], rel=1e-6),
    ]


def test_the_mean_of_equal_embeddings_is_that_embedding() -> None:
    """In float32 the mean of three, five or seven times 0.1 is another number."""
    rows = [{"left": ["a"] * count, "right": ["a"]} for count in range(1, 20)]
    table = pa.Table.from_pylist(rows)

    def constant(texts: Sequence[str]) -> Any:
        return np.full((len(texts), 1), 0.1, np.float32)

    x = features("discourse_relations", table, "natural", constant, "difference_product")
    assert len(np.unique(x, axis=0)) == 1


PAIRS = [{"sentence1": "a", "sentence2": "b"}, {"sentence1": "c", "sentence2": "f"}]


def test_pairs() -> None:
    by_two = [[2, 3, 3, 10], [11, 10, -10, 0]]
    assert of("pair_classification", *PAIRS) == by_two
    assert of("relatedness", *PAIRS) == by_two
    assert of("relatedness", *PAIRS, pair_features="four_part") == by_two
    by_four = [[1, 2, 3, 5, 3, 10, 2, 3], [-1, 0, 10, -10, -10, 0, 11, 10]]
    assert of("pair_classification", *PAIRS, pair_features="four_part") == by_four
    assert of("similarity", *PAIRS) == [[1, 2, 3, 5], [-1, 0, 10, -10]]
    assert of("similarity", {"tokens1": "a .", "tokens2": "e ."}, form="tokens") == [[1, 2, 0, 7]]


def test_features_are_of_the_tasks_that_are_probed_and_of_params_yaml() -> None:
    assert get_args(PairFeatures) == tuple(PAIR_FEATURES)
    assert FEATURES.keys() < {name for name, task in TASKS.items() if task.target != "neighbours"}


@pytest.mark.parametrize(
    ("task", "bad", "expected"),
    [
        ("sentence_position", {"sentences": ["a"] * 4}, "sentences of 5 texts"),
        ("discourse_coherence", {"sentences": ["a"] * 5}, "sentences of 6 texts"),
        ("sentence_ordering", {"sentences": []}, "sentences of 2 texts"),
        ("section_prediction", {"sentence": ["a", "b"]}, "sentence of 1 texts"),
        ("similarity", {"sentence1": ["a", "b"], "sentence2": ["a"]}, "sentence1 of 1 texts"),
        ("discourse_relations", {"left": ["a"], "right": []}, "right of at least one text"),
    ],
)
def test_a_row_with_the_wrong_number_of_texts(
    task: str, bad: dict[str, list[str]], expected: str
) -> None:
    count = {"sentence_position": 5, "sentence_ordering": 2, "discourse_coherence": 6}.get(task, 1)
    good = {name: ["a"] * count for name in bad}
    table = pa.Table.from_pylist([{"id": "i6", **good}, {"id": "i7", **bad}])
    with pytest.raises(InputError, match=expected) as caught:
        features(task, table, "natural", lookup, "difference_product")
    assert caught.value.where == "row 1 i7"


def test_unique_texts_are_those_of_all_splits_and_columns(tmp_path: Path) -> None:
    rows = [row(0, 0, left=["a", "b"], right=["c"]), row(1, 1, left=["c"], right=["d"])]
    splits = {"train": rows[:1], "validation": rows[1:], "test": rows[:1]}
    write_dataset(tmp_path / "dr", "discourse_relations", splits)
    (dataset,) = find_datasets(tmp_path)
    assert unique_texts(dataset, "natural") == {"a", "b", "c", "d"}
    assert unique_texts(dataset, "tokens") == {"a .", "b .", "c .", "d ."}


def encoder(prompts: dict[str, str]) -> Any:
    return make_encoder("own", {"encoder": "callable", "function": "a:b", "prompts": prompts})


@pytest.fixture
def datasets(tmp_path: Path) -> dict[str, Dataset]:
    """Return two classifications of texts, and a ranking of words."""
    for name in ("one", "two"):
        rows = [row(i, i % 2, sentence=f"{name} {i % 3}") for i in range(4)]
        splits = {"train": rows[:2], "validation": rows[:1], "test": rows[2:]}
        write_dataset(tmp_path / name, "sentence_classification", splits)
    word = {"id": "w", "text": "w", "tokens": "w", "positives": [], "document_id": "w"}
    write_dataset(tmp_path / "words", "word_ranking", {"test": [word]})
    return {dataset.name: dataset for dataset in find_datasets(tmp_path)}


@pytest.mark.parametrize(("prompts", "expected"), TABLES["names"])
def test_the_name_comes_before_the_group_and_that_before_the_default(
    datasets: dict[str, Dataset], prompts: dict[str, str], expected: list[str | None]
) -> None:
    assert [prompt_of(encoder(prompts), dataset) for dataset in datasets.values()] == expected


def test_texts_are_sorted_by_their_prompts(datasets: dict[str, Dataset]) -> None:
    one, two = ({f"{name} {i}" for i in range(3)} for name in ("one", "two"))
    texts = prompted_texts(encoder({"SC": "g", "two": "t"}), datasets.values())
    assert texts == {"g": one, "t": two, None: {"w"}}


def test_names_that_are_unknown(datasets: dict[str, Dataset]) -> None:
    check_prompt_names(encoder({"default": "", "SC": "", "DR": "", "one": ""}), datasets)
    with pytest.raises(InputError, match=r"mean two\?"):
        check_prompt_names(encoder({"SC": "", "tow": ""}), datasets)


# --- evaluation datasets -------------------------------------------------------------------------

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


@pytest.mark.parametrize(("task", "split", "fold", "expected"), TABLES["one_split"])
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


def names(data: str = "dist/hub", **chosen: list[str] | str) -> list[str]:
    found = find_data(data, chosen.get("datasets"), chosen.get("groups"))
    return [dataset.name for dataset in found.datasets]


def test_all_names_groups(hub_folder: Path) -> None:
    assert names() == ["bso_own", "sts_own", "tass_own"]
    assert names("dist/hub", datasets=["tass_own"]) == ["tass_own"]
    assert names(groups=["SS", "BSO"]) == ["bso_own", "sts_own"]
    assert names(groups=["SS"], datasets=["tass_own"]) == ["sts_own", "tass_own"]
    found = find_data(hub_folder, None, None)
    assert (found.seed, found.samples) == (7, frozenset())
    # Not majority; and not of other rows.
    assert [*found.audited] == ["bso_own"]
    assert names(datasets="sts_own, bso_own") == ["bso_own", "sts_own"]


@pytest.mark.parametrize(("arguments", "words"), TABLES["not_there"])
def test_what_is_not_there(
    hub_folder: Path, arguments: tuple[str, list[str], list[str]], words: list[str]
) -> None:
    shutil.copytree("dist/hub", "hub")  # in the form of an id of the Hub
    with pytest.raises(InputError) as caught:
        find_data(*arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ([], []),
        (["bso_own"], None),
        (["bso_own", "rows"], 3),
        (["bso_own", "checks"], [1]),
        (["bso_own", "checks", 1, "what"], ["length"]),
        (["bso_own", "checks", 1, "value"], "0.6"),
        (["bso_own", "checks", 1, "value"], math.nan),
        (["bso_own", "chosen"], ["length"]),
    ],
)
def test_an_audit_of_others_is_checked(
    hub_folder: Path, place: list[str | int], value: object
) -> None:
    report = json.loads((hub_folder / "audit.json").read_bytes())
    inner, (*parents, last) = report, ["datasets", *place]
    for name in parents:
        inner = inner[name]
    inner[last] = value
    (hub_folder / "audit.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match=r"audit.json: datasets(.|\n)*run the audit again"):
        find_data("dist/hub", ["bso_own"], None)


@pytest.fixture
def endpoint(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Serve the datasets as org/name; yield the requests."""
    shutil.copytree(hub_folder, "repository")
    requests: list[str] = []
    with hub(Path("repository").resolve(), "org/name", requests=requests) as url:
        point_at(url, Path("cache").resolve(), monkeypatch)
        yield requests


def test_data_of_the_hub(hub_folder: Path, endpoint: list[str]) -> None:
    found = find_data("org/name", ["bso_own"], None)
    assert [dataset.name for dataset in found.datasets] == ["bso_own"]
    assert [*found.audited] == ["bso_own"]
    # Only the requested files were downloaded.
    assert not [request for request in endpoint if "tass_own" in request]
    assert names("org/name") == ["bso_own", "sts_own", "tass_own"]
    for dataset in find_data("dist/hub", None, None).datasets:
        (same,) = find_data("org/name", [dataset.name], None).datasets
        assert same.digest() == dataset.digest()


def test_a_dataset_that_is_not_on_the_hub(endpoint: list[str]) -> None:
    with pytest.raises(InputError, match="tass_own") as caught:
        find_data("org/name", ["tas_own"], None)
    assert "did you mean tass_own" in caught.value.todo


def test_a_repository_that_is_not_there(hub_folder: Path, endpoint: list[str]) -> None:
    shutil.rmtree("repository")
    with pytest.raises(InputError) as caught:
        find_data("org/name", None, None)
    for word in ("data org/name", "no such folder; RepositoryNotFoundError", "hf auth login"):
        assert word in str(caught.value)
