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
from corpora_recipes.hashing import sha256_of
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError
from evaluation.data.files import parquet_files

_SHARD = re.compile(r"(train|validation|test)-(\d{5})-of-(\d{5})\.parquet")
_REBUILD = "build the dataset again with `probeta build`"
_WITH_TOKENS = "name the folder that `probeta package` wrote: it adds the tokens"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset on disk.

    Attributes:
        name: unique among the datasets of a run.
        task: e.g. "sentence_position".
        corpus: name of the corpus it was built from.
        language: BCP 47 code.
        version: of the dataset.
        labels: names of the classes, in the order of their numbers; empty if there are only scores.
        columns: names of the columns.
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
                names = pq.read_schema(file).names
                missing = [column for column in columns if column not in names]
                if missing:
                    raise InputError(
                        file,
                        expected=f"the columns {', '.join(columns)} (task {self.task})",
                        found=f"no {', '.join(missing)} among {', '.join(names)}",
                        todo=_WITH_TOKENS if self._tokens.issuperset(missing) else _REBUILD,
                    )
                # ParquetFile reads only the file; read_table would take folder names for columns.
                table = pq.ParquetFile(file).read(columns=list(columns))
            except (pa.ArrowException, OSError) as error:
                raise InputError(
                    file, expected="a Parquet file", found=str(error), todo=_REBUILD
                ) from None
            for column in columns:
                _check_no_null(file, column, table[column].combine_chunks())
            tables.append(table)
        return pa.concat_tables(table.replace_schema_metadata() for table in tables)

    @property
    def _tokens(self) -> set[str]:
        return {text.tokens for text in TASKS[self.task].texts}

    def digest(self) -> str:
        """Return the SHA-256 of the names and contents of the files, in hexadecimal."""
        whole = sha256()
        for files in self.files.values():
            for file in files:
                whole.update(f"{sha256_of(file)}  {file.name}\n".encode())
        return whole.hexdigest()


def find_datasets(root: Path) -> list[Dataset]:
    """Find the datasets under a folder, sorted by name.

    Args:
        root: holds ``<dataset>/``, ``<corpus>/<dataset>/`` or ``rankings/<ranking>/<dataset>/``,
            and there ``{train,validation,test}-00000-of-00001.parquet``, with any number of shards;
            only train if there is a column ``fold``, only test if nothing is trained for the task.

    Raises:
        InputError: no dataset was found, a split or a shard is missing, two datasets have the same
            name, a task is unknown, or a file has no description.
    """
    folders: defaultdict[Path, defaultdict[Split, dict[Path, int]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for file in parquet_files(root):
        if match := _SHARD.fullmatch(file.name):
            split: Split = match[1]  # type: ignore[assignment]
            folders[file.parent][split][file] = int(match[3])
    if not folders:
        raise InputError(
            root,
            expected="folders <corpus>/<dataset>/ with train-00000-of-00001.parquet and so on",
            found="no such file" if root.is_dir() else "no such folder",
            todo="run `probeta repro`, or name the folder of the datasets",
        )
    datasets: dict[str, Dataset] = {}
    for folder, splits in sorted(folders.items()):
        files = {split: _shards(folder, split, splits[split]) for split in SPLITS if splits[split]}
        dataset = _describe(folder, files)
        if dataset.name in datasets:
            raise InputError(
                folder,
                expected="one dataset per name",
                found=f"{dataset.name!r} also in {datasets[dataset.name].folder}",
                todo="rename one of the two in params.yaml",
            )
        datasets[dataset.name] = dataset
    return [dataset for _, dataset in sorted(datasets.items())]


def find_probed(root: Path) -> list[Dataset]:
    """Find the datasets under a folder with a column to predict, see ``find_datasets``."""
    return [dataset for dataset in find_datasets(root) if dataset.target != "neighbours"]


def _shards(folder: Path, split: Split, found: dict[Path, int]) -> tuple[Path, ...]:
    files = tuple(sorted(found))
    expected = [f"{split}-{i:05d}-of-{len(files):05d}.parquet" for i in range(len(files))]
    if [file.name for file in files] != expected:
        raise InputError(
            folder,
            expected=f"all {max(found.values())} shards of the split {split}",
            found=", ".join(file.name for file in files),
            todo=_REBUILD,
        )
    return files


def _describe(folder: Path, files: dict[Split, tuple[Path, ...]]) -> Dataset:
    description: tuple[dict[str, Any], list[str], list[str]] | None = None
    for file in chain.from_iterable(files.values()):
        facts_of_file = _metadata(file)
        if description is not None and facts_of_file != description:
            raise InputError(
                file,
                expected=f"the description of the other files: {description}",
                found=str(facts_of_file),
                todo=f"empty {folder} and {_REBUILD}",
            )
        description = facts_of_file
    assert description is not None
    facts, labels, columns = description
    if facts["task"] not in TASKS:
        raise InputError(
            folder,
            expected=f"a task of {', '.join(sorted(TASKS))}",
            found=repr(facts["task"]),
            todo="write one of these at `task:` in params.yaml, or add the task to builders/tasks/",
        )
    _check_splits(folder, list(files), facts["task"], columns)
    return Dataset(
        name=str(facts["dataset"]),
        task=str(facts["task"]),
        corpus=str(facts["corpus"]),
        language=str(facts["language"]),
        version=str(facts["version"]),
        labels=tuple(labels),
        columns=tuple(columns),
        files=files,
        sample=facts["sample"],
    )


def _check_splits(folder: Path, splits: list[Split], task: str, columns: list[str]) -> None:
    whole = list(SPLITS)
    wanted: list[Split] = whole
    if not TASKS[task].trained:
        wanted = ["test"]
    elif "fold" in columns:
        wanted = ["train"]
    if splits not in (wanted, whole):
        raise InputError(
            folder,
            expected=f"the splits {', '.join(whole)}"
            + (
                f"; or only {wanted[0]}"
                if wanted != whole
                else "; or only train, with a column fold"
            )
            + f" (task {task})",
            found=f"{', '.join(splits)}",
            todo=_REBUILD,
        )


def _check_no_null(file: Path, name: str, column: pa.Array) -> None:
    rows = pc.indices_nonzero(column.is_null())
    if pa.types.is_list(column.type) and not len(rows):
        rows = pc.list_parent_indices(column).filter(column.flatten().is_null())
    if len(rows):
        raise InputError(
            file, expected=f"{name} in every row", found=f"null in row {rows[0]}", todo=_REBUILD
        )


def _metadata(file: Path) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the description in a file: its facts, and the names of its classes and columns."""
    try:
        schema = pq.read_schema(file)
        facts, labels = about_of(schema), labels_of(schema)
        sample = bool(facts.get("sample"))
        facts = {k: facts[k] for k in ("dataset", "task", "corpus", "language", "version")}
        facts["sample"] = sample
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            file,
            expected="a Parquet file with the schema metadata `probeta` (dataset, task, corpus, "
            "language, version) and `huggingface` (names of the label's classes)",
            found=f"{type(error).__name__}: {error}",
            todo=_REBUILD,
        ) from None
    return facts, labels, schema.names
