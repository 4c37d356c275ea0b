"""Reading: raw files to records, by the stages `fetch` and `read`, and their counts."""

import json
import os
import pickle
import re
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from case_tables import read_tables
from contents import forget_code
from dask_workers import kill_busy_worker
from imports import REPOSITORY
from recipe_reading import refused
from stage_lines import untimed

from corpora_recipes.fetching.sources import sample_folder
from corpora_recipes.params import corpus_of
from corpora_recipes.reading import _read, above_limits, read, read_corpus, settle_counts
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
from corpora_recipes.running import code
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.outputs import RECORDS, records_of
from corpora_recipes.running.stage import read_skipped
from probeta.cli import main

TABLES = read_tables(__file__)

# --- reading -------------------------------------------------------------------------------------

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
    empty_folder, raw, corpus, cluster
) -> None:
    # Workers elsewhere find a relative folder.
    address = cluster.scheduler_address
    read(corpus, Path("raw"), Path("dask.parquet"), workers=None, executor=address)
    one, two = read_here(corpus, raw, "one.parquet"), read_here(corpus, raw, "two.parquet", 2)
    assert one.read_bytes() == two.read_bytes() == Path("dask.parquet").read_bytes()
    assert len(ids(one)) == 120
    counts = [(empty_folder / f"{name}.json").read_text() for name in ("one", "two", "dask")]
    assert len(set(counts)) == 1
    # What is sent to a worker is small.
    blocks = load_recipe("documents").blocks(raw, corpus)
    assert len(pickle.dumps((_read, corpus.recipe, blocks[0], corpus))) < 5_000


def test_the_example_for_slurm(empty_folder, raw, corpus, monkeypatch) -> None:
    """With the double of SLURM that dask-jobqueue has, and a job of two workers."""
    double = pytest.importorskip("dask_jobqueue.local")
    monkeypatch.setattr("dask_jobqueue.SLURMCluster", double.LocalCluster)
    page = (REPOSITORY / "docs/clusters.md").read_text("utf-8")
    (example,) = re.findall(r"```py\n(from dask_jobqueue .*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example.replace("=8", "=2").replace("(8)", "(2)").replace("jobs=4", "jobs=1"), names)
    with names["cluster"] as jobs:
        read(corpus, raw, Path("jobs.parquet"), workers=None, executor=jobs.scheduler_address)
    assert Path("jobs.parquet").read_bytes() == read_here(corpus, raw, "one.parquet").read_bytes()


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


def read_up_to(n_blocks: int, *arguments, **named) -> int:
    """Read a corpus in this process, and stop at a block; return how many blocks were read."""
    n_read = 0

    def count(recipe, block, of):
        nonlocal n_read
        if n_read == n_blocks:
            raise KeyboardInterrupt
        n_read += 1
        return _read(recipe, block, of)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpora_recipes.reading._read", count)
        with suppress(KeyboardInterrupt):
            read_here(*arguments, **named)
    return n_read


@pytest.mark.parametrize(("shard_bytes", "n_blocks_of_shard"), [(1, 3), (25_000, 5)])
@pytest.mark.parametrize("documents", [None, 500])
def test_a_read_that_was_stopped_goes_on_after_its_last_shard(
    empty_folder, make_corpus, monkeypatch, shard_bytes, n_blocks_of_shard, documents
) -> None:
    """The bytes and the notes are those of a read that nothing stopped."""
    raw = write_raw(empty_folder / "raw", files=12, documents=60)
    # Places and errors of drops, and an id of an earlier shard.
    for file in (0, 5):
        with (raw / f"part-{file}.jsonl").open("a", encoding="utf-8") as part:
            part.write('{"id": "x", "text": 7}\n{"id": "3-1", "text": "Otra vez, sin más."}\n')
    corpus = make_corpus(options={"path": None}, documents=documents)
    monkeypatch.setattr("corpora_recipes.reading.ROW_GROUP", 100)
    whole = read_here(corpus, raw, "whole.parquet")
    n_blocks = read_up_to(-1, corpus, raw, "whole.parquet")
    monkeypatch.setattr("corpora_recipes.reading.SHARD_BYTES", shard_bytes)
    n_read = n_stops = 0
    while (now := read_up_to(5, corpus, raw, "out.parquet", key={"of": "a"})) == 5:
        n_read, n_stops = n_read + now, n_stops + 1
        assert n_read <= 3 * n_blocks
        assert not (empty_folder / "out.parquet").exists()
    assert n_stops
    assert n_read + now - n_blocks <= n_stops * (n_blocks_of_shard - 1)
    for suffix in (".parquet", ".json"):
        out = (empty_folder / "out").with_suffix(suffix)
        assert out.read_bytes() == whole.with_suffix(suffix).read_bytes()
    # Shards are there until somebody removes them.
    counts = [
        read(corpus, raw, empty_folder / "two.parquet", workers=2, executor="local", key=key)
        for key in ({"of": "a"}, None)
    ]
    assert above_limits(corpus, counts[0]) == above_limits(corpus, counts[1]) != []
    assert (empty_folder / "two.parquet").read_bytes() == whole.read_bytes()
    # Nothing of other inputs, and nothing from a damaged shard on.
    assert read_up_to(-1, corpus, raw, "out.parquet", key={"of": "b"}) == n_blocks
    n_rest = read_up_to(-1, corpus, raw, "out.parquet", key={"of": "b"})
    shard = max(Path("data/memory/reading").rglob("*.parquet"))
    shard.write_bytes(shard.read_bytes() + b"0")
    n_again = read_up_to(-1, corpus, raw, "out.parquet", key={"of": "b"})
    assert n_rest + n_blocks_of_shard <= n_again <= n_blocks
    assert (empty_folder / "out.parquet").read_bytes() == whole.read_bytes()


def test_shards_go_when_the_records_are_there(stage, empty_folder, monkeypatch) -> None:
    write("texts/a.jsonl", "1", "2")
    write("texts/b.jsonl", "3")
    ask_for(mine=texts())
    monkeypatch.setattr("corpora_recipes.reading.SHARD_SECONDS", 0)

    def stop(*arguments: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("corpora_recipes.reading._check", stop)
        stage(status=130)
    shards = Path("data/memory/reading")
    assert len(list(shards.rglob("*.parquet"))) == 2
    stage()
    assert read_ids() == ["1", "2", "3"]
    assert not list(shards.iterdir())


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
    # What is beyond the quota is no loss, and sound: three drops beside one document are few.
    for part in raw.iterdir():
        lines = part.read_text("utf-8").splitlines(keepends=True)
        part.write_text("".join([*lines, *lines[:3]]), "utf-8")
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
    empty_folder, raw, corpus, capsys
) -> None:
    corpus = limited(corpus, duplicate_id=0.05)
    shutil.copy(raw / "part-0.jsonl", raw / "part-9.jsonl")
    with pytest.raises(InputError, match=r"dropped as duplicate_id, above the limit of 5\.00%"):
        read_here(corpus, raw, "out.parquet", strict=True)
    assert sorted(path.name for path in empty_folder.iterdir()) == ["params.yaml", "raw"]
    drops = read(corpus, raw, empty_folder / "out.parquet", workers=1, executor="local")
    (note,) = above_limits(corpus, drops)
    assert "above the limit of 5.00% (drop_limits in documents/corpus.yaml)" in note
    assert (empty_folder / "out.json").exists()
    assert above_limits(limited(corpus, duplicate_id=0.5), drops) == []
    # The command says so, too; the limit of the recipe is 1 %.
    assert main(["read", "--workers", "1", "--strict"]) == 1
    assert not list(Path("data/records").iterdir())
    note = "mine: 14.29% of the documents dropped as duplicate_id, above the limit of 1.00%"
    # Those that are kept are measured, too.
    for done in ("1 corpus read, 120 records, 14.3% dropped", "1 corpus reused"):
        assert main(["read", "--workers", "1"]) == 0
        assert f"read: {done}\nnote: {note}" in untimed(capsys.readouterr().out)
    assert main(["read", "--strict"]) == 1
    assert f"data/records\n  expected: no share of drops above its limit\n  found:    {note}" in (
        capsys.readouterr().err
    )


@pytest.mark.usefixtures("own_params")
def test_what_cannot_be_read_is_shown_with_its_place(empty_folder, raw, capsys) -> None:
    part = raw / "part-2.jsonl"
    lines = part.read_bytes().splitlines()
    spoilt = [b'{"id": "x", "text": 7}'] * 9 + [b'{"id": "y", "text": null}', b"\xf1"]
    part.write_bytes(b"\n".join([*lines[:3], *spoilt, *lines]))
    # In the run that reads it, and in each one that finds it read.
    for _ in range(2):
        assert main(["read", "--workers", "1"]) == 0
        shown = capsys.readouterr().out
        assert (
            "note: mine: 0.75% of the documents dropped as empty_text, above the limit of 0.00%"
            in shown
        )
        assert f"{part}, line 13\n    expected: a text\n    found:    null in column text" in shown
        places = ", ".join(f"line {n}" for n in range(4, 13))
        assert f"{part}, {places}\n    expected: text, a string\n" in shown
        assert f"{part}, line 14\n    expected: UTF-8\n" in shown
    assert main(["read", "--strict"]) == 1
    capsys.readouterr()
    # A file in another encoding, or of another form, is no odd item.
    for content in ([*lines, b"\xf1", b"\xf1", b"\xf1"], [b"1, 2", b"3, 4"]):
        part.write_bytes(b"\n".join(content))
        main(["read", "--workers", "1"])
        shown = capsys.readouterr().out
        assert "skipped by read: mine\n" in shown
        assert str(part) in shown


def test_when_more_than_half_of_the_documents_go_the_stage_fails(tmp_path, raw, corpus) -> None:
    for copy in range(2):
        for part in sorted(raw.glob("part-?.jsonl")):
            shutil.copy(part, raw / f"copy{copy}-{part.name}")
    for strict in (corpus, limited(corpus, duplicate_id=0.6)):
        with refused(match="at least half of the documents", found='"duplicate_id": '):
            read_here(strict, raw, "out.parquet")
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


# --- read stage ----------------------------------------------------------------------------------

Stage = Callable[..., str]


@pytest.fixture
def stage(empty_folder, capsys) -> Stage:
    """Return a function that runs `read`, or another verb, and returns what it prints."""

    def run(*options: str, verb: str = "read", status: int = 0) -> str:
        workers = ["--workers", "1"] if verb == "read" else []
        assert main([verb, *workers, *options]) == status
        said = capsys.readouterr()
        return said.err if status else untimed(said.out)

    return run


def ask_for(sources: str = "sample", **corpora: dict[str, Any]) -> None:
    """Write a params.yaml with some corpora."""
    entries = {name: {"corpus": corpus} for name, corpus in corpora.items()}
    text = yaml.safe_dump({"sources": sources, "corpora": entries})
    Path("params.yaml").write_text(text, "utf-8")


def texts(path: str = "texts", **options: Any) -> dict[str, Any]:
    return {"recipe": "documents", "language": "es", "path": path} | options


def write(path: str, *names: str) -> None:
    lines = [{"id": name, "text": f"Esta es la frase de {name}, y no hay otra."} for name in names]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def read_ids(name: str = "mine") -> list[str]:
    """Return the ids of the documents that were read."""
    return sorted(pq.read_table(records_of(name), columns=["id"])["id"].to_pylist())


def files() -> list[str]:
    return sorted(path.name for path in RECORDS.iterdir())


def test_what_is_asked_for_no_more_is_removed(stage: Stage) -> None:
    write("texts/a.jsonl", "1", "2")
    ask_for(mine=texts(), other=texts("texts/a.jsonl"))
    said = stage("--verbose")
    assert "mine: 2 documents\n" in said
    assert said.endswith("read: 2 corpora read, 4 records, 0.0% dropped\n")
    assert files() == ["mine.json", "mine.parquet", "other.json", "other.parquet"]
    ask_for(other=texts("texts/a.jsonl"))
    assert stage() == "read: 1 corpus reused\n"
    assert files() == ["other.json", "other.parquet"]
    ask_for()
    assert stage() == "read: no corpora\n"
    assert files() == []


def hidden_change(path: Path) -> None:
    """Change a letter of a file, and give it the time that it had."""
    before = path.stat()
    time.sleep(0.05)
    path.write_text(path.read_text("utf-8").replace("frase", "fresa"), "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda: write("texts/b.jsonl", "3"), ["1", "2", "3"]),
        (lambda: write("texts/a.jsonl", "4"), ["4"]),
        (lambda: hidden_change(Path("texts/a.jsonl")), ["1", "2"]),
        # Through the link that fetch has made.
        (lambda: hidden_change(Path("data/raw/mine/a.jsonl")), ["1", "2"]),
        (lambda: ask_for(mine=texts("other"), same=texts("same")), ["5"]),
        (lambda: ask_for(mine=texts(documents=1), same=texts("same")), ["1"]),
        (lambda: records_of("mine").write_bytes(b"PAR1"), ["1", "2"]),
        (lambda: records_of("mine").with_suffix(".json").unlink(), ["1", "2"]),
    ],
)
def test_a_corpus_that_has_changed_is_read_again(stage, change, found) -> None:
    for name, documents in (("texts/a", "12"), ("other/a", "5"), ("same/a", "6")):
        write(f"{name}.jsonl", *documents)
    ask_for(mine=texts(), same=texts("same"))
    stage()
    change()
    assert stage().startswith("read: 1 of 2 corpora read again, ")
    assert read_ids() == found
    # A raw file that is gone is fetched again.
    Path("data/raw/same/a.jsonl").unlink()
    assert stage() == "read: 2 corpora reused\n"
    assert Path("data/raw/same/a.jsonl").samefile("same/a.jsonl")


def test_another_version_of_a_library_reads_all_again(stage, monkeypatch) -> None:
    write("texts/a.jsonl", "1", "2")
    ask_for(mine=texts())
    stage()
    monkeypatch.setattr(code, "version", lambda name: "99")
    assert "1 corpus read again" in stage()
    assert json.loads(Path("data/environment.json").read_bytes())["pyarrow"] == "99"


@pytest.mark.parametrize(("file", "done"), TABLES["changed_code"])
def test_changed_code_reads_again_what_it_decides(stage, tmp_path, monkeypatch, file, done) -> None:
    monkeypatch.setattr(code, "ROOT", tmp_path)
    forget_code()
    shutil.copytree(RECIPES.parent, "corpora_recipes", ignore=shutil.ignore_patterns("__pycache__"))
    write("texts/a.jsonl", "1")
    ask_for(mine=texts(), sqc={"recipe": "sqc"})
    try:
        stage()
        with Path("corpora_recipes", file).open("a", encoding="utf-8") as changed:
            changed.write("# changed\n")
        forget_code()
        assert stage().startswith(f"read: {done}")
    finally:
        forget_code()


def test_a_corpus_that_fails_is_skipped(stage: Stage) -> None:
    write("texts/a.jsonl", "1", "2")
    write("bad.jsonl", "3")
    ask_for(bad=texts("bad.jsonl"), mine=texts())
    stage()
    # Nor do the records stay of raw files that were there before.
    Path("bad.jsonl").write_text("[]\n", "utf-8")
    assert "read: 1 corpus reused, 1 skipped" in stage()
    assert files() == ["mine.json", "mine.parquet"]
    ask_for(bad=texts("nowhere"), mine=texts())
    assert "no such file or folder" in stage("--strict", status=1)
    reused = "read: 1 corpus reused, 1 skipped\n  skipped by read: bad\n    nowhere\n"
    assert stage().startswith(reused)
    assert "no such file or folder" in read_skipped("read")["bad"].why


def test_a_file_that_is_put_into_a_mirror_is_seen(stage: Stage) -> None:
    ask_for("mirror", sqc={"recipe": "sqc"})
    Path("mirror/sqc").mkdir(parents=True)
    assert "mirror/sqc/train.txt\n" in stage()
    # Both are optional, but not together.
    for name in ("train.txt", "test.txt"):
        shutil.copy(RECIPES / "sqc" / "sample" / name, "mirror/sqc")
        assert "read: 1 corpus read" in stage()
        assert stage() == "read: 1 corpus reused\n"


def test_reasons_of_a_corpus_that_is_named(stage: Stage) -> None:
    write("texts/a.jsonl", "1", "2")
    Path("texts/b.jsonl").write_text('{"id": "3", "text": "…"}\n', "utf-8")
    ask_for(mine=texts(), other=texts())
    assert stage("--only", "mine").splitlines()[0] == (
        "mine: 3 documents, 33.3% dropped: no_sentences 1"
    )
    assert "no_sentences" not in stage()


def test_fetch_alone(stage: Stage) -> None:
    write("texts/a.jsonl", "1")
    write("texts/b.jsonl", "2")
    ask_for(mine=texts(), bad=texts("nowhere"), other=texts())
    assert stage("--only", "mine", verb="fetch") == "mine: 2 files\n"
    assert [path.name for path in Path("data/raw").iterdir()] == ["mine"]
    assert not RECORDS.exists()
    # It ends with the first that cannot be had.
    assert "nowhere" in stage(verb="fetch", status=1)
    assert not Path("data/raw/other").exists()


# --- counts --------------------------------------------------------------------------------------

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
    with refused("", found, str(RECIPES / name / "recipe.py")):
        settle_counts(result, sample_of(name))


@pytest.mark.parametrize(("changes", "place", "known", "found"), TABLES["not_described"])
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
