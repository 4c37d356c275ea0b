"""Reads files of others that are no Parquet into tables: tab- and comma-separated text, JSON."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders.auditing.targets.roles import HEADER_NAMES, is_label
from builders.auditing.targets.target import (
    NUMBER,
    SPLIT_NAMES,
    Place,
    no_rows,
    other_width,
)
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError

Cell = Any  # str, int, float, None, or a list of strings
# "HUM:gr Who …" in the files of TREC: the class, and a finer one that SentEval leaves out.
_QUESTION = re.compile(r"([A-Z]{2,}):\S* (.*)")
# A name in a header, such as "sentence_A" or "#1 String".
_NAME = re.compile(r"#?\w[\w #/()-]{0,39}")


class Table(NamedTuple):
    """The rows of one split.

    Attributes:
        names: of the columns; "column 1", "column 2", … if the file does not name them.
        named: whether it does.
        rows: for each row its cells.
        places: for each row where it stands.
    """

    names: tuple[str, ...]
    named: bool
    rows: list[list[Cell]]
    places: list[Place]


def read_tables(files: dict[Split, list[Path]]) -> dict[Split, Table]:
    """Read a dataset with one file for each split: lines with tabs, CSV, JSON, JSON Lines.

    Raises:
        InputError: a file is damaged, or its rows do not fit together.
    """
    tables = {split: _read(paths[0]) for split, paths in files.items()}
    first = next(iter(tables.values()))
    for (path, *_), table in zip(files.values(), tables.values(), strict=True):
        for row, place in zip(table.rows, table.places, strict=True):
            if len(row) != len(first.names):
                where = f"{path}, {place.unit} {place.number}"
                raise other_width(where, len(row), len(first.names), "columns")
    of_json = next(iter(files.values()))[0].suffix in (".json", ".jsonl")
    return tables if first.named or of_json else _with_headers(files, tables)


def read_probing(path: Path) -> dict[Split, Table]:
    """Read a file of all splits, in the format of SentEval's probing tasks."""
    found: dict[Split, Table] = {}
    expected = "tr, va or te, a label and one or more texts, separated by tabs"
    for number, (name, *fields) in _fields(path, 3, expected):
        where = f"{path}, line {number}"
        if name not in ("tr", "va", "te"):
            raise InputError(where, expected=expected, found=repr(name), todo="correct the line")
        table = found.setdefault(SPLIT_NAMES[name], Table(_numbered(len(fields)), False, [], []))
        if len(fields) != (width := len(next(iter(found.values())).names)):
            raise other_width(where, len(fields), width, "columns")
        table.rows.append(fields)
        table.places.append(Place(path.name, number))
    return {split: found[split] for split in SPLITS if split in found}


def read_parallel(files: dict[Split, list[Path]]) -> dict[Split, Table]:
    """Read the files s1.SPLIT, s2.SPLIT and labels.SPLIT, whose lines belong together."""
    tables = {}
    for split, paths in files.items():
        names = tuple(path.stem for path in paths)
        columns = [[line for _, line in _lines(path, blank=True)] for path in paths]
        _check_parallel(paths, columns)
        rows = [list(row) for row in zip(*columns, strict=True)]
        text = next(path for path in paths if not path.stem.startswith("label"))
        places = [Place(text.name, number) for number in range(1, len(rows) + 1)]
        tables[split] = Table(names, True, rows, places)
    return tables


def read_similarity(files: dict[Split, list[Path]]) -> dict[Split, Table]:
    """Read the files STS.input.SUBSET and STS.gs.SUBSET of SemEval; pairs without a score are left.

    Each file with pairs is followed by the file with its scores.
    """
    tables = {}
    for split, paths in files.items():
        table = Table(("sentence1", "sentence2", "score"), True, [], [])
        for texts, scores in zip(paths[::2], paths[1::2], strict=True):
            pairs = list(_lines(texts, blank=True))
            gold = [line.strip() for _, line in _lines(scores, blank=True)]
            _check_parallel([texts, scores], [[line for _, line in pairs], gold])
            for (number, line), score in zip(pairs, gold, strict=True):
                fields = line.split("\t")
                if len(fields) < 2:
                    raise other_width(f"{texts}, line {number}", len(fields), 2, "columns")
                if score:
                    table.rows.append([*fields[:2], score])
                    table.places.append(Place(texts.name, number))
        tables[split] = table
    return tables


def read_classes(files: dict[Split, list[Path]]) -> dict[Split, Table]:
    """Read the files NAME.CLASS, with one text a line."""
    tables = {}
    for split, paths in files.items():
        table = Table(("text", "label"), True, [], [])
        for path in paths:
            for number, line in _lines(path):
                table.rows.append([line, path.suffix.removeprefix(".")])
                table.places.append(Place(path.name, number))
        tables[split] = table
    return tables


def _check_parallel(paths: Sequence[Path], columns: Sequence[Sequence[str]]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise InputError(
            paths[0].parent,
            expected="as many lines in each of the files that belong together",
            found=", ".join(f"{p.name} {len(c):,}" for p, c in zip(paths, columns, strict=True)),
            todo="get the files again",
        )


def _read(path: Path) -> Table:
    if path.suffix in (".json", ".jsonl"):
        return _read_json(path)
    lines = list(_lines(path))
    if not lines:
        raise no_rows(path)
    if path.suffix == ".csv" and "\t" not in lines[0][1]:
        return _read_csv(path)
    if all(_QUESTION.fullmatch(line) for _, line in lines):
        rows = [list(match.groups()) for _, line in lines if (match := _QUESTION.fullmatch(line))]
        places = [Place(path.name, number) for number, _ in lines]
        return Table(("label", "text"), True, rows, places)
    expected = "a label and one or more texts, or two or more texts, separated by tabs"
    fields = list(_fields(path, 2, expected))
    rows = [row for _, row in fields]
    return Table(
        _numbered(len(rows[0])), False, rows, [Place(path.name, number) for number, _ in fields]
    )


def _read_csv(path: Path) -> Table:
    """Read a file of values separated by commas or semicolons, with quotation marks and a header.

    A row may extend over several lines; its number is that of its last line.
    """
    text = _decoded(path)
    header = text[: text.find("\n")]
    delimiter = ";" if header.count(";") > header.count(",") else ","
    rows, places = [], []
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                rows.append(row)
                places.append(Place(path.name, reader.line_num))
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}",
            expected=f"values separated by {delimiter!r}, in quotation marks where needed",
            found=str(error),
            todo="correct the line",
        ) from None
    if len(rows) < 2:
        raise no_rows(path)
    return Table(tuple(rows[0]), True, list(rows[1:]), places[1:])


def _read_json(path: Path) -> Table:
    """Read an object or a list for each line, or a JSON file that is a list of them."""
    if path.suffix == ".jsonl":
        read = [(number, _parsed(line, path, number)) for number, line in _lines(path)]
    else:
        whole = _parsed(_decoded(path), path, 1)
        if isinstance(whole, dict) and isinstance(whole.get("data"), list):
            whole = whole["data"]
        read = list(enumerate(whole if isinstance(whole, list) else [whole], 1))
    if not read:
        raise no_rows(path)
    first = read[0][1]
    named = isinstance(first, dict)
    names = tuple(first) if named else _numbered(len(first) if isinstance(first, list) else 0)
    rows, places = [], []
    for number, value in read:
        if named and isinstance(value, dict):
            cells = [value.get(name) for name in names]
        else:
            cells = value if isinstance(value, list) and not named else []
        if len(cells) != len(names) or not names:
            raise InputError(
                f"{path}, line {number}",
                expected=f"a JSON object with {', '.join(names)}"
                if named
                else f"a JSON list of {len(names) or 'several'} values",
                found=json.dumps(value, ensure_ascii=False)[:60],
                todo="correct the line",
            )
        rows.append([_cell(value) for value in cells])
        places.append(Place(path.name, number))
    return Table(names, named, rows, places)


def _cell(value: Any) -> Cell:
    """Return a cell; of what is neither text, number nor list of texts, nothing can be made."""
    if isinstance(value, list):
        return value if all(isinstance(one, str) for one in value) else None
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _parsed(text: str, path: Path, number: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}, line {number}", expected="JSON", found=str(error), todo="correct the line"
        ) from None


def _with_headers(files: dict[Split, list[Path]], tables: dict[Split, Table]) -> dict[Split, Table]:
    """Take the names of the columns from the first line, if it has them.

    A header is the same in all splits, or has a usual name of a column. What looks like one but is
    neither is refused: a label that is not a number and occurs only in the first line.
    """
    first, *others = [table.rows[0] for table in tables.values()]
    like_names = all(_NAME.fullmatch(field) and not NUMBER.fullmatch(field) for field in first)
    same = bool(others) and all(row == first for row in others)
    usual = any(field.lower() in HEADER_NAMES for field in first)
    if like_names and len(set(first)) == len(first) and (same or usual):
        headed = {
            split: Table(tuple(first), True, *_without_first(table, same or table.rows[0] == first))
            for split, table in tables.items()
        }
        for (path, *_), table in zip(files.values(), headed.values(), strict=True):
            if not table.rows:
                raise no_rows(path)
        return headed
    for place in (0, -1):
        later = [row[place] for table in tables.values() for row in table.rows[1:]]
        if later and is_label(later):
            for table in tables.values():
                label = table.rows[0][place]
                if label not in later and not NUMBER.fullmatch(label):
                    raise InputError(
                        f"{next(iter(files.values()))[0].with_name(table.places[0].file)}, "
                        f"line {table.places[0].number}",
                        expected="a label that occurs in other rows too",
                        found=f"{label[:60]!r}, which occurs only in the first line",
                        todo="remove the header line, or the row",
                    )
            break
    return tables


def _without_first(table: Table, headed: bool) -> tuple[list[list[Cell]], list[Place]]:
    return table.rows[int(headed) :], table.places[int(headed) :]


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(f"column {number}" for number in range(1, count + 1))


def _fields(path: Path, least: int, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not empty."""
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) < least:
            raise InputError(
                f"{path}, line {number}",
                expected=expected,
                found=repr(line[:60]),
                todo="correct the line, or name the file differently if it is no split",
            )
        yield number, fields


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
