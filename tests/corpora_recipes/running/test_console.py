"""What a command prints and how it ends; errors that are not the program's; options of stages."""

import errno
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from imports import REPOSITORY

from corpora_recipes.running import console
from corpora_recipes.running.console import announce, clock, explain, log, progress, run
from corpora_recipes.running.errors import LONGEST_SAID, LONGEST_SHOWN, InputError
from corpora_recipes.running.outputs import whole_file, whole_folder

# --- console -------------------------------------------------------------------------------------


def test_details_and_headings(capsys, monkeypatch) -> None:
    log("sqc: 10 rows")
    announce("build: 2 corpora")
    now = [7.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(console, "verbose", True)
    monkeypatch.setattr(console, "heading", "")
    log("sqc: 12 rows")
    for seconds in (4.4, 65):
        console.begin_stage("[2/12] ")
        now[0] += seconds
        console.end_stage("build: 2 corpora built")
    assert capsys.readouterr().out == (
        "build: 2 corpora\nsqc: 12 rows\n"
        "[2/12] build: 2 corpora built (4 s)\n[2/12] build: 2 corpora built (1:05 min)\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.4, "0:59"), (59.6, "1:00"), (3725, "62:05")]
)
def test_a_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_log_has_a_line_now_and_then(capsys, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with progress(4000, "embed char_hash", "text") as bar:
        # After seconds, so many are done.
        for now[0], done in ((4, 0), (5, 0), (64, 1000), (65, 500), (400, 0)):
            bar.update(done)
    assert capsys.readouterr().err.splitlines() == [
        "embed char_hash: 0 of 4,000 texts",
        "embed char_hash: 1,500 of 4,000 texts, about 1:48 left",
        "embed char_hash: 1,500 of 4,000 texts, about 11:07 left",
    ]


def test_a_log_without_an_end(capsys, monkeypatch) -> None:
    monkeypatch.setattr(console, "SILENCE", 0)
    with progress(None, "read wikipedia", "document") as bar:
        bar.update(1200)
    assert capsys.readouterr().err == "read wikipedia: 1,200 documents\n"


def test_a_log_of_a_download_that_goes_on(capsys, monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with progress(None, "corpus.zip", "B") as bar:
        bar.total, bar.n = 8_000_000, 2_000_000
        bar.refresh()
        for now[0], count in ((1, 0), (60, 3_000_000)):
            bar.update(count)
    # A megabyte in 20 s: what was there before says nothing of the rate.
    assert capsys.readouterr().err == "corpus.zip: 5.0 of 8.0 MB, about 1:00 left\n"


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    termios = pytest.importorskip("termios")
    reader, writer = os.openpty()
    termios.tcsetwinsize(writer, (24, 80))
    os.set_blocking(reader, False)
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with progress(10, "read mine", "document") as bar:
            bar.update(5)
            time.sleep(1)  # what takes less needs no bar
            bar.update(5)
        terminal.flush()
        shown = os.read(reader, 10_000).decode()
    os.close(reader)
    assert "read mine: 100%|" in shown
    assert " 50%|" not in shown


# --- failures ------------------------------------------------------------------------------------


def explained(error: BaseException) -> InputError:
    found = explain(error)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *((code, "space") for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)),
        *((code, "a file or folder that you may") for code in (errno.EROFS, errno.EACCES)),
        *((code, "a path that the system can") for code in (errno.ENOTDIR, errno.ENAMETOOLONG)),
        (errno.EMFILE, "fewer files open"),
        (errno.EIO, "a disk that reads and writes"),
        (errno.ENOENT, "a file or folder"),
        (errno.EPROTO, "a system that does what it is asked"),
    ],
)
def test_every_number_has_its_words(tmp_path, capsys, code: int, expected: str) -> None:
    """Raised where an output is written; what is named is the output, not its workplace."""

    def fail() -> None:
        with whole_file(tmp_path / "x.json") as temporary:
            temporary.write_text("half", "utf-8")
            raise OSError(code, os.strerror(code), str(temporary))

    assert run(fail) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"error: {tmp_path / 'x.json'}\n  expected: {expected}")
    assert f"\n  found:    {os.strerror(code)}\n  to do:    " in message
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let no file be larger than 20 kB."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def save_array(folder: Path) -> None:
    np.save(folder / "a.npy", np.zeros(100_000))


def save_table(folder: Path) -> None:
    pq.write_table(pa.table({"a": np.random.default_rng(1).random(100_000)}), folder / "a.parquet")


def copy_tree(folder: Path) -> None:
    """Copy files, some of more than 20 kB."""
    shutil.copytree(Path(__file__).parents[3] / "docs", folder / "large")


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("write", [save_array, save_table, copy_tree])
def test_what_libraries_say_of_a_full_disk(tmp_path, capsys, write) -> None:
    def fill() -> None:
        with whole_folder(tmp_path / "out") as temporary:
            write(temporary)

    assert run(fill) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"error: {tmp_path / 'out'}")
    assert "\n  expected: space for the output\n" in message
    assert ".part" not in message
    assert not list(tmp_path.iterdir())


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
    reader = InputError("a.parquet", "a Parquet file", str(error))
    # Bad input stays what it is.
    assert explained(reader) is reader
    reader.__context__ = error
    assert explained(reader).where == "memory"
    assert explained(reader).found == str(error)


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


# --- commands ------------------------------------------------------------------------------------


def test_what_an_interruption_leaves_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    def end_by(error: BaseException) -> None:
        raise error

    interrupted = partial(end_by, KeyboardInterrupt())
    assert (run(interrupted), run(interrupted, "half of it is kept")) == (130, 130)
    first, second = capsys.readouterr().err.splitlines()
    assert "what was there before is unchanged" in first
    assert second == "interrupted: half of it is kept; run it again"
    # Errors of the program are not hidden.
    with pytest.raises(TypeError):
        run(partial(end_by, TypeError()))


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
PROBETA = f"{sys.executable} -m probeta"
POSIX = "LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@needs_bash
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (f"{PROBETA} read >&-", 0, ""),
        (f"{PROBETA} read <&- >&- 2>&-", 0, ""),
        (f"{PROBETA} read --params folder >&- 2>&-", 1, ""),
        (f"{PROBETA} read >/dev/full", 1, "expected: space for the output"),
        (f"{POSIX} {PROBETA} --help", 0, ""),
        (f"{POSIX} {PROBETA} read --params año.yaml", 0, ""),
        (f"{PROBETA} read --only a", 1, "found:    a\n"),
        (f"cp params.yaml data/records; {PROBETA} read", 1, "found:    File exists"),
        (f"{PROBETA} list --params folder", 1, "found:    a folder, a pipe or a device"),
    ],
)
def test_a_verb_ends_in_words(tmp_path: Path, command: str, code: int, said: str) -> None:
    for name in ("params.yaml", "año.yaml"):
        (tmp_path / name).write_text("corpora: {}\n", "utf-8")
    for name in ("folder", "data"):
        (tmp_path / name).mkdir()
    done = shell(command, tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    written = (tmp_path / "data" / "environment.json").exists()
    assert written == (" read " in f"{command} " and code == 0)


@needs_bash
def test_a_file_does_not_become_the_closed_standard_output(tmp_path: Path) -> None:
    code = (
        "import os; from corpora_recipes.running.console import open_streams; open_streams(); "
        "file = open('rows', 'wb'); os.write(1, b'said by a library'); file.write(b'rows')"
    )
    assert shell(f'{sys.executable} -c "{code}" >&- 2>&-', tmp_path).returncode == 0
    assert (tmp_path / "rows").read_bytes() == b"rows"
