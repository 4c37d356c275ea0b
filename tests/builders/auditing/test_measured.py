"""Measurements are kept while nothing that they depend on changes, and damaged ones are not."""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from test_audit import clean_rows, of, write_text

from builders.auditing import auditing, measured
from builders.auditing.auditing import audit
from builders.auditing.comparing import Index
from builders.auditing.measured import FILE, Measured, key_of, read_measured
from builders.auditing.report import read_audit
from builders.auditing.targets.finding import find_targets
from builders.auditing.targets.target import Columns

FILES = ("audit.json", "audit.md", FILE)
# Two small datasets; a has a row that is in train and in test.
NAMES = ["a", "b"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two datasets."""
    for number, name in enumerate(NAMES):
        rows = {split: own[:40] for split, own in clean_rows(seed=number).items()}
        if name == "a":
            rows["test"][0] = rows["train"][0]
        write_text(rows, tmp_path / "theirs" / name)
    return tmp_path / "theirs"


@pytest.fixture
def new(folder: Path, tmp_path: Path, monkeypatch) -> Callable[..., list[str]]:
    """Return a function that audits the folder, and returns the names of the datasets measured."""
    names: list[str] = []
    measure = auditing.measure

    def counted(location: Any, *further: Any) -> Any:
        names.append(location.name)
        return measure(location, *further)

    monkeypatch.setattr("builders.auditing.auditing.measure", counted)

    def run(**options: Any) -> list[str]:
        names.clear()
        audit(folder, tmp_path / "audit", **{"task": "sentence_ordering"} | options)
        return list(names)

    return run


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


def test_nothing_is_measured_twice(new, tmp_path, capsys) -> None:
    assert new() == NAMES
    first = contents(tmp_path / "audit")
    assert new() == []
    assert contents(tmp_path / "audit") == first
    said = capsys.readouterr().out
    assert said == "2 datasets: 0 kept, 2 new\n2 datasets: 2 kept, 0 new\n"


def test_a_changed_dataset_alone_is_measured(new, folder, tmp_path) -> None:
    new()
    with (folder / "b" / "test.txt").open("a", encoding="utf-8") as file:
        file.write("1\tLa barca vuelve.\tSube la marea.\n")
    assert new() == ["b"]
    audit(folder, tmp_path / "fresh", task="sentence_ordering")
    assert contents(tmp_path / "audit") == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    "options",
    [
        {"task": None},
        {"language": "en"},
        {"records": "dialogues"},
        {"columns": Columns(("column 2",))},
    ],
)
def test_other_options_measure_anew(new, options: dict[str, Any]) -> None:
    new()
    assert new(**options) == NAMES


def test_other_code_or_libraries_measure_anew(new, monkeypatch) -> None:
    new()
    for name in ("code_digest", "version"):
        measured._computed_by.cache_clear()
        monkeypatch.setattr(measured, name, lambda _: "another")
        assert new() == NAMES
        assert new() == []
    measured._computed_by.cache_clear()


def test_boilerplate_is_part_of_the_key(folder) -> None:
    location = find_targets(folder)[0]
    patterns = [[], [re.compile("Véase")], [re.compile("Véase", re.IGNORECASE)]]
    assert len({key_of(location, own) for own in patterns}) == 3


def test_a_damaged_file_is_not_believed(new, tmp_path) -> None:
    new()
    file = tmp_path / "audit" / FILE
    whole = file.read_bytes()
    right = comparable(read_measured(file.parent))
    damaged = [b"", b"no archive", whole[:-100], whole[: len(whole) // 2]]
    damaged += [
        whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        for place in range(0, len(whole), len(whole) // 100)
    ]
    found = []
    for content in damaged:
        file.write_bytes(content)
        found.append(comparable(read_measured(file.parent)))
    # Not every byte of an archive matters.
    assert all(kept in ({}, right) for kept in found)
    assert found.count({}) > 90
    file.write_bytes(damaged[3])
    assert new() == NAMES


def comparable(kept: dict[str, Measured]) -> dict[str, list[Any]]:
    """Return measurements with their arrays as bytes."""
    return {
        name: [found.key, found.corpus, found.facts, found.checks, *arrays(found.index)]
        for name, found in kept.items()
    }


def arrays(index: Index) -> list[bytes]:
    return [getattr(index, field.name).tobytes() for field in fields(index)]


def test_declarations_are_judged_anew(new, tmp_path) -> None:
    new()
    declared = {"a": {"leakage": {"at_most": 0.1, "because": "the source is so"}}}
    for inherited, verdict in ((declared, "inherited"), ({}, "miss")):
        assert new(inherited=inherited) == []
        assert of(read_audit(tmp_path / "audit" / "audit.json"), "a", "leakage") == verdict
