"""Finds the datasets of a folder: our instances, other Parquet files, text files."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from builders.auditing.targets.parquet import from_parquet
from builders.auditing.targets.target import Location, Target, split_of
from builders.auditing.targets.text_files import check_headers, from_text, lines_of, probing_lines
from builders.tasks import TASKS
from corpora_recipes.records import KINDS, SPLITS, Split
from corpora_recipes.running.errors import InputError

_TEXT_FILES = (".txt", ".tsv", ".csv")
# The number of a shard, and the hash after it in older files of the Hub.
_SHARD = re.compile(r"-\d+(-of-\d+)?(-[0-9a-f]+)?(?=\.parquet$)")
_PROBING = re.compile(rb"(\xef\xbb\xbf)?(tr|va|te)\t[^\t]*\t")


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

    - Parquet files ``<dataset>/<split>-….parquet`` or ``<dataset>/<split>.parquet``. Those of
      Probeta describe themselves, and may have scores instead of labels, and folds instead of
      splits. Others need a column ``label`` or ``labels`` of integers or strings, and one or more
      columns of strings or of lists of strings: these are the texts, except those named in
      ``NOT_TEXT``.
    - Text files ``<dataset>/<split>.txt`` (or .tsv, .csv without quoting) with tab-separated
      lines: a label, then the texts.
    - A text file ``<dataset>.txt`` in the format of SentEval's probing tasks, with tab-separated
      lines: ``tr``, ``va`` or ``te``, then the label, then the texts.

    The names of splits are in ``SPLIT_NAMES``; other files, and names that begin with a dot, are
    skipped. Tokenised text of text files is detokenised by simple rules. The name of a dataset is
    that of its folder or its one file, or the path, joined by "_", if two would have the same name;
    with one text file per split it is always the path.

    Args:
        folder: where to look.
        task: the task of files that do not state it, one with classes; None if it is not a task of
            Probeta.
        language: the language of files that do not state it.
        records: the kind of records of files that do not state it, one of ``KINDS``; None for
            the first kind of the task, or "documents" without a task.
        columns: the texts to take from files that do not state them, by the names in
            ``Target.texts``; None for all.

    Raises:
        InputError: no dataset was found, a split or a name is ambiguous, or the task or the kind
            of records is unknown.
    """
    _check_known("--task", task, [name for name in TASKS if TASKS[name].target == "label"])
    _check_known("--records", records, KINDS)
    records = records or (TASKS[task].records[0] if task else "documents")
    paths = _files(folder)
    datasets = _files_of_splits(paths)
    datasets += [{split: [path] for split in SPLITS} for path in paths if _is_probing(path)]
    if not datasets:
        raise InputError(
            folder,
            expected="datasets: <dataset>/train-00000-of-00001.parquet or <dataset>/train.txt, and "
            "the same for validation and test",
            found="none" if folder.is_dir() else "no such folder",
            todo="name the folder that holds the datasets; labels and texts in separate files "
            "cannot be read",
        )
    taken = None if columns is None else tuple(columns)
    locations = [Location("", files, task, language, records, taken) for files in datasets]
    names = _names(folder, [location.first for location in locations])
    named = [replace(place, name=name) for place, name in zip(locations, names, strict=True)]
    return sorted(named, key=lambda location: location.name)


def _check_known(option: str, value: str | None, known: Sequence[str]) -> None:
    if value is not None and value not in known:
        raise InputError(
            f"{option} {value}",
            expected=f"one of {', '.join(known)}, or nothing",
            found=repr(value),
            todo="correct the value, or leave the option out",
        )


def _files(folder: Path) -> list[Path]:
    # Names that begin with a dot are unfinished output of a killed run, or files of tools.
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in (".parquet", *_TEXT_FILES)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _files_of_splits(paths: Sequence[Path]) -> list[dict[Split, list[Path]]]:
    """Return split to files, for each folder with files named by split."""
    found: dict[Path, dict[Split, list[Path]]] = {}
    for path in paths:
        if split := split_of(path):
            found.setdefault(path.parent, {}).setdefault(split, []).append(path)
    for parent, splits in found.items():
        for split, paths in splits.items():
            # Shards are one source; two other files are not.
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
    if path.suffix != ".txt" or split_of(path):
        return False
    with path.open("rb") as file:
        return _PROBING.match(file.readline()) is not None


def _names(folder: Path, firsts: Sequence[Path]) -> list[str]:
    """Return a name for each dataset: its folder's or file's, or the path if names repeat.

    Args:
        folder: where the datasets were looked for.
        firsts: the first file of each.
    """
    paths = [path.parent if split_of(path) else path.with_suffix("") for path in firsts]
    parts = [path.relative_to(folder).parts or (path.resolve().name,) for path in paths]
    last = Counter(names[-1] for names in parts)
    of_text = {path for path in firsts if split_of(path) and path.suffix != ".parquet"}
    names = [
        "_".join(folders) if last[folders[-1]] > 1 or path in of_text else folders[-1]
        for path, folders in zip(firsts, parts, strict=True)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            same = [str(path) for path, other in zip(paths, names, strict=True) if other == name]
            raise InputError(
                folder,
                expected="a name for each dataset",
                found=f"{name} for {' and '.join(same)}",
                todo="rename one of them",
            )
    return names


def load_target(location: Location) -> Target:
    """Read a dataset.

    Raises:
        InputError: a file is damaged, or its rows do not fit together.
    """
    first = location.first
    if first.suffix == ".parquet":
        return from_parquet(location)
    if split_of(first) is None:
        return from_text(location, probing_lines(first))
    lines = {split: lines_of(paths[0]) for split, paths in location.files.items()}
    check_headers(list(lines.values()))
    return from_text(location, lines)
