"""Datasets of examples: their rows, splits, repeated texts and classes."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import caption, opinion

from builders.building.building import build
from builders.building.examples import rows_of
from builders.sampling.folds import FOLDS
from builders.store.schema import labels_of
from builders.tasks.examples import TASKS
from corpora_recipes.running.errors import InputError
from evaluation.commands import main

SINGLE = TASKS[0]


def rows_in(folder: Path, split: str) -> list[dict[str, Any]]:
    (path,) = folder.glob(f"{split}-*.parquet")
    return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]


def test_datasets_of_one_collection_have_the_same_splits(
    tmp_path, example_corpus, write_records
) -> None:
    datasets = {"e": {"task": "pair_classification"}, "r": {"task": "relatedness"}}
    corpus = replace(example_corpus, datasets=datasets)
    examples = [caption(n, split="train") for n in range(40)]
    examples += [caption(n, split="test") for n in range(40, 50)]
    build(corpus, write_records(examples), tmp_path / "out", "upstream")
    held_out = [
        [row["id"] for row in rows_in(tmp_path / "out" / name, "validation")] for name in datasets
    ]
    assert len(held_out[0]) == 4
    assert sorted(held_out[0]) == sorted(held_out[1])


def test_texts_that_stand_in_another_split_are_marked() -> None:
    twice = [
        opinion(1, "train"),
        opinion(2, "validation", texts=("¡OPINIÓN número 1 sobre la película!",)),
    ]
    other = [opinion(3, "train"), opinion(3, "train", id="again"), opinion(4, "test")]
    rows = rows_of([*twice, *other], SINGLE, 1, "sent")
    marked = {row["id"]: row["also_in"] for own in rows.values() for row in own}
    assert marked == {
        "opinions/train/1": ["validation"],
        "opinions/validation/2": ["train"],
        "opinions/train/3": [],
        "again": [],
        "opinions/test/4": [],
    }


def test_texts_of_emoji_alone_differ() -> None:
    examples = [opinion(1, "train", texts=("😀",)), opinion(2, "test", texts=("😡",))]
    rows = rows_of(examples, SINGLE, 1, "sent")
    assert [row["also_in"] for own in rows.values() for row in own] == [[], []]


def test_a_dataset_of_labels_and_further_columns(tmp_path, example_corpus, write_records) -> None:
    examples = [opinion(n, "train") for n in range(30)] + [
        opinion(n, "test") for n in range(30, 42)
    ]
    report = build(example_corpus, write_records(examples), tmp_path / "out", "upstream")
    assert report["sent"] == {
        "rows": {"train": 27, "validation": 3, "test": 12},
        "labels": {
            "train": {"negative": 13, "positive": 14},
            "validation": {"negative": 2, "positive": 1},
            "test": {"negative": 6, "positive": 6},
        },
        "examples": {"read": 42, "used": 42, "also_in_another_split": 0},
        "source_parts": {"train": 30, "test": 12},
    }
    rows = {row["id"]: row for row in rows_in(tmp_path / "out" / "sent", "test")}
    assert rows["opinions/test/31"] == {
        "id": "opinions/test/31",
        "sentence": "Opinión número 31 sobre la película.",
        "label": 1,
        "document_id": "opinions/test/31",
        "country": "cl",
        "source_split": "test",
        "also_in": [],
        "split": "test",
        "licence": "CC0 1.0",
    }


def test_a_dataset_of_scores(tmp_path, example_corpus, write_records) -> None:
    corpus = replace(
        example_corpus, datasets={"sts": {"task": "similarity", "collection": "captions"}}
    )
    build(corpus, write_records(caption(n) for n in range(5)), tmp_path / "out", "upstream")
    assert sorted(p.name for p in (tmp_path / "out" / "sts").iterdir()) == [
        "test-00000-of-00001.parquet"
    ]
    rows = {row["id"]: row for row in rows_in(tmp_path / "out" / "sts", "test")}
    assert rows["captions/3"] == {
        "id": "captions/3",
        "sentence1": "Un perro corre 3 veces.",
        "sentence2": "Un gato corre 3 veces.",
        "label": 1,
        "score": 2.5,
        "document_id": "captions/3",
        "source_split": "",
        "also_in": [],
        "split": "test",
        "licence": "CC0 1.0",
    }


def test_classes_that_the_files_decide_are_sorted(tmp_path, example_corpus, write_records) -> None:
    words = ("río", "casa", "árbol", "barco")
    examples = [opinion(n, label=words[n % 4], collection="words", columns={}) for n in range(40)]
    corpus = replace(
        example_corpus, datasets={"wc": {"task": "linguistic_probing", "collection": "words"}}
    )
    build(corpus, write_records(examples), tmp_path / "out", "upstream")
    (path,) = (tmp_path / "out" / "wc").iterdir()
    assert labels_of(pq.read_schema(path)) == ["barco", "casa", "río", "árbol"]
    assert Counter(row["fold"] for row in rows_in(path.parent, "train")) == dict.fromkeys(
        range(FOLDS), 4
    )


def test_rows_do_not_depend_on_the_order_of_the_records(
    tmp_path, example_corpus, write_records
) -> None:
    examples = [opinion(n) for n in range(40)]
    build(example_corpus, write_records(examples), tmp_path / "a", "upstream")
    build(example_corpus, write_records(examples[::-1]), tmp_path / "b", "upstream")
    one, two = (
        f / "sent" / "train-00000-of-00001.parquet" for f in (tmp_path / "a", tmp_path / "b")
    )
    assert one.read_bytes() == two.read_bytes()


def test_too_few_examples_for_folds_are_an_error(tmp_path, example_corpus, write_records) -> None:
    with pytest.raises(InputError) as error:
        build(
            example_corpus,
            write_records(opinion(n) for n in range(19)),
            tmp_path / "out",
            "upstream",
        )
    assert "20 rows or more" in error.value.expected
    assert "train 19 rows" in error.value.found
    assert not (tmp_path / "out").exists()


def test_the_report_is_written(tmp_path, example_corpus, write_records) -> None:
    report = build(
        example_corpus, write_records(opinion(n) for n in range(30)), tmp_path / "o", "upstream"
    )
    assert json.loads((tmp_path / "o" / "build.json").read_text("utf-8")) == report
    assert report["sent"]["source_parts"] == {"all": 30}


def test_the_list_shows_and_checks_every_dataset(write_params, capsys) -> None:
    entry = {
        "corpus": {"recipe": "sts"},
        "datasets": {"sts17": {"task": "similarity", "collection": "2017"}},
    }
    path = write_params(
        {"sqc": {"corpus": {"recipe": "sqc"}, "datasets": {"q": SQC}}, "sts": entry}
    )
    assert main(["list", "--params", str(path)]) == 0
    assert (
        f"Datasets of {path}:\n"
        "  q: sentence classification, from sqc (questions)\n"
        "  sts17: similarity, from sts (2017)\n"
    ) in capsys.readouterr().out
    declared = {"gone": {"leakage": {"at_most": 0.1, "because": "it was so"}}}
    path = write_params({"sts": entry}, audit={"inherited": declared})
    assert main(["list", "--params", str(path)]) == 1
    said = capsys.readouterr().err
    assert "audit.inherited.gone\n" in said
    path = write_params(
        {"sqc": {"corpus": {"recipe": "sqc"}, "datasets": {"q": {"task": "relatedness"}}}}
    )
    assert main(["list", "--params", str(path)]) == 1
    assert "one of linguistic_probing, sentence_classification" in capsys.readouterr().err


SQC = {"task": "sentence_classification"}
