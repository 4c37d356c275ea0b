"""Finds and downloads the files of a dataset of the Hugging Face Hub, all at one commit."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.fetching.downloads import announce
from corpora_recipes.fetching.pins import Locked, add_to_lock, read_lock, today
from corpora_recipes.running.errors import InputError, ParamsError

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

# The beginning of the names of datasets of the Hub.
HUB = "hf://"
_NAME = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@([^@]+?))?(?:/(.+))?")


@dataclass(frozen=True, slots=True)
class Found:
    """Files of a dataset of the Hub, each with its bytes."""

    repository: str
    commit: str
    files: dict[str, int]


def name_parts(name: str) -> tuple[str, str, str]:
    """Return repository, revision and folder of ``hf://datasets/ORG/NAME[@REVISION][/FOLDER]``."""
    match = _NAME.fullmatch(name)
    if match is None:
        form = "hf://datasets/ORG/NAME[@REVISION][/FOLDER], the parts in brackets at will"
        raise ParamsError(name, form, name)
    repository, revision, folder = match.groups(default="")
    return repository, revision, folder


def found_on_hub(name: str, patterns: Sequence[str]) -> Found:
    """Return the files of a dataset whose names match a pattern; for the name, see ``name_parts``.

    Without a revision, it is the commit that sources.lock has, or else the newest.
    """
    repository, asked, folder = name_parts(name)
    if not asked and (locked := read_lock().get(f"{HUB}datasets/{repository}")):
        asked = locked.sha1
    info = dataset_info(repository, asked or None)
    files = {
        sibling.rfilename: sibling.size or 0
        for sibling in info.siblings or ()
        if any(fnmatchcase(sibling.rfilename, pattern) for pattern in patterns)
        and (not folder or sibling.rfilename.startswith(f"{folder.strip('/')}/"))
    }
    if not files:
        names = sorted(sibling.rfilename for sibling in info.siblings or ())
        expected = f"files named {', '.join(patterns)}"
        todo = "name another dataset or folder; scripts and pickles are not run"
        raise InputError(name, expected, ", ".join(names) or "no files", todo)
    return Found(repository, str(info.sha), files)


def download(name: str, patterns: Sequence[str], out: Path) -> None:
    """Download the files of ``found_on_hub`` into a folder, and lock their commit."""
    from huggingface_hub import snapshot_download

    found = found_on_hub(name, patterns)
    announce(found.files.values(), f"{name}, commit {found.commit}", out)
    with hub_failures(found.repository):
        snapshot_download(
            found.repository,
            repo_type="dataset",
            revision=found.commit,
            allow_patterns=[*found.files],
            local_dir=out,
        )
    for path in (path for pattern in patterns for path in out.rglob(pattern)):
        if path.relative_to(out).as_posix() not in found.files:
            path.unlink()  # of another commit
    if not name_parts(name)[1]:
        lock = Locked(today(), found.repository, size=0, sha1=found.commit)
        add_to_lock(f"{HUB}datasets/{found.repository}", lock)


def dataset_info(repository: str, revision: str | None) -> "DatasetInfo":
    """Return what the Hub says of a dataset and the sizes of its files."""
    from huggingface_hub import HfApi

    with hub_failures(repository):
        return HfApi().dataset_info(repository, revision=revision, files_metadata=True)


@contextmanager
def hub_failures(repository: str) -> Iterator[None]:
    """Turn errors of huggingface_hub into an InputError."""
    # Only for datasets of the Hub.
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
        found = f"{type(error).__name__}: {' '.join(str(error).split())}"
        expected = "a dataset that can be downloaded"
        raise InputError(hub_place(repository), expected, found, todo) from error


def hub_place(repository: str) -> str:
    """Return the place of a repository, for messages."""
    return f"the Hugging Face Hub, {repository}"
