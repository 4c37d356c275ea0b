"""What a run tells: details unless it is brief, and how far it is, on a terminal and in a log."""

import os
import sys

import pytest

from corpora_recipes.running import console
from corpora_recipes.running.console import announce, clock, log, progress


def test_details_and_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log("sqc: 10 rows")
    announce("build: 2 corpora")
    monkeypatch.setattr(console, "brief", True)
    monkeypatch.setattr(console, "heading", "[0:05] 2/12 ")
    log("sqc: 10 rows")
    announce("build: 2 corpora")
    assert capsys.readouterr().out == (
        "sqc: 10 rows\nbuild: 2 corpora\n[0:05] 2/12 build: 2 corpora\n"
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.4, "0:59"), (59.6, "1:00"), (3725, "62:05")]
)
def test_a_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_log_has_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with progress(4000, "embed char_hash", "text") as bar:
        # After seconds, so many are done.
        for now[0], done in ((59, 0), (60, 0), (90, 1000), (130, 500), (400, 0)):
            bar.update(done)
    assert capsys.readouterr().err.splitlines() == [
        "embed char_hash: 0 of 4,000 texts",
        "embed char_hash: 1,500 of 4,000 texts, about 3:37 left",
        "embed char_hash: 1,500 of 4,000 texts, about 11:07 left",
    ]


def test_a_log_without_an_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "SILENCE", 0)
    with progress(None, "read wikipedia", "document") as bar:
        bar.update(1200)
    assert capsys.readouterr().err == "read wikipedia: 1,200 documents\n"


def test_a_log_of_a_download_that_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with progress(None, "corpus.zip", "B") as bar:
        bar.total, bar.n = 8_000_000, 2_000_000
        bar.refresh()
        now[0] = 60
        bar.update(3_000_000)
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
            bar.update(10)
        terminal.flush()
        shown = os.read(reader, 10_000).decode()
    os.close(reader)
    assert "read mine:   0%|" in shown
