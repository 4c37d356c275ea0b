"""Tests of connectives: which sentences open with one, what is left of them, which are classes."""

from collections import Counter

import pyarrow.parquet as pq
import pytest
from case_tables import read_tables

from builders.building import build
from builders.sampling.passages import Draw, Passage
from builders.tasks.connective import (
    MIN_ROWS_PER_CLASS,
    OPENINGS,
    TASK,
    instances,
    passages,
    settle,
)
from corpora_recipes.records import SPLITS, Document, Section, Split

TABLES = read_tables(__file__)


def found(*sentences: str, language: str = "es") -> list[tuple[str, str, str]]:
    """Return the class and the two sentences of each passage of a text, in its order."""
    sections = [Section("", 1, [sentences])]
    document = Document("d", "", (), sections, "train")
    made = sorted(passages(document, Draw(1, "ds", {}, language)), key=lambda p: p.id)
    assert [p.rank for p in sorted(made, key=lambda p: p.rank)] == [*range(len(made))]
    return [(p.label, p.sentences[0], p.sentences[1]) for p in made]


@pytest.mark.parametrize(("language", "second", "label", "left"), TABLES["marked"])
def test_the_connective_is_taken_out(language: str, second: str, label: str, left: str) -> None:
    assert found("Uno.", second, language=language) == [(label, "Uno.", left)]


@pytest.mark.parametrize(("language", "second"), TABLES["others"])
def test_no_connective(language: str, second: str) -> None:
    assert found("Uno.", second, language=language) == []


def test_no_sentence_is_in_two_pairs_and_none_stands_before_the_first() -> None:
    chain = ["Además, dos.", "Así, tres.", "De hecho, cuatro.", "Finalmente, cinco."]
    assert found(*chain) == [("así", chain[0], "Tres."), ("finalmente", chain[2], "Cinco.")]


def test_the_lists_are_lower_case_and_have_no_connective_twice() -> None:
    for language, openings in OPENINGS.items():
        names = [*openings.values()]
        assert len(names) == len({*names}) >= 10, language
        assert [name.lower() for name in names] == names, language
        assert all(opening.startswith(name[0].upper()) for opening, name in openings.items())


def passage(number: int, label: str, length: int, split: Split) -> Passage:
    second = f"{number:05} ".ljust(length, "x")
    return Passage(f"{label}{number}", f"d{number}", split, (), ("Uno.", second), label=label)


SIZES = {"así": 40, "además": 30, "sin embargo": 20, "es decir": 8, "hala": MIN_ROWS_PER_CLASS - 1}


def some() -> list[Passage]:
    """Return passages of five connectives; half of those of "así" are much longer."""
    return [
        passage(number, label, 400 if label == "así" and number % 2 else 60, split)
        for split in SPLITS
        for label, size in SIZES.items()
        for number in range(size)
    ]


def test_classes_are_those_that_leave_most_rows() -> None:
    # With two, 20 rows each, as only so many "así" are short; three leave 60, four 32.
    kept = settle(some())
    assert Counter(p.label for p in kept) == {
        "así": 120,
        "además": 90,
        "sin embargo": 60,
        "es decir": 24,
    }
    assert kept == [p for p in some() if p.label != "hala"]
    rare = [p for p in some() if p.label in ("así", "hala")]
    assert settle(rare) == []
    train = [p for p in kept if p.split == "train"]
    rows = instances(train, Draw(1, "ds"), 10_000)
    assert Counter(row["label"] for row in rows) == dict.fromkeys([*SIZES][:4], 8)
    assert {len(row["sentences"][1]) for row in rows} == {60}
    assert len(instances(train, Draw(1, "ds"), 15)) == 12


def test_a_dataset_names_its_classes(tmp_path, make_corpus, write_records) -> None:
    names = ["además", "por ejemplo", "sin embargo"]
    texts = [
        [f"El barco {n} entró.", f"{names[n % 3].capitalize()}, salió el {n}."] for n in range(240)
    ]
    records = [Document(f"d{n}", "", (), [Section("", 1, [text])]) for n, text in enumerate(texts)]
    datasets = {"conn_mine": {"task": TASK.name, "rows": [60, 30, 30]}}
    report = build(
        make_corpus(datasets=datasets), write_records(records), tmp_path / "out", "upstream"
    )
    of = report["conn_mine"]
    assert of["labels"]["train"] == dict.fromkeys(names, 20)
    assert of["passages"]["rare_class"] == 0
    (file,) = (tmp_path / "out" / "conn_mine").glob("test-*.parquet")
    row = pq.read_table(file).to_pylist()[0]
    number = int(row["document_id"][1:])
    assert row["id"] == f"d{number}#0.1"
    assert row["sentences"] == [f"El barco {number} entró.", f"Salió el {number}."]
    assert names[row["label"]] == names[number % 3]
