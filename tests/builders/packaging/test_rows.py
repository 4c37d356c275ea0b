"""The rows of a package: tokens of every task, and unchanged datasets that are taken over."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read
from contents import contents, flip_bit
from neighbour_files import cluster, corpus_of_pairs

from builders import store
from builders.building import build
from builders.packaging import hub
from builders.packaging.hub import add_tokens, package
from builders.plan.datasets import Dataset, datasets_of
from builders.plan.groups import groups_of
from builders.store import digests, write_split
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import AUDIT, CORPORA, INSTANCES, MEMORY, PACKAGE
from probeta.auditing import audit

Pack = Callable[..., int]


@pytest.fixture
def pack(tmp_path, make_corpus, monkeypatch) -> Pack:
    """Return a function that packages two corpora, and returns how many have new rows.

    The second is built of so many documents, and audited, before.
    """
    monkeypatch.chdir(tmp_path)
    corpora = [
        make_corpus(name="one", datasets={"sp_one": {"task": "sentence_position"}}),
        make_corpus(name="two", datasets={"bso_two": {"task": "sentence_ordering"}}),
    ]
    for corpus in corpora:
        records = write_as_read(tmp_path, [document(n) for n in range(40)], corpus.name)
        build(corpus, records, CORPORA / corpus.name, "upstream")
    audit(INSTANCES, AUDIT)

    def run(documents: int = 0, out: Path = PACKAGE, earlier: Path | None = PACKAGE) -> int:
        if documents:
            records = write_as_read(tmp_path, [document(n) for n in range(documents)], "two")
            build(corpora[1], records, CORPORA / "two", "upstream")
            audit(INSTANCES, AUDIT)
        groups = groups_of(corpora, {}, "upstream")
        return package(groups, INSTANCES, AUDIT / "audit.json", out, earlier=earlier)

    return run


def test_kept_rows_are_those_that_would_be_written(pack: Pack, monkeypatch) -> None:
    assert pack() == 2
    first = contents(PACKAGE)
    with monkeypatch.context() as patched:
        patched.setattr(hub, "add_tokens", None)
        assert pack() == 0
        assert contents(PACKAGE) == first
        # As `publish` does.
        assert pack(out=Path("elsewhere")) == 0
        assert contents(Path("elsewhere")) == first
    # Another corpus costs only itself.
    assert pack(documents=50) == 1
    assert pack(out=Path("fresh"), earlier=None) == 2
    assert contents(PACKAGE) == contents(Path("fresh")) != first


SHARD = PACKAGE / "sp_one" / "test-00000-of-00001.parquet"


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (lambda: flip_bit(SHARD), 1),
        (lambda: SHARD.unlink(), 1),
        (lambda: shutil.copy(SHARD, SHARD.with_name("train-00000-of-00001.parquet")), 1),
        (lambda: flip_bit(MEMORY / "tokens" / "sp_one" / "made.json"), 1),
        (lambda: shutil.rmtree(MEMORY), 2),
        (lambda: shutil.rmtree(PACKAGE), 2),
    ],
)
def test_rows_are_taken_over_only_if_the_memory_answers_for_them(
    pack: Pack, change: Callable[[], object], new: int
) -> None:
    pack()
    first = contents(PACKAGE)
    change()
    assert pack() == new
    assert contents(PACKAGE) == first


@pytest.mark.parametrize("decides", ["code_digest", "versions_of"])
def test_other_code_or_libraries_keep_nothing(pack: Pack, monkeypatch, decides: str) -> None:
    pack()
    monkeypatch.setattr(hub, decides, lambda _: "another")
    assert pack() == 2
    assert pack() == 0


def test_the_audit_of_a_package_has_the_digests_of_its_rows(pack: Pack) -> None:
    pack()
    facts = json.loads((PACKAGE / "audit.json").read_bytes())["datasets"]
    instances = json.loads((AUDIT / "audit.json").read_bytes())["datasets"]
    for entry in digests(PACKAGE):
        packaged = facts[entry["config"]]
        assert packaged["content"][entry["split"]] == entry["content"]
        assert packaged["content"] != instances[entry["config"]]["content"]


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
    monkeypatch.setattr(store, "ROW_GROUP", 10)
    (dataset,) = datasets_of(make_corpus(datasets={"bso": {"task": "sentence_ordering"}}), "sample")
    rows = [
        {"id": f"r{n}", "sentences": ["¿Qué?", f"Son {n}."], "label": n % 2, "document_id": "d"}
        for n in range(25)
    ]
    write_split(rows, dataset, "test", ["a", "b"], tmp_path / "in")
    natural = pq.read_table(tmp_path / "in").to_pylist()
    packaged = with_tokens(dataset, tmp_path / "in", tmp_path)
    tokens = [["¿ Qué ?", f"Son {row['id'].removeprefix('r')} ."] for row in natural]
    assert [row.pop("tokens") for row in packaged] == tokens
    assert packaged == natural
    with pq.ParquetFile(tmp_path / "test-00000-of-00001.parquet") as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert groups == [10, 10, 5]
        assert file.schema_arrow.names == list(dataset.columns())
        assert b"ClassLabel" in file.schema_arrow.metadata[b"huggingface"]


def test_a_language_that_spacy_lacks_is_refused_by_build(
    tmp_path, make_corpus, write_records
) -> None:
    records = write_records([document(n) for n in range(40)])
    with pytest.raises(InputError, match="language 'qqq'"):
        build(make_corpus(language="qqq"), records, tmp_path / "out", "upstream")
    # It knows other names of its languages.
    build(make_corpus(language="spa"), records, tmp_path / "out", "upstream")
