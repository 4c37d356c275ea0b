"""Finds and reads datasets, in a folder or on the Hub."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.audit_report import read_audit
from builders.store import MTEB_FACTS, about_of, labels_of
from builders.tasks import TASKS
from builders.tasks.benchmarks import groupings_of
from builders.tasks.task import Answer
from corpora_recipes.hashing import sha256_of
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.console import names
from corpora_recipes.running.errors import InputError, OutputError, check_names, suggest
from corpora_recipes.validation import check_choice

_SHARD = re.compile(r"(train|validation|test)-(\d{5})-of-(\d{5})\.parquet")
_FACTS = ("dataset", "task", "corpus", "language", "version", "seed", "sample")
_NOT_OURS = (
    "move away the files that do not belong there; `probeta repro` makes those that are missing"
)
_WITH_TOKENS = "name the folder that `probeta package` wrote: it adds the tokens"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset on disk, whose name is unique among those of a run; its language is BCP 47 code.

    Attributes:
        labels: names of the classes, in the order of their numbers; empty if there are only scores.
        files: the shards of each split, in order: of all three splits; only of train, if its rows
            have folds; or only of test, if nothing is trained for the task.
        seed: with which it was built.
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
    seed: int = 0
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
        """The split whose rows are predicted: test, or train where there are folds."""
        return "train" if self.folds else "test"

    @property
    def rows(self) -> dict[Split, int]:
        """The number of rows of each split."""
        return {
            split: sum(pq.read_metadata(file).num_rows for file in files)
            for split, files in self.files.items()
        }

    @property
    def n_texts(self) -> int:
        """The number of texts in all rows, each as often as it occurs; lists that vary have one."""
        return sum(self.rows.values()) * sum(text.count or 1 for text in TASKS[self.task].texts)

    @property
    def trained(self) -> bool:
        """Whether a probe is trained; if not, embeddings are compared directly."""
        return TASKS[self.task].trained

    @property
    def target(self) -> Answer:
        """The column to predict; "neighbours" if there is no such column."""
        return TASKS[self.task].target

    def facts(self, *names: str) -> dict[str, Any]:
        """Return the name, as "dataset", and some attributes, as scores have them."""
        return {"dataset": self.name} | {name: getattr(self, name) for name in names}

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
        digest = sha256()
        for files in self.files.values():
            for file in files:
                digest.update(f"{sha256_of(file)}  {file.name}\n".encode())
        return digest.hexdigest()


def parquet_files(root: Path) -> list[Path]:
    """Return the files of the datasets under a folder, sorted.

    They are ``<dataset>/*.parquet``, ``<corpus>/<dataset>/*.parquet`` and
    ``rankings/<ranking>/<dataset>/*.parquet``.
    """
    # A name with a dot in front is the unfinished output of a killed run.
    depths = [root.glob(f"{'[!.]*/' * depth}*.parquet") for depth in (1, 2, 3)]
    return sorted(path for paths in depths for path in paths)


def find_datasets(root: Path, names: Collection[str] = ()) -> list[Dataset]:
    """Find the datasets under a folder, sorted by name.

    Args:
        root: holds ``<dataset>/``, ``<corpus>/<dataset>/`` or ``rankings/<ranking>/<dataset>/``,
            and there ``{train,validation,test}-00000-of-00001.parquet``, with any number of shards;
            only train if there is a column ``fold``, only test if nothing is trained for the task.
        names: of the folders to open, if all are there; without them, all.
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
        todo = "run `probeta package` first, or `probeta repro`; or name the folder of datasets"
        raise OutputError(root, expected, found, todo)
    datasets: dict[str, Dataset] = {}
    if not {folder.name for folder in folders}.issuperset(names):
        names = ()
    for folder, splits in sorted(folders.items()):
        if names and folder.name not in names:
            continue
        files = {split: _shards(folder, split, splits[split]) for split in SPLITS if splits[split]}
        dataset = _open_dataset(folder, files)
        if dataset.name in datasets:
            found = f"{dataset.name!r} also in {datasets[dataset.name].folder}"
            todo = "rename one of the two in params.yaml, or move a copy away"
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
        expected = f"all {max(counts.values())} shards of the split {split}, and no others"
        raise OutputError(folder, expected, ", ".join(names), _NOT_OURS)
    return files


def _open_dataset(folder: Path, files: dict[Split, tuple[Path, ...]]) -> Dataset:
    metadata = {file: _read_metadata(file) for file in chain.from_iterable(files.values())}
    first, *rest = metadata
    for file in rest:
        if metadata[file] != metadata[first]:
            expected = f"the description of {first.name}: {metadata[first]}"
            todo = f"empty {folder} and run `probeta build` again"
            raise OutputError(file, expected, str(metadata[file]), todo)
    facts, labels, columns = metadata[first]
    todo = "write one of these at `task:` in params.yaml, or add the task to builders/tasks/"
    check_choice(facts["task"], sorted(TASKS), str(folder), todo=todo)
    _check_splits(folder, list(files), facts["task"], columns)
    return Dataset(**facts, labels=tuple(labels), columns=tuple(columns), files=files)


def _check_splits(folder: Path, splits: list[Split], task: str, columns: list[str]) -> None:
    allowed: list[list[Split]] = [list(SPLITS)]
    alone = "only train, with a column fold" if TASKS[task].trained else "only test"
    if not TASKS[task].trained:
        allowed.append(["test"])
    elif "fold" in columns:
        allowed.append(["train"])
    if splits not in allowed:
        expected = f"the splits {', '.join(SPLITS)}; or {alone} (task {task})"
        raise OutputError(folder, expected, ", ".join(splits), _NOT_OURS)


def _check_no_null(file: Path, name: str, column: pa.Array) -> None:
    rows = pc.indices_nonzero(column.is_null())
    if pa.types.is_list(column.type) and not len(rows):
        rows = pc.list_parent_indices(column).filter(column.flatten().is_null())
    if len(rows):
        raise OutputError(file, f"{name} in every row", f"null in row {rows[0]}")


def _read_metadata(file: Path) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the description in a file: its facts, and the names of its classes and columns."""
    try:
        schema = pq.read_schema(file)
        about, labels = about_of(schema), labels_of(schema)
        texts = {fact: str(about[fact]) for fact in ("task", "corpus", "language", "version")}
        facts = {"name": str(about["dataset"]), "seed": about["seed"], "sample": about["sample"]}
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        expected = f"Parquet with metadata `probeta` ({', '.join(_FACTS)}) and `huggingface`"
        raise OutputError(file, expected, f"{type(error).__name__}: {error}") from None
    return texts | facts, labels, schema.names


AUDIT = "audit.json"


@dataclass(frozen=True, slots=True)
class Data:
    """Datasets to score an encoder on, sorted by name.

    Attributes:
        all_names: of the datasets that the folder has.
        audited: name to the facts of the folder's audit, if it is of the same rows.
    """

    folder: Path
    datasets: tuple[Dataset, ...]
    all_names: tuple[str, ...]
    audited: dict[str, dict[str, Any]]

    @property
    def seed(self) -> int:
        """The seed with which they were built."""
        return self.datasets[0].seed

    @property
    def samples(self) -> frozenset[str]:
        """The names of those that are built from a shipped sample."""
        return frozenset(dataset.name for dataset in self.datasets if dataset.sample)


Names = Collection[str] | str | None
"""Several names, or one text with commas between them, as in the shell."""


def as_list(chosen: Names) -> list[str] | None:
    """Return names as a list; None without any."""
    result = names(chosen) if isinstance(chosen, str) else [*(chosen or ())]
    return result or None


def find_data(data: str | Path, datasets: Names, groups: Names) -> Data:
    """Find the datasets with a label or a score that a user means.

    Args:
        data: a folder such as dist/hub, or the id of a dataset on the Hugging Face Hub that
            `probeta publish` uploaded.
        datasets: names.
        groups: abbreviations, such as "SP". All datasets if there are neither names nor groups.
    """
    datasets, groups = as_list(datasets), as_list(groups)
    folder = data_folder(data, datasets if not groups else None)
    opened = find_datasets(folder, () if groups else datasets or ())
    by_name = {dataset.name: dataset for dataset in opened}
    tasks = {name: dataset.task for name, dataset in by_name.items()}
    selected = [by_name[name] for name in select_names(folder, tasks, datasets, groups)]
    if len({dataset.seed for dataset in selected}) > 1:
        found = ", ".join(f"{dataset.name} {dataset.seed}" for dataset in selected)
        todo = "score those of one seed at a time: name them with `datasets`"
        raise InputError(folder, "datasets that were built with one seed", found, todo)
    audit = read_audit(folder / AUDIT)["datasets"] if (folder / AUDIT).is_file() else {}
    same = [each.name for each in selected if audit.get(each.name, {}).get("rows") == each.rows]
    audited = {name: audit[name] for name in same}
    all_names = {*by_name, *(file.parent.name for file in parquet_files(folder))}
    return Data(folder, tuple(selected), tuple(sorted(all_names)), audited)


def data_folder(data: str | Path, datasets: Collection[str] | None) -> Path:
    """Return the folder of the data; that of a repository is downloaded.

    Args:
        data: as of ``find_data``.
        datasets: the names of those that are needed; None for all.
    """
    folder = Path(data)
    if folder.is_dir():
        return folder
    if folder.exists() or not re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", str(data)):
        expected = "a folder such as dist/hub, or an id of the Hugging Face Hub such as me/name"
        found = "a file" if folder.exists() else "no such folder"
        raise InputError(folder, expected, found, "correct the path")
    return _download(str(data), datasets)


def _download(repository: str, datasets: Collection[str] | None) -> Path:
    """Return the folder of a repository in the Hub's cache, with the datasets, or with all."""
    # Only for data of the Hub.
    from huggingface_hub import HfApi, snapshot_download

    names = datasets or ["*"]
    try:
        patterns = [AUDIT, MTEB_FACTS, *(f"{name}/*.parquet" for name in names)]
        folder = Path(snapshot_download(repository, repo_type="dataset", allow_patterns=patterns))
        if not all((folder / name).is_dir() for name in datasets or ()):
            files = map(Path, HfApi().list_repo_files(repository, repo_type="dataset"))
            present = {file.parent.name for file in files if file.suffix == ".parquet"}
            check_names(f"datasets of {repository}", datasets, sorted(present))
    except (OSError, ValueError) as error:
        found = f"no such folder; {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        todo = "correct it; go online; for private or gated data, run `hf auth login`"
        expected = "a folder, or a dataset on the Hugging Face Hub"
        raise InputError(f"data {repository}", expected, found, todo) from error
    return folder


def select_names(
    where: Path | str, tasks: Mapping[str, str], datasets: Names, groups: Names
) -> list[str]:
    """Return the datasets of some names and groups, or all, that have a label or a score.

    Args:
        where: they are, for messages.
        tasks: dataset to task, of all that are there.
        datasets: names.
        groups: abbreviations, or benchmarks.
    """
    datasets, groups = as_list(datasets), as_list(groups)
    probed = [name for name, task in tasks.items() if TASKS[task].target != "neighbours"]
    unknown = [name for name in datasets or () if name not in probed]
    groupings = {
        name: groupings_of(name, TASKS[tasks[name]].group) for name in probed if groups or unknown
    }
    all_groups = {*chain.from_iterable(groupings.values())}
    check_names(f"groups of {where}", groups, all_groups)
    expected = "datasets with a label or a score"
    if ranked := sorted({*(datasets or ())} & (tasks.keys() - {*probed})):
        found = f"{', '.join(ranked)}, where neighbours are looked for"
        todo = "use `probeta rank` (EvalRank) or `probeta paradigms` (ParaLex) for these"
        raise InputError(f"datasets of {where}", expected, found, todo)
    if unknown:
        found, todo = ", ".join(unknown), suggest(unknown, probed)
        if all_groups.issuperset(unknown):
            todo = "these are groups or benchmarks: name them with `--groups` (`groups=`)"
        raise InputError(f"datasets of {where}", "names that are there", found, todo)
    if not probed:
        raise InputError(where, expected, f"only {', '.join(tasks)}", "name another folder")
    if not (datasets or groups):
        return probed
    return [
        name
        for name in probed
        if name in (datasets or ()) or not {*groupings.get(name, ())}.isdisjoint(groups or ())
    ]
