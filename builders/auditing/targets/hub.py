"""Finds the datasets of a repository of the Hugging Face Hub: data files alone, at one commit."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.auditing.targets.finding import PICKLES, find_targets, split_of
from builders.auditing.targets.target import SPLIT_NAMES, Columns, Location
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

# What is downloaded; scripts and pickles, which could run code, are not.
DATA = (".parquet", ".csv", ".tsv", ".txt", ".json", ".jsonl")
# The branch to which the Hub converts datasets of other forms.
CONVERTED = "refs/convert/parquet"
# Of all files, in bytes: what an audit can hold in memory.
LARGEST = 2 << 30

_NAME = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^@]+?))?(?:/(.+))?")


@dataclass(frozen=True, slots=True)
class Source:
    """Where datasets that are audited by name come from.

    Attributes:
        name: as it was given.
        repository: on the Hub, such as ``ORG/NAME``.
        asked: the branch, tag or commit that was asked for; "" for the newest state.
        revision: the commit that was audited.
    """

    name: str
    repository: str
    asked: str
    revision: str


def is_name(said: str) -> bool:
    """Return whether a target is a dataset of the Hub, not a folder."""
    return said.startswith("hf://")


def hub_targets(
    said: str,
    *,
    task: str | None,
    language: str | None,
    records: str | None,
    columns: Columns | None,
) -> tuple[Source, list[Location]]:
    """Download the data files of ``hf://datasets/ORG/NAME[@REVISION][/FOLDER]``.

    Args:
        said: the name; a folder restricts it to the files in there.
        task: as for ``find_targets``.
        language: the language; None for that of the card.
        records: as for ``find_targets``.
        columns: as for ``find_targets``.

    Raises:
        InputError: the name is not of this form; the repository, the revision or data files are
            missing; the Hub cannot be reached; or the card does not say the language.
    """
    match = _NAME.fullmatch(said)
    if match is None:
        raise InputError(
            said,
            expected="hf://datasets/ORG/NAME, hf://datasets/ORG/NAME@REVISION, or either with "
            "/FOLDER at its end",
            found=said,
            todo="correct the name",
        )
    repository, asked, folder = match[1], match[2] or "", match[3] or ""
    source, locations = repository_targets(repository, asked, folder, language=language)
    chosen = columns or Columns()
    return replace(source, name=said), [
        replace(place, task=task, records=records, columns=chosen) for place in locations
    ]


def repository_targets(
    repository: str, asked: str, folder: str, *, language: str | None, config: str = ""
) -> tuple[Source, list[Location]]:
    """Download the data files of a repository, and return its datasets.

    Args:
        repository: such as ``ORG/NAME``.
        asked: a branch, tag or commit; "" for the newest state.
        folder: only files below it; "" for all.
        language: of the texts; None for that of the card.
        config: only this configuration of the card; "" for all.

    Raises:
        InputError: see ``hub_targets``.
    """
    info = _info(repository, asked or None)
    files = _data_files(info, folder)
    card = _configs(info, files)
    if not card and not any(_is_split(Path(name)) for name in files):
        info, files = _converted(repository, asked, folder, info)
    _check_size(repository, info, files)
    if config:
        card = {name: found for name, found in card.items() if name == config}
        kept = {path for found in card.values() for paths in found.values() for path in paths}
        files = [name for name in files if name in kept or f"/{name}".startswith(f"/{config}/")]
    language = language or _language(repository, info)
    revision = str(info.sha)
    top = _download(repository, revision, files)
    source = Source(f"hf://datasets/{repository}", repository, asked, revision)
    title = repository.split("/")[-1]
    if card:
        locations = [
            Location(
                title if len(card) == 1 else f"{title}_{name}",
                {split: [top / path for path in paths] for split, paths in found.items()},
                None,
                language,
                None,
                Columns(),
                folders=(title, name),
            )
            for name, found in card.items()
        ]
    else:
        found = find_targets(top / folder, language=language)
        locations = [
            replace(place, name=title if len(found) == 1 else f"{title}_{place.name}")
            for place in found
        ]
    return source, locations


def _info(repository: str, revision: str | None) -> "DatasetInfo":
    from huggingface_hub import HfApi

    with _failures(repository):
        return HfApi().dataset_info(repository, revision=revision, files_metadata=True)


def _data_files(info: "DatasetInfo", folder: str) -> list[str]:
    names = [sibling.rfilename for sibling in info.siblings or ()]
    return [
        name
        for name in sorted(names)
        if Path(name).suffix.lower() in DATA
        and not any(part.startswith(".") for part in Path(name).parts)
        and (not folder or name.startswith(f"{folder.strip('/')}/"))
    ]


def _card(info: "DatasetInfo") -> Mapping[str, Any]:
    return vars(info.card_data) if info.card_data else {}


def _is_split(path: Path) -> bool:
    return split_of(path) is not None


def _configs(info: "DatasetInfo", files: Sequence[str]) -> dict[str, dict[Split, list[str]]]:
    """Return the configurations that the card lists: name to split to files."""
    found = {}
    for config in _card(info).get("configs") or ():
        splits: dict[Split, list[str]] = {}
        listed = config.get("data_files")
        for entry in listed if isinstance(listed, list) else ():
            split = SPLIT_NAMES.get(str(entry.get("split"))) if isinstance(entry, dict) else None
            if split:
                patterns = entry.get("path")
                patterns = [patterns] if isinstance(patterns, str) else patterns or ()
                splits[split] = [n for n in files if any(fnmatch(n, str(p)) for p in patterns)]
        ordered = {split: splits[split] for split in SPLITS if splits.get(split)}
        if ordered:
            found[str(config.get("config_name", "default"))] = ordered
    return found


def _converted(
    repository: str, asked: str, folder: str, info: "DatasetInfo"
) -> tuple["DatasetInfo", list[str]]:
    """Return the state that the Hub converted to Parquet, of the newest revision alone."""
    from huggingface_hub.errors import RevisionNotFoundError

    files: list[str] = []
    if not asked:
        try:
            converted = _info(repository, CONVERTED)
            files = _data_files(converted, folder)
        except InputError as error:
            if not isinstance(error.__context__, RevisionNotFoundError):
                raise
    if not files:
        names = sorted(sibling.rfilename for sibling in info.siblings or ())
        pickles = [name for name in names if Path(name).suffix.lower() in PICKLES]
        raise InputError(
            f"the Hugging Face Hub, {repository}",
            expected="data files named by split, such as train.parquet or test.jsonl",
            found=f"pickles, which can run any code when they are opened: {', '.join(pickles)}"
            if pickles
            else ", ".join(names) or "no files",
            todo="ask the authors for Parquet, CSV or JSON Lines; scripts and pickles are not run",
        )
    return converted, files


def _check_size(repository: str, info: "DatasetInfo", files: Sequence[str]) -> None:
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    if (size := sum(sizes[name] for name in files)) > LARGEST:
        raise InputError(
            f"the Hugging Face Hub, {repository}",
            expected=f"at most {LARGEST:,} bytes of data",
            found=f"{size:,} bytes in {len(files):,} files",
            todo=f"name a folder: hf://datasets/{repository}/FOLDER; see its files at the Hub",
        )


def _language(repository: str, info: "DatasetInfo") -> str:
    said = _card(info).get("language") or []
    said = [said] if isinstance(said, str) else said
    if len(said) != 1:
        raise InputError(
            f"the Hugging Face Hub, {repository}",
            expected="a card that says one language",
            found=", ".join(map(str, said)) or "none",
            todo="add --language, such as --language es",
        )
    return str(said[0])


def _download(repository: str, revision: str, files: Sequence[str]) -> Path:
    from huggingface_hub import snapshot_download

    with _failures(repository):
        folder = snapshot_download(
            repository, repo_type="dataset", revision=revision, allow_patterns=list(files)
        )
    return Path(folder)


@contextmanager
def _failures(repository: str) -> Iterator[None]:
    """Turn errors of huggingface_hub into an InputError."""
    import httpx2
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        yield
    # Offline errors and answers of the Hub are OSErrors; a wrong name is a ValueError.
    except (httpx2.HTTPError, OSError, ValueError) as error:
        todo = "check the connection (HF_HUB_OFFLINE must not be set), then run it again"
        if isinstance(error, RepositoryNotFoundError):
            todo = "correct the name; for a private or gated dataset, log in with `hf auth login`"
        elif isinstance(error, RevisionNotFoundError):
            todo = "correct the revision: a branch, a tag or a commit"
        raise InputError(
            f"the Hugging Face Hub, {repository}",
            expected="a dataset that can be downloaded",
            found=f"{type(error).__name__}: {' '.join(str(error).split())}",
            todo=todo,
        ) from error
