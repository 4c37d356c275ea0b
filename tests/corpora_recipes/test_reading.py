"""Reading: the same bytes for any number of workers and executor, quotas, kills, empty corpora."""

import json
import pickle
import re
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from dask_workers import kill_busy_worker

from corpora_recipes.reading import _read, above_limits, read, read_corpus
from corpora_recipes.recipe import Corpus, load_recipe
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import open_executor
from probeta.cli import main

SENTENCES = [
    "La lluvia llegó temprano este año.",
    "Los campos se llenaron de agua en pocos días.",
    "Nadie esperaba una cosecha tan buena.",
]


def write_raw(folder: Path, files: int = 6, documents: int = 20) -> Path:
    """Write documents in several files, each of which is a block."""
    folder.mkdir(exist_ok=True)
    for file in range(files):
        lines = [
            json.dumps({"id": f"{file}-{n}", "text": " ".join([f"Texto {n}.", *SENTENCES])})
            for n in range(documents)
        ]
        (folder / f"part-{file}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return write_raw(tmp_path / "raw")


@pytest.fixture
def corpus(make_corpus):
    return make_corpus(options={"path": None})


def ids(path: Path) -> list[str]:
    return pq.read_table(path, columns=["id"])["id"].to_pylist()


def read_here(corpus: Corpus, raw: Path, out: str, workers: int = 1, **options) -> Path:
    """Read a corpus in this process, or in several; return the file."""
    read(corpus, raw, raw.with_name(out), workers=workers, executor="local", **options)
    return raw.with_name(out)


@pytest.fixture
def own_params(write_params, raw) -> None:
    """Write a params.yaml, in the current folder of the test, that names its raw corpus."""
    write_params({"mine": {"corpus": {"recipe": "documents", "path": str(raw), "language": "es"}}})


def test_the_same_bytes_for_one_worker_two_workers_and_dask(
    tmp_path, raw, corpus, cluster, monkeypatch
) -> None:
    # Workers elsewhere find a relative folder.
    monkeypatch.chdir(tmp_path)
    address = cluster.scheduler_address
    read(corpus, Path("raw"), Path("dask.parquet"), workers=None, executor=address)
    one, two = read_here(corpus, raw, "one.parquet"), read_here(corpus, raw, "two.parquet", 2)
    assert one.read_bytes() == two.read_bytes() == Path("dask.parquet").read_bytes()
    assert len(ids(one)) == 120
    counts = [(tmp_path / f"{name}.json").read_text() for name in ("one", "two", "dask")]
    assert len(set(counts)) == 1
    # What is sent to a worker is small.
    blocks = load_recipe("documents").blocks(raw, corpus)
    assert len(pickle.dumps((_read, corpus.recipe, blocks[0], corpus))) < 5_000


def test_a_worker_killed_in_the_middle_costs_no_rows(
    tmp_path, corpus, cluster, monkeypatch
) -> None:
    raw = write_raw(tmp_path / "raw", files=40, documents=60)
    one = read_here(corpus, raw, "one.parquet")
    used = []

    def read_and_kill(*arguments):
        for result in read_corpus(*arguments):
            used.append(result)
            if len(used) in (3, 9):
                kill_busy_worker(cluster)
            yield result

    monkeypatch.setattr("corpora_recipes.reading.read_corpus", read_and_kill)
    # More blocks in flight than the cluster can have done by then.
    address = cluster.scheduler_address
    read(corpus, raw, tmp_path / "killed.parquet", workers=16, executor=address)
    assert len(used) == 40
    for kind in (".parquet", ".json"):
        killed = tmp_path / f"killed{kind}"
        assert killed.read_bytes() == one.with_suffix(kind).read_bytes()


def test_a_cluster_keeps_nothing_of_blocks_beyond_the_quota(
    tmp_path, corpus, cluster, make_corpus
) -> None:
    raw = write_raw(tmp_path / "raw", files=40, documents=100)
    small = make_corpus(options={"path": None}, documents=150)
    out = tmp_path / "out.parquet"
    read(small, raw, out, workers=8, executor=cluster.scheduler_address)
    assert len(ids(out)) == 150
    deadline = time.monotonic() + 10
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not cluster.scheduler.tasks
    with cluster.get_client() as client:
        held = client.run(lambda dask_worker: len(dask_worker.data))
    assert set(held.values()) == {0}


def test_raw_files_that_a_worker_does_not_see(tmp_path, raw, corpus, cluster) -> None:
    blocks = load_recipe("documents").blocks(raw, corpus)
    (raw / "part-3.jsonl").rename(tmp_path / "part-3.jsonl")
    message = rf"part-3\.jsonl, on {re.escape(socket.gethostname())}\n.*same path"
    with pytest.raises(InputError, match=message):
        list(read_corpus(blocks, corpus, None, 1))
    with (
        open_executor(cluster.scheduler_address, None) as executor,
        pytest.raises(InputError, match=message),
    ):
        list(read_corpus(blocks, corpus, executor, 2))


@pytest.mark.usefixtures("own_params")
def test_the_environment_chooses_the_executor(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["read", "--workers", "1", "--strict"]
    monkeypatch.setenv("PROBETA_EXECUTOR", "elsewhere")
    assert main(command) == 1
    assert "--executor elsewhere" in capsys.readouterr().err
    assert main([*command, "--executor", "local"]) == 0
    monkeypatch.setenv("PROBETA_EXECUTOR", "")
    assert main(command) == 0


def test_a_quota_reads_no_more_blocks_than_it_needs(tmp_path, raw, corpus, make_corpus) -> None:
    small = make_corpus(options={"path": None}, documents=25)
    few = read_here(small, raw, "few.parquet")
    counts = json.loads(few.with_suffix(".json").read_bytes())["documents"]
    assert counts == {"seen": 40, "kept": 25, "dropped": {"beyond_quota": 15}}
    assert ids(read_here(corpus, raw, "all.parquet"))[:25] == ids(few)
    assert read_here(small, raw, "two.parquet", 2).read_bytes() == few.read_bytes()
    # What is beyond the quota is no loss.
    one = read_here(replace(corpus, documents=1), raw, "one.parquet")
    assert len(ids(one)) == 1


def test_splits_are_decided_by_the_id_alone(raw, corpus) -> None:
    def splits() -> dict[str, str]:
        rows = pq.read_table(read_here(corpus, raw, "out.parquet")).to_pylist()
        return {row["id"]: row["split"] for row in rows}

    before = splits()
    (raw / "part-3.jsonl").unlink()
    after = splits()
    assert after == {name: before[name] for name in after}
    shares = [list(before.values()).count(s) / 120 for s in ("train", "validation", "test")]
    assert 0.5 < shares[0] < 0.7
    assert 0.1 < shares[1] < 0.3


def test_a_missing_or_empty_corpus_is_an_error_and_leaves_nothing(tmp_path, corpus) -> None:
    with pytest.raises(InputError, match="probeta fetch --only mine"):
        read_here(corpus, tmp_path / "raw", "out.parquet")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match="at least one document"):
        read_here(corpus, tmp_path / "raw", "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]


def limited(corpus: Corpus, **limits: float) -> Corpus:
    named = {f"documents.{reason}": limit for reason, limit in limits.items()}
    return replace(corpus, facts=replace(corpus.facts, drop_limits=named))


@pytest.mark.usefixtures("own_params")
def test_drops_above_a_limit_are_shown_and_fail_if_strict(
    tmp_path, raw, corpus, monkeypatch, capsys
) -> None:
    corpus = limited(corpus, duplicate_id=0.05)
    shutil.copy(raw / "part-0.jsonl", raw / "part-9.jsonl")
    with pytest.raises(InputError, match=r"dropped as duplicate_id, above the limit of 5\.00%"):
        read_here(corpus, raw, "out.parquet", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["params.yaml", "raw"]
    drops = read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    (note,) = above_limits(corpus, drops)
    assert "above the limit of 5.00% (drop_limits in documents/corpus.yaml)" in note
    assert (tmp_path / "out.json").exists()
    assert above_limits(limited(corpus, duplicate_id=0.5), drops) == []
    # The command says so, too; the limit of the recipe is 1 %.
    monkeypatch.chdir(tmp_path)
    assert main(["read", "--workers", "1", "--strict"]) == 1
    assert not list(Path("data/records").iterdir())
    note = "mine: 14.29% of the documents dropped as duplicate_id, above the limit of 1.00%"
    # Those that are kept are measured, too.
    for new in ("1 new", "1 kept, 0 new"):
        assert main(["read", "--workers", "1"]) == 0
        assert f"read: 1 corpus: {new}\nnote: {note}" in capsys.readouterr().out
    assert main(["read", "--strict"]) == 1
    assert f"data/records\n  expected: no share of drops above its limit\n  found:    {note}" in (
        capsys.readouterr().err
    )


def test_when_more_than_half_of_the_documents_go_the_stage_fails(tmp_path, raw, corpus) -> None:
    for copy in range(2):
        for part in sorted(raw.glob("part-?.jsonl")):
            shutil.copy(part, raw / f"copy{copy}-{part.name}")
    for strict in (corpus, limited(corpus, duplicate_id=0.6)):
        with pytest.raises(InputError, match="at least half of the documents") as error:
            read_here(strict, raw, "out.parquet")
        assert '"duplicate_id": ' in error.value.found
        assert [path.name for path in tmp_path.iterdir()] == ["raw"]
    # Unless so many are normal for a reason.
    assert read_here(limited(corpus, duplicate_id=0.7), raw, "out.parquet").exists()


@pytest.mark.parametrize(
    "address", ["cluster", "tcp://127.0.0.1:9", "tcp://host", "tcp://host:abc"]
)
def test_an_executor_that_is_not_there(tmp_path, raw, corpus, address, monkeypatch) -> None:
    monkeypatch.setattr("corpora_recipes.running.cluster.ANSWER", 1)
    with pytest.raises(InputError, match="Dask scheduler"):
        read(corpus, raw, tmp_path / "out.parquet", workers=1, executor=address)
