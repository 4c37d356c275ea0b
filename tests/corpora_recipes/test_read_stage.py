"""The stages `fetch` and `read`: what is read again, what is skipped, and what is removed."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from corpora_recipes.recipe import RECIPES
from corpora_recipes.running import code
from corpora_recipes.running.outputs import RECORDS, records_of
from corpora_recipes.running.stage import read_skipped
from probeta.cli import main
from tests.support.forgetting import forget_code

Stage = Callable[..., str]


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Stage:
    """Return a function that runs `read`, or another verb, and returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*options: str, verb: str = "read", status: int = 0) -> str:
        workers = ["--workers", "1"] if verb == "read" else []
        assert main([verb, *workers, *options]) == status
        said = capsys.readouterr()
        return said.err if status else said.out

    return run


def ask_for(sources: str = "sample", **corpora: dict[str, Any]) -> None:
    """Write a params.yaml with some corpora."""
    entries = {name: {"corpus": corpus} for name, corpus in corpora.items()}
    text = yaml.safe_dump({"sources": sources, "corpora": entries})
    Path("params.yaml").write_text(text, "utf-8")


def texts(path: str = "texts", **options: Any) -> dict[str, Any]:
    return {"recipe": "documents", "language": "es", "path": path} | options


def write(path: str, *ids: str) -> None:
    lines = [{"id": name, "text": f"Esta es la frase de {name}, y no hay otra."} for name in ids]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def ids(name: str = "mine") -> list[str]:
    """Return the ids of the documents that were read."""
    return sorted(pq.read_table(records_of(name), columns=["id"])["id"].to_pylist())


def files() -> list[str]:
    return sorted(path.name for path in RECORDS.iterdir())


def test_what_is_asked_for_no_more_is_removed(stage: Stage) -> None:
    write("texts/a.jsonl", "1", "2")
    ask_for(mine=texts(), other=texts("texts/a.jsonl"))
    said = stage()
    assert "mine: 2 of 2 documents kept\n" in said
    assert said.endswith("read: 2 corpora: 2 new\n")
    assert files() == ["mine.json", "mine.parquet", "other.json", "other.parquet"]
    ask_for(other=texts("texts/a.jsonl"))
    assert stage() == "read: 1 corpus: 1 kept, 0 new\n"
    assert files() == ["other.json", "other.parquet"]
    ask_for()
    assert stage() == "read: 0 corpora: 0 new\n"
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
def test_a_corpus_that_has_changed_is_read_again(
    stage: Stage, change: Callable[[], None], found: list[str]
) -> None:
    for name, documents in (("texts/a", "12"), ("other/a", "5"), ("same/a", "6")):
        write(f"{name}.jsonl", *documents)
    ask_for(mine=texts(), same=texts("same"))
    stage()
    change()
    assert stage().endswith("read: 2 corpora: 1 kept, 1 new\n")
    assert ids() == found
    # A raw file that is gone is fetched again.
    Path("data/raw/same/a.jsonl").unlink()
    assert stage() == "read: 2 corpora: 2 kept, 0 new\n"
    assert Path("data/raw/same/a.jsonl").samefile("same/a.jsonl")


def test_another_version_of_a_library_reads_all_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("texts/a.jsonl", "1", "2")
    ask_for(mine=texts())
    stage()
    monkeypatch.setattr(code, "version", lambda name: "99")
    assert "1 new" in stage()
    assert json.loads(Path("data/environment.json").read_bytes())["pyarrow"] == "99"


@pytest.mark.parametrize(
    ("file", "new"),
    [
        ("corpora/sqc/recipe.py", "1 kept, 1 new"),
        ("corpora/documents/corpus.yaml", "1 kept, 1 new"),
        ("text/sentences.py", "1 kept, 1 new"),  # of running text alone
        ("reading.py", "2 new"),
        ("corpora/tass/recipe.py", "2 kept, 0 new"),
        ("running/executors.py", "2 kept, 0 new"),
    ],
)
def test_changed_code_reads_again_what_it_decides(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, new: str
) -> None:
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
        assert stage().endswith(f"read: 2 corpora: {new}\n")
    finally:
        forget_code()


def test_a_corpus_that_fails_is_skipped(stage: Stage) -> None:
    write("texts/a.jsonl", "1", "2")
    write("bad.jsonl", "3")
    ask_for(bad=texts("bad.jsonl"), mine=texts())
    stage()
    # Nor do the records stay of raw files that were there before.
    Path("bad.jsonl").write_text("[]\n", "utf-8")
    assert "1 kept, 0 new, 1 left out" in stage()
    assert files() == ["mine.json", "mine.parquet"]
    ask_for(bad=texts("nowhere"), mine=texts())
    assert "no such file or folder" in stage("--strict", status=1)
    assert "read: 2 corpora: 1 kept, 0 new, 1 left out\n  left out bad:\n    nowhere\n" in stage()
    assert "no such file or folder" in read_skipped("read")["bad"].why


def test_a_file_that_is_put_into_a_mirror_is_seen(stage: Stage) -> None:
    ask_for("mirror", sqc={"recipe": "sqc"})
    Path("mirror/sqc").mkdir(parents=True)
    assert "mirror/sqc/train.txt\n" in stage()
    # Both are optional, but not together.
    for name in ("train.txt", "test.txt"):
        shutil.copy(RECIPES / "sqc" / "sample" / name, "mirror/sqc")
        assert "read: 1 corpus: 1 new" in stage()
        assert stage() == "read: 1 corpus: 1 kept, 0 new\n"


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
