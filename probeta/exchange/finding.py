"""Finds the datasets of a folder: our instances, other Parquet files, text files."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from builders.auditing.target import SPLIT_NAMES, Columns, Layout, Location, Target
from builders.tasks import TASKS
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.limits import LONGEST_ROW
from probeta.exchange.tables import from_files, from_parquet

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
_CLASS = re.compile(
    r"\.(?!(?:arrow|bin|cfg|conllu|csv|html|ini|ipynb|json|jsonl|label|lock|log|pdf|png|rst|svg"
    r"|toml|tsv|txt|xml|yaml|yml|zip)$)[a-z]{3,12}"
)

_Files = dict[Split, list[Path]]
# How files hold their rows, the files of each split, and what names them.
_Dataset = tuple[Layout, _Files, Path]


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
    homes: dict[Path, list[Path]] = {}
    for path in _visible(folder):
        if path.suffix.lower() not in PICKLES:
            homes.setdefault(_home(path), []).append(path)
    datasets = [dataset for home, paths in homes.items() for dataset in _datasets_of(home, paths)]
    if not datasets:
        found = "none" if folder.is_dir() else "no such folder"
        todo = "name the folder that holds the datasets, in a layout that docs/audit.md lists"
        for pickle in pickles_in(folder)[:1]:
            found = f"{pickle.name}, a pickle, which can run any code when it is opened"
            todo = "let its authors, or somebody who trusts them, write it as JSON Lines"
        expected = "datasets: <dataset>/train-00000-of-00001.parquet or <dataset>/train.txt, and "
        expected += "the same for validation and test"
        raise InputError(folder, expected, found, todo)
    stated = (task, language, records, columns or Columns())
    top = folder.resolve().name
    locations = [
        Location(
            name, files, *stated, read_target, layout, (top, *called.relative_to(folder).parts)
        )
        for name, (layout, files, called) in zip(_names(folder, datasets), datasets, strict=True)
    ]
    return sorted(locations, key=lambda location: location.name)


def read_target(location: Location) -> Target:
    """Read a dataset, or raise an InputError: files are damaged, or rows do not fit together."""
    return from_parquet(location) if location.first.suffix == ".parquet" else from_files(location)


def pickles_in(folder: Path) -> list[Path]:
    """Return the files that are not opened, as that could run any code."""
    return [path for path in _visible(folder) if path.suffix.lower() in PICKLES]


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


def _visible(folder: Path) -> list[Path]:
    # Names that begin with a dot are unfinished output of a killed run, or files of tools.
    return sorted(
        path
        for path in folder.rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _home(path: Path) -> Path:
    """Return the folder of a file's dataset, or of several: that of the split's folder, if any."""
    named = path.suffix == ".parquet" and path.stem.isdecimal()
    return path.parents[1] if named and path.parent.name in SPLIT_NAMES else path.parent


def _datasets_of(home: Path, paths: Sequence[Path]) -> Iterator[_Dataset]:
    """Yield the datasets among the files of a folder."""
    pairs = _scored_pairs(paths)
    if pairs:
        yield "similarity", {"test": pairs}, home
    parallel = _parallel([path for path in paths if path not in pairs])
    if parallel:
        yield "parallel", parallel, home
    taken = {*pairs, *(path for files in parallel.values() for path in files)}
    splits: dict[str, _Files] = {}
    classes: dict[str, list[Path]] = {}
    for path in paths:
        of_split = split_of(path)
        if path in taken:
            continue
        if of_split and path.suffix in ("", ".label", ".parquet", *_TABLES):
            prefix = "" if of_split[0].lower() == home.name.lower() else of_split[0]
            splits.setdefault(prefix, {}).setdefault(of_split[1], []).append(path)
        elif of_split:
            continue
        elif path.suffix == ".txt" and _is_probing(path):
            yield "probing", {split: [path] for split in SPLITS}, path.with_suffix("")
        elif _CLASS.fullmatch(path.suffix):
            classes.setdefault(path.stem, []).append(path)
    for prefix, files in splits.items():
        _check_sources(home, files)
        yield "table", {split: files[split] for split in SPLITS if split in files}, home / prefix
    for stem, files_of_classes in classes.items():
        if len(files_of_classes) > 1:
            yield "classes", {"train": files_of_classes}, home / stem


def _scored_pairs(paths: Sequence[Path]) -> list[Path]:
    """Return each file of SemEval with pairs, followed by that with their scores."""
    scores = {path: path.with_name(path.name.replace("input", "gs", 1)) for path in paths}
    return [
        each
        for path in paths
        if path.name.startswith("STS.input.") and scores[path] in scores
        for each in (path, scores[path])
    ]


def _parallel(paths: Sequence[Path]) -> _Files:
    files: _Files = {split: [] for split in SPLITS}
    for path in paths:
        if split := SPLIT_NAMES.get(path.suffix.removeprefix(".")):
            files[split].append(path)
    return {
        split: together
        for split, together in files.items()
        if len(together) > 1 and any(path.stem.startswith("label") for path in together)
    }


def _check_sources(home: Path, splits: _Files) -> None:
    for split, paths in splits.items():
        # Shards are one source; two other files are not.
        sources = sorted({_SHARD.sub(r"-*\1", path.name) for path in paths})
        folders = {path.parent for path in paths}
        if len(sources) > 1 and folders == {home}:
            expected, todo = f"one file, or the shards of one, for {split}", "move all but one away"
            raise InputError(home, expected, " and ".join(sources), todo)
    files = [path for paths in splits.values() for path in paths]
    if len({path.suffix == ".parquet" for path in files}) > 1:
        expected, found = (
            "Parquet files or text files for all splits",
            ", ".join(path.name for path in files),
        )
        raise InputError(home, expected, found, "move one kind to another folder")


def _is_probing(path: Path) -> bool:
    with path.open("rb") as file:
        return _PROBING.match(file.readline(LONGEST_ROW)) is not None


def _names(folder: Path, datasets: Sequence[_Dataset]) -> list[str]:
    """Return a name for each dataset: its folder's or file's, or the path if names repeat."""
    parts = [
        called.relative_to(folder).parts or (called.resolve().name,) for _, _, called in datasets
    ]
    last = Counter(folders[-1] for folders in parts)
    names = []
    for (layout, files, _), folders in zip(datasets, parts, strict=True):
        plain = layout != "probing" and next(iter(files.values()))[0].suffix != ".parquet"
        names.append("_".join(folders) if plain or last[folders[-1]] > 1 else folders[-1])
    for name, count in Counter(names).items():
        if count > 1:
            same = [str(d[2]) for d, other in zip(datasets, names, strict=True) if other == name]
            found = f"{name} for {' and '.join(same)}"
            raise InputError(folder, "a name for each dataset", found, "rename one of them")
    return names
