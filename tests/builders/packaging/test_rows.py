"""The rows of a package: tokens of every task, and unchanged datasets that are taken over."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import document
from neighbour_files import cluster, corpus_of_pairs

from builders.auditing.auditing import audit
from builders.building.building import build
from builders.packaging import rows
from builders.packaging.hub import package
from builders.packaging.tokenising import add_tokens
from builders.plan.datasets import Dataset, datasets_of
from builders.plan.groups import groups_of
from builders.store import shards
from builders.store.shards import digests, write_split
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError


@pytest.fixture
def corpora(tmp_path, make_corpus, write_records) -> list[Corpus]:
    """Return two corpora, built and audited."""
    own = [
        make_corpus(name="one", datasets={"sp_one": {"task": "sentence_position"}}),
        make_corpus(name="two", datasets={"bso_two": {"task": "sentence_ordering"}}),
    ]
    for corpus in own:
        build_and_audit(tmp_path, corpus, write_records)
    return own


def build_and_audit(folder: Path, corpus: Corpus, write_records, documents: int = 40) -> None:
    records = write_records([document(n) for n in range(documents)], corpus.name)
    build(corpus, records, folder / "instances" / corpus.name, "upstream")
    audit(folder / "instances", folder / "audit")


def pack(folder: Path, corpora: list[Corpus], name: str = "hub") -> int:
    groups = groups_of(corpora, {}, "upstream")
    return package(groups, folder / "instances", folder / "audit" / "audit.json", folder / name)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_kept_rows_are_those_that_would_be_written(tmp_path, corpora, write_records) -> None:
    assert pack(tmp_path, corpora) == 0
    first = files(tmp_path / "hub")
    assert pack(tmp_path, corpora) == 2
    assert files(tmp_path / "hub") == first
    # Another corpus costs only itself.
    build_and_audit(tmp_path, corpora[1], write_records, documents=50)
    assert pack(tmp_path, corpora) == 1
    assert pack(tmp_path, corpora, "fresh") == 0
    assert files(tmp_path / "hub") == files(tmp_path / "fresh") != first


def test_no_tokens_are_made_of_kept_rows(tmp_path, corpora, monkeypatch) -> None:
    pack(tmp_path, corpora)
    monkeypatch.setattr(rows, "add_tokens", None)
    assert pack(tmp_path, corpora) == 2


def change_a_file(hub: Path) -> None:
    path = hub / "sp_one" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path), path, compression="none")


def lose_a_file(hub: Path) -> None:
    (hub / "sp_one" / "test-00000-of-00001.parquet").unlink()


def change_the_facts(hub: Path) -> None:
    report = json.loads((hub / "audit.json").read_text("utf-8"))
    report["datasets"]["sp_one"]["packaged"]["spacy"] = "3.0.0"
    (hub / "audit.json").write_text(json.dumps(report), "utf-8")


def lose_the_facts(hub: Path) -> None:
    report = json.loads((hub / "audit.json").read_text("utf-8"))
    del report["datasets"]["sp_one"]["packaged"]
    (hub / "audit.json").write_text(json.dumps(report), "utf-8")


@pytest.mark.parametrize("change", [change_a_file, lose_a_file, change_the_facts, lose_the_facts])
def test_a_changed_dataset_is_not_kept(tmp_path, corpora, change) -> None:
    pack(tmp_path, corpora)
    first = files(tmp_path / "hub")
    change(tmp_path / "hub")
    assert pack(tmp_path, corpora) == 1
    assert files(tmp_path / "hub") == first


def test_other_code_keeps_nothing(tmp_path, corpora, monkeypatch) -> None:
    pack(tmp_path, corpora)
    monkeypatch.setattr(rows, "code_digest", lambda module: "0" * 16)
    assert pack(tmp_path, corpora) == 0


def test_a_package_without_a_readable_audit_is_replaced(tmp_path, corpora) -> None:
    pack(tmp_path, corpora)
    (tmp_path / "hub" / "audit.json").write_text("no", "utf-8")
    assert pack(tmp_path, corpora) == 0


def test_the_audit_of_a_package_has_the_digests_of_its_rows(tmp_path, corpora) -> None:
    pack(tmp_path, corpora)
    facts = json.loads((tmp_path / "hub" / "audit.json").read_text("utf-8"))["datasets"]
    instances = json.loads((tmp_path / "audit" / "audit.json").read_text("utf-8"))["datasets"]
    for entry in digests(tmp_path / "hub"):
        own = facts[entry["config"]]
        assert own["content"][entry["split"]] == entry["content"]
        assert own["content"] != instances[entry["config"]]["content"]
        assert own["packaged"]["files"][entry["split"]] == entry["sha256"]
    for entry in digests(tmp_path / "instances"):
        own = facts[entry["config"]]["packaged"]["instances"]
        assert own[entry["split"]] == entry["sha256"]


def with_tokens(dataset: Dataset, instances: Path, target: Path) -> list[dict]:
    (shard,) = instances.glob("test-*.parquet")
    done: list[int] = []
    add_tokens(shard, target / shard.name, dataset.columns(), done.append)
    found = pq.read_table(target / shard.name).to_pylist()
    assert sum(done) == len(found)
    return found


def test_words_of_a_language_without_rules_stay_whole(tmp_path, make_corpus, write_records) -> None:
    datasets = {"paralex_sw": {"task": "paradigms", "collection": "sw"}}
    corpus = replace(corpus_of_pairs(make_corpus()), datasets=datasets)
    records = write_records([cluster("sw", "days", "leo", "kesho", "ng'ombe wa leo")])
    build(corpus, records, tmp_path / "out", "upstream")
    (dataset,) = datasets_of(corpus, "upstream")
    (row,) = with_tokens(dataset, tmp_path / "out" / "paralex_sw", tmp_path)
    assert row["tokens"] == ["leo", "kesho", "ng'ombe wa leo"]


def test_tokens_stand_beside_the_texts_in_row_groups(tmp_path, make_corpus, monkeypatch) -> None:
    monkeypatch.setattr(shards, "ROW_GROUP", 10)
    (dataset,) = datasets_of(make_corpus(datasets={"bso": {"task": "sentence_ordering"}}), "sample")
    own = [
        {"id": f"r{n}", "sentences": ["¿Qué?", f"Son {n}."], "label": n % 2, "document_id": "d"}
        for n in range(25)
    ]
    write_split(own, dataset, "test", ["a", "b"], tmp_path / "in")
    natural = pq.read_table(next((tmp_path / "in").iterdir())).to_pylist()
    found = with_tokens(dataset, tmp_path / "in", tmp_path)
    assert [row.pop("tokens") for row in found] == [
        ["¿ Qué ?", f"Son {row['id'].removeprefix('r')} ."] for row in natural
    ]
    assert found == natural
    with pq.ParquetFile(tmp_path / "test-00000-of-00001.parquet") as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert groups == [10, 10, 5]
        assert file.schema_arrow.names == list(dataset.columns())
        assert b"ClassLabel" in file.schema_arrow.metadata[b"huggingface"]


def test_a_language_that_spacy_lacks_is_refused_by_build(
    tmp_path, make_corpus, write_records
) -> None:
    corpus = make_corpus(language="qqq")
    with pytest.raises(InputError, match="language 'qqq'"):
        build(corpus, tmp_path / "none.parquet", tmp_path / "out", "upstream")
    # It knows other names of its languages.
    build(
        make_corpus(language="spa"),
        write_records([document(n) for n in range(40)]),
        tmp_path / "out",
        "upstream",
    )
