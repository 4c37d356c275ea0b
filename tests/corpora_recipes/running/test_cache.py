"""The cache: only what was made, to the byte, is reused; files that may differ are read again."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora_recipes.running.cache import Cache, digest_file, digest_files, open_cache
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import MEMORY

KEY = {"code": "c0de", "parameters": {"task": ["order", None]}, "inputs": {"raw": "0"}}
FACTS = {"rows": 2}
MADE = MEMORY / "build" / "sqc" / "made.json"
STATS = MEMORY / "stats.json"


pytestmark = pytest.mark.usefixtures("empty_folder")


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")


def make() -> Cache:
    """Make the entry "sqc": a folder of two files, and a file."""
    for path in ("out/a", "out/deep/b", "out.json"):
        write(path, f"text of {path}")
    cache = Cache("build")
    cache.put("sqc", KEY, [Path("out"), Path("out.json")], FACTS)
    return cache


def cached(**changes: Any) -> Any:
    """Return what the next run reuses, if parts of the key have changed."""
    return Cache("build").get("sqc", KEY | changes)


def test_an_entry_is_reused_with_its_key_and_its_facts() -> None:
    assert cached() is None
    cache = make()
    assert cache.written == 1
    assert cached() == FACTS
    assert list(Cache("build").files("sqc")) == ["out/a", "out/deep/b", "out.json"]
    assert Cache("audit").get("sqc", KEY) is None
    assert Cache("build").get("fac", KEY) is None
    for changes in ({"code": "c0df", "inputs": {"raw": "1"}}, {"versions": {"python": "3"}}):
        assert cached(**changes) is None


def swap() -> None:
    Path("out/a").rename("out/c")
    Path("out/deep/b").rename("out/a")
    Path("out/c").rename("out/deep/b")


@pytest.mark.parametrize(
    "change",
    [
        lambda: write("out/c", ""),
        lambda: Path("out/a").unlink(),
        lambda: Path("out.json").unlink(),
        lambda: Path("out/a").rename("out/A"),
        lambda: Path("out").rename("elsewhere"),
        lambda: write("out.json", ""),
        swap,
    ],
)
def test_files_that_are_not_those_that_were_made(change: Callable[[], None]) -> None:
    make()
    change()
    assert cached() is None
    make()
    assert cached() == FACTS


def flipped(whole: bytes, step: int = 1) -> Iterator[bytes]:
    """Yield contents with one bit changed, in every ``step``-th byte."""
    for place in range(0, len(whole), step):
        data = bytearray(whole)
        data[place] ^= 1 << place // step % 8
        yield bytes(data)


@pytest.mark.parametrize("file", [Path("out/a"), Path("out.json"), MADE])
def test_no_flipped_bit_is_reused(file: Path) -> None:
    make()
    whole = file.read_bytes()
    for data in flipped(whole):
        file.write_bytes(data)
        assert cached() is None, data
    file.write_bytes(whole)
    assert cached() == FACTS


def test_damaged_notes_make_nothing_old_look_new() -> None:
    with open_cache():
        make()
    whole = STATS.read_bytes()
    write("out/a", "text of out/A")
    for data in (
        *flipped(whole, 20),
        b"[]",
        b"\xff",
        b"",
        b"[" * 100_000,
        whole.replace(b"[", b"[3, "),
    ):
        STATS.write_bytes(data)
        with open_cache():
            assert cached() is None, data


@given(facts=st.recursive(st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_facts_come_back(facts: object) -> None:
    Cache("build").put("fac", KEY, facts={"": facts})
    assert repr(Cache("build").get("fac", KEY)) == repr({"": facts})


def test_entries_are_deleted_and_pruned() -> None:
    cache = make()
    for name in ("fac", "sts"):
        cache.put(name, KEY)
    write(f"{cache.folder('fac')}/measured.npz", "numbers")
    cache.prune(["sqc", "sts"])
    assert sorted(path.name for path in (MEMORY / "build").iterdir()) == ["sqc", "sts"]
    cache.delete("sqc")
    cache.delete("never")
    assert cached() is None
    assert cache.files("sqc") == {}
    assert cache.get("sts", KEY) is True
    Cache("never").prune([])


def test_hidden_files_are_of_others() -> None:
    make()
    write("out/.a.x.part", "half")
    write("out/.git/head", "main")
    assert cached() == FACTS
    assert list(digest_files([Path("out")])) == ["out/a", "out/deep/b"]
    # Where the folder itself is, decides nothing.
    write(".mine/a", "a")
    assert list(digest_files([Path(".mine"), Path("missing")])) == [".mine/a"]


# --- files whose size and times are as they were -------------------------------------------------


def is_read_again(file: Path, *, later: bool = True, check: bool = False) -> bool:
    """Return whether a run reads a file; the notes of the last one are given a wrong digest.

    With ``later``, they say that it was read long after its last change.
    """
    notes = json.loads(STATS.read_bytes())
    note = notes[str(file.resolve())]
    note[-1] = "wrong"
    note[-2] += 10**10 if later else 0
    STATS.write_text(json.dumps(notes), "utf-8")
    with open_cache(verify=check):
        return digest_file(file) != "wrong"


def noted(file: Path) -> Path:
    with open_cache():
        digest_file(file)
    return file


def test_a_file_is_read_once_if_it_was_not_new_then() -> None:
    write("raw", "text")
    raw = noted(Path("raw"))
    assert is_read_again(raw, later=False)
    assert not is_read_again(raw)
    assert is_read_again(raw, check=True)
    # A change that hides its size and times is noticed.
    before = noted(raw).stat()
    # The times of a file system may be that coarse.
    time.sleep(0.05)
    write("raw", "tixt")
    os.utime(raw, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = raw.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert is_read_again(raw)


def test_a_link_is_as_old_as_what_it_leads_to() -> None:
    write("raw", "text of raw")
    noted(Path("raw"))
    Path("link").symlink_to("raw")
    assert not is_read_again(Path("link"))
    digest = digest_file(Path("link"))
    write("raw", "new")
    assert digest_file(Path("link")) != digest
    # Notes on files that are gone go.
    write("other", "")
    Path("raw").unlink()
    noted(Path("other"))
    assert list(json.loads(STATS.read_bytes())) == [str(Path("other").resolve())]


# --- runs ----------------------------------------------------------------------------------------


def interrupted(*, check: bool = False) -> None:
    with open_cache(verify=check):
        digest_file(Path("raw"))
        raise KeyboardInterrupt


def test_a_cache_that_is_open_is_opened_again() -> None:
    write("raw", "")
    write("other", "")
    with open_cache():
        with pytest.raises(KeyboardInterrupt):
            interrupted(check=True)
        digest_file(Path("other"))
        assert not STATS.exists()
    assert len(json.loads(STATS.read_bytes())) == 2
    # An interruption closes it; even one while the notes are written.
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not is_read_again(Path("raw"))
    STATS.unlink()
    STATS.mkdir()
    with pytest.raises(InputError, match="a file to write"), open_cache():
        pass
    STATS.rmdir()
    assert not is_read_again(noted(Path("raw")))


def test_what_killed_runs_left_is_cleared() -> None:
    left = [Path(name, ".a.abcd1234.part") for name in ("data/records", "data/memory/read/a")]
    for path in left:
        path.mkdir(parents=True)
    with open_cache():
        assert not any(path.exists() for path in left)


def test_another_run_waits(repository: Path) -> None:
    code = "from corpora_recipes.running.cache import open_cache\nwith open_cache(): print('in')"
    with open_cache():
        other = subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(repository)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert other.stderr
        assert other.stderr.readline() == "data/memory: waiting for another run to end\n"
        assert other.poll() is None
    assert other.communicate()[0] == "in\n"
    assert other.returncode == 0
