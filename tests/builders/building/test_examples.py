"""Datasets of examples: parts of the source, held-out validation, folds, repeated texts, rows."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import COLLECTIONS, caption, opinion
from hypothesis import given
from hypothesis import strategies as st

from builders.__main__ import main
from builders.building import build
from builders.dataset import datasets_of
from builders.examples import FOLDS, TASKS, assign, folds, rows_of, same_text
from builders.schemas import labels_of
from corpora_recipes.errors import InputError

SINGLE, _, _, SIMILARITY, _ = TASKS


def rows_in(folder: Path, split: str) -> list[dict[str, Any]]:
    (path,) = folder.glob(f"{split}-*.parquet")
    return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]


def test_parts_of_the_source_stay() -> None:
    examples = [opinion(n, s) for s in ("train", "validation", "test") for n in range(5)]
    splits, of_fold = assign(examples, SINGLE, 1, "sent")
    assert splits == {example.id: example.split for example in examples}
    assert of_fold == {}


@pytest.mark.parametrize(
    ("first", "last"), [("train", "test"), ("train", "validation"), ("validation", "test")]
)
def test_of_two_parts_the_last_is_test_and_a_tenth_of_the_first_is_held_out(first, last) -> None:
    examples = [opinion(n, first) for n in range(40)] + [opinion(n, last) for n in range(10)]
    splits, of_fold = assign(examples, SINGLE, 1, "sent")
    assert of_fold == {}
    assert Counter(splits.values()) == {"train": 36, "validation": 4, "test": 10}
    assert {splits[e.id] for e in examples if e.split == last} == {"test"}
    held_out = Counter(e.label for e in examples if splits[e.id] == "validation")
    assert held_out == {"negative": 2, "positive": 2}


@pytest.mark.parametrize("split", [None, "train", "validation"])
def test_of_one_part_or_none_there_are_folds(split) -> None:
    examples = [opinion(n, split) for n in range(60)]
    splits, of_fold = assign(examples, SINGLE, 1, "sent")
    assert set(splits.values()) == {"train"}
    by_class = Counter((of_fold[e.id], e.label) for e in examples)
    assert by_class == {(k, c): 3 for k in range(FOLDS) for c in ("negative", "positive")}


def test_where_nothing_is_trained_all_is_test() -> None:
    examples = [caption(n, split="train") for n in range(4)]
    splits, of_fold = assign(examples, SIMILARITY, 1, "sts")
    assert set(splits.values()) == {"test"}
    assert of_fold == {}


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijklmnñ"), st.sampled_from(["x", "y", "z"])), max_size=80
    ),
    st.randoms(use_true_random=False),
)
def test_folds_are_even_hold_a_text_together_and_ignore_the_order(drawn, random) -> None:
    examples = [
        opinion(number, texts=(f"{letter} …",), label=label)
        for number, (letter, label) in enumerate(drawn)
    ]
    found = folds(examples, 7, "sent")
    of_text: dict[object, set[int]] = {}
    for example in examples:
        of_text.setdefault(same_text(example), set()).add(found[example.id])
    assert all(len(own) == 1 for own in of_text.values())
    sizes = Counter(next(iter(own)) for own in of_text.values())
    assert max(sizes.values(), default=0) - min((sizes[k] for k in range(FOLDS)), default=0) <= 1
    shuffled = sorted(examples, key=lambda example: random.random())
    assert folds(shuffled, 7, "sent") == found


def test_examples_of_one_document_are_not_parted() -> None:
    examples = [opinion(n, "train", document_id=f"premise {n // 3}") for n in range(90)]
    # The text of 0 stands again in the document of 89, so that both documents hang together.
    examples.append(opinion(90, "train", texts=examples[0].texts, document_id="premise 29"))
    examples += [opinion(n, "test") for n in range(100, 110)]
    splits, _ = assign(examples, SINGLE, 1, "sent")
    of_document: dict[str, set[str]] = {}
    for example in examples:
        of_document.setdefault(example.document_id, set()).add(splits[example.id])
    assert all(len(own) == 1 for own in of_document.values())
    assert of_document["premise 0"] == of_document["premise 29"]
    held_out = [e for e in examples if splits[e.id] == "validation"]
    assert 9 <= len(held_out) <= 12


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


def test_folds_depend_on_the_seed() -> None:
    examples = [opinion(n) for n in range(60)]
    assert folds(examples, 1, "sent") != folds(examples, 2, "sent")


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
        "tokens": "Opinión número 31 sobre la película .",
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
        "tokens1": "Un perro corre 3 veces .",
        "tokens2": "Un gato corre 3 veces .",
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


@pytest.mark.parametrize(
    ("entry", "expected", "found"),
    [
        ({"task": "sentence_classification"}, "opinions, words", "nothing"),
        ({"task": "sentence_classification", "collection": "captions"}, "one text", "captions"),
        ({"task": "similarity", "collection": "opinions"}, "a pair of texts with a score", "opin"),
        ({"task": "pair_classification", "collection": "none"}, "one of captions", "none"),
        ({"task": "similarity", "rows": [2, 2, 2]}, "task, version, collection", "rows"),
        ({"task": "sentence_position"}, "relatedness, sentence_classification", "position"),
    ],
)
def test_entries_that_do_not_fit(example_corpus, entry, expected, found) -> None:
    with pytest.raises(InputError) as error:
        datasets_of(replace(example_corpus, datasets={"sent": entry}), "upstream")
    assert expected in error.value.expected
    assert found in error.value.found


def test_a_task_that_no_collection_fits_is_named(example_corpus) -> None:
    facts = example_corpus.facts | {"collections": {"words": COLLECTIONS["words"]}}
    corpus = replace(example_corpus, facts=facts, datasets={"r": {"task": "relatedness"}})
    with pytest.raises(InputError) as error:
        datasets_of(corpus, "upstream")
    assert error.value.where.endswith("datasets.r.task")
    assert "linguistic_probing, sentence_classification" in error.value.expected


def test_a_single_fitting_collection_need_not_be_named(example_corpus) -> None:
    corpus = replace(example_corpus, datasets={"r": {"task": "relatedness"}})
    (dataset,) = datasets_of(corpus, "upstream")
    assert dataset.collection == "captions"


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
    entry = {"recipe": "sts", "datasets": {"sts17": {"task": "similarity", "collection": "2017"}}}
    path = write_params({"sts": entry, "sqc": {"recipe": "sqc", "datasets": {"q": SQC}}})
    assert main(["list", "--params", str(path)]) == 0
    assert capsys.readouterr().out == (
        "q: sentence classification, from sqc (questions)\nsts17: similarity, from sts (2017)\n"
    )
    declared = {"gone": {"leakage": {"at_most": 0.1, "because": "it was so"}}}
    path = write_params({"sts": entry}, audit={"inherited": declared})
    assert main(["list", "--params", str(path)]) == 1
    said = capsys.readouterr().err
    assert "gone, which is none of them" in said
    assert "remove gone there too, if the dataset was taken out of" in said
    path = write_params({"sqc": {"recipe": "sqc", "datasets": {"q": {"task": "relatedness"}}}})
    assert main(["list", "--params", str(path)]) == 1
    assert "sqc has: linguistic_probing, sentence_classification" in capsys.readouterr().err


SQC = {"task": "sentence_classification"}
