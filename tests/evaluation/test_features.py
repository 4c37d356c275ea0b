"""Features, exactly by the formulas of the papers; texts, and the prompts that they get."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from instance_files import row, write_dataset

from builders.tasks import TASKS
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
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


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        ({}, [None, None, None]),
        ({"default": "d"}, ["d", "d", "d"]),
        ({"default": "d", "SC": "g"}, ["g", "g", "d"]),
        ({"default": "d", "SC": "g", "two": ""}, ["g", "", "d"]),
        # Words of several datasets are compared with each other.
        ({"words": "w", "EvalRank": "e"}, [None, None, None]),
    ],
)
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
    with pytest.raises(InputError, match="write two"):
        check_prompt_names(encoder({"SC": "", "tow": ""}), datasets)
