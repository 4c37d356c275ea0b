"""Counts: of every recipe, those kept are those in the file, and every drop has a reason."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from corpora_recipes.fetching.sources import sample_folder
from corpora_recipes.params import corpus_of
from corpora_recipes.reading import read, read_corpus, settle_counts
from corpora_recipes.recipe import RECIPES, BlockResult, Corpus, load_facts, load_recipe
from corpora_recipes.recipe import recipe_names as names
from corpora_recipes.records import (
    Dialogue,
    Document,
    Drops,
    Example,
    Record,
    Section,
    record_unit,
    to_row,
)
from corpora_recipes.running.errors import InputError

# What a record holds must be counted; of examples, only where their number of texts varies.
PARTS = {"documents": ["sentences", "summary_sentences"], "dialogues": ["turns"], "trees": ["edus"]}


def sample_of(name: str) -> Corpus:
    """Return an entry of params.yaml that reads the recipe's sample."""
    facts = load_facts(name)
    entry = {"recipe": name, "language": next(iter(facts.sample_languages), facts.language)}
    if "path" in facts.options:
        entry["path"] = str(RECIPES / name / "sample")
    params = {"seed": 1111, "corpora": {"mine": {"corpus": entry}}}
    return corpus_of(params, Path("params.yaml"), "mine")


def in_rows(rows: Iterable[dict]) -> Counter[str]:
    """Count what rows of a file of records hold, by their columns."""
    found: Counter[str] = Counter()
    for row in rows:
        unit = {"collection": "examples", "forms": "sentences"}
        found[next((unit[key] for key in unit if key in row), "documents")] += 1
        for section in row.get("sections", ()):
            found["sentences"] += sum(len(paragraph) for paragraph in section["paragraphs"])
        found["summary_sentences"] += len(row.get("summary", ()))
        found["turns"] += sum(len(turns) for turns in row.get("conversations", ()))
        found["edus"] += len(row.get("edus", ()))
        found["texts"] += len(row.get("texts", ()))
    return found


def check(counts: dict, rows: Sequence[dict], kind: str) -> None:
    found = in_rows(rows)
    needed = [part for part in PARTS.get(kind, ()) if found[part]]
    assert set(needed) <= counts.keys()
    for unit, count in counts.items():
        assert count["kept"] == found[unit], unit
        assert count["kept"] + sum(count["dropped"].values()) == count["seen"], unit
        assert all(reason and n >= 0 for reason, n in count["dropped"].items()), unit


@pytest.mark.parametrize("name", names())
def test_what_is_counted_as_kept_is_in_the_file(tmp_path, name) -> None:
    corpus, out = sample_of(name), tmp_path / "records.parquet"
    read(corpus, sample_folder(corpus), out, workers=1, executor="local")
    counts = json.loads(out.with_suffix(".json").read_bytes())
    check(counts, pq.read_table(out).to_pylist(), corpus.facts.records)


@pytest.mark.parametrize("name", names())
def test_what_repeated_and_surplus_documents_hold_is_not_kept(name) -> None:
    corpus = sample_of(name)
    blocks = load_recipe(name).blocks(sample_folder(corpus).absolute(), corpus)
    whole, _ = taken(corpus, blocks)
    twice, counts = taken(corpus, [*blocks, *blocks])
    assert twice == whole
    check(counts, twice, corpus.facts.records)
    unit = record_unit(corpus.facts.records)
    assert counts[unit]["dropped"]["duplicate_id"] >= len(whole)
    few, counts = taken(replace(corpus, documents=2), blocks)
    assert len(few) == 2
    check(counts, few, corpus.facts.records)


def taken(corpus: Corpus, blocks: Sequence) -> tuple[list[dict], dict]:
    total, rows = Drops(), []
    for records, drops in read_corpus(blocks, corpus, None, 1):
        total.add(drops)
        rows += [to_row(record) for record in records]
    return sorted(rows, key=lambda row: row["id"]), total.as_dict()


DOCUMENT = Document("a", "", (), [Section("", 1, [["Una.", "Otra."]])], summary=["Ambas."])
PAIR = Example("a", "es", ("uno", "dos"), None, None, "a")
COUNTED = {"documents": 2, "sentences": 5, "summary_sentences": 1}


def counted(records: list[Record], seen: dict[str, int], **dropped: int) -> BlockResult:
    reasons = {("documents", reason): count for reason, count in dropped.items()}
    return BlockResult(records, Drops(Counter(seen), Counter(reasons)))


@pytest.mark.parametrize(
    ("records", "sentences", "summary"),
    [
        ([DOCUMENT], {"in_dropped_document": 3}, {}),
        ([], {"in_dropped_document": 5}, {"in_dropped_document": 1}),
    ],
)
def test_what_a_dropped_document_held_is_dropped_too(records, sentences, summary) -> None:
    short = 2 - len(records)
    result = counted(records, COUNTED, too_short=short)
    settle_counts(result, sample_of("documents"))
    dropped = {unit: count["dropped"] for unit, count in result.drops.as_dict().items()}
    assert dropped == {
        "documents": {"too_short": short},
        "sentences": sentences,
        "summary_sentences": summary,
    }


@pytest.mark.parametrize(
    ("name", "result", "found"),
    [
        ("documents", counted([], {"documents": 1}), "'kept': 1"),
        ("documents", counted([DOCUMENT], {}), "nothing counted"),
        ("documents", counted([DOCUMENT], {"documents": 1}), "2 sentences"),
        ("documents", counted([DOCUMENT], COUNTED | {"sentences": 1}, short=1), "'kept': 1"),
        ("documents", counted([DOCUMENT], COUNTED | {"documents": 1}), "'kept': 5"),
        ("gutenberg", counted([Dialogue("a", "", [["Sí.", "No."]])], {"documents": 1}), "2 turns"),
        ("paralex", counted([PAIR], {"examples": 1, "texts": 1}), "'kept': 1"),
    ],
)
def test_a_recipe_whose_counts_contradict_its_records_is_told_so(name, result, found) -> None:
    with pytest.raises(InputError) as error:
        settle_counts(result, sample_of(name))
    assert found in str(error.value)
    assert str(RECIPES / name / "recipe.py") in str(error.value)


@pytest.mark.parametrize(
    ("changes", "place", "known", "found"),
    [
        ({"collection": "answers"}, "collections", "questions", "'answers'"),
        ({"label": "NUM"}, "collections.questions.labels", "number", "'NUM'"),
        ({"columns": {"fine": "date"}}, "collections.questions.columns", "fine_class", "'fine'"),
    ],
)
def test_an_example_that_corpus_yaml_does_not_describe_is_refused(
    changes, place, known, found
) -> None:
    example = Example("questions/1", "questions", ("¿Sí?",), "number", None, "questions/1")
    settle_counts(counted([example], {"examples": 1}), sample_of("sqc"))
    with pytest.raises(InputError) as error:
        settle_counts(counted([replace(example, **changes)], {"examples": 1}), sample_of("sqc"))
    assert error.value.where.endswith("recipe.py: read_block, example questions/1")
    assert error.value.expected.endswith(f"which corpus.yaml names under {place}")
    assert known in error.value.expected
    assert error.value.found == found


def test_a_class_of_a_collection_without_classes_is_refused() -> None:
    pair = Example("2014/1", "2014", ("Uno.", "Dos."), "same", 2.0, "2014/1")
    with pytest.raises(InputError, match=r"\(nothing\).*collections\.2014\.labels"):
        settle_counts(counted([pair], {"examples": 1}), sample_of("sts"))
