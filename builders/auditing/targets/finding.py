"""Finds the datasets of a folder: our instances, other Parquet files, text files."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from builders.auditing.targets.tables import from_files
from builders.auditing.targets.parquet import from_parquet
from builders.auditing.targets.target import SPLIT_NAMES, Columns, Layout, Location, Target
from builders.tasks import TASKS
from corpora_recipes.records import KINDS, SPLITS, Split
from corpora_recipes.running.errors import InputError

# Opening a pickle can run any code that its author put into it.
PICKLES = (".pkl", ".pickle", ".p", ".pt", ".pth", ".joblib", ".npy", ".npz", ".dill")

_TABLES = (".txt", ".tsv", ".csv", ".jsonl", ".json")
# The number of a shard, and the hash after it in older files of the Hub.
_SHARD = re.compile(r"-\d+(-of-\d+)?(-[0-9a-f]+)?(?=\.parquet$)")
_SPLIT = re.compile(rf"(?:(.+)[_.-])?({'|'.join(SPLIT_NAMES)})", re.IGNORECASE)
# The files of TREC in SentEval.
_TREC: dict[str, Split] = {"train_5500.label": "train", "TREC_10.label": "test"}
_PROBING = re.compile(rb"(\xef\xbb\xbf)?(tr|va|te)\t[^\t]*\t")
# Endings of files with one class each, such as .pos and .neg; others have other meanings.
_CLASS = re.compile(r"\.[a-z]{3,12}")
_NO_CLASSES = (
    ".conllu",
    ".label",
    ".lock",
    ".log",
    ".rst",
    ".yaml",
    ".yml",
    ".toml",
    ".cfg",
    ".ini",
    ".xml",
    ".html",
    ".pdf",
    ".png",
    ".svg",
    ".ipynb",
    ".zip",
    ".bin",
    ".arrow",
)


class _Files(NamedTuple):
    """The files of a dataset: how they hold the rows, those of each split, and what names them."""

    layout: Layout
    files: dict[Split, list[Path]]
    called: Path


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

    Args:
        folder: where to look.
        task: the task of files that do not state it, one with classes; None if it is not a task of
            Probeta, or to tell it by the names of folders (SP, BSO, DC, SSP, RST).
        language: the language of files that do not state it.
        records: the kind of records of files that do not state it, one of ``KINDS``; None to tell
            it by the task and the texts.
        columns: the columns to take from files that do not describe themselves.

    Raises:
        InputError: no dataset was found, a split or a name is ambiguous, or the task or the kind
            of records is unknown.
    """
    _check_known("--task", task, [name for name in TASKS if TASKS[name].target == "label"])
    _check_known("--records", records, KINDS)
    paths = _files(folder)
    of_folder: dict[Path, list[Path]] = {}
    for path in paths:
        of_folder.setdefault(_home(path), []).append(path)
    datasets = [found for home, own in of_folder.items() for found in _datasets_of(home, own)]
    if not datasets:
        pickles = pickles_in(folder)
        raise InputError(
            folder,
            expected="datasets: <dataset>/train-00000-of-00001.parquet or <dataset>/train.txt, and "
            "the same for validation and test",
            found=f"{pickles[0].name}, a pickle, which can run any code when it is opened"
            if pickles
            else "none"
            if folder.is_dir()
            else "no such folder",
            todo="let its authors, or somebody who trusts them, write it as JSON Lines"
            if pickles
            else "name the folder that holds the datasets, in a layout that docs/audit.md lists",
        )
    locations = [
        Location(
            "",
            found.files,
            task,
            language,
            records,
            columns or Columns(),
            found.layout,
            (folder.resolve().name, *found.called.relative_to(folder).parts),
        )
        for found in datasets
    ]
    names = _names(folder, datasets)
    named = [replace(place, name=name) for place, name in zip(locations, names, strict=True)]
    return sorted(named, key=lambda location: location.name)


def pickles_in(folder: Path) -> list[Path]:
    """Return the files that are not opened, as that could run any code."""
    return [path for path in _visible(folder) if path.suffix.lower() in PICKLES]


def load_target(location: Location) -> Target:
    """Read a dataset.

    Raises:
        InputError: a file is damaged, or its rows do not fit together.
    """
    return from_parquet(location) if location.first.suffix == ".parquet" else from_files(location)


def split_of(path: Path) -> tuple[str, Split] | None:
    """Return what precedes the split in the name of a file ("" for nothing), and the split."""
    if path.name in _TREC:
        return "", _TREC[path.name]
    name = _SHARD.sub("", path.name)
    stem = name.removesuffix(path.suffix) if path.suffix in (*_TABLES, ".parquet") else name
    if path.suffix == ".parquet" and path.stem.isdecimal():
        stem = path.parent.name
    match = _SPLIT.fullmatch(stem)
    return (match[1] or "", SPLIT_NAMES[match[2].lower()]) if match else None


def _check_known(option: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise InputError(
            f"{option} {value}",
            expected=f"one of {', '.join(known)}, or nothing",
            found=repr(value),
            todo="correct the value, or leave the option out",
        )


def _visible(folder: Path) -> list[Path]:
    # Names that begin with a dot are unfinished output of a killed run, or files of tools.
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _files(folder: Path) -> list[Path]:
    return [path for path in _visible(folder) if path.suffix.lower() not in PICKLES]


def _home(path: Path) -> Path:
    """Return the folder of a file's dataset, or of several: that of the split's folder, if any."""
    named = path.suffix == ".parquet" and path.stem.isdecimal()
    return path.parents[1] if named and path.parent.name in SPLIT_NAMES else path.parent


def _datasets_of(home: Path, paths: Sequence[Path]) -> list[_Files]:
    """Return the datasets among the files of a folder."""
    found: list[_Files] = []
    rest = list(paths)
    together: list[tuple[Layout, dict[Split, list[Path]]]]
    together = [("similarity", _similarity(rest)), ("parallel", _parallel(rest))]
    for layout, files in together:
        if files:
            found.append(_Files(layout, files, home))
            taken = {path for own in files.values() for path in own}
            rest = [path for path in rest if path not in taken]
    splits: dict[str, dict[Split, list[Path]]] = {}
    for path in rest:
        if (path.suffix in ("", ".label", ".parquet", *_TABLES)) and (of := split_of(path)):
            prefix = "" if of[0].lower() == home.name.lower() else of[0]
            splits.setdefault(prefix, {}).setdefault(of[1], []).append(path)
    for prefix, files in splits.items():
        _check_sources(home, files)
        ordered = {split: files[split] for split in SPLITS if split in files}
        found.append(_Files("table", ordered, home / prefix))
    rest = [path for path in rest if not split_of(path)]
    found += [
        _Files("probing", {split: [path] for split in SPLITS}, path.with_suffix(""))
        for path in rest
        if path.suffix == ".txt" and _is_probing(path)
    ]
    classes: dict[str, list[Path]] = {}
    for path in rest:
        if _CLASS.fullmatch(path.suffix) and path.suffix not in (*_NO_CLASSES, *_TABLES):
            classes.setdefault(path.stem, []).append(path)
    return found + [
        _Files("classes", {"train": own}, home / stem)
        for stem, own in classes.items()
        if len(own) > 1
    ]


def _similarity(paths: Sequence[Path]) -> dict[Split, list[Path]]:
    pairs = [
        (path, gold)
        for path in paths
        if path.name.startswith("STS.input.")
        and (gold := path.with_name(path.name.replace("input", "gs", 1))) in paths
    ]
    return {"test": [path for pair in pairs for path in pair]} if pairs else {}


def _parallel(paths: Sequence[Path]) -> dict[Split, list[Path]]:
    files: dict[Split, list[Path]] = {}
    for path in paths:
        if split := SPLIT_NAMES.get(path.suffix.removeprefix(".")):
            files.setdefault(split, []).append(path)
    complete = {
        split: own
        for split in SPLITS
        if len(own := files.get(split, [])) > 1 and any(p.stem.startswith("label") for p in own)
    }
    return complete


def _check_sources(home: Path, splits: dict[Split, list[Path]]) -> None:
    for split, paths in splits.items():
        # Shards are one source; two other files are not.
        sources = sorted({_SHARD.sub(r"-*\1", path.name) for path in paths})
        folders = {path.parent for path in paths}
        if len(sources) > 1 and folders == {home}:
            raise InputError(
                home,
                expected=f"one file, or the shards of one, for {split}",
                found=" and ".join(sources),
                todo="move all but one to another folder",
            )
    files = [path for paths in splits.values() for path in paths]
    if len({path.suffix == ".parquet" for path in files}) > 1:
        raise InputError(
            home,
            expected="Parquet files or text files for all splits",
            found=", ".join(path.name for path in files),
            todo="move one kind to another folder",
        )


def _is_probing(path: Path) -> bool:
    with path.open("rb") as file:
        return _PROBING.match(file.readline()) is not None


def _names(folder: Path, datasets: Sequence[_Files]) -> list[str]:
    """Return a name for each dataset: its folder's or file's, or the path if names repeat."""
    parts = [
        found.called.relative_to(folder).parts or (found.called.resolve().name,)
        for found in datasets
    ]
    last = Counter(names[-1] for names in parts)
    names = [
        "_".join(folders) if last[folders[-1]] > 1 or _by_path(found) else folders[-1]
        for found, folders in zip(datasets, parts, strict=True)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            same = [
                str(d.called) for d, other in zip(datasets, names, strict=True) if other == name
            ]
            raise InputError(
                folder,
                expected="a name for each dataset",
                found=f"{name} for {' and '.join(same)}",
                todo="rename one of them",
            )
    return names


def _by_path(found: _Files) -> bool:
    first = next(iter(found.files.values()))[0]
    return found.layout != "probing" and first.suffix != ".parquet"
