"""Readers for third-party datasets: text, JSON and Parquet files.

Reads files of others that are no Parquet: tab- and comma-separated text, JSON, parallel lines.

The library ``datasets`` fills up rows with too few fields, takes carriage returns in plain text for
line ends, and reads no JSON lists.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.auditing.instances import (
    class_names,
    column_types,
    read_instances,
    read_parquet,
    text_columns,
)
from builders.auditing.target import (
    NUMBER,
    SPLIT_NAMES,
    Cell,
    Columns,
    Layout,
    Location,
    Place,
    Row,
    Target,
    make_target,
    no_rows,
    other_width,
)
from builders.store import opened
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, RawError

# Names of columns with classes, the likeliest first, in lower case.
LABEL_NAMES = (
    *("label", "labels", "class", "gold_label", "target", "sentiment", "polarity"),
    *("entailment_judgement", "entailment_judgment", "quality", "category", "intent"),
    *("etiqueta", "clase"),
)
SCORE_NAMES = ("score", "scores", "similarity_score", "relatedness_score", "similarity")
# Names of columns of strings that are no text.
NOT_TEXT = ("id", "idx", "guid", "uid", "split", "pair_id", *LABEL_NAMES, *SCORE_NAMES)
# Names that a header has, and hardly a first row.
HEADER_NAMES = frozenset((*NOT_TEXT, "text", "texto", "sentence", "sentence1", "sentence2"))
# A label found by its content has at most so many characters, and no blank.
LONGEST_LABEL = 40
SENTENCE_ENDS = (".", "?", "!", "…")
# A column of more different numbers than this, not all whole, holds scores.
MOST_CLASSES_WITH_FRACTIONS = 10


def choose(
    columns: Mapping[str, Sequence[Any]],
    wanted: Columns,
    where: Path,
    *,
    named: bool = True,
    shown: Sequence[str] = (),
) -> Columns:
    """Choose the columns of a dataset; the label and the score are "" if nothing is found.

    Without names (``named``), the labels are in the first column, or else in the last one, if its
    values have no blanks and recur. With names, they are in the column that is called so. Texts
    are all other columns of strings in most of which there are blanks, or all if none is so.

    Args:
        columns: name to its first values; a few hundred are enough.
        wanted: what users have named.
        where: the first file, for messages.
        shown: all columns, for messages; the names in ``columns`` if left out.
    """
    label, score = wanted.label, wanted.score
    if not label and not score:
        label = _answer_of(columns, named)
        if label.lower() in SCORE_NAMES or (label and _is_score(columns[label])):
            label, score = "", label
    strings = [
        name
        for name, values in columns.items()
        if name not in (label, score) and any(isinstance(v, str | list) for v in values)
    ]
    candidates = [n for n in strings if not named or n.lower() not in NOT_TEXT]
    likely = [n for n in candidates if not named or _is_text(columns[n])]
    texts = list(wanted.texts) or likely or candidates
    answers = [name for name in (label, score) if name]
    if not texts or not {*texts} <= {*strings} or not {*answers} <= {*columns}:
        expected = f"the columns {', '.join([*answers, *(texts or ['one or more with text'])])}"
        todo = "name the columns with --columns, such as text=premise,text=hypothesis,label=gold"
        raise InputError(where, expected, ", ".join(shown or columns), todo)
    return Columns(tuple(texts), label, score)


def is_label(values: Sequence[Any]) -> bool:
    """Return whether a column may hold classes: short values without blanks, which recur."""
    short = all(
        isinstance(v, int) or (isinstance(v, str) and v and len(v) <= LONGEST_LABEL and _is_word(v))
        for v in values
    )
    numbers = all(isinstance(v, int) or NUMBER.fullmatch(v) for v in values) if short else False
    return short and (numbers or len(set(values)) <= max(2, len(values) // 2))


def _answer_of(columns: Mapping[str, Sequence[Any]], named: bool) -> str:
    names = [*columns]
    if named:
        lower = {name.lower(): name for name in reversed(names)}
        return next((lower[n] for n in (*LABEL_NAMES, *SCORE_NAMES) if n in lower), "")
    ends = (names[0], names[-1]) if len(names) > 1 else ()
    return next((name for name in ends if is_label(columns[name])), "")


def _is_score(values: Sequence[Any]) -> bool:
    numbers = {
        float(v) for v in values if isinstance(v, float) or NUMBER.fullmatch(str(v)) is not None
    }
    whole = all(number.is_integer() for number in numbers)
    return len(numbers) > MOST_CLASSES_WITH_FRACTIONS and not whole


def _is_text(values: Sequence[Any]) -> bool:
    """Return whether most values are more than a word, or are lists of strings."""
    filled = [v for v in values if v]
    texts = sum(isinstance(v, list) or not _is_word(str(v)) for v in filled)
    return 2 * texts >= max(1, len(filled))


def _is_word(value: str) -> bool:
    """Return whether a value has no blank and is no sentence."""
    return " " not in value and not value.endswith(SENTENCE_ENDS)


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


# Rows that tell what a column holds.
_PARQUET_SAMPLE = 1000


def from_parquet(location: Location) -> Target:
    """Read a dataset of Parquet files; ours say of themselves what they are."""
    with opened(location.first) as file:
        ours = b"probeta" in (file.schema_arrow.metadata or {})
    return read_instances(location) if ours else read_parquet(location, _roles(location))


def _roles(location: Location) -> Columns:
    """Choose the columns of files that do not describe themselves."""
    columns = location.columns
    with opened(location.first) as file:
        schema = file.schema_arrow
        classes = [name for name in schema.names if class_names(schema, name)]
        known = {*text_columns(schema), *classes, columns.label, columns.score}
        answers = {*LABEL_NAMES, *SCORE_NAMES}
        looked = [name for name in schema.names if name in known or name.lower() in answers]
        if not file.metadata.num_rows:
            raise no_rows(location.first)
        batch = next(file.iter_batches(_PARQUET_SAMPLE, columns=looked))
        sample = {name: batch[name].to_pylist() for name in looked}
    if not columns.label and not columns.score and len(classes) == 1:
        columns = replace(columns, label=classes[0])
    return choose(sample, columns, location.first, shown=column_types(schema))
