"""What the audit reads: our instances, other Parquet files, text files of SentEval's form."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from builders.schemas import Target as TargetKind
from builders.schemas import Task, about_of
from builders.tasks import TASKS
from corpora_recipes.detokenize import detokenize
from corpora_recipes.errors import InputError
from corpora_recipes.records import SPLITS, Split

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# The names that files of a split go by, in SentEval, DiscoEval and their descendants.
SPLIT_NAMES: dict[str, Split] = {
    "train": "train",
    "tr": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "va": "validation",
    "test": "test",
    "te": "test",
}
RECORDS = ("documents", "dialogues", "trees", "examples")
LABEL_COLUMNS = ("label", "labels")
SCORE_COLUMNS = ("score",)
# What the audit needs of our instances where they have it.
FURTHER_COLUMNS = ("fold", "also_in")
# Those of our instances whose every value is asked for.
FILLED_COLUMNS = ("id", "document_id", "positives")
# What holds the labels, or the scores, that are asked for; nothing does if neighbours are.
ANSWERS: dict[TargetKind, tuple[str, ...]] = {
    "label": LABEL_COLUMNS,
    "score": SCORE_COLUMNS,
    "neighbours": (),
}
# Columns of strings that are no text, in files that do not say what they hold.
NOT_TEXT = ("id", "idx", "guid", "uid", "split", *LABEL_COLUMNS)

_TEXT_FILES = (".txt", ".tsv", ".csv")
# The number of a shard, and the hash that older files of the Hub have after it.
_SHARD = re.compile(r"-\d+(-of-\d+)?(-[0-9a-f]+)?(?=\.parquet$)")
_PROBING = re.compile(rb"(\xef\xbb\xbf)?(tr|va|te)\t[^\t]*\t")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Part:
    """One split of what is audited.

    Attributes:
        texts: for each row its texts, the same number in every row but of clusters.
        sentences: the same, but as the single sentences that the texts consist of.
        labels: class numbers, int64 [rows]; [0] if no classes are asked for.
        scores: float64 [rows]; [0] if no scores are asked for.
        documents: for each row the id of its document; None if that is not known.
        columns: further columns of our own instances, by name.
    """

    texts: Sequence[Sequence[str]]
    sentences: Sequence[Sequence[str]]
    labels: "np.ndarray[Any, np.dtype[np.int64]]"
    scores: "np.ndarray[Any, np.dtype[np.float64]]"
    documents: Sequence[str] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def where(self, chosen: "np.ndarray[Any, np.dtype[np.bool_]]") -> "Part":
        """Return the rows for which ``chosen``, bool [rows], is true."""
        return Part(
            list(compress(self.texts, chosen)),
            list(compress(self.sentences, chosen)),
            self.labels[chosen] if len(self.labels) else self.labels,
            self.scores[chosen] if len(self.scores) else self.scores,
            None if self.documents is None else list(compress(self.documents, chosen)),
            {name: list(compress(values, chosen)) for name, values in self.columns.items()},
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A dataset to audit.

    Attributes:
        name: its name.
        task: None if it is of no task that we know.
        corpus: the entry of params.yaml that it was built from; "" for others.
        records: the kind of records that it was built from.
        language: BCP 47 code.
        labels: names of the classes, in the order of their numbers; none if none are asked for.
        texts: the columns that the texts were taken from: one for each text of a row, or a single
            one whose lists hold all of them; "text 1", "text 2", … of text files.
        parts: its splits, as its files have them.
    """

    name: str
    task: Task | None
    corpus: str
    records: str
    language: str
    labels: list[str]
    texts: tuple[str, ...]
    parts: dict[Split, Part]

    @property
    def scored(self) -> bool:
        """Whether scores are asked for, not classes."""
        return self.task is not None and self.task.target == "score"

    @property
    def of_neighbours(self) -> bool:
        """Whether neither classes nor scores are asked for, but neighbours."""
        return self.task is not None and self.task.target == "neighbours"

    @property
    def of_words(self) -> bool:
        """Whether its texts are words, or terms of a few."""
        return self.task is not None and self.task.name in ("word_ranking", "paradigms")

    @property
    def has_folds(self) -> bool:
        """Whether it has folds for cross-validation, in the place of splits."""
        alone = list(self.parts) == ["train"]
        return alone and len(set(self.parts["train"].columns.get("fold", ()))) > 1

    def apart(self) -> dict[str, Part]:
        """Return what should have nothing in common, by name: its splits, or its folds."""
        if not self.has_folds:
            return {str(split): part for split, part in self.parts.items()}
        part, folds = self._folds()
        return {f"fold {number}": part.where(folds == number) for number in np.unique(folds)}

    def trials(self) -> Iterator[tuple[Part, Part]]:
        """Yield what to learn of and what to try it on.

        That is train and test, or of folds all others and each in turn; nothing if there is no
        train or no test.
        """
        if self.has_folds:
            part, folds = self._folds()
            for number in np.unique(folds):
                yield part.where(folds != number), part.where(folds == number)
        elif "train" in self.parts and "test" in self.parts:
            yield self.parts["train"], self.parts["test"]

    def tested(self) -> list[Part]:
        """Return what a system is tested on: test, or all parts of a dataset without one."""
        return [self.parts["test"]] if "test" in self.parts else list(self.parts.values())

    def _folds(self) -> "tuple[Part, np.ndarray[Any, np.dtype[np.int64]]]":
        part = self.parts["train"]
        return part, np.array(part.columns["fold"], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a dataset to audit lies; small, and picklable.

    Attributes:
        name: of its folder, or of the one file that holds all its splits.
        files: the files of each split, in order; a file of all splits stands for each.
        task: the task of files that do not say it; None for none of ours.
        language: the language of files that do not say it.
        records: the kind of records of files that do not say it.
        columns: the texts to take from files that do not say it; None for all.
    """

    name: str
    files: dict[Split, list[Path]]
    task: str | None
    language: str
    records: str
    columns: tuple[str, ...] | None

    @property
    def first(self) -> Path:
        """The first file of the first split."""
        return next(iter(self.files.values()))[0]

    def load(self) -> Target:
        """Read the dataset.

        Raises:
            InputError: a file is damaged, or its rows do not fit together.
        """
        first = self.first
        if first.suffix == ".parquet":
            return _from_parquet(self)
        if _split_of(first) is None:
            return _from_text(self, _probing_lines(first))
        lines = {split: _lines(paths[0]) for split, paths in self.files.items()}
        _check_headers(list(lines.values()))
        return _from_text(self, lines)


def find_targets(
    folder: Path,
    *,
    task: str | None = None,
    language: str = "es",
    records: str | None = None,
    columns: Sequence[str] | None = None,
) -> list[Location]:
    """Return every dataset in a folder and its sub-folders, sorted by name.

    A dataset is one of these:

    - Parquet files ``<dataset>/<split>-….parquet`` or ``<dataset>/<split>.parquet``. Those that we
      wrote describe themselves, and may have scores in the place of labels, and folds in that of
      splits. Others need a column ``label`` or ``labels`` of integers or strings, and one or more
      columns of strings or of lists of strings: these are the texts, but for those called as in
      ``NOT_TEXT``.
    - Text files ``<dataset>/<split>.txt`` (or .tsv, .csv without quoting), in every line a label,
      then the texts, parted by tabs.
    - A text file ``<dataset>.txt`` as SentEval's probing tasks have it, in every line ``tr``,
      ``va`` or ``te``, then the label, then the texts, parted by tabs.

    Splits go by the names in ``SPLIT_NAMES``; other files, and what begins with a dot, are passed
    over. Tokenised text of text files is joined again by simple rules, so that it can be judged as
    text. A dataset is named by its folder or its one file, and by the path, joined by "_", if
    another is named so too; one with a text file for each split always by the path.

    Args:
        folder: where to look.
        task: the task of files that do not say it, one that asks for classes; None for none of
            ours.
        language: the language of files that do not say it.
        records: the kind of records of files that do not say it, one of ``RECORDS``; None for the
            first that the task is made of, or "documents" without a task.
        columns: the texts to take from files that do not say it, by the names that
            ``Target.texts`` has; None for all.

    Raises:
        InputError: there is nothing, a split or a name stands for two things, or the task or the
            kind of records is unknown.
    """
    _check_known("--task", task, [name for name in TASKS if TASKS[name].target == "label"])
    _check_known("--records", records, RECORDS)
    records = records or (TASKS[task].records[0] if task else "documents")
    paths = _files(folder)
    found = _files_of_splits(paths)
    found += [{split: [path] for split in SPLITS} for path in paths if _is_probing(path)]
    if not found:
        raise InputError(
            folder,
            expected="datasets: <dataset>/train-00000-of-00001.parquet or <dataset>/train.txt, and "
            "the like for validation and test",
            found="none" if folder.is_dir() else "no such folder",
            todo="name the folder that holds the datasets; labels and texts in files of their own "
            "cannot be read",
        )
    taken = None if columns is None else tuple(columns)
    locations = [Location("", files, task, language, records, taken) for files in found]
    names = _names(folder, [location.first for location in locations])
    named = [replace(own, name=name) for own, name in zip(locations, names, strict=True)]
    return sorted(named, key=lambda location: location.name)


def _check_known(option: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise InputError(
            f"{option} {value}",
            expected=f"one of {', '.join(known)}, or nothing",
            found=repr(value),
            todo="correct it, or leave it out",
        )


def _files(folder: Path) -> list[Path]:
    # What begins with a dot is the unfinished output of a killed run, or a tool's own.
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in (".parquet", *_TEXT_FILES)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _split_of(path: Path) -> Split | None:
    name = re.split("[-.]", path.name)[0] if path.suffix == ".parquet" else path.stem
    return SPLIT_NAMES.get(name)


def _files_of_splits(paths: Sequence[Path]) -> list[dict[Split, list[Path]]]:
    """Return for each folder with files named by their splits the files of each split."""
    found: dict[Path, dict[Split, list[Path]]] = {}
    for path in paths:
        if split := _split_of(path):
            found.setdefault(path.parent, {}).setdefault(split, []).append(path)
    for parent, splits in found.items():
        for split, paths in splits.items():
            # Shards are one source; any two others are not.
            sources = sorted({_SHARD.sub(r"-*\1", path.name) for path in paths})
            if len(sources) > 1:
                raise InputError(
                    parent,
                    expected=f"one file, or the shards of one, for {split}",
                    found=" and ".join(sources),
                    todo="move all but one to another folder",
                )
        files = [path for paths in splits.values() for path in paths]
        if len({path.suffix == ".parquet" for path in files}) > 1:
            raise InputError(
                parent,
                expected="Parquet files or text files for all splits",
                found=", ".join(path.name for path in files),
                todo="move one kind to another folder",
            )
    return [
        {split: splits[split] for split in SPLITS if split in splits} for splits in found.values()
    ]


def _is_probing(path: Path) -> bool:
    if path.suffix != ".txt" or _split_of(path):
        return False
    with path.open("rb") as file:
        return _PROBING.match(file.readline()) is not None


def _names(folder: Path, firsts: Sequence[Path]) -> list[str]:
    """Return a name for each dataset: its folder's or file's, or the path where need be.

    Args:
        folder: where the datasets were looked for.
        firsts: the first file of each.
    """
    paths = [path.parent if _split_of(path) else path.with_suffix("") for path in firsts]
    parts = [path.relative_to(folder).parts or (path.resolve().name,) for path in paths]
    last = Counter(own[-1] for own in parts)
    of_text = {path for path in firsts if _split_of(path) and path.suffix != ".parquet"}
    names = [
        "_".join(own) if last[own[-1]] > 1 or path in of_text else own[-1]
        for path, own in zip(firsts, parts, strict=True)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            same = [str(path) for path, own in zip(paths, names, strict=True) if own == name]
            raise InputError(
                folder,
                expected="a name for each dataset",
                found=f"{name} for {' and '.join(same)}",
                todo="rename one of them",
            )
    return names


class _Rows(NamedTuple):
    """The rows of a Parquet file: class names or scores, texts, sentences, further columns."""

    labels: list[str]
    scores: list[float]
    texts: list[list[str]]
    sentences: list[list[str]]
    columns: dict[str, list[Any]]


def _from_parquet(location: Location) -> Target:
    files, first = location.files, location.first
    with _opened(first) as file:
        schema = file.schema_arrow
    name, language, records = location.name, location.language, location.records
    task, corpus = TASKS[location.task] if location.task else None, ""
    further: list[str] = []
    answers: Sequence[str] = LABEL_COLUMNS
    if b"probeta" in (schema.metadata or {}):
        about = about_of(schema)
        name, language, records = about["dataset"], about["language"], about["records"]
        task, corpus = TASKS[about["task"]], about["corpus"]
        columns = [text.natural for text in task.texts]
        further = ["document_id", *task.provenance]
        further += ["id"] * (task.target == "neighbours")
        further += [c for c in FURTHER_COLUMNS if c in schema.names and c not in further]
        answers = ANSWERS[task.target]
    elif location.columns is not None:
        columns = list(location.columns)
    else:
        columns = [c for c in _text_columns(schema) if c.lower() not in NOT_TEXT]
    shards = {
        split: [_rows(path, columns, further, answers) for path in paths]
        for split, paths in files.items()
    }
    labels: list[str] = []
    if answers == LABEL_COLUMNS:
        labels = _class_names(schema) or _sorted(
            label for own in shards.values() for rows in own for label in rows.labels
        )
    known = set(labels)
    clusters = task is not None and task.name == "paradigms"
    parts: dict[Split, Part] = {}
    width = 0
    for split, own in shards.items():
        for path, rows in zip(files[split], own, strict=True):
            for number, texts in enumerate(rows.texts):
                width = len(texts) if clusters else width or len(texts)
                if not 0 < len(texts) == width:
                    raise _other_width(f"{path}, row {number}", len(texts), width)
            for number, label in enumerate(rows.labels):
                if label not in known:
                    raise InputError(
                        f"{path}, row {number}",
                        expected=f"a label among {', '.join(labels)}, as {first} names them",
                        found=repr(label),
                        todo="correct the label",
                    )
        parts[split] = _part(
            [texts for rows in own for texts in rows.texts],
            [sentences for rows in own for sentences in rows.sentences],
            [label for rows in own for label in rows.labels],
            [score for rows in own for score in rows.scores],
            labels,
            {column: [v for rows in own for v in rows.columns[column]] for column in further},
            files[split][0],
        )
    return Target(name, task, corpus, records, language, labels, tuple(columns), parts)


@contextmanager
def _opened(path: Path) -> Iterator["pq.ParquetFile"]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # ParquetFile reads the file alone; read_table would take folder names for columns.
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            path, expected="a Parquet file", found=str(error), todo="write it again"
        ) from None


def _rows(
    path: Path, columns: Sequence[str], further: Sequence[str], answers: Sequence[str]
) -> _Rows:
    """Read what is needed of a Parquet file.

    The first of ``answers`` that it has is asked for, nothing if there are none.
    """
    with _opened(path) as file:
        schema = file.schema_arrow
        answer = next((name for name in answers if name in schema.names), None)
        there = {*_text_columns(schema), *set(further).intersection(schema.names)} - {answer}
        lacks_answer = bool(answers) and answer is None
        if lacks_answer or not columns or not there.issuperset([*columns, *further]):
            asked = f"{' (or '.join(answers)}{')' * (len(answers) - 1)} and " if answers else ""
            raise InputError(
                path,
                expected=f"the columns {asked}"
                + (", ".join([*columns, *further]) or "one or more with text"),
                found=", ".join(f"{column.name} ({column.type})" for column in schema),
                todo="name the columns with text, rename them, or build the dataset again",
            )
        table = file.read(columns=[*([answer] if answer else []), *columns, *further])
    names = _class_names(schema)
    labels, scores = [], []
    for row, value in enumerate(table[answer].to_pylist() if answer else ()):
        if answer in LABEL_COLUMNS:
            labels.append(_label(value, names, f"{path}, row {row}"))
        else:
            scores.append(_score(value, f"{path}, row {row}"))
    texts, sentences = [], []
    values = zip(*(table[column].to_pylist() for column in columns), strict=True)
    for row, own in enumerate(values):
        for column, value in zip(columns, own, strict=True):
            _check_filled(value, column, f"{path}, row {row}")
        sentences.append([sentence for value in own for sentence in _listed(value)])
        # One column of lists holds the texts of a row; of several columns each holds a text,
        # which may consist of several sentences or units.
        joined = [" ".join(_listed(value)) for value in own]
        texts.append(joined if len(columns) > 1 else sentences[-1])
    kept = {name: table[name].to_pylist() for name in further}
    for column in (name for name in FILLED_COLUMNS if name in further):
        for row, value in enumerate(kept[column]):
            _check_filled(value, column, f"{path}, row {row}")
    return _Rows(labels, scores, texts, sentences, kept)


def _text_columns(schema: "pa.Schema") -> list[str]:
    """Return the columns of strings and of lists of strings."""
    import pyarrow.types as types

    def holds_text(kind: "pa.DataType") -> bool:
        if types.is_list(kind) or types.is_large_list(kind) or types.is_dictionary(kind):
            return holds_text(kind.value_type)
        return bool(types.is_string(kind) or types.is_large_string(kind))

    return [column.name for column in schema if holds_text(column.type)]


def _class_names(schema: "pa.Schema") -> list[str]:
    """Return the class names that the metadata of ``datasets`` state, or nothing."""
    stated = json.loads((schema.metadata or {}).get(b"huggingface", "{}"))
    features = stated.get("info", {}).get("features", {})
    found = (features.get(name) for name in LABEL_COLUMNS if name in schema.names)
    feature = next(found, None)
    return feature.get("names") or [] if isinstance(feature, dict) else []


def _label(value: object, names: Sequence[str], where: str) -> str:
    """Return the name of a class: itself, or the one that an integer stands for."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not names:
            return str(value)
        if 0 <= value < len(names):
            return names[value]
    elif isinstance(value, str):
        return value
    among = f" among {', '.join(names)}, or the number of one from 0" if names else ""
    raise InputError(
        where,
        expected=f"a label{among}: a string or an integer",
        found="null" if value is None else repr(value),
        todo="correct the label, or remove the row",
    )


def _score(value: object, where: str) -> float:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise InputError(
        where,
        expected="a score: a number",
        found="null" if value is None else repr(value),
        todo="correct the score, or remove the row",
    )


def _check_filled(value: str | list[str] | None, column: str, where: str) -> None:
    if value is None or None in _listed(value):
        raise InputError(
            where,
            expected=f"text in the column {column}",
            found="null",
            todo="fill it, or remove the row",
        )


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _part(
    texts: list[list[str]],
    sentences: list[list[str]],
    labels: list[str],
    scores: list[float],
    names: list[str],
    columns: dict[str, list[Any]],
    path: Path,
) -> Part:
    if not texts:
        raise _no_rows(path)
    number = {name: i for i, name in enumerate(names)}
    numbers = np.array([number[label] for label in labels], dtype=np.int64)
    of_scores = np.array(scores, dtype=np.float64)
    return Part(texts, sentences, numbers, of_scores, columns.pop("document_id", None), columns)


def _sorted(labels: Iterable[str]) -> list[str]:
    """Return each label once: numbers by value, then the others by name."""

    def key(label: str) -> tuple[bool, float, str]:
        is_number = _NUMBER.fullmatch(label) is not None
        return not is_number, float(label) if is_number else 0.0, label

    return sorted(set(labels), key=key)


def _no_rows(path: Path) -> InputError:
    return InputError(path, expected="one row or more", found="none", todo="fill the file")


def _other_width(where: str, found: int, expected: int) -> InputError:
    return InputError(
        where,
        expected=f"{expected} texts, as in the first row" if expected else "one text or more",
        found=f"{found}",
        todo="correct the row",
    )


class _Line(NamedTuple):
    """A line of a text file: where it stands, its label, its texts."""

    path: Path
    number: int
    label: str
    texts: list[str]


def _from_text(location: Location, lines: dict[Split, list[_Line]]) -> Target:
    """Make a target of the lines of each split, which are one or more."""
    first = next(iter(lines.values()))[0]
    for own in lines.values():
        for line in own:
            if len(line.texts) != len(first.texts):
                where = f"{line.path}, line {line.number}"
                raise _other_width(where, len(line.texts), len(first.texts))
    there = [f"text {number}" for number in range(1, len(first.texts) + 1)]
    columns = there if location.columns is None else list(location.columns)
    if not columns or not set(columns) <= set(there):
        raise InputError(
            first.path,
            expected="the texts " + (", ".join(columns) or "that are to be taken"),
            found=", ".join(there),
            todo="name others, or none to take all",
        )
    places = [there.index(column) for column in columns]
    labels = _sorted(line.label for own in lines.values() for line in own)
    parts = {}
    for split, own in lines.items():
        texts = [[detokenize(line.texts[i], location.language) for i in places] for line in own]
        named = [line.label for line in own]
        parts[split] = _part(texts, texts, named, [], labels, {}, own[0].path)
    task = TASKS[location.task] if location.task else None
    known = (location.records, location.language, labels, tuple(columns))
    return Target(location.name, task, "", *known, parts)


def _lines(path: Path) -> list[_Line]:
    """Return the lines of a file of one split."""
    expected = "a label, a tab and one or more texts, parted by tabs"
    lines = [_Line(path, n, f[0], f[1:]) for n, f in _fields(path, 2, expected)]
    if not lines:
        raise _no_rows(path)
    return lines


def _probing_lines(path: Path) -> dict[Split, list[_Line]]:
    """Return the lines of a file of all splits, by split."""
    lines: dict[Split, list[_Line]] = {}
    expected = "tr, va or te, a label and one or more texts, parted by tabs"
    for number, (name, label, *texts) in _fields(path, 3, expected):
        if name not in ("tr", "va", "te"):
            raise InputError(
                f"{path}, line {number}", expected=expected, found=repr(name), todo="correct it"
            )
        lines.setdefault(SPLIT_NAMES[name], []).append(_Line(path, number, label, texts))
    return {split: lines[split] for split in SPLITS if split in lines}


def _fields(path: Path, least: int, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not blank."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            path, expected="text in UTF-8", found=str(error), todo="convert the file to UTF-8"
        ) from None
    # Only \n ends a row: text may hold other characters that count as line ends.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            fields = line.removesuffix("\r").split("\t")
            if len(fields) < least:
                raise InputError(
                    f"{path}, line {number}",
                    expected=expected,
                    found=repr(line[:60]),
                    todo="correct the line; labels and texts in files of their own cannot be read",
                )
            yield number, fields


def _check_headers(files: Sequence[Sequence[_Line]]) -> None:
    """Refuse a first line whose label, not a number, no line after the first of any file has."""
    labels = {line.label for own in files for line in own[1:]}
    for first, *_ in files:
        if first.label not in labels and not _NUMBER.fullmatch(first.label):
            raise InputError(
                f"{first.path}, line {first.number}",
                expected="a label that other rows have too, then the texts",
                found=f"{first.label[:60]!r}, which only a first line has",
                todo="remove the header line, or put the labels first",
            )
