"""Reads files of others that are no Parquet: tab- and comma-separated text, JSON, parallel lines.

The library ``datasets`` reads some of them otherwise: it fills up rows with too few fields, ends
lines at carriage returns, and knows no JSON lists.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from builders.auditing.targets.guessing import HEADER_NAMES, choose, is_label
from builders.auditing.targets.making import Cell, Table, make_target
from builders.auditing.targets.target import (
    NUMBER,
    SPLIT_NAMES,
    Layout,
    Location,
    Place,
    Target,
    no_rows,
    other_width,
)
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError

# "HUM:gr Who …" in the files of TREC: the class, and a finer one that SentEval leaves out.
_QUESTION = re.compile(r"([A-Z]{2,}):\S* (.*)")
# A name in a header, such as "sentence_A" or "#1 String".
_NAME = re.compile(r"#?\w[\w #/()-]{0,39}")
# Rows of a split that tell what a column holds.
_SAMPLE = 1000

_Files = Mapping[Split, Sequence[Path]]
_Tables = dict[Split, Table]


def from_files(location: Location) -> Target:
    """Read a dataset of text or JSON files.

    Raises:
        InputError: a file is damaged, or its rows do not fit together.
    """
    tables = _READERS[location.layout](location.files)
    for split, table in tables.items():
        if not table.rows:
            raise no_rows(location.files[split][0])
    first = next(iter(tables.values()))
    sample = {
        name: [row[place] for table in tables.values() for row in islice(table.rows, _SAMPLE)]
        for place, name in enumerate(first.names)
    }
    roles = choose(sample, location.columns, location.first, named=first.named)
    return make_target(location, roles, tables)


def _tables(files: _Files) -> _Tables:
    """Read files with all columns: lines with tabs, CSV, JSON, JSON Lines."""
    read = {split: [_read(path) for path in paths] for split, paths in files.items()}
    first = next(iter(read.values()))[0]
    width = len(first.names)
    tables = {}
    for split, shards in read.items():
        tables[split] = Table(first.names, first.named, [], [])
        for path, table in zip(files[split], shards, strict=True):
            for row, place in zip(table.rows, table.places, strict=True):
                if len(row) != width:
                    raise other_width(f"{path}, line {place.number}", len(row), width, "columns")
            # The same columns may stand in another order, as keys of JSON do.
            same = {*table.names} == {*first.names}
            order = [table.names.index(name) for name in first.names] if same else range(width)
            tables[split].rows.extend([row[column] for column in order] for row in table.rows)
            tables[split].places.extend(table.places)
    of_json = next(iter(files.values()))[0].suffix in (".json", ".jsonl")
    return tables if first.named or of_json else _with_headers(files, tables)


def _probing(files: _Files) -> _Tables:
    """Read a file of all splits, in the format of SentEval's probing tasks."""
    tables: _Tables = {}
    path = next(iter(files.values()))[0]
    expected = "tr, va or te, a label and one or more texts, separated by tabs"
    width = 0
    for number, (name, *fields) in _fields(path, 3, expected):
        if name not in ("tr", "va", "te"):
            raise _wrong(path, number, expected, repr(name))
        width = width or len(fields)
        if len(fields) != width:
            raise other_width(f"{path}, line {number}", len(fields), width, "columns")
        table = tables.setdefault(SPLIT_NAMES[name], Table(_numbered(width), False, [], []))
        table.rows.append(fields)
        table.places.append(Place(path.name, number))
    return {split: tables[split] for split in SPLITS if split in tables}


def _parallel(files: _Files) -> _Tables:
    """Read the files s1.SPLIT, s2.SPLIT and labels.SPLIT, whose lines belong together."""
    tables = {}
    for split, paths in files.items():
        rows = _side_by_side(paths)
        text = next(path for path in paths if not path.stem.startswith("label"))
        places = [Place(text.name, number) for number in range(1, len(rows) + 1)]
        tables[split] = Table([path.stem for path in paths], True, rows, places)
    return tables


def _similarity(files: _Files) -> _Tables:
    """Read the files STS.input.SUBSET and STS.gs.SUBSET of SemEval; pairs without a score are left.

    Each file with pairs is followed by the file with its scores.
    """
    table = Table(("sentence1", "sentence2", "score"), True, [], [])
    for paths in zip(files["test"][::2], files["test"][1::2], strict=True):
        for number, (line, score) in enumerate(_side_by_side(paths), 1):
            fields = line.split("\t")
            if len(fields) < 2:
                raise other_width(f"{paths[0]}, line {number}", len(fields), 2, "columns")
            if score.strip():
                table.rows.append([*fields[:2], score.strip()])
                table.places.append(Place(paths[0].name, number))
    return {"test": table}


def _classes(files: _Files) -> _Tables:
    """Read the files NAME.CLASS, with one text a line."""
    table = Table(("text", "label"), True, [], [])
    for path in files["train"]:
        for number, line in _lines(path):
            table.rows.append([line, path.suffix.removeprefix(".")])
            table.places.append(Place(path.name, number))
    return {"train": table}


_READERS: Mapping[Layout, Callable[[_Files], _Tables]] = {
    "table": _tables,
    "probing": _probing,
    "parallel": _parallel,
    "classes": _classes,
    "similarity": _similarity,
}


def _side_by_side(paths: Sequence[Path]) -> list[Sequence[str]]:
    """Return the lines of files that belong together: for each number that of every file."""
    columns = [[line for _, line in _lines(path, blank=True)] for path in paths]
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            paths[0].parent,
            expected="as many lines in each of the files that belong together",
            found=", ".join(f"{p.name} {len(c):,}" for p, c in zip(paths, columns, strict=True)),
            todo="get the files again",
        )
    return list(zip(*columns, strict=True))


def _read(path: Path) -> Table:
    """Read one file, with at least one row."""
    lines = [] if path.suffix == ".json" else list(_lines(path))
    names: Sequence[str] = ()
    rows: list[tuple[int, Sequence[Cell]]]
    if path.suffix in (".json", ".jsonl"):
        names, rows = _json_rows(path, lines)
    elif path.suffix == ".csv" and lines and "\t" not in lines[0][1]:
        (_, names), *rows = _csv_rows(path)
    elif all(_QUESTION.fullmatch(line) for _, line in lines):
        names = ("label", "text")
        rows = [(n, match.groups()) for n, line in lines if (match := _QUESTION.fullmatch(line))]
    else:
        expected = "a label and one or more texts, or two or more texts, separated by tabs"
        rows = list(_fields(path, 2, expected))
    if not rows:
        raise no_rows(path)
    named = bool(names)
    places = [Place(path.name, number) for number, _ in rows]
    return Table(names or _numbered(len(rows[0][1])), named, [row for _, row in rows], places)


def _csv_rows(path: Path) -> list[tuple[int, Sequence[Cell]]]:
    """Read values separated by commas or semicolons, with quotation marks and a header.

    A row may extend over several lines; its number is that of its last line.
    """
    text = _decoded(path)
    header = text[: text.find("\n")]
    delimiter = ";" if header.count(";") > header.count(",") else ","
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        expected = f"values separated by {delimiter!r}, in quotation marks where needed"
        raise _wrong(path, reader.line_num, expected, str(error)) from None


def _json_rows(
    path: Path, lines: Sequence[tuple[int, str]]
) -> tuple[Sequence[str], list[tuple[int, Sequence[Cell]]]]:
    """Read an object or a list for each line, or a JSON file that is a list of them.

    Returns:
        The names of the columns, none for lists; and the rows with their numbers.
    """
    if path.suffix == ".jsonl":
        values = [(number, _parsed(line, path, number)) for number, line in lines]
    else:
        whole = _parsed(_decoded(path), path, 1)
        if isinstance(whole, dict) and isinstance(whole.get("data"), list):
            whole = whole["data"]
        values = list(enumerate(whole if isinstance(whole, list) else [whole], 1))
    first = values[0][1] if values else None
    names = tuple(first) if isinstance(first, dict) else ()
    width = len(first) if isinstance(first, dict | list) else 0
    rows: list[tuple[int, Sequence[Cell]]] = []
    for number, value in values:
        cells = [value.get(name) for name in names] if isinstance(value, dict) else value
        if not width or type(value) is not type(first) or len(cells) != width:
            expected = f"a JSON list of {width or 'several'} values"
            if names:
                expected = f"a JSON object with {', '.join(names)}"
            raise _wrong(path, number, expected, json.dumps(value, ensure_ascii=False))
        rows.append((number, [_cell(value) for value in cells]))
    return names, rows


def _cell(value: Any) -> Cell:
    """Return a cell; of what is neither text, number nor list of texts, nothing can be made."""
    if isinstance(value, list):
        return value if all(isinstance(text, str) for text in value) else None
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _parsed(text: str, path: Path, number: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, number, "JSON", str(error)) from None


def _with_headers(files: _Files, tables: _Tables) -> _Tables:
    """Take the names of the columns from the first line, if it has them.

    A header is the same in all splits, or has a usual name of a column. What looks like one but is
    neither is refused: a label that is not a number and occurs only in the first line.
    """
    first, *others = [table.rows[0] for table in tables.values()]
    like_names = all(_NAME.fullmatch(name) and not NUMBER.fullmatch(name) for name in first)
    same = bool(others) and all(row == first for row in others)
    usual = any(name.lower() in HEADER_NAMES for name in first)
    if like_names and len(set(first)) == len(first) and (same or usual):
        for split, table in tables.items():
            kept = [number for number, row in enumerate(table.rows) if row != first]
            rows, places = [table.rows[n] for n in kept], [table.places[n] for n in kept]
            tables[split] = Table(first, True, rows, places)
        return tables
    for column in (0, -1):
        later = [row[column] for table in tables.values() for row in table.rows[1:]]
        if later and is_label(later):
            for split, table in tables.items():
                label = table.rows[0][column]
                if label not in later and not NUMBER.fullmatch(label):
                    raise InputError(
                        f"{files[split][0]}, line {table.places[0].number}",
                        expected="a label that occurs in other rows too",
                        found=f"{label[:60]!r}, which occurs only in the first line",
                        todo="remove the header line, or the row",
                    )
            break
    return tables


def _numbered(width: int) -> list[str]:
    return [f"column {number}" for number in range(1, width + 1)]


def _fields(path: Path, least: int, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not blank."""
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) < least:
            raise _wrong(path, number, expected, repr(line[:60]))
        yield number, fields


def _wrong(path: Path, number: int, expected: str, found: str) -> InputError:
    todo = "correct the line, or name the file differently if it is no split"
    return InputError(f"{path}, line {number}", expected=expected, found=found, todo=todo)


def _lines(path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line, or of those that are not blank."""
    # Not splitlines: text may hold other line ends.
    lines = _decoded(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, 1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def _decoded(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            path, expected="text in UTF-8", found=str(error), todo="convert the file to UTF-8"
        ) from None
