"""Which prompt the texts of a dataset get."""

from pathlib import Path
from typing import Any

import pytest
from instance_files import row, write_dataset

from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
from evaluation.encoders import make_encoder
from evaluation.features import check_prompt_names, prompt_of, prompted_texts


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
