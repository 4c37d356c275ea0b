"""Datasets of examples: their rows, splits, repeated texts and classes."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import caption, opinion
from contents import contents

from builders.building import build, rows_of
from builders.sampling.candidates import N_FOLDS
from builders.store import labels_of
from builders.tasks.examples import TASKS
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError
from probeta.cli import main

SINGLE = TASKS[0]
SHARED = {"source_split": "", "also_in": [], "split": "test", "licence": "CC0 1.0"}


Build = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture
def make(tmp_path, example_corpus, write_records) -> Build:
    """Return a function that builds datasets of examples, and returns their folder and report."""

    def build_datasets(
        examples: Iterable[Example], out: str = "out", **datasets: Any
    ) -> tuple[Path, dict[str, Any]]:
        corpus = replace(example_corpus, datasets=datasets or example_corpus.datasets)
        report = build(corpus, write_records(examples), tmp_path / out, "upstream")
        return tmp_path / out, report

    return build_datasets


def rows_in(folder: Path, split: str) -> dict[str, dict[str, Any]]:
    (path,) = folder.glob(f"{split}-*.parquet")
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def test_datasets_of_one_collection_have_the_same_splits(make: Build) -> None:
    examples = [caption(n, split="train") for n in range(40)]
    examples += [caption(n, split="test") for n in range(40, 50)]
    tasks = {"e": {"task": "pair_classification"}, "r": {"task": "relatedness"}}
    folder, _ = make(examples, **tasks)
    held_out = [rows_in(folder / name, "validation").keys() for name in tasks]
    assert len(held_out[0]) == 4
    assert held_out[0] == held_out[1]


def test_texts_that_stand_in_another_split_are_marked() -> None:
    same = ("¡OPINIÓN número 1 sobre la película!",)
    examples = [opinion(1, "train"), opinion(2, "validation", texts=same), opinion(3, "train")]
    examples += [opinion(3, "train", id="again"), opinion(4, "test")]
    examples += [opinion(5, "train", texts=("😀",)), opinion(6, "test", texts=("😡",))]
    rows = rows_of(examples, SINGLE, 1, "sent")
    marked = {row["id"]: row["also_in"] for of_split in rows.values() for row in of_split}
    assert {name: splits for name, splits in marked.items() if splits} == {
        "opinions/train/1": ["validation"],
        "opinions/validation/2": ["train"],
    }
    assert len(marked) == 7


def test_a_dataset_of_labels_and_further_columns(make: Build) -> None:
    examples = [opinion(n, "train" if n < 30 else "test") for n in range(42)]
    folder, report = make(examples)
    numbers = {"train": (13, 14), "validation": (2, 1), "test": (6, 6)}
    assert report["sent"] == {
        "rows": {"train": 27, "validation": 3, "test": 12},
        "labels": {s: {"negative": n, "positive": p} for s, (n, p) in numbers.items()},
        "folds": 0,
        "examples": {"read": 42, "used": 42, "also_in_another_split": 0},
        "source_parts": {"train": 30, "test": 12},
    }
    assert json.loads((folder / "build.json").read_text("utf-8")) == report
    row = rows_in(folder / "sent", "test")["opinions/test/31"]
    assert row == {"id": row["id"], "document_id": row["id"], "label": 1} | SHARED | {
        "sentence": "Opinión número 31 sobre la película.",
        "country": "cl",
        "source_split": "test",
    }


def test_a_dataset_of_scores(make: Build) -> None:
    entry = {"task": "similarity", "collection": "captions"}
    folder, _ = make(map(caption, range(5)), sts=entry)
    assert [p.name for p in (folder / "sts").iterdir()] == ["test-00000-of-00001.parquet"]
    row = rows_in(folder / "sts", "test")["captions/3"]
    texts = {f"sentence{n}": f"Un {who} corre 3 veces." for n, who in ((1, "perro"), (2, "gato"))}
    answers = {"label": 1, "score": 2.5}
    assert row == {"id": row["id"], "document_id": row["id"]} | SHARED | texts | answers


def test_classes_that_the_files_decide_are_sorted(make: Build) -> None:
    words = ("río", "casa", "árbol", "barco")
    examples = [opinion(n, label=words[n % 4], collection="words", columns={}) for n in range(40)]
    folder, _ = make(examples, wc={"task": "linguistic_probing", "collection": "words"})
    (path,) = (folder / "wc").iterdir()
    assert labels_of(pq.read_schema(path)) == ["barco", "casa", "río", "árbol"]
    in_fold = Counter(row["fold"] for row in rows_in(path.parent, "train").values())
    assert in_fold == dict.fromkeys(range(N_FOLDS), 4)


def test_rows_do_not_depend_on_the_order_of_the_records(make: Build) -> None:
    examples = [opinion(n) for n in range(40)]
    first, _ = make(examples)
    second, report = make(examples[::-1], "again")
    assert contents(first) == contents(second)
    assert report["sent"]["source_parts"] == {"all": 40}


@pytest.mark.parametrize("part", ["test", None])
def test_documents_with_a_class_that_is_never_learnt_are_left_out(
    make: Build, part: str | None
) -> None:
    parts = ("train",) * 4 + ("test",) if part else (None,) * 5
    examples = [opinion(n, parts[n // 10]) for n in range(50)]
    beside = examples[-1]
    odd = opinion(50, part, label="mixed", document_id=beside.document_id)
    folder, report = make([*examples, odd])
    assert report["sent"]["tested_documents"] == {"class_never_learnt": 1}
    left = rows_in(folder / "sent", part or "train").keys()
    assert left == {e.id for e in examples if e.split == part} - {beside.id}
    assert "tested_documents" not in make(examples, "without")[1]["sent"]


def test_too_few_examples_for_folds_are_an_error(tmp_path, make: Build) -> None:
    with pytest.raises(InputError, match=r"2 rows or more in each(.|\n)*fold 9 1 rows"):
        make(map(opinion, range(19)))
    assert not (tmp_path / "out").exists()


def test_the_list_shows_and_checks_every_dataset(write_params, capsys) -> None:
    def listed(task: str = "similarity", **changes: Any) -> str:
        datasets = {"sts17": {"task": task, "collection": "2017"}}
        entry = {"corpus": {"recipe": "sts"}, "datasets": datasets}
        rank = {"task": "sentence_ranking", "language": "es", "pairs": ["sts"]}
        params = write_params({"sts": entry}, rankings={"rank": rank}, **changes)
        wrong = main(["list", "--params", str(params)])
        output = capsys.readouterr()
        return str(output.err if wrong else output.out)

    lines = "  sts17: similarity, from sts (2017)\n  rank: sentence ranking, from sts\n"
    assert lines in listed()
    declared = {"gone": {"leakage": {"at_most": 0.1, "because": "it was so"}}}
    assert "audit.inherited.gone\n" in listed(audit={"inherited": declared})
    assert "one of relatedness, similarity" in listed("sentence_classification")
