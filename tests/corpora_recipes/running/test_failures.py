"""Errors in four parts, bounded and printable; so is what disk, memory and system refuse."""

import errno
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpora_recipes.running.commands import run
from corpora_recipes.running.errors import LONGEST_SAID, LONGEST_SHOWN, InputError
from corpora_recipes.running.failures import explain
from corpora_recipes.running.outputs import whole_file, whole_folder


def explained(error: BaseException) -> InputError:
    found = explain(error)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (errno.ENOSPC, "space"),
        (errno.EDQUOT, "space"),
        (errno.EFBIG, "space"),
        (errno.EROFS, "a file or folder that you may"),
        (errno.EACCES, "a file or folder that you may"),
        (errno.EPERM, "a file or folder that you may"),
        (errno.ENOTDIR, "a path that the system can have"),
        (errno.EISDIR, "a path that the system can have"),
        (errno.ENAMETOOLONG, "a path that the system can have"),
        (errno.EMFILE, "fewer files open"),
        (errno.EIO, "a disk that reads and writes"),
        (errno.ENOENT, "a file or folder"),
        (errno.EPROTO, "a system that does what it is asked"),
    ],
)
def test_every_number_has_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], code: int, expected: str
) -> None:
    """Raised where an output is written; what is named is the output, not its workplace."""

    def fail() -> None:
        with whole_file(tmp_path / "x.json") as temporary:
            temporary.write_text("half", "utf-8")
            raise OSError(code, os.strerror(code), str(temporary))

    assert run(fail) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {tmp_path / 'x.json'}\n  expected: {expected}")
    assert f"\n  found:    {os.strerror(code)}\n  to do:    " in said
    assert list(tmp_path.iterdir()) == []


def fill(path: Path, write: Callable[[Path], object]) -> None:
    with whole_folder(path) as temporary:
        write(temporary)


def limited(size: int, command: Callable[[], None]) -> int:
    """Run a command that may not write larger files than this."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        return run(command)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def save_array(folder: Path) -> None:
    np.save(folder / "a.npy", np.zeros(100_000))


def save_table(folder: Path) -> None:
    pq.write_table(pa.table({"a": np.random.default_rng(1).random(100_000)}), folder / "a.parquet")


def copy_tree(folder: Path) -> None:
    """Copy a file of 100 kB, which is beside the output."""
    shutil.copytree(folder.parents[1] / "large", folder / "large")


@pytest.mark.parametrize("write", [save_array, save_table, copy_tree])
def test_what_libraries_say_of_a_full_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Callable[[Path], object]
) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "file").write_bytes(b"x" * 100_000)
    assert limited(20_000, lambda: fill(tmp_path / "out", write)) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {tmp_path / 'out'}")
    assert "\n  expected: space for the output\n" in said
    assert ".part" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["large"]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        np._core._exceptions._ArrayMemoryError((10**9,), np.dtype(float)),  # type: ignore[attr-defined]
        pa.ArrowMemoryError("malloc of size 64 failed"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libgfortran.so: failed to map segment from shared object"),
        ValueError("BLIS support requires blis: pip install blis"),
        RuntimeError("can't start new thread"),
        OSError("ZSTD compression failed: Allocation error : not enough memory"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily"),
    ],
)
def test_too_little_memory_under_every_name(error: Exception) -> None:
    found = explained(error)
    assert found.where == "memory"
    assert "--workers 1" in found.todo
    outer = ValueError("the configuration cannot be read")
    outer.__cause__ = error
    assert explained(outer).where == "memory"
    reader = InputError("a.parquet", expected="a Parquet file", found=str(error), todo="write it")
    reader.__context__ = error
    assert explained(reader).where == "memory"
    assert explained(reader).found == str(error)


def test_bad_input_stays_what_it_is() -> None:
    error = InputError("a.txt", expected="a word", found="not enough memory", todo="correct it")
    assert explained(error) is error


def test_a_path_that_is_not_in_utf8() -> None:
    path = b"data/a\xf1o.parquet".decode("utf-8", "surrogateescape")
    with pytest.raises(UnicodeEncodeError) as caught:
        path.encode()
    assert explained(caught.value).where == r"data/a\udcf1o.parquet"
    with pytest.raises(UnicodeEncodeError) as text:
        "a\ud83d".encode()
    assert explain(text.value) is None


@pytest.mark.parametrize(
    "error", [TypeError("x"), KeyError("x"), ValueError("x"), RuntimeError("x"), ImportError("x")]
)
def test_what_may_be_the_programs_fault_is_not_explained(error: Exception) -> None:
    assert explain(error) is None


def test_the_four_parts() -> None:
    error = InputError("a.txt, line 3", expected="a number", found="'x'", todo="correct it")
    assert str(error) == (
        "a.txt, line 3\n  expected: a number\n  found:    'x'\n  to do:    correct it"
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_comes_from_the_input_is_cut() -> None:
    error = InputError("p" * 10**6, expected="e" * 10**6, found="é" * 10**6, todo="t" * 10**6)
    cut = " … (1,000,000 characters)"
    assert error.found == "é" * (LONGEST_SHOWN - len(cut)) + cut
    assert len(str(error)) < 2 * (LONGEST_SHOWN + LONGEST_SAID) + 50
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_control_characters_reach_no_terminal() -> None:
    error = InputError("a\udcff", expected="á", found="\x1b[31m\r\x07b\nc", todo="")
    assert (error.where, error.expected) == (r"a\udcff", "á")
    assert error.found == "\\x1b[31m\\r\\x07b\nc"
    str(error).encode()
