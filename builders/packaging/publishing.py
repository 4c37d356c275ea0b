"""The `publish` command: the datasets that may be redistributed, as a version on the Hub."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from builders.audit_report import failures_of, read_audit, undeclared_of
from builders.packaging.hub import package
from builders.plan.datasets import ExampleDataset, missing_parts
from builders.plan.groups import BuildGroup
from corpora_recipes.fetching.sources import hub_failures
from corpora_recipes.parquet import PYARROW
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError, ParamsError


@dataclass(frozen=True, slots=True)
class Publication:
    """The files that were or would be published.

    Attributes:
        files: path in the repository to its size in bytes.
        removed: files of the previous version that this one does not have; empty on a dry run.
        left_out: the corpora that may not be redistributed, and the rankings made of them.
        undeclared: misses of source data that are not declared; the card shows them.
        url: of the version; None on a dry run.
    """

    repo: str
    tag: str
    files: dict[str, int]
    removed: list[str]
    left_out: list[str]
    undeclared: list[str]
    url: str | None

    def __str__(self) -> str:
        lines = [f"{size:>13,}  {path}" for path, size in self.files.items()]
        lines.append(f"{sum(self.files.values()):>13,}  bytes in {len(self.files)} files")
        lines += [f"removed: {path}" for path in self.removed]
        if self.left_out:
            names = ", ".join(self.left_out)
            lines.append(f"left out, not to be redistributed without permission: {names}")
        lines += [f"undeclared miss: {miss}" for miss in self.undeclared]
        dry = f"{self.repo} would have only these files, as tag {self.tag}."
        dry = f"dry run: nothing was uploaded. {dry}"
        return "\n".join([*lines, f"published: {self.url}" if self.url else dry])


def publish(
    groups: Sequence[BuildGroup],
    instances: Path,
    audit: Path,
    repo: str,
    *,
    version: str,
    name: str = "",
    params: Path = PARAMS,
    packaged: Path | None = None,
    dry_run: bool = False,
    include_restricted: bool = False,
) -> Publication:
    """Package the datasets that may be redistributed and upload them as one tagged commit.

    Files of an earlier version that this one does not have are removed in the same commit; earlier
    versions stay under their tags. A missing repository is created. It must be private, and is
    created so, if a corpus may not be redistributed. An interrupted run can be repeated.

    Args:
        groups: all groups of params.yaml that there are; samples are not published.
        instances: where `build` and `compose` wrote.
        audit: the audit.json of these instances.
        version: of these datasets as a whole, such as "1.0.0"; the tag is ``v<version>``.
        name: see ``package``.
        packaged: the package whose rows are cached; unchanged ones are taken from there.
        dry_run: check all that needs no Hub, and return what would be published.
        include_restricted: publish also corpora whose corpus.yaml says ``redistributable: false``,
            and the rankings made of them.
    """
    name_rule = "ORG/NAME: a user or organisation of the Hub, and a name"
    _validate_option("--repo", repo, r"[\w.-]+/[\w.-]+", name_rule)
    _validate_option("--version", version, r"\d{1,9}(\.\d{1,9}){2}", "three numbers, such as 1.0.0")
    nonempty = [group for group in groups if group.datasets]
    restricted = [group.name for group in nonempty if not group.redistributable]
    left_out = [] if include_restricted else restricted
    published = [group for group in nonempty if group.name not in left_out]
    if not published:
        found = f"{', '.join(restricted)}, which may not" if restricted else "none"
        todo = "add another corpus, or use --include-restricted with a private repository"
        users = [g.name for g in nonempty if _is_users(g) and g.name in restricted]
        if users:
            todo = (
                "if you may redistribute these texts, write `redistributable: true` at "
                f"{', '.join(f'corpora.{name}.corpus' for name in users)}; otherwise {todo}"
            )
        raise InputError(f"{params}: corpora", "a corpus that may be redistributed", found, todo)
    names = [dataset.name for group in published for dataset in group.datasets]
    audited = read_audit(audit)["datasets"]
    report = {"datasets": {name: audited[name] for name in names if name in audited}}
    private = bool(restricted) and include_restricted
    tag = f"v{version}"
    tags: list[str] = []
    present: list[str] = []
    _check_pyarrow()
    _check_no_samples(published, params)
    _check_audit(report, audit)
    if not dry_run:
        _check_token()
        tags, present, is_private = _inspect_repository(repo)
        if tag in tags:
            expected = f"no tag {tag}, as a published version is never overwritten"
            raise InputError(repo, expected, ", ".join(tags), "choose a higher --version")
        if private and not is_private:
            expected = f"a private repository for {', '.join(restricted)}, not to be redistributed"
            todo = "make it private on the Hub, name a new one, or leave out --include-restricted"
            raise InputError(repo, expected, "a public repository", todo)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "hub"
        hub = (repo, tag)
        package(published, instances, audit, folder, name=name, earlier=packaged, hub=hub)
        _check_complete(published, instances)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}
        removed = sorted(set(present) - set(files) - {".gitattributes"})
        if removed and not tags:
            expected = "a new or empty repository, or one that this command has published"
            found = f"other files and no tag: {', '.join(removed[:3])} …"
            raise InputError(repo, expected, found, "name another repository, or empty this one")
        url = None if dry_run else _upload(folder, list(files), removed, repo, tag, private)
    return Publication(repo, tag, files, removed, left_out, undeclared_of(report), url)


def _is_users(group: BuildGroup) -> bool:
    """Return whether params.yaml may say that the texts of a group may be redistributed."""
    return all("redistributable" in origin.corpus.options for origin in group.origins)


def _validate_option(option: str, value: str, pattern: str, expected: str) -> None:
    if not re.fullmatch(pattern, value, re.ASCII):
        raise ParamsError(option, expected, repr(value))


def _check_pyarrow() -> None:
    if pa.__version__ != PYARROW:
        expected = f"pyarrow {PYARROW}, so that published files have the same bytes everywhere"
        todo = f"`pip install pyarrow=={PYARROW}`, then run the same command again"
        raise InputError("pyarrow", expected, pa.__version__, todo)


def _check_no_samples(groups: Sequence[BuildGroup], params: Path) -> None:
    samples = [group.name for group in groups if any(origin.sample for origin in group.origins)]
    if samples:
        found = f"the samples that are part of Probeta: {', '.join(samples)}"
        todo = "set sources to upstream or a mirror, and run `probeta repro`"
        raise InputError(f"{params}: sources", "corpora", found, todo)


def _check_audit(report: Mapping[str, Any], audit: Path) -> None:
    if failures := failures_of(report):
        found = "".join(f"\n    {failure}" for failure in failures)
        todo = "correct the dataset, or declare the miss under audit.inherited in params.yaml, and "
        raise InputError(audit, "no failures in the audit", found, f"{todo}run `probeta repro`")


def _check_complete(groups: Sequence[BuildGroup], instances: Path) -> None:
    for group in groups:
        report = json.loads((instances / group.folder / "build.json").read_text("utf-8"))
        for dataset in group.datasets:
            missing, part_sizes = [], {}
            if isinstance(dataset, ExampleDataset):
                part_sizes = report[dataset.name]["source_parts"]
                missing = missing_parts(dataset.facts, part_sizes)
            for source, facts in report[dataset.name].get("sources", {}).items():
                part_sizes[source] = facts["source_parts"]
                missing += [f"{source} ({part})" for part in facts["missing_parts"]]
            if missing:
                expected = "about as many rows as the official count of the source"
                far_fewer = f"far fewer in {' and '.join(missing)}: {part_sizes}"
                todo = f"get the missing files of {group.name}, and run `probeta repro`"
                raise InputError(f"dataset {dataset.name}", expected, far_fewer, todo)


def _check_token() -> None:
    from huggingface_hub import get_token

    if get_token() is None:
        todo = "log in with `hf auth login`, or set HF_TOKEN"
        raise InputError("the Hugging Face Hub", "a token with write access", "no token", todo)


# What is expected of the Hub, and what to do.
_UPLOAD = (
    "an answer that accepts the files",
    "check the connection, and that the token can write (`hf auth whoami`); then run it again",
)


def _inspect_repository(repo: str) -> tuple[list[str], list[str], bool]:
    """Return tags and files of a repository, and whether it is, or can be made, private."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    api = HfApi()
    with hub_failures(repo, *_UPLOAD):
        try:
            refs = api.list_repo_refs(repo, repo_type="dataset")
            names = api.list_repo_files(repo, repo_type="dataset")
            is_private = api.dataset_info(repo).private is True
            return [tag.name for tag in refs.tags], names, is_private
        except RepositoryNotFoundError:
            return [], [], True


def _upload(
    folder: Path, files: list[str], removed: list[str], repo: str, tag: str, private: bool
) -> str:
    """Create the repository if needed, commit everything at once, tag it; return its address."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    api = HfApi()
    deletions = [CommitOperationDelete(path) for path in removed]
    additions = [CommitOperationAdd(path, folder / path) for path in files]
    with hub_failures(repo, *_UPLOAD):
        # None: the organisation's default for a new repository; an existing one is not changed.
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        # Not upload_folder, which may stop between two of its commits.
        commit = api.create_commit(
            repo, [*deletions, *additions], commit_message=f"Probeta {tag}", repo_type="dataset"
        )
        api.create_tag(repo, tag=tag, revision=commit.oid, repo_type="dataset")
    return f"{api.endpoint}/datasets/{repo}/tree/{tag}"
