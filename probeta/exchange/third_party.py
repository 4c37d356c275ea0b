"""Third-party datasets of a folder: which files they have, in which layout, and their rows.

The library ``datasets`` fills up rows with too few fields, takes carriage returns in plain text for
line ends, and reads no JSON lists: text, CSV and JSON are read here.
"""

import json
import re
from collections import Counter
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
from builders.store import open_parquet
from builders.tasks import TASKS
from corpora_recipes.formats.tables import csv_delimiter, csv_rows
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, ParamsError, RawError, join_faults
from corpora_recipes.running.limits import LARGEST_ARCHIVE, LONGEST_ROW, decode_json, read_whole

# Opening a pickle can run any code that its author put into it.
PICKLE_SUFFIXES = (".pkl", ".pickle", ".p", ".pt", ".pth", ".joblib", ".npy", ".npz", ".dill")
_TABLE_SUFFIXES = (".txt", ".tsv", ".csv", ".jsonl", ".json")
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
MAX_LABEL_LENGTH = 40
SENTENCE_ENDS = (".", "?", "!", "…")
# A column of more different numbers than this, not all whole, holds scores.
MAX_FRACTIONAL_CLASSES = 10
# The rows of a split by which it is told what a column holds.
N_SAMPLE_ROWS = 1000
# The number of a shard, and the hash after it in older files of the Hub.
_SHARD_NUMBER = re.compile(r"-\d+(-of-\d+)?(-[0-9a-f]+)?(?=\.parquet$)")
_SPLIT_NAME = re.compile(rf"(?:(.+)[_.-])?({'|'.join(SPLIT_NAMES)})", re.IGNORECASE)
# The files of TREC in SentEval.
_TREC_SPLITS: dict[str, Split] = {"train_5500.label": "train", "TREC_10.label": "test"}
_PROBING_LINE = re.compile(rb"(\xef\xbb\xbf)?(tr|va|te)\t[^\t]*\t")
# Endings of files with one class each, such as .pos and .neg; others have other meanings.
_CLASS_SUFFIX = re.compile(
    r"\.(?!(?:arrow|bin|cfg|conllu|csv|html|ini|ipynb|json|jsonl|label|lock|log|pdf|png|rst|svg"
    r"|toml|tsv|txt|xml|yaml|yml|zip)$)[a-z]{3,12}"
)
# "HUM:gr Who …" in the files of TREC: the class, and a finer one that SentEval leaves out.
_TREC_QUESTION = re.compile(r"([A-Z]{2,}):\S* (.*)")
# A name in a header, such as "sentence_A" or "#1 String".
_COLUMN_NAME = re.compile(r"#?\w[\w #/()-]{0,39}")
_Files = dict[Split, list[Path]]
_SplitFiles = Mapping[Split, Sequence[Path]]
# How files hold their rows, the files of each split, and what names them.
_Dataset = tuple[Layout, _Files, Path]
# The cells of a line, or why it cannot be read.
_Cells = Sequence[Cell] | InputError
# The split, the file, the number and the cells of a line.
_Line = tuple[Split, Path, int, _Cells]
# The names of the columns, none if the files do not name them; and the lines.
_NamesAndLines = tuple[Sequence[str], Iterable[_Line]]
_Rows = dict[Split, list[Row]]
_NumberedRows = list[tuple[int, _Cells]]


def find_targets(
    folder: Path,
    *,
    task: str | None = None,
    language: str = "es",
    records: str | None = None,
    columns: Columns | None = None,
) -> list[Location]:
    """Return every dataset in a folder and its sub-folders, sorted by name.

    A dataset is one of these, where SPLIT is one of ``SPLIT_NAMES`` in any case:

    - Parquet files ``DATASET/SPLIT-….parquet``, ``DATASET/SPLIT.parquet`` or
      ``DATASET/SPLIT/0000.parquet``. Those of Probeta describe themselves.
    - ``DATASET/SPLIT.txt`` or ``DATASET_SPLIT.txt`` (or .tsv, .csv, .json, .jsonl, or without an
      ending): lines of texts separated by tabs, with the label first, last or nowhere, or with a
      header; lines ``LABEL:fine question``; comma-separated values with a header; JSON objects or
      lists.
    - ``DATASET.txt`` in the format of SentEval's probing tasks: ``tr``, ``va`` or ``te``, then the
      label, then the texts.
    - ``s1.SPLIT``, ``s2.SPLIT``, ``labels.SPLIT``: parallel lines.
    - ``NAME.CLASS`` and ``NAME.OTHER_CLASS``: one text a line, taken as one split.
    - ``STS.input.SUBSET.txt`` with ``STS.gs.SUBSET.txt``: pairs, and their scores.

    Other files, and names that begin with a dot, are skipped; see ``pickles_in``. Tokenised text is
    detokenised by simple rules. The name of a dataset is that of its folder or its one file, or the
    path, joined by "_", if two would have the same name; without Parquet it is always the path.

    Args: see ``Location``.
    """
    tasks = [name for name in TASKS if TASKS[name].target == "label"]
    if task is not None and task not in tasks:
        raise ParamsError(f"--task {task}", f"one of {', '.join(tasks)}, or nothing", repr(task))
    files_by_folder: dict[Path, list[Path]] = {}
    for path in _visible_files(folder):
        if path.suffix.lower() not in PICKLE_SUFFIXES:
            files_by_folder.setdefault(_dataset_folder(path), []).append(path)
    datasets = [
        dataset for home, paths in files_by_folder.items() for dataset in _datasets_of(home, paths)
    ]
    if not datasets:
        found = "none" if folder.is_dir() else "no such folder"
        todo = "name the folder that holds the datasets, in a layout that docs/audit.md lists"
        for pickle in pickles_in(folder)[:1]:
            found = f"{pickle.name}, a pickle, which can run any code when it is opened"
            todo = "let its authors, or somebody who trusts them, write it as JSON Lines"
        expected = "datasets: <dataset>/train-00000-of-00001.parquet or <dataset>/train.txt, and "
        expected += "the same for validation and test"
        raise InputError(folder, expected, found, todo)
    options = (task, language, records, columns or Columns())
    title = folder.resolve().name
    locations = [
        Location(
            name, files, *options, read_target, layout, (title, *origin.relative_to(folder).parts)
        )
        for name, (layout, files, origin) in zip(
            _dataset_names(folder, datasets), datasets, strict=True
        )
    ]
    return sorted(locations, key=lambda location: location.name)


def read_target(location: Location) -> Target:
    """Read a dataset, or raise an InputError: files are damaged, or rows do not fit together."""
    return _from_parquet(location) if location.first.suffix == ".parquet" else _from_files(location)


def pickles_in(folder: Path) -> list[Path]:
    """Return the files that are not opened, as that could run any code."""
    return [path for path in _visible_files(folder) if path.suffix.lower() in PICKLE_SUFFIXES]


def split_of(path: Path) -> tuple[str, Split] | None:
    """Return what precedes the split in the name of a file ("" for nothing), and the split."""
    if path.name in _TREC_SPLITS:
        return "", _TREC_SPLITS[path.name]
    name = _SHARD_NUMBER.sub("", path.name)
    stem = name.removesuffix(path.suffix) if path.suffix in (*_TABLE_SUFFIXES, ".parquet") else name
    if path.suffix == ".parquet" and path.stem.isdecimal():
        stem = path.parent.name
    match = _SPLIT_NAME.fullmatch(stem)
    return (match[1] or "", SPLIT_NAMES[match[2].lower()]) if match else None


def _visible_files(folder: Path) -> list[Path]:
    # Names that begin with a dot are unfinished output of a killed run, or files of tools.
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _dataset_folder(path: Path) -> Path:
    """Return the folder of a file's dataset, or of several: that of the split's folder, if any."""
    named = path.suffix == ".parquet" and path.stem.isdecimal()
    return path.parents[1] if named and path.parent.name in SPLIT_NAMES else path.parent


def _datasets_of(home: Path, paths: Sequence[Path]) -> Iterator[_Dataset]:
    """Yield the datasets among the files of a folder."""
    pairs = _pair_files(paths)
    if pairs:
        yield "similarity", {"test": pairs}, home
    parallel = _parallel_files([path for path in paths if path not in pairs])
    if parallel:
        yield "parallel", parallel, home
    used = {*pairs, *(path for files in parallel.values() for path in files)}
    splits: dict[str, _Files] = {}
    classes: dict[str, list[Path]] = {}
    for path in paths:
        prefix_split = split_of(path)
        if path in used:
            continue
        if prefix_split and path.suffix in ("", ".label", ".parquet", *_TABLE_SUFFIXES):
            prefix = "" if prefix_split[0].lower() == home.name.lower() else prefix_split[0]
            splits.setdefault(prefix, {}).setdefault(prefix_split[1], []).append(path)
        elif prefix_split:
            continue
        elif path.suffix == ".txt" and _is_probing(path):
            yield "probing", {split: [path] for split in SPLITS}, path.with_suffix("")
        elif _CLASS_SUFFIX.fullmatch(path.suffix):
            classes.setdefault(path.stem, []).append(path)
    for prefix, files in splits.items():
        _refuse_two_sources(home, files)
        yield "table", {split: files[split] for split in SPLITS if split in files}, home / prefix
    for stem, files_of_classes in classes.items():
        if len(files_of_classes) > 1:
            yield "classes", {"train": files_of_classes}, home / stem


def _pair_files(paths: Sequence[Path]) -> list[Path]:
    """Return each file of SemEval with pairs, followed by that with their scores."""
    scores = {path: path.with_name(path.name.replace("input", "gs", 1)) for path in paths}
    return [
        file
        for path in paths
        if path.name.startswith("STS.input.") and scores[path] in scores
        for file in (path, scores[path])
    ]


def _parallel_files(paths: Sequence[Path]) -> _Files:
    files: _Files = {split: [] for split in SPLITS}
    for path in paths:
        if split := SPLIT_NAMES.get(path.suffix.removeprefix(".")):
            files[split].append(path)
    return {
        split: paths_of_split
        for split, paths_of_split in files.items()
        if len(paths_of_split) > 1 and any(path.stem.startswith("label") for path in paths_of_split)
    }


def _refuse_two_sources(home: Path, splits: _Files) -> None:
    for split, paths in splits.items():
        # Shards are one source; two other files are not.
        sources = sorted({_SHARD_NUMBER.sub(r"-*\1", path.name) for path in paths})
        folders = {path.parent for path in paths}
        if len(sources) > 1 and folders == {home}:
            expected, todo = f"one file, or the shards of one, for {split}", "move all but one away"
            raise InputError(home, expected, " and ".join(sources), todo)
    files = [path for paths in splits.values() for path in paths]
    if len({path.suffix == ".parquet" for path in files}) > 1:
        expected, found = "Parquet files or text files for all splits", [p.name for p in files]
        raise InputError(home, expected, ", ".join(found), "move one kind to another folder")


def _is_probing(path: Path) -> bool:
    with path.open("rb") as file:
        return _PROBING_LINE.match(file.readline(LONGEST_ROW)) is not None


def _dataset_names(folder: Path, datasets: Sequence[_Dataset]) -> list[str]:
    """Return a name for each dataset: its folder's or file's, or the path if names repeat."""
    parts = [
        origin.relative_to(folder).parts or (origin.resolve().name,) for _, _, origin in datasets
    ]
    last = Counter(folders[-1] for folders in parts)
    names = []
    for (layout, files, _), folders in zip(datasets, parts, strict=True):
        plain = layout != "probing" and next(iter(files.values()))[0].suffix != ".parquet"
        names.append("_".join(folders) if plain or last[folders[-1]] > 1 else folders[-1])
    for name, count in Counter(names).items():
        if count > 1:
            origins = [str(d[2]) for d, other in zip(datasets, names, strict=True) if other == name]
            found = f"{name} for {' and '.join(origins)}"
            raise InputError(folder, "a name for each dataset", found, "rename one of them")
    return names


def _from_parquet(location: Location) -> Target:
    """Read a dataset of Parquet files; ours say of themselves what they are."""
    with open_parquet(location.first) as file:
        ours = b"probeta" in (file.schema_arrow.metadata or {})
    return read_instances(location) if ours else read_parquet(location, _parquet_columns(location))


def _parquet_columns(location: Location) -> Columns:
    """Choose the columns of files that do not describe themselves."""
    columns = location.columns
    with open_parquet(location.first) as file:
        schema = file.schema_arrow
        classes = [name for name in schema.names if class_names(schema, name)]
        candidates = {*text_columns(schema), *classes, columns.label, columns.score}
        target_names = {*LABEL_NAMES, *SCORE_NAMES}
        to_read = [
            name for name in schema.names if name in candidates or name.lower() in target_names
        ]
        if not file.metadata.num_rows:
            raise no_rows(location.first)
        batch = next(file.iter_batches(N_SAMPLE_ROWS, columns=to_read))
        sample = {name: batch[name].to_pylist() for name in to_read}
    if not columns.label and not columns.score and len(classes) == 1:
        columns = replace(columns, label=classes[0])
    return choose_columns(sample, columns, location.first, listed=column_types(schema))


def _from_files(location: Location) -> Target:
    """Read a dataset of text or JSON files."""
    names, lines = _READERS[location.layout](location.files)
    width = len(names)
    rows: _Rows = {split: [] for split in SPLITS if split in location.files}
    faults: list[InputError] = []
    for split, path, number, cells in lines:
        if isinstance(cells, InputError):
            faults.append(cells)
            continue
        width = width or len(cells)
        if len(cells) != width:
            faults.append(other_width(f"{path}, line {number}", len(cells), width, "columns"))
        rows[split].append((Place(path.name, number), cells))
    if faults:
        raise join_faults(faults)
    if location.layout == "probing":
        rows = {split: split_rows for split, split_rows in rows.items() if split_rows}
    if location.layout == "table" and location.first.suffix not in (".json", ".jsonl"):
        names = names or _pop_header(location.files, rows)
    for split, split_rows in rows.items():
        if not split_rows:
            raise no_rows(location.files[split][0])
    named = bool(names)
    names = names or [f"column {number}" for number in range(1, width + 1)]
    sampled = [row for split_rows in rows.values() for _, row in split_rows[:N_SAMPLE_ROWS]]
    sample = dict(zip(names, zip(*sampled, strict=True), strict=True))
    columns = choose_columns(sample, location.columns, location.first, named=named)
    return make_target(location, names, columns, rows)


def _read_tables(files: _SplitFiles) -> _NamesAndLines:
    """Read files with all columns: lines with tabs, CSV, JSON, JSON Lines."""
    tables = [(split, path, *_read_table(path)) for split, paths in files.items() for path in paths]
    first = tables[0][2]

    def lines() -> Iterator[_Line]:
        for split, path, names, rows in tables:
            # The same columns may stand in another order, as keys of JSON do.
            reordered = names != first and {*names} == {*first}
            for number, cells in rows:
                if reordered and isinstance(cells, Sequence) and len(cells) == len(first):
                    cells = [cells[names.index(name)] for name in first]
                yield split, path, number, cells

    return first, lines()


def _read_probing(files: _SplitFiles) -> _NamesAndLines:
    """Read a file of all splits, in the format of SentEval's probing tasks."""
    path = next(iter(files.values()))[0]
    expected = "tr, va or te, a label and one or more texts, separated by tabs"

    def lines() -> Iterator[_Line]:
        for number, cells in _split_fields(path, 3, expected):
            if isinstance(cells, InputError):
                yield "train", path, number, cells
            elif cells[0] in ("tr", "va", "te"):
                yield SPLIT_NAMES[cells[0]], path, number, cells[1:]
            else:
                yield "train", path, number, _line_error(path, number, expected, repr(cells[0]))

    return (), lines()


def _read_parallel(files: _SplitFiles) -> _NamesAndLines:
    """Read the files s1.SPLIT, s2.SPLIT and labels.SPLIT, whose lines belong together."""
    first = next(iter(files.values()))
    return [path.stem for path in first], (
        (split, next(path for path in paths if not path.stem.startswith("label")), number, row)
        for split, paths in files.items()
        for number, row in enumerate(_side_by_side(paths), 1)
    )


def _read_similarity(files: _SplitFiles) -> _NamesAndLines:
    """Read STS.input.SUBSET and STS.gs.SUBSET of SemEval in turn; skip pairs without a score."""
    return ("sentence1", "sentence2", "score"), (
        ("test", path, number, [*line.split("\t")[:2], score.strip()])
        for path, gold in zip(files["test"][::2], files["test"][1::2], strict=True)
        for number, (line, score) in enumerate(_side_by_side([path, gold]), 1)
        if score.strip() or "\t" not in line
    )


def _read_classes(files: _SplitFiles) -> _NamesAndLines:
    """Read the files NAME.CLASS, with one text a line."""
    return ("text", "label"), (
        ("train", path, number, [line, path.suffix.removeprefix(".")])
        for path in files["train"]
        for number, line in _iter_lines(path)
    )


_READERS: Mapping[Layout, Callable[[_SplitFiles], _NamesAndLines]] = {
    "table": _read_tables,
    "probing": _read_probing,
    "parallel": _read_parallel,
    "classes": _read_classes,
    "similarity": _read_similarity,
}


def _side_by_side(paths: Sequence[Path]) -> list[Sequence[str]]:
    """Return the lines of files that belong together: for each number that of every file."""
    columns = [[line for _, line in _iter_lines(path, blank=True)] for path in paths]
    if len({len(column) for column in columns}) > 1:
        found = ", ".join(f"{p.name} {len(c):,}" for p, c in zip(paths, columns, strict=True))
        expected = "as many lines in each of the files that belong together"
        raise RawError(paths[0].parent, expected, found)
    return list(zip(*columns, strict=True))


def _read_table(path: Path) -> tuple[Sequence[str], _NumberedRows]:
    """Return the names of the columns of a file, if it has them, and one or more rows."""
    lines = [] if path.suffix == ".json" else list(_iter_lines(path))
    names: Sequence[str] = ()
    rows: _NumberedRows
    if path.suffix in (".json", ".jsonl"):
        names, rows = _json_rows(path, lines)
    elif path.suffix == ".csv" and lines and "\t" not in lines[0][1]:
        names, rows = _csv_rows(path)
    elif all(_TREC_QUESTION.fullmatch(line) for _, line in lines):
        names = ("label", "text")
        rows = [
            (n, match.groups()) for n, line in lines if (match := _TREC_QUESTION.fullmatch(line))
        ]
    else:
        expected = "a label and one or more texts, or two or more texts, separated by tabs"
        rows = list(_split_fields(path, 2, expected))
    if not rows:
        raise no_rows(path)
    return names, rows


def _csv_rows(path: Path) -> tuple[Sequence[str], _NumberedRows]:
    """Read values separated by commas or semicolons, with quotation marks and a header."""
    header: list[str] = []

    def columns(names: Sequence[str], where: str) -> Sequence[str]:
        header.extend(names)
        # Names may be repeated.
        return [str(number) for number in range(len(names))]

    with path.open("rb") as file:
        first = file.readline()
        file.seek(0)
        rows = csv_rows(file, str(path), columns, csv_delimiter(first))
        return header, [(row.line, row.fault or [*row.fields.values()]) for row in rows]


def _json_rows(path: Path, lines: Sequence[tuple[int, str]]) -> tuple[Sequence[str], _NumberedRows]:
    """Read an object or a list for each line, or a JSON file that is a list of them."""
    if path.suffix == ".jsonl":
        values = [(number, _parse_json(line, path, number)) for number, line in lines]
    else:
        content = _parse_json(_read_text(path), path, 1)
        if isinstance(content, InputError):
            raise content
        if isinstance(content, dict) and isinstance(content.get("data"), list):
            content = content["data"]
        values = list(enumerate(content if isinstance(content, list) else [content], 1))
    first = next((value for _, value in values if not isinstance(value, InputError)), None)
    names = tuple(first) if isinstance(first, dict) else ()
    width = len(first) if isinstance(first, dict | list) else 0
    rows: _NumberedRows = []
    for number, value in values:
        cells = [value.get(name) for name in names] if isinstance(value, dict) else value
        if isinstance(value, InputError):
            rows.append((number, value))
        elif not width or type(value) is not type(first) or len(cells) != width:
            object_of = f"a JSON object with {', '.join(names)}"
            expected = object_of if names else f"a JSON list of {width or 'several'} values"
            found = json.dumps(value, ensure_ascii=False)
            rows.append((number, _line_error(path, number, expected, found)))
        else:
            rows.append((number, [_to_cell(value) for value in cells]))
    return names, rows


def _to_cell(value: Any) -> Cell:
    """Return a cell; of what is neither text, number nor list of texts, nothing can be made."""
    if isinstance(value, list):
        return value if all(isinstance(text, str) for text in value) else None
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _parse_json(text: str, path: Path, number: int) -> Any:
    """Return the value of a line, or the error that says why it has no value."""
    try:
        return decode_json(text)
    except ValueError as error:
        return _line_error(path, number, "JSON", str(error))


def _pop_header(files: _SplitFiles, rows: _Rows) -> Sequence[str]:
    """Remove the header from the rows, and return it; nothing of files without one."""
    (first, *other_first_rows) = [split_rows[0][1] for split_rows in rows.values()]
    looks_like_names = all(
        _COLUMN_NAME.fullmatch(name) and not NUMBER.fullmatch(name) for name in first
    )
    all_equal = bool(other_first_rows) and all(row == first for row in other_first_rows)
    has_usual_name = any(name.lower() in HEADER_NAMES for name in first)
    if looks_like_names and len(set(first)) == len(first) and (all_equal or has_usual_name):
        for split, split_rows in rows.items():
            rows[split] = [row for row in split_rows if row[1] != first]
        return first
    for column in (0, -1):
        later_cells = [row[column] for split_rows in rows.values() for _, row in split_rows[1:]]
        if later_cells and _is_label(later_cells):
            for split, ((place, row), *_) in rows.items():
                if row[column] not in later_cells and not NUMBER.fullmatch(row[column]):
                    found = f"{row[column][:60]!r}, which occurs only in the first line"
                    expected = "a label that occurs in other rows too"
                    where = f"{files[split][0]}, line {place.number}"
                    raise InputError(where, expected, found, "remove the header line, or the row")
            break
    return ()


def _split_fields(path: Path, min_fields: int, expected: str) -> Iterator[tuple[int, _Cells]]:
    """Yield the number and the fields of every line that is not blank; or why it has too few."""
    for number, line in _iter_lines(path):
        fields = line.split("\t")
        too_few = len(fields) < min_fields
        yield number, _line_error(path, number, expected, repr(line[:60])) if too_few else fields


def _line_error(path: Path, number: int, expected: str, found: str) -> InputError:
    todo = "correct the line, or name the file differently if it is no split"
    return InputError(f"{path}, line {number}", expected, found, todo)


def _iter_lines(path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line, or of those that are not blank."""
    # Not splitlines: text may hold other line ends.
    lines = _read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, 1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def _read_text(path: Path) -> str:
    try:
        return read_whole(path, LARGEST_ARCHIVE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "text in UTF-8", str(error), "convert the file to UTF-8") from None


def choose_columns(
    columns: Mapping[str, Sequence[Any]],
    requested: Columns,
    where: Path,
    *,
    named: bool = True,
    listed: Sequence[str] = (),
) -> Columns:
    """Choose the columns of a dataset; the label and the score are "" if nothing is found.

    Without names (``named``), the labels are in the first column, or else in the last one, if its
    values have no blanks and recur. With names, they are in the column that is called so. Texts
    are all other columns of strings in most of which there are blanks, or all if none is so.

    Args:
        columns: name to its first values; a few hundred are enough.
        requested: those that the user names.
        where: the first file, for messages.
        listed: all columns, for messages; the names in ``columns`` if left out.
    """
    label, score = requested.label, requested.score
    if not label and not score:
        label = _target_column(columns, named)
        if label.lower() in SCORE_NAMES or (label and _is_score(columns[label])):
            label, score = "", label
    strings = [
        name
        for name, values in columns.items()
        if name not in (label, score) and any(isinstance(v, str | list) for v in values)
    ]
    candidates = [n for n in strings if not named or n.lower() not in NOT_TEXT]
    likely = [n for n in candidates if not named or _is_text(columns[n])]
    texts = list(requested.texts) or likely or candidates
    targets = [name for name in (label, score) if name]
    if not texts or not {*texts} <= {*strings} or not {*targets} <= {*columns}:
        expected = f"the columns {', '.join([*targets, *(texts or ['one or more with text'])])}"
        todo = "name the columns with --columns, such as text=premise,text=hypothesis,label=gold"
        raise InputError(where, expected, ", ".join(listed or columns), todo)
    return Columns(tuple(texts), label, score)


def _is_label(values: Sequence[Any]) -> bool:
    """Return whether a column may hold classes: short values without blanks, which recur."""
    all_short = all(
        isinstance(v, int)
        or (isinstance(v, str) and v and len(v) <= MAX_LABEL_LENGTH and _is_word(v))
        for v in values
    )
    all_numbers = (
        all(isinstance(v, int) or NUMBER.fullmatch(v) for v in values) if all_short else False
    )
    return all_short and (all_numbers or len(set(values)) <= max(2, len(values) // 2))


def _target_column(columns: Mapping[str, Sequence[Any]], named: bool) -> str:
    names = [*columns]
    if named:
        lower = {name.lower(): name for name in reversed(names)}
        return next((lower[n] for n in (*LABEL_NAMES, *SCORE_NAMES) if n in lower), "")
    ends = (names[0], names[-1]) if len(names) > 1 else ()
    return next((name for name in ends if _is_label(columns[name])), "")


def _is_score(values: Sequence[Any]) -> bool:
    numbers = {
        float(v) for v in values if isinstance(v, float) or NUMBER.fullmatch(str(v)) is not None
    }
    all_whole = all(number.is_integer() for number in numbers)
    return len(numbers) > MAX_FRACTIONAL_CLASSES and not all_whole


def _is_text(values: Sequence[Any]) -> bool:
    """Return whether most values are more than a word, or are lists of strings."""
    filled = [v for v in values if v]
    texts = sum(isinstance(v, list) or not _is_word(str(v)) for v in filled)
    return 2 * texts >= max(1, len(filled))


def _is_word(value: str) -> bool:
    """Return whether a value has no blank and is no sentence."""
    return " " not in value and not value.endswith(SENTENCE_ENDS)
