"""The instances of an evaluation: folders of Parquet files with a description in their schema."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.store.schema import about_of, labels_of
from builders.tasks import TASKS
from builders.tasks.task import Answer
from corpora_recipes.checking import one_of
from corpora_recipes.hashing import sha256_of
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, OutputError

_SHARD = re.compile(r"(train|validation|test)-(\d{5})-of-(\d{5})\.parquet")
_FACTS = ("dataset", "task", "corpus", "language", "version")
_WITH_TOKENS = "name the folder that `probeta package` wrote: it adds the tokens"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset on disk, whose name is unique among those of a run; its language is BCP 47 code.

    Attributes:
        labels: names of the classes, in the order of their numbers; empty if there are only scores.
        files: the shards of each split, in order: of all three splits; only of train, if its rows
            have folds; or only of test, if nothing is trained for the task.
        sample: whether its texts are those of the small sample in the project.
    """

    name: str
    task: str
    corpus: str
    language: str
    version: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    files: dict[Split, tuple[Path, ...]]
    sample: bool = False

    @property
    def folder(self) -> Path:
        """The folder that the files are in."""
        return next(iter(self.files.values()))[0].parent

    @property
    def folds(self) -> bool:
        """Whether the rows have folds for cross-validation, and no splits."""
        return list(self.files) == ["train"]

    @property
    def tested(self) -> Split:
        """The split whose rows are answered: test, or train where there are folds."""
        return "train" if self.folds else "test"

    @property
    def trained(self) -> bool:
        """Whether a probe is trained; if not, the answers come from the embeddings directly."""
        return TASKS[self.task].trained

    @property
    def target(self) -> Answer:
        """The column to predict; "neighbours" if there is no such column."""
        return TASKS[self.task].target

    def read(self, split: Split, columns: Sequence[str]) -> pa.Table:
        """Return columns of a split.

        Raises:
            InputError: a column is missing or has a null, or a file is damaged.
        """
        tables = []
        for file in self.files[split]:
            try:
                # ParquetFile reads only the file; read_table would take folder names for columns.
                content = pq.ParquetFile(file)
                names = content.schema_arrow.names
                if missing := [column for column in columns if column not in names]:
                    expected = f"the columns {', '.join(columns)} (task {self.task})"
                    found = f"no {', '.join(missing)} among {', '.join(names)}"
                    tokens = {text.tokens for text in TASKS[self.task].texts}
                    todo = _WITH_TOKENS if tokens.issuperset(missing) else ""
                    raise OutputError(file, expected, found, todo)
                table = content.read(columns=list(columns))
            except (pa.ArrowException, OSError) as error:
                raise OutputError(file, "a Parquet file", str(error)) from None
            for column in columns:
                _check_no_null(file, column, table[column].combine_chunks())
            tables.append(table)
        return pa.concat_tables(table.replace_schema_metadata() for table in tables)

    def digest(self) -> str:
        """Return the SHA-256 of the names and contents of the files, in hexadecimal."""
        whole = sha256()
        for files in self.files.values():
            for file in files:
                whole.update(f"{sha256_of(file)}  {file.name}\n".encode())
        return whole.hexdigest()


def parquet_files(root: Path) -> list[Path]:
    """Return the files of the datasets under a folder, sorted.

    They are ``<dataset>/*.parquet``, ``<corpus>/<dataset>/*.parquet`` and
    ``rankings/<ranking>/<dataset>/*.parquet``.
    """
    # A name with a dot in front is the unfinished output of a killed run.
    depths = [root.glob(f"{'[!.]*/' * depth}*.parquet") for depth in (1, 2, 3)]
    return sorted(path for found in depths for path in found)


def find_datasets(root: Path) -> list[Dataset]:
    """Find the datasets under a folder, sorted by name.

    Args:
        root: holds ``<dataset>/``, ``<corpus>/<dataset>/`` or ``rankings/<ranking>/<dataset>/``,
            and there ``{train,validation,test}-00000-of-00001.parquet``, with any number of shards;
            only train if there is a column ``fold``, only test if nothing is trained for the task.
    """
    folders: defaultdict[Path, defaultdict[Split, dict[Path, int]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for file in parquet_files(root):
        if match := _SHARD.fullmatch(file.name):
            split: Split = match[1]  # type: ignore[assignment]
            folders[file.parent][split][file] = int(match[3])
    if not folders:
        expected = "folders <corpus>/<dataset>/ with train-00000-of-00001.parquet and so on"
        found = "no such file" if root.is_dir() else "no such folder"
        todo = "run `probeta repro`, or name the folder of the datasets"
        raise OutputError(root, expected, found, todo)
    datasets: dict[str, Dataset] = {}
    for folder, splits in sorted(folders.items()):
        files = {split: _shards(folder, split, splits[split]) for split in SPLITS if splits[split]}
        dataset = _describe(folder, files)
        if dataset.name in datasets:
            found = f"{dataset.name!r} also in {datasets[dataset.name].folder}"
            todo = "rename one of the two in params.yaml"
            raise InputError(folder, "one dataset per name", found, todo)
        datasets[dataset.name] = dataset
    return [dataset for _, dataset in sorted(datasets.items())]


def find_probed(root: Path) -> list[Dataset]:
    """Find the datasets under a folder with a column to predict, see ``find_datasets``."""
    return [dataset for dataset in find_datasets(root) if dataset.target != "neighbours"]


def _shards(folder: Path, split: Split, counts: dict[Path, int]) -> tuple[Path, ...]:
    """Return the shards of a split in order, of files whose names say how many there are."""
    files = tuple(sorted(counts))
    names = [file.name for file in files]
    if names != [f"{split}-{i:05d}-of-{len(files):05d}.parquet" for i in range(len(files))]:
        expected = f"all {max(counts.values())} shards of the split {split}"
        raise OutputError(folder, expected, ", ".join(names))
    return files


def _describe(folder: Path, files: dict[Split, tuple[Path, ...]]) -> Dataset:
    described = {file: _metadata(file) for file in chain.from_iterable(files.values())}
    first, *others = described
    for file in others:
        if described[file] != described[first]:
            expected = f"the description of {first.name}: {described[first]}"
            todo = f"empty {folder} and run `probeta build` again"
            raise OutputError(file, expected, str(described[file]), todo)
    facts, labels, columns = described[first]
    todo = "write one of these at `task:` in params.yaml, or add the task to builders/tasks/"
    one_of(facts["task"], sorted(TASKS), str(folder), todo=todo)
    _check_splits(folder, list(files), facts["task"], columns)
    name, task, *strings = (facts[fact] for fact in _FACTS)
    corpus, language, version = map(str, strings)
    classes, sample = tuple(labels), facts["sample"]
    return Dataset(
        str(name), task, corpus, language, version, classes, tuple(columns), files, sample
    )


def _check_splits(folder: Path, splits: list[Split], task: str, columns: list[str]) -> None:
    allowed: list[list[Split]] = [list(SPLITS)]
    alone = "only train, with a column fold" if TASKS[task].trained else "only test"
    if not TASKS[task].trained:
        allowed.append(["test"])
    elif "fold" in columns:
        allowed.append(["train"])
    if splits not in allowed:
        expected = f"the splits {', '.join(SPLITS)}; or {alone} (task {task})"
        raise OutputError(folder, expected, ", ".join(splits))


def _check_no_null(file: Path, name: str, column: pa.Array) -> None:
    rows = pc.indices_nonzero(column.is_null())
    if pa.types.is_list(column.type) and not len(rows):
        rows = pc.list_parent_indices(column).filter(column.flatten().is_null())
    if len(rows):
        raise OutputError(file, f"{name} in every row", f"null in row {rows[0]}")


def _metadata(file: Path) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the description in a file: its facts, and the names of its classes and columns."""
    try:
        schema = pq.read_schema(file)
        about, labels = about_of(schema), labels_of(schema)
        facts = {name: about[name] for name in _FACTS} | {"sample": bool(about.get("sample"))}
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        expected = f"Parquet with metadata `probeta` ({', '.join(_FACTS)}) and `huggingface`"
        raise OutputError(file, expected, f"{type(error).__name__}: {error}") from None
    return facts, labels, schema.names
