"""Reads tab-separated text files in the formats of SentEval, for the audit."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from builders.auditing.targets.target import (
    NUMBER,
    SPLIT_NAMES,
    Location,
    Target,
    make_rows,
    no_rows,
    other_width,
    sorted_labels,
)
from builders.tasks import TASKS
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.detokenizing import detokenize


class _Line(NamedTuple):
    """A line of a text file: its place, its label, its texts."""

    path: Path
    number: int
    label: str
    texts: list[str]


def from_text(location: Location, lines: dict[Split, list[_Line]]) -> Target:
    """Return the target of the lines of each split; each has one line or more."""
    first = next(iter(lines.values()))[0]
    for of_split in lines.values():
        for line in of_split:
            if len(line.texts) != len(first.texts):
                where = f"{line.path}, line {line.number}"
                raise other_width(where, len(line.texts), len(first.texts))
    there = [f"text {number}" for number in range(1, len(first.texts) + 1)]
    columns = there if location.columns is None else list(location.columns)
    if not columns or not set(columns) <= set(there):
        raise InputError(
            first.path,
            expected="the texts " + (", ".join(columns) or "to take"),
            found=", ".join(there),
            todo="name texts of the file, or leave --columns out to take all",
        )
    places = [there.index(column) for column in columns]
    labels = sorted_labels(line.label for of_split in lines.values() for line in of_split)
    parts = {}
    for split, of_split in lines.items():
        texts = [
            [detokenize(line.texts[i], location.language) for i in places] for line in of_split
        ]
        named = [line.label for line in of_split]
        parts[split] = make_rows(texts, texts, named, [], labels, {}, of_split[0].path)
    task = TASKS[location.task] if location.task else None
    known = (location.records, location.language, labels, tuple(columns))
    return Target(location.name, task, "", *known, parts)


def lines_of(path: Path) -> list[_Line]:
    """Return the lines of a file of one split."""
    expected = "a label, a tab and one or more texts, separated by tabs"
    lines = [_Line(path, n, f[0], f[1:]) for n, f in _fields(path, 2, expected)]
    if not lines:
        raise no_rows(path)
    return lines


def probing_lines(path: Path) -> dict[Split, list[_Line]]:
    """Return the lines of a file of all splits, by split."""
    lines: dict[Split, list[_Line]] = {}
    expected = "tr, va or te, a label and one or more texts, separated by tabs"
    for number, (name, label, *texts) in _fields(path, 3, expected):
        if name not in ("tr", "va", "te"):
            raise InputError(
                f"{path}, line {number}",
                expected=expected,
                found=repr(name),
                todo="correct the line",
            )
        lines.setdefault(SPLIT_NAMES[name], []).append(_Line(path, number, label, texts))
    return {split: lines[split] for split in SPLITS if split in lines}


def _fields(path: Path, least: int, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not empty."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            path, expected="text in UTF-8", found=str(error), todo="convert the file to UTF-8"
        ) from None
    # Not splitlines: text may hold other line ends.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            fields = line.removesuffix("\r").split("\t")
            if len(fields) < least:
                raise InputError(
                    f"{path}, line {number}",
                    expected=expected,
                    found=repr(line[:60]),
                    todo="correct the line; labels and texts in separate files cannot be read",
                )
            yield number, fields


def check_headers(files: Sequence[Sequence[_Line]]) -> None:
    """Refuse a header: a first line whose label is not a number and occurs in no later line."""
    labels = {line.label for lines in files for line in lines[1:]}
    for first, *_ in files:
        if first.label not in labels and not NUMBER.fullmatch(first.label):
            raise InputError(
                f"{first.path}, line {first.number}",
                expected="a label that occurs in other rows too, then the texts",
                found=f"{first.label[:60]!r}, which occurs only in the first line",
                todo="remove the header line, or put the labels first",
            )
