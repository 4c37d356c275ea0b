"""Reads files of others that are no Parquet: tab- and comma-separated text, JSON, parallel lines.

The library ``datasets`` fills up rows with too few fields, takes carriage returns in plain text for
line ends, and reads no JSON lists.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.auditing.target import (
    NUMBER,
    SPLIT_NAMES,
    Cell,
    Layout,
    Location,
    Place,
    Row,
    Target,
    make_target,
    no_rows,
    other_width,
)
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, RawError
from probeta.exchange.making import HEADER_NAMES, choose, is_label

# "HUM:gr Who …" in the files of TREC: the class, and a finer one that SentEval leaves out.
_QUESTION = re.compile(r"([A-Z]{2,}):\S* (.*)")
# A name in a header, such as "sentence_A" or "#1 String".
_NAME = re.compile(r"#?\w[\w #/()-]{0,39}")
# Rows of a split that tell what a column holds.
_SAMPLE = 1000

_Files = Mapping[Split, Sequence[Path]]
# The split, the file, the number and the cells of a line.
_Line = tuple[Split, Path, int, Sequence[Cell]]
# The names of the columns, none if the files do not name them; and the lines.
_Read = tuple[Sequence[str], Iterable[_Line]]
_Rows = dict[Split, list[Row]]
_Numbered = list[tuple[int, Sequence[Cell]]]


def from_files(location: Location) -> Target:
    """Read a dataset of text or JSON files."""
    names, lines = _READERS[location.layout](location.files)
    width = len(names)
    rows: _Rows = {split: [] for split in SPLITS if split in location.files}
    for split, path, number, cells in lines:
        width = width or len(cells)
        if len(cells) != width:
            raise other_width(f"{path}, line {number}", len(cells), width, "columns")
        rows[split].append((Place(path.name, number), cells))
    if location.layout == "probing":
        rows = {split: of_split for split, of_split in rows.items() if of_split}
    if location.layout == "table" and location.first.suffix not in (".json", ".jsonl"):
        names = names or _take_header(location.files, rows)
    for split, of_split in rows.items():
        if not of_split:
            raise no_rows(location.files[split][0])
    named = bool(names)
    names = names or [f"column {number}" for number in range(1, width + 1)]
    looked = [row for of_split in rows.values() for _, row in of_split[:_SAMPLE]]
    sample = dict(zip(names, zip(*looked, strict=True), strict=True))
    roles = choose(sample, location.columns, location.first, named=named)
    return make_target(location, names, roles, rows)


def _tables(files: _Files) -> _Read:
    """Read files with all columns: lines with tabs, CSV, JSON, JSON Lines."""
    read = [(split, path, *_read(path)) for split, paths in files.items() for path in paths]
    first = read[0][2]

    def lines() -> Iterator[_Line]:
        for split, path, names, rows in read:
            # The same columns may stand in another order, as keys of JSON do.
            moved = names != first and {*names} == {*first}
            for number, cells in rows:
                if moved and len(cells) == len(first):
                    cells = [cells[names.index(name)] for name in first]
                yield split, path, number, cells

    return first, lines()


def _probing(files: _Files) -> _Read:
    """Read a file of all splits, in the format of SentEval's probing tasks."""
    path = next(iter(files.values()))[0]
    expected = "tr, va or te, a label and one or more texts, separated by tabs"

    def lines() -> Iterator[_Line]:
        for number, (name, *fields) in _fields(path, 3, expected):
            if name not in ("tr", "va", "te"):
                raise _wrong(path, number, expected, repr(name))
            yield SPLIT_NAMES[name], path, number, fields

    return (), lines()


def _parallel(files: _Files) -> _Read:
    """Read the files s1.SPLIT, s2.SPLIT and labels.SPLIT, whose lines belong together."""
    first = next(iter(files.values()))
    return [path.stem for path in first], (
        (split, next(path for path in paths if not path.stem.startswith("label")), number, row)
        for split, paths in files.items()
        for number, row in enumerate(_side_by_side(paths), 1)
    )


def _similarity(files: _Files) -> _Read:
    """Read STS.input.SUBSET and STS.gs.SUBSET of SemEval in turn; skip pairs without a score."""
    return ("sentence1", "sentence2", "score"), (
        ("test", path, number, [*line.split("\t")[:2], score.strip()])
        for path, gold in zip(files["test"][::2], files["test"][1::2], strict=True)
        for number, (line, score) in enumerate(_side_by_side([path, gold]), 1)
        if score.strip() or "\t" not in line
    )


def _classes(files: _Files) -> _Read:
    """Read the files NAME.CLASS, with one text a line."""
    return ("text", "label"), (
        ("train", path, number, [line, path.suffix.removeprefix(".")])
        for path in files["train"]
        for number, line in _lines(path)
    )


_READERS: Mapping[Layout, Callable[[_Files], _Read]] = {
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
        found = ", ".join(f"{p.name} {len(c):,}" for p, c in zip(paths, columns, strict=True))
        expected = "as many lines in each of the files that belong together"
        raise RawError(paths[0].parent, expected, found)
    return list(zip(*columns, strict=True))


def _read(path: Path) -> tuple[Sequence[str], _Numbered]:
    """Return the names of the columns of a file, if it has them, and one or more rows."""
    lines = [] if path.suffix == ".json" else list(_lines(path))
    names: Sequence[str] = ()
    rows: _Numbered
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
    return names, rows


def _csv_rows(path: Path) -> _Numbered:
    """Read values separated by commas or semicolons, with quotation marks and a header."""
    text = _decoded(path)
    header = text[: text.find("\n")]
    delimiter = ";" if header.count(";") > header.count(",") else ","
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        expected = f"values separated by {delimiter!r}, in quotation marks where needed"
        raise _wrong(path, reader.line_num, expected, str(error)) from None


def _json_rows(path: Path, lines: Sequence[tuple[int, str]]) -> tuple[Sequence[str], _Numbered]:
    """Read an object or a list for each line, or a JSON file that is a list of them."""
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
    rows: _Numbered = []
    for number, value in values:
        cells = [value.get(name) for name in names] if isinstance(value, dict) else value
        if not width or type(value) is not type(first) or len(cells) != width:
            object_of = f"a JSON object with {', '.join(names)}"
            expected = object_of if names else f"a JSON list of {width or 'several'} values"
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


def _take_header(files: _Files, rows: _Rows) -> Sequence[str]:
    """Remove the header from the rows, and return it; nothing of files without one."""
    (first, *others) = [of_split[0][1] for of_split in rows.values()]
    like_names = all(_NAME.fullmatch(name) and not NUMBER.fullmatch(name) for name in first)
    same = bool(others) and all(row == first for row in others)
    usual = any(name.lower() in HEADER_NAMES for name in first)
    if like_names and len(set(first)) == len(first) and (same or usual):
        for split, of_split in rows.items():
            rows[split] = [row for row in of_split if row[1] != first]
        return first
    for column in (0, -1):
        later = [row[column] for of_split in rows.values() for _, row in of_split[1:]]
        if later and is_label(later):
            for split, ((place, row), *_) in rows.items():
                if row[column] not in later and not NUMBER.fullmatch(row[column]):
                    found = f"{row[column][:60]!r}, which occurs only in the first line"
                    expected = "a label that occurs in other rows too"
                    where = f"{files[split][0]}, line {place.number}"
                    raise InputError(where, expected, found, "remove the header line, or the row")
            break
    return ()


def _fields(path: Path, least: int, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not blank."""
    for number, line in _lines(path):
        fields = line.split("\t")
        if len(fields) < least:
            raise _wrong(path, number, expected, repr(line[:60]))
        yield number, fields


def _wrong(path: Path, number: int, expected: str, found: str) -> InputError:
    todo = "correct the line, or name the file differently if it is no split"
    return InputError(f"{path}, line {number}", expected, found, todo)


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
        raise InputError(path, "text in UTF-8", str(error), "convert the file to UTF-8") from None
