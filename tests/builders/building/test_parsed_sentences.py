"""Datasets of parsed sentences: their rows, their counts, and what treebanks may lack."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parsed_text import parsed

from builders.building import build
from builders.tasks import TASKS
from corpora_recipes.records import SPLITS, ParsedSentence, record_schema, to_row
from corpora_recipes.running.errors import InputError

VERBS = {
    "Pres": ["rema", "nada", "pesca", "canta", "salta", "duerme", "vuelve", "cena", "lee"],
    "Past": ["remó", "nadó", "pescó", "cantó", "saltó", "durmió", "volvió", "cenó", "leyó"],
}


def sentences(features: str = "Tense={}|") -> list[ParsedSentence]:
    """Return a sentence for each verb in each split; some are too short or have an address."""
    words = "La/DET/2/det niña/NOUN/3/nsubj {}/VERB/0/root/Mood=Ind|{}VerbForm=Fin en/ADP/6/case "
    words += "la/DET/6/det bahía/NOUN/3/obl {}/NOUN/6/appos ./PUNCT/3/punct"
    address = "Lea/VERB/0/root en/ADP/3/case www.ejemplo.es/PROPN/1/obl hoy/ADV/1/x ahí/ADV/1/x"
    return [
        *(
            parsed(words.format(verb, features.format(tense), split), f"{split}-{verb}", split)
            for split in SPLITS
            for tense, verbs in VERBS.items()
            for verb in verbs
        ),
        parsed("Rema/VERB/0/root ./PUNCT/1/punct", name="short"),
        parsed(address, name="address"),
    ]


@pytest.fixture
def treebank_corpus(make_corpus) -> Any:
    made = make_corpus(datasets={"ud_tense": {"task": "tense"}})
    return replace(made, facts=replace(made.facts, records="parsed_sentences"))


def written(folder: Path, records: list[ParsedSentence]) -> Path:
    path = folder / "mine.parquet"
    schema = record_schema("parsed_sentences")
    pq.write_table(pa.Table.from_pylist([to_row(record) for record in records], schema), path)
    return path


def rows_in(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def test_rows_and_counts(tmp_path, treebank_corpus) -> None:
    records = written(tmp_path, sentences())
    report = build(treebank_corpus, records, tmp_path / "out", "upstream")
    counts = report["ud_tense"]["sentences"]
    left_out = {"too_short_or_long": 1, "with_address": 1, "not_asked_for": 0, "beyond_balance": 0}
    assert counts == {"read": 56, **left_out, "form_of_another_fold": 0, "used": 54}
    assert report["ud_tense"]["labels"] == {"train": {"past": 27, "present": 27}}
    assert report["ud_tense"]["folds"] == 3
    rows = rows_in(tmp_path / "out" / "ud_tense")
    # A verb is in three sentences, and in one fold.
    assert len({(row["word"], row["fold"]) for row in rows}) == 18
    assert Counter((row["fold"], row["label"]) for row in rows) == {
        (fold, label): 9 for fold in range(3) for label in range(2)
    }
    row = rows[0]
    word, split = row["word"], row["document_id"].partition("-")[0]
    text = {"sentence": f"La niña {word} en la bahía {split}.", "length": 8, "position": 3}
    ids = {"id": f"es_own/{split}-{word}", "document_id": f"{split}-{word}", "treebank": "es_own"}
    answer = {"label": int(word in VERBS["Past"]), "word": word, "fold": row["fold"]}
    assert row == ids | text | answer | {"split": "train", "licence": "CC0 1.0"}


def test_a_changed_row_says_what_was_changed(tmp_path, treebank_corpus) -> None:
    corpus = replace(treebank_corpus, datasets={"ud_shift": {"task": "bigram_shift"}})
    build(corpus, written(tmp_path, sentences()), tmp_path / "out", "sample")
    rows = rows_in(tmp_path / "out" / "ud_shift")
    assert {row["licence"] for row in rows} == {"Apache-2.0"}
    texts = {record.id: record.text for record in sentences()}
    assert {row["label"] for row in rows} == {0, 1}
    for row in rows:
        if row["label"]:
            first, second = row["swapped"].split()
            original = texts[row["id"]]
            assert original.split()[row["position"] - 1] == second
            swapped = original.replace(f"{second} {first}", f"{first} {second}")
            assert row["sentence"] == swapped != original
        else:
            assert row["sentence"] == texts[row["id"]]
            assert row["swapped"] is row["position"] is None


def test_what_treebanks_lack_is_said_of_each_dataset(tmp_path, treebank_corpus) -> None:
    tasks = ("tense", "subject_gender", "bigram_shift")
    corpus = replace(treebank_corpus, datasets={f"ud_{task}": {"task": task} for task in tasks})
    records, faults = written(tmp_path, sentences(features="")), {}
    assert [*build(corpus, records, tmp_path / "out", "upstream", faults)] == ["ud_bigram_shift"]
    assert {name: fault.found for name, fault in faults.items()} == {
        "ud_tense": "only 0 of 54 finite main verbs have the feature Tense",
        "ud_subject_gender": "only 0 of 54 nouns that are subjects have the feature Gender",
    }
    assert "remove ud_tense from this entry" in faults["ud_tense"].todo


def test_a_dataset_with_too_few_rows_is_left_out_alone(tmp_path, treebank_corpus) -> None:
    tasks = {"ud_tense": "tense", "ud_inverted": "coordination_inversion"}
    datasets = {name: {"task": task} for name, task in tasks.items()}
    faults: dict[str, InputError] = {}
    corpus, records = replace(treebank_corpus, datasets=datasets), written(tmp_path, sentences())
    assert [*build(corpus, records, tmp_path / "out", "upstream", faults)] == ["ud_tense"]
    assert [*faults] == ["ud_inverted"]
    assert "2 rows or more in each of 3 folds or more" in faults["ud_inverted"].expected
    assert "without two clauses 54" in faults["ud_inverted"].found


def test_a_class_that_is_not_one_of_the_task(tmp_path, treebank_corpus, monkeypatch) -> None:
    task = replace(TASKS["tense"], labels=("present", "future"))
    monkeypatch.setitem(TASKS, "tense", task)
    records = written(tmp_path, sentences())
    with pytest.raises(AssertionError, match=r"tense: candidates of \['past'\], not in \('present"):
        build(treebank_corpus, records, tmp_path / "out", "upstream")
