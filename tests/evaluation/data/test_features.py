"""Features: exactly the formulas of the papers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from instance_files import row, write_dataset

from builders.tasks import TASKS
from corpora_recipes.running.errors import InputError
from evaluation.data.features import FEATURES, PAIR_FEATURES, PairFeatures, features
from evaluation.data.instances import find_datasets
from evaluation.data.texts import text_columns, unique_texts

VECTORS = {"a": [1, 2], "b": [3, 5], "c": [-1, 0], "d": [4, 4], "e": [0, 7], "f": [10, -10]}


def lookup(texts: Sequence[str]) -> Any:
    return np.array([VECTORS[text.split()[0]] for text in texts], np.float32)


def of(
    task: str,
    *rows: dict[str, Any],
    form: Any = "natural",
    pair_features: Any = "difference_product",
) -> Any:
    found = features(task, pa.Table.from_pylist(list(rows)), form, lookup, pair_features)
    assert found.dtype == np.float32
    return found.tolist()


def test_sentence_position() -> None:
    assert of("sentence_position", {"sentences": list("abcde")}, {"sentences": list("eeeea")}) == [
        [1, 2, -2, -3, 2, 2, -3, -2, 1, -5],
        [0, 7, 0, 0, 0, 0, 0, 0, -1, 5],
    ]


def test_sentence_ordering() -> None:
    assert of("sentence_ordering", {"sentences": ["a", "b"]}) == [[1, 2, 3, 5, -2, -3]]


def test_discourse_coherence() -> None:
    assert of("discourse_coherence", {"sentences": list("abcdef")}) == [
        [1, 2, 3, 5, -1, 0, 4, 4, 0, 7, 10, -10]
    ]


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

    found = features("discourse_relations", table, "natural", constant, "difference_product")
    assert len(np.unique(found, axis=0)) == 1


@pytest.mark.parametrize(
    "task", ["section_prediction", "sentence_classification", "linguistic_probing"]
)
def test_single_sentences(task: str) -> None:
    assert of(task, {"sentence": "a"}, {"sentence": "d"}) == [[1, 2], [4, 4]]
    assert of(task, {"tokens": "f ."}, form="tokens") == [[10, -10]]


PAIRS = [{"sentence1": "a", "sentence2": "b"}, {"sentence1": "c", "sentence2": "f"}]


def test_pairs_as_in_the_paper() -> None:
    by_two = [[2, 3, 3, 10], [11, 10, -10, 0]]
    assert of("pair_classification", *PAIRS) == by_two
    assert of("relatedness", *PAIRS) == by_two
    assert of("relatedness", *PAIRS, pair_features="four_part") == by_two


def test_pairs_in_four_parts() -> None:
    assert of("pair_classification", *PAIRS, pair_features="four_part") == [
        [1, 2, 3, 5, 3, 10, 2, 3],
        [-1, 0, 10, -10, -10, 0, 11, 10],
    ]


def test_similarity_is_of_the_embeddings_themselves() -> None:
    assert of("similarity", *PAIRS) == [[1, 2, 3, 5], [-1, 0, 10, -10]]
    assert of("similarity", {"tokens1": "a .", "tokens2": "e ."}, form="tokens") == [[1, 2, 0, 7]]


def test_the_forms_of_pairs_are_those_of_params_yaml() -> None:
    assert get_args(PairFeatures) == tuple(PAIR_FEATURES)


def test_every_task_that_is_probed_has_features_and_no_other() -> None:
    assert FEATURES.keys() < {name for name, task in TASKS.items() if task.target != "neighbours"}


def test_the_columns_of_texts() -> None:
    assert text_columns("section_prediction", "natural") == ("sentence",)
    assert text_columns("discourse_relations", "tokens") == ("left_tokens", "right_tokens")


def test_the_form_of_text_selects_the_columns() -> None:
    given = row(0, 0, left=["a"], right=["b"])
    asked: list[str] = []

    def note(texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return lookup(texts)

    table = pa.Table.from_pylist([given])
    features("discourse_relations", table, "tokens", note, "difference_product")
    assert asked == ["a .", "b ."]


@pytest.mark.parametrize(
    ("task", "bad", "words"),
    [
        ("sentence_position", {"sentences": ["a"] * 4}, ["5 texts", "row 1 i7", "4"]),
        ("discourse_coherence", {"sentences": ["a"] * 5}, ["6 texts"]),
        ("sentence_ordering", {"sentences": []}, ["2 texts"]),
        ("section_prediction", {"sentence": ["a", "b"]}, ["column sentence", "1 texts"]),
        ("similarity", {"sentence1": ["a", "b"], "sentence2": ["a"]}, ["column sentence1", "2"]),
        ("discourse_relations", {"left": ["a"], "right": []}, ["column right", "at least one"]),
    ],
)
def test_a_row_with_the_wrong_number_of_texts(
    task: str, bad: dict[str, list[str]], words: list[str]
) -> None:
    count = {"sentence_position": 5, "sentence_ordering": 2, "discourse_coherence": 6}.get(task, 1)
    good = {name: ["a"] * count for name in bad}
    table = pa.Table.from_pylist([{"id": "i6", **good}, {"id": "i7", **bad}])
    with pytest.raises(InputError) as caught:
        features(task, table, "natural", lookup, "difference_product")
    for word in words:
        assert word in str(caught.value)


def test_unique_texts_are_those_of_all_splits_and_columns(tmp_path: Path) -> None:
    rows = [row(0, 0, left=["a", "b"], right=["c"]), row(1, 1, left=["c"], right=["d"])]
    splits = {"train": rows[:1], "validation": rows[1:], "test": rows[:1]}
    write_dataset(tmp_path / "dr", "discourse_relations", splits)
    (dataset,) = find_datasets(tmp_path)
    assert unique_texts(dataset, "natural") == {"a", "b", "c", "d"}
    assert unique_texts(dataset, "tokens") == {"a .", "b .", "c .", "d ."}


def test_unique_texts_of_single_texts(tmp_path: Path) -> None:
    rows = [row(0, 0, sentence="a"), row(1, 1, sentence="b"), row(2, 1, sentence="a")]
    splits = {"train": rows[:2], "validation": rows[2:], "test": rows[2:]}
    write_dataset(tmp_path / "ssp", "section_prediction", splits, shards=2)
    (dataset,) = find_datasets(tmp_path)
    assert unique_texts(dataset, "natural") == {"a", "b"}
    assert unique_texts(dataset, "tokens") == {"a .", "b ."}


def test_unique_texts_of_a_dataset_with_test_alone(tmp_path: Path) -> None:
    rows = [row(0, None, score=1.5, sentence1="a", sentence2="b")]
    write_dataset(tmp_path / "sts", "similarity", {"test": rows})
    (dataset,) = find_datasets(tmp_path)
    assert unique_texts(dataset, "natural") == {"a", "b"}
