"""Audit of third-party datasets: of a folder, of the Hugging Face Hub, or of a task of mteb.

Of the Hub, data files alone are downloaded, at one commit.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from huggingface_hub import DatasetInfo, snapshot_download
from huggingface_hub.errors import RevisionNotFoundError

from builders.audit_report import Inherited
from builders.auditing import auditing
from builders.auditing.target import SPLIT_NAMES, Columns, Location
from builders.packaging.harnesses import short_code
from builders.plan.groups import BuildGroup
from corpora_recipes.fetching.sources import (
    dataset_info,
    hub_failures,
    hub_location,
    parse_hub_name,
)
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError, check_packages, load_packages
from probeta.exchange.third_party import (
    PICKLE_SUFFIXES,
    find_targets,
    pickles_in,
    read_target,
    split_of,
)

# What is downloaded; scripts and pickles, which could run code, are not.
DATA_SUFFIXES = (".parquet", ".csv", ".tsv", ".txt", ".json", ".jsonl")
# The branch to which the Hub converts datasets of other forms.
CONVERTED_BRANCH = "refs/convert/parquet"
# Of all files, in bytes: what an audit can hold in memory.
MAX_BYTES = 2 << 30
_ADD_LANGUAGE = "choose with --language, such as --language es"


@dataclass(frozen=True, slots=True)
class Source:
    """Where datasets that are audited by name come from; ``asked`` is "" for the newest state."""

    name: str
    repository: str
    asked: str
    revision: str


def audit(
    target: Path | str,
    out: str | Path,
    *,
    task: str | None = None,
    language: str | None = None,
    records: str | None = None,
    columns: Columns | None = None,
    groups: Sequence[BuildGroup] = (),
    inherited: Inherited | None = None,
    params: Path = PARAMS,
    strict: bool = False,
    workers: int = 1,
    cited: Path | None = None,
) -> dict[str, Any]:
    """Measure the gates on every dataset of a folder, or of a name.

    Args:
        target: a folder, `hf://datasets/ORG/NAME` (with `@REVISION` or `/FOLDER` after it, if
            wanted), or `mteb:TASK`.
        out: folder for audit.json and audit.md; what it held before is replaced as a whole.
        task: of files that do not state it.
        language: of files that do not state it; None for that of the Hub's card or of mteb's
            task, and Spanish in a folder.
        records: the kind of records of files that do not state it; None to tell it by the texts.
        columns: the columns to take; those that are not named are found by name and content.
        groups: the datasets of a params.yaml, for the boilerplate of their corpora.
        inherited: dataset to gate to the declaration of its miss (``because``, ``at_most``).
        params: the file that declares them, for messages.
        strict: whether undeclared misses of source data are failures too.
        workers: number of processes.
        cited: a file for the audit as JSON that can be cited; None for none.

    Returns:
        The content of audit.json, see ``builders.auditing.auditing.audit``.

    Raises:
        InputError: no dataset was found, it cannot be downloaded, or files are damaged.
    """
    check_packages("audit", "py3langid", "sklearn")
    source, locations = locate(
        target, task=task, language=language, records=records, columns=columns
    )
    pickles = [] if source else pickles_in(Path(target))
    return auditing.audit(
        locations,
        Path(out),
        target=str(target),
        source=asdict(source) if source else None,
        not_read=[path.relative_to(target).as_posix() for path in pickles],
        groups=groups,
        inherited=inherited,
        params=params,
        strict=strict,
        workers=workers,
        cited=cited,
    )


def locate(
    target: Path | str,
    *,
    task: str | None = None,
    language: str | None = None,
    records: str | None = None,
    columns: Columns | None = None,
) -> tuple[Source | None, list[Location]]:
    """Return the datasets of a folder, of ``hf://datasets/…`` or of ``mteb:TASK``.

    For the others, see ``Location``; without a language, it is that of a card or a task, and
    Spanish in a folder. A task of mteb has its columns. Without records, the task and the texts
    tell them.

    Returns:
        Where they come from, None for a folder; and where their files are.
    """
    name = str(target)
    columns = columns or Columns()
    if name.startswith("mteb:"):
        source, locations = mteb_targets(name, language, columns)
    elif name.startswith("hf://"):
        source, locations = hub_targets(name, language)
        locations = [replace(location, columns=columns) for location in locations]
    else:
        return None, find_targets(
            Path(target), task=task, language=language or "es", records=records, columns=columns
        )
    return source, [
        replace(location, task=task, records=records or location.records) for location in locations
    ]


def hub_targets(name: str, language: str | None) -> tuple[Source, list[Location]]:
    """Download the data files of ``hf://datasets/ORG/NAME[@REVISION][/FOLDER]``.

    Without a language, it is that of the card.
    """
    repository, asked, folder = parse_hub_name(name)
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
    configs = _card_configs(card, files)
    if not configs and not any(split_of(Path(name)) for name in files):
        info, files = _find_converted(repository, asked, folder, info)
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    if (size := sum(sizes[name] for name in files)) > MAX_BYTES:
        todo = f"name a folder: hf://datasets/{repository}/FOLDER; see its files at the Hub"
        found = f"{size:,} bytes in {len(files):,} files"
        raise InputError(
            hub_location(repository), f"at most {MAX_BYTES:,} bytes of data", found, todo
        )
    if config:
        configs = {config: configs[config]} if config in configs else {}
        config_files = {path for paths in configs.get(config, {}).values() for path in paths}
        files = [
            name for name in files if name in config_files or f"/{name}".startswith(f"/{config}/")
        ]
    language = language or _card_language(repository, card)
    with hub_failures(repository):
        snapshot = snapshot_download(
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
        if (paths := {split: [Path(snapshot, path) for path in of] for split, of in splits.items()})
    ] or find_targets(Path(snapshot, folder), language=language)
    source = Source(f"hf://datasets/{repository}", repository, asked, str(info.sha))
    if len(locations) == 1:
        return source, [replace(locations[0], name=title)]
    return source, [replace(location, name=f"{title}_{location.name}") for location in locations]


def _data_files(info: DatasetInfo, folder: str) -> list[str]:
    names = [sibling.rfilename for sibling in info.siblings or ()]
    return [
        name
        for name in sorted(names)
        if Path(name).suffix.lower() in DATA_SUFFIXES
        and not any(part.startswith(".") for part in Path(name).parts)
        and (not folder or name.startswith(f"{folder.strip('/')}/"))
    ]


def _card_configs(
    card: Mapping[str, Any], files: Sequence[str]
) -> dict[str, dict[Split, list[str]]]:
    """Return the configurations that the card lists: name to split to files."""
    configs = {}
    for config in _mappings_in(card.get("configs")):
        splits: dict[Split, list[str]] = {}
        for entry in _mappings_in(config.get("data_files")):
            if split := SPLIT_NAMES.get(str(entry.get("split"))):
                patterns = _as_list(entry.get("path"))
                splits[split] = [n for n in files if any(fnmatch(n, str(p)) for p in patterns)]
        if ordered := {split: splits[split] for split in SPLITS if splits.get(split)}:
            configs[str(config.get("config_name", "default"))] = ordered
    return configs


def _as_list(value: Any) -> list[Any]:
    """Return what a card states once, or several times, as a list."""
    return value if isinstance(value, list) else [value] if value else []


def _mappings_in(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in _as_list(value) if isinstance(entry, dict)]


def _find_converted(
    repository: str, asked: str, folder: str, info: DatasetInfo
) -> tuple[DatasetInfo, list[str]]:
    """Return the state that the Hub converted to Parquet, of the newest revision alone."""
    files: list[str] = []
    if not asked:
        try:
            converted = dataset_info(repository, CONVERTED_BRANCH)
            files = _data_files(converted, folder)
        except InputError as error:
            if not isinstance(error.__context__, RevisionNotFoundError):
                raise
    if not files:
        names = sorted(sibling.rfilename for sibling in info.siblings or ())
        pickles = [name for name in names if Path(name).suffix.lower() in PICKLE_SUFFIXES]
        found = ", ".join(pickles or names) or "no files"
        if pickles:
            found = f"pickles, which can run any code when they are opened: {found}"
        expected = "data files named by split, such as train.parquet or test.jsonl"
        todo = "ask the authors for Parquet, CSV or JSON Lines; scripts and pickles are not run"
        raise InputError(hub_location(repository), expected, found, todo)
    return converted, files


def _card_language(repository: str, card: Mapping[str, Any]) -> str:
    languages = _as_list(card.get("language"))
    if len(languages) != 1:
        found = ", ".join(map(str, languages)) or "none"
        raise InputError(
            hub_location(repository), "a card that says one language", found, _ADD_LANGUAGE
        )
    return str(languages[0])


def mteb_targets(
    name: str, language: str | None, columns: Columns
) -> tuple[Source, list[Location]]:
    """Download the dataset of ``mteb:TASK``, as its authors published it: labelled texts.

    What mteb does to the rows after loading them (``dataset_transform``) is not done. Of a task in
    several languages, ``language`` is the one to audit; without columns, they are the task's.
    """
    task = _mteb_task(name)
    columns = columns if columns != Columns() else _mteb_columns(name, task)
    config, language = _mteb_subset(name, task, language)
    source_data = task.metadata.dataset
    source, locations = repository_targets(
        source_data["path"],
        source_data["revision"],
        language=language,
        config=config or source_data.get("name", ""),
    )
    return replace(source, name=name), [
        replace(location, records="examples", columns=columns) for location in locations
    ]


def _mteb_task(name: str) -> Any:
    (mteb,) = load_packages(name, "mteb")
    try:
        return mteb.get_task(name.removeprefix("mteb:"))
    except KeyError as error:
        todo = "correct the name; `mteb available-tasks` lists them"
        found = " ".join(str(error).split())
        raise InputError(name, "a task that this version of mteb knows", found, todo) from None


def _mteb_columns(name: str, task: Any) -> Columns:
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


def _mteb_subset(name: str, task: Any, language: str | None) -> tuple[str, str]:
    """Return the configuration to audit ("" for the only one) and the language of its texts."""
    languages = task.metadata.eval_langs
    subsets = languages if isinstance(languages, dict) else {"": languages}
    codes = {config: {*map(short_code, of_subset)} for config, of_subset in subsets.items()}
    matching = [
        (config, code)
        for config, (code, *others) in codes.items()
        if not others and language in (None, code)
    ]
    if len(matching) != 1:
        found = ", ".join(sorted(set().union(*codes.values())))
        raise InputError(name, "one language", found, _ADD_LANGUAGE)
    return matching[0]
