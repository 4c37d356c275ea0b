"""Which datasets a user means: a folder or a repository of the Hub, and names or groups."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.audit_report import best_baseline, read_audit
from builders.packaging.leaderboard import FACTS
from builders.store.schema import about_of
from builders.tasks import TASKS
from builders.tasks.benchmarks import groupings_of
from corpora_recipes.running.errors import InputError, nearest
from evaluation.data.instances import Dataset, find_datasets

PACKAGE = Path("dist/hub")
AUDIT = "audit.json"


@dataclass(frozen=True, slots=True)
class Data:
    """Datasets to score an encoder on, sorted by name.

    Attributes:
        known: the names of all that the folder has.
        seed: with which they were built.
        samples: the names of those that are built from a shipped sample.
        trivial: name to the best trivial baseline besides majority and its score, as far as the
            folder's audit has one of the same rows.
    """

    folder: Path
    datasets: tuple[Dataset, ...]
    known: tuple[str, ...]
    seed: int
    samples: frozenset[str]
    trivial: dict[str, tuple[str, float]]


def find_data(
    data: str | Path | None, datasets: Collection[str] | None, groups: Collection[str] | None
) -> Data:
    """Find the datasets with a label or a score that a user means.

    Args:
        data: a folder such as dist/hub, or the id of a dataset on the Hugging Face Hub that
            `probeta publish` uploaded; None for dist/hub.
        datasets: names.
        groups: abbreviations, such as "SP". All datasets if there are neither names nor groups.
    """
    for given in (datasets, groups):
        if isinstance(given, str):
            where = "datasets and groups"
            raise InputError(where, "lists of names", repr(given), f"write [{given!r}]")
    folder = data_folder(data, datasets if not groups else None)
    known = {dataset.name: dataset for dataset in find_datasets(folder)}
    chosen = _chosen(folder, known, datasets, groups)
    facts = {dataset.name: _facts(dataset) for dataset in chosen}
    seeds = {name: about["seed"] for name, about in facts.items()}
    if len(set(seeds.values())) > 1:
        found = ", ".join(f"{name} {seed}" for name, seed in seeds.items())
        todo = "score those of one seed at a time: name them with `datasets`"
        raise InputError(folder, "datasets that were built with one seed", found, todo)
    return Data(
        folder,
        tuple(chosen),
        tuple(known),
        next(iter(seeds.values())),
        frozenset(name for name, about in facts.items() if about["sample"]),
        _trivial(folder / AUDIT, facts) if (folder / AUDIT).is_file() else {},
    )


def load(dataset: str, data: str | Path | None = None) -> dict[str, pa.Table]:
    """Return the rows of a dataset.

    Args:
        dataset: its name.
        data: see ``score``.

    Returns:
        Split ("train", "validation", "test") to its table; only "train" for a dataset in folds, and
        only "test" for one without training. The columns are those of the dataset's page.

    Raises:
        InputError: there is no such folder, repository or dataset, or a split is missing.
    """
    folder = data_folder(data, [dataset])
    known = {found.name: found for found in find_datasets(folder)}
    check_names(f"datasets of {folder}", [dataset], [*known])
    return {
        split: pa.concat_tables(map(pq.read_table, files))
        for split, files in known[dataset].files.items()
    }


def data_folder(data: str | Path | None, datasets: Collection[str] | None) -> Path:
    """Return the folder of the data; that of a repository is downloaded.

    Args:
        data: as of ``find_data``.
        datasets: the names of those that are needed; None for all.
    """
    if data is None and not PACKAGE.is_dir():
        expected = f"a folder of datasets, an id of the Hugging Face Hub, or {PACKAGE} right here"
        todo = f"name the data (data=, --data), or make {PACKAGE} with `probeta repro`"
        raise InputError("data", expected, f"neither, in {Path.cwd()}", todo)
    folder = PACKAGE if data is None else Path(data)
    if folder.is_dir():
        return folder
    if folder.exists() or not re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", str(data)):
        expected = "a folder such as dist/hub, or an id of the Hugging Face Hub such as me/name"
        found = "a file" if folder.exists() else "no such folder"
        raise InputError(folder, expected, found, "correct the path")
    return _downloaded(str(data), datasets)


def _downloaded(repository: str, datasets: Collection[str] | None) -> Path:
    """Return the folder of a repository in the Hub's cache, with the datasets, or with all."""
    # Only for data of the Hub.
    from huggingface_hub import HfApi, snapshot_download

    names = datasets or ["*"]
    try:
        patterns = [AUDIT, FACTS, *(f"{name}/*.parquet" for name in names)]
        folder = Path(snapshot_download(repository, repo_type="dataset", allow_patterns=patterns))
        if not all((folder / name).is_dir() for name in datasets or ()):
            files = map(Path, HfApi().list_repo_files(repository, repo_type="dataset"))
            known = {file.parent.name for file in files if file.suffix == ".parquet"}
            check_names(f"datasets of {repository}", datasets, sorted(known))
    except (OSError, ValueError) as error:
        found = f"no such folder; {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        todo = "correct it; go online; for private or gated data, run `hf auth login`"
        expected = "a folder, or a dataset on the Hugging Face Hub"
        raise InputError(f"data {repository}", expected, found, todo) from error
    return folder


def _chosen(
    folder: Path,
    known: dict[str, Dataset],
    datasets: Collection[str] | None,
    groups: Collection[str] | None,
) -> Sequence[Dataset]:
    """Return the datasets of some names and groups, or all, that have a label or a score."""
    probed = [dataset for dataset in known.values() if dataset.target != "neighbours"]
    groupings = {d.name: groupings_of(d.name, TASKS[d.task].group) for d in probed}
    present = list(dict.fromkeys(chain.from_iterable(groupings.values())))
    check_names(f"groups of {folder}", groups, present)
    expected = "datasets with a label or a score"
    if ranked := sorted({*(datasets or ())} & {*known} - {dataset.name for dataset in probed}):
        found = f"{', '.join(ranked)}, where neighbours are looked for"
        todo = "use `probeta rank` (EvalRank) or `probeta paradigms` (ParaLex) for these"
        raise InputError(f"datasets of {folder}", expected, found, todo)
    check_names(f"datasets of {folder}", datasets, [dataset.name for dataset in probed])
    if not probed:
        raise InputError(folder, expected, f"only {', '.join(known)}", "name another folder")
    if not (datasets or groups):
        return probed
    return [
        dataset
        for dataset in probed
        if dataset.name in (datasets or ())
        or not {*groupings[dataset.name]}.isdisjoint(groups or ())
    ]


def check_names(where: str, names: Collection[str] | None, known: Collection[str]) -> None:
    """Refuse names that are not known, and name those that are most like them."""
    if unknown := [name for name in names or () if name not in known]:
        like = nearest(unknown, known)
        todo = f"did you mean {like}?" if like else "choose some of these"
        found = ", ".join(map(repr, unknown))
        raise InputError(where, f"names among {', '.join(known)}", found, todo)


def _facts(dataset: Dataset) -> dict[str, Any]:
    """Return what the files say of the dataset; older ones do not say all."""
    files = dataset.files[dataset.tested]
    facts = about_of(pq.read_schema(files[0]))
    rows = {
        split: sum(pq.read_metadata(file).num_rows for file in files)
        for split, files in dataset.files.items()
    }
    return {"seed": 1111, "sample": False} | facts | {"rows": rows}


def _trivial(audit: Path, facts: dict[str, dict[str, Any]]) -> dict[str, tuple[str, float]]:
    """Return the best trivial baseline of each dataset that was audited as it is."""
    report = read_audit(audit)
    best = {}
    for name, about in facts.items():
        audited = report["datasets"].get(name, {}).get("rows") == about["rows"]
        if audited and (found := best_baseline(report, name)):
            best[name] = found
    return best
