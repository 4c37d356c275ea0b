"""Finds the datasets of a repository of the Hugging Face Hub, or of a task of mteb.

Data files alone are downloaded, at one commit.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetInfo, snapshot_download
from huggingface_hub.errors import RevisionNotFoundError

from builders.auditing.target import SPLIT_NAMES, Columns, Location
from builders.packaging.harnesses import short_code
from corpora_recipes.fetching.sources import dataset_info, hub_failures, hub_place, name_parts
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError, load_packages
from probeta.exchange.finding import PICKLES, find_targets, read_target, split_of

# What is downloaded; scripts and pickles, which could run code, are not.
DATA = (".parquet", ".csv", ".tsv", ".txt", ".json", ".jsonl")
# The branch to which the Hub converts datasets of other forms.
CONVERTED = "refs/convert/parquet"
# Of all files, in bytes: what an audit can hold in memory.
LARGEST = 2 << 30

_ADD_LANGUAGE = "choose with --language, such as --language es"


@dataclass(frozen=True, slots=True)
class Source:
    """Where datasets that are audited by name come from; ``asked`` is "" for the newest state."""

    name: str
    repository: str
    asked: str
    revision: str


def hub_targets(name: str, language: str | None) -> tuple[Source, list[Location]]:
    """Download the data files of ``hf://datasets/ORG/NAME[@REVISION][/FOLDER]``.

    Without a language, it is that of the card.
    """
    repository, asked, folder = name_parts(name)
    source, locations = repository_targets(repository, asked, folder, language=language)
    return replace(source, name=name), locations


def repository_targets(
    repository: str, asked: str, folder: str = "", *, language: str | None, config: str = ""
) -> tuple[Source, list[Location]]:
    """Download the data files of a repository, and return its datasets; see ``hub_targets``.

    ``asked`` is a branch, tag or commit, "" for the newest state; ``folder`` and ``config``
    restrict the files, if they are not "".
    """
    info = dataset_info(repository, asked or None)
    files = _data_files(info, folder)
    card: Mapping[str, Any] = vars(info.card_data) if info.card_data else {}
    configs = _configs(card, files)
    if not configs and not any(split_of(Path(name)) for name in files):
        info, files = _converted(repository, asked, folder, info)
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    if (size := sum(sizes[name] for name in files)) > LARGEST:
        todo = f"name a folder: hf://datasets/{repository}/FOLDER; see its files at the Hub"
        found = f"{size:,} bytes in {len(files):,} files"
        raise InputError(hub_place(repository), f"at most {LARGEST:,} bytes of data", found, todo)
    if config:
        configs = {config: configs[config]} if config in configs else {}
        listed = {path for paths in configs.get(config, {}).values() for path in paths}
        files = [name for name in files if name in listed or f"/{name}".startswith(f"/{config}/")]
    language = language or _language(repository, card)
    with hub_failures(repository):
        top = snapshot_download(
            repository, repo_type="dataset", revision=info.sha, allow_patterns=files
        )
    title = repository.split("/")[-1]
    locations = [
        # The name may become that of a folder.
        Location(
            re.sub(r"[^\w.-]", "_", name),
            paths,
            None,
            language,
            None,
            Columns(),
            read_target,
            folders=(title, name),
        )
        for name, splits in configs.items()
        if (paths := {split: [Path(top, path) for path in of] for split, of in splits.items()})
    ] or find_targets(Path(top, folder), language=language)
    source = Source(f"hf://datasets/{repository}", repository, asked, str(info.sha))
    if len(locations) == 1:
        return source, [replace(locations[0], name=title)]
    return source, [replace(each, name=f"{title}_{each.name}") for each in locations]


def _data_files(info: DatasetInfo, folder: str) -> list[str]:
    names = [sibling.rfilename for sibling in info.siblings or ()]
    return [
        name
        for name in sorted(names)
        if Path(name).suffix.lower() in DATA
        and not any(part.startswith(".") for part in Path(name).parts)
        and (not folder or name.startswith(f"{folder.strip('/')}/"))
    ]


def _configs(card: Mapping[str, Any], files: Sequence[str]) -> dict[str, dict[Split, list[str]]]:
    """Return the configurations that the card lists: name to split to files."""
    configs = {}
    for config in _mappings(card.get("configs")):
        splits: dict[Split, list[str]] = {}
        for entry in _mappings(config.get("data_files")):
            if split := SPLIT_NAMES.get(str(entry.get("split"))):
                patterns = _listed(entry.get("path"))
                splits[split] = [n for n in files if any(fnmatch(n, str(p)) for p in patterns)]
        if ordered := {split: splits[split] for split in SPLITS if splits.get(split)}:
            configs[str(config.get("config_name", "default"))] = ordered
    return configs


def _listed(stated: Any) -> list[Any]:
    """Return what a card states once, or several times, as a list."""
    return stated if isinstance(stated, list) else [stated] if stated else []


def _mappings(stated: Any) -> list[Mapping[str, Any]]:
    return [each for each in _listed(stated) if isinstance(each, dict)]


def _converted(
    repository: str, asked: str, folder: str, info: DatasetInfo
) -> tuple[DatasetInfo, list[str]]:
    """Return the state that the Hub converted to Parquet, of the newest revision alone."""
    files: list[str] = []
    if not asked:
        try:
            converted = dataset_info(repository, CONVERTED)
            files = _data_files(converted, folder)
        except InputError as error:
            if not isinstance(error.__context__, RevisionNotFoundError):
                raise
    if not files:
        names = sorted(sibling.rfilename for sibling in info.siblings or ())
        pickles = [name for name in names if Path(name).suffix.lower() in PICKLES]
        found = ", ".join(pickles or names) or "no files"
        if pickles:
            found = f"pickles, which can run any code when they are opened: {found}"
        expected = "data files named by split, such as train.parquet or test.jsonl"
        todo = "ask the authors for Parquet, CSV or JSON Lines; scripts and pickles are not run"
        raise InputError(hub_place(repository), expected, found, todo)
    return converted, files


def _language(repository: str, card: Mapping[str, Any]) -> str:
    languages = _listed(card.get("language"))
    if len(languages) != 1:
        found = ", ".join(map(str, languages)) or "none"
        raise InputError(
            hub_place(repository), "a card that says one language", found, _ADD_LANGUAGE
        )
    return str(languages[0])


def mteb_targets(
    name: str, language: str | None, columns: Columns
) -> tuple[Source, list[Location]]:
    """Download the dataset of ``mteb:TASK``, as its authors published it: labelled texts.

    What mteb does to the rows after loading them (``dataset_transform``) is not done. Of a task in
    several languages, ``language`` is the one to audit; without columns, they are the task's.
    """
    task = _task(name)
    columns = columns if columns != Columns() else _columns(name, task)
    config, language = _subset(name, task, language)
    about = task.metadata.dataset
    source, locations = repository_targets(
        about["path"], about["revision"], language=language, config=config or about.get("name", "")
    )
    return replace(source, name=name), [
        replace(location, records="examples", columns=columns) for location in locations
    ]


def _task(name: str) -> Any:
    (mteb,) = load_packages(name, "mteb")
    try:
        return mteb.get_task(name.removeprefix("mteb:"))
    except KeyError as error:
        todo = "correct the name; `mteb available-tasks` lists them"
        found = " ".join(str(error).split())
        raise InputError(name, "a task that this version of mteb knows", found, todo) from None


def _columns(name: str, task: Any) -> Columns:
    kind = task.metadata.type
    if kind == "Classification":
        return Columns((task.input_column_name,), task.label_column_name)
    if kind == "PairClassification":
        texts = (task.input1_column_name, task.input2_column_name)
        return Columns(texts, task.label_column_name)
    if kind == "STS":
        return Columns(tuple(task.column_names), score="score")
    dataset = "hf://datasets/{path}@{revision}".format_map(task.metadata.dataset)
    todo = f"audit its dataset by name, with --columns: {dataset}"
    expected = "a task of type Classification, PairClassification or STS"
    raise InputError(name, expected, kind, todo)


def _subset(name: str, task: Any, language: str | None) -> tuple[str, str]:
    """Return the configuration to audit ("" for the only one) and the language of its texts."""
    languages = task.metadata.eval_langs
    subsets = languages if isinstance(languages, dict) else {"": languages}
    codes = {config: {*map(short_code, of_subset)} for config, of_subset in subsets.items()}
    fits = [
        (config, code)
        for config, (code, *others) in codes.items()
        if not others and language in (None, code)
    ]
    if len(fits) != 1:
        found = ", ".join(sorted(set().union(*codes.values())))
        raise InputError(name, "one language", found, _ADD_LANGUAGE)
    return fits[0]
