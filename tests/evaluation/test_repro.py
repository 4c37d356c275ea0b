"""What `probeta repro` says while DVC runs, and at the end."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora_recipes.running.errors import InputError
from evaluation import repro
from evaluation.repro import Progress, averages, stage_names

OUTPUT = """\
Stage 'code' didn't change, skipping
Running stage 'read@tass':
> probeta fetch tass --out data/raw/tass
tass: 264 of 264 examples kept
Updating lock file 'dvc.lock'

Stage 'build@tass' is cached - skipping run, checking out outputs
Running stage 'report':
> probeta report
Use `dvc push` to send your updates to remote storage.
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a clock that tests set."""
    found = SimpleNamespace(now=100.0)
    monkeypatch.setattr(repro.time, "monotonic", lambda: found.now)
    return found


def test_stages_are_those_of_dvc_yaml_for_every_key(repository: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(repository)
    params = {"corpora": {"tass": {}, "fac": {}}, "encoders": {"char_hash": {}}}
    params |= {"trained": {"mine": {}}}
    names = list(stage_names(params))
    assert names[:3] == ["code", "read@tass", "read@fac"]
    assert names[-3:] == ["paradigms_trained@mine", "invariance", "report"]
    assert "paradigms@char_hash" in names


def test_stages_are_counted_and_dvc_is_not_repeated(clock: Any) -> None:
    progress = Progress(["code", "read@tass", "build@tass", "report"], timed=False)
    clock.now += 61
    assert [said for line in OUTPUT.splitlines() if (said := progress.said(line)) is not None] == [
        "[1:01] stage 2 of 4, read@tass",
        "  tass: 264 of 264 examples kept",
        "[1:01] stage 4 of 4, report",
    ]
    assert progress.summary == "2 stages run, 2 unchanged, in 1:01"


def test_the_time_left_is_told_once_some_is_measured(clock: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(repro, "SECONDS", {"audit": 10, "embed": 20})
    progress = Progress(["audit", "package", "embed@one", "report"], timed=True)
    assert progress.said("Running stage 'audit':") == "[0:00] stage 1 of 4, audit"
    clock.now += 30
    # Ten of the seconds in the table took thirty; twenty-two are left.
    assert progress.said("Running stage 'package':") == (
        "[0:30] stage 2 of 4, package (about 1:06 left)"
    )


def test_the_means_of_the_report_are_shown_with_a_group_a_line() -> None:
    report = """\
# Scores

## Averages: spanish_senteval

Means over datasets.

| Encoder | Mean rank | SC (5) | DR (1) |
| --- | ---: | ---: | ---: |
| use | 1.2 [1.0, 1.5] (s) | **72.6** [70.0, 75.1] (s) | 9.0 [1.0, 11.1] † (s) |
| char_hash | 1.8 [1.5, 2.0] (s) | 52.1 [50.0, 60.1] (s) | – |

## Averages: own datasets

| Encoder | Mean rank | SP (1) |
| --- | ---: | ---: |
| use | 1.0 | 20.1 |

## Sentence classification

| other | table |
"""
    assert averages(report) == [
        "spanish_senteval        use  char_hash",
        "Mean rank           1.2 (s)    1.8 (s)",
        "SC (5)             72.6 (s)   52.1 (s)",
        "DR (1)            9.0 † (s)          –",
        "own datasets   use",
        "Mean rank      1.0",
        "SP (1)        20.1",
        "† not shown to beat the trivial baselines",
        "(s) from the small sample: do not report",
    ]


def test_a_failed_stage_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").write_text("stages: {code: {cmd: probeta code}}", "utf-8")
    (tmp_path / "params.yaml").write_text("{seed: 1, sources: sample, corpora: {}}", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evaluation.listing.show", lambda path: None)
    fails = "import sys; print(\"Running stage 'code':\"); sys.exit(3)"
    start = subprocess.Popen
    monkeypatch.setattr(
        repro.subprocess,
        "Popen",
        lambda command, **how: start([sys.executable, "-c", fails], **how),
    )
    with pytest.raises(InputError, match=r"exit code 3, in stage 1 of 1, code"):
        repro.run(SimpleNamespace(params=tmp_path / "params.yaml", strict=False))  # type: ignore[arg-type]


def test_a_section_that_dvc_asks_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    text = Path("params.yaml").read_text("utf-8")
    path.write_text(text.replace("\ntrained: {}", ""), "utf-8")
    with pytest.raises(InputError, match=r"found: +no trained\n.*add `trained: \{\}`"):
        repro.check_sections(path)
    path.write_text(text, "utf-8")
    repro.check_sections(path)
