"""The `publish` command: the datasets that may be redistributed, as a version on the Hub."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from builders.audit import read_audit
from builders.card import missing_parts
from builders.hub import package
from builders.rankings import Group
from builders.shards import digests
from corpora_recipes.errors import InputError


@dataclass(frozen=True, slots=True)
class Publication:
    """What was published, or would be.

    Attributes:
        repo: the dataset repository.
        tag: the version's tag.
        files: path in the repository to its size in bytes.
        removed: files of the version before that this one does not have; empty on a dry run.
        left_out: the corpora that may not be redistributed, and the rankings made of such.
        url: where the version can be seen; None on a dry run.
    """

    repo: str
    tag: str
    files: dict[str, int]
    removed: list[str]
    left_out: list[str]
    url: str | None

    def __str__(self) -> str:
        lines = [f"{size:>13,}  {path}" for path, size in self.files.items()]
        lines.append(f"{sum(self.files.values()):>13,}  bytes in {len(self.files)} files")
        lines += [f"removed: {path}" for path in self.removed]
        if self.left_out:
            names = ", ".join(self.left_out)
            lines.append(f"left out, not to be redistributed without asking: {names}")
        if self.url is None:
            lines.append(
                f"dry run: nothing was sent. These would be all files of {self.repo}, "
                f"tag {self.tag}; any other file there would be removed."
            )
        else:
            lines.append(f"published: {self.url}")
        return "\n".join(lines)


def publish(
    groups: Sequence[Group],
    instances: Path,
    audit: Path,
    repo: str,
    *,
    version: str,
    dry_run: bool = False,
    include_restricted: bool = False,
) -> Publication:
    """Package the datasets that may be redistributed and upload them as one tagged commit.

    Files that the repository has of an earlier version and this one does not are removed in the
    same commit; earlier versions stay under their tags. A repository that does not exist is made;
    it is private if it holds a corpus that may not be redistributed, and one that exists must be
    private then. An interrupted run can be repeated.

    Args:
        groups: everything that params.yaml has; samples are not published.
        instances: where `build` and `compose` wrote.
        audit: the audit.json of these instances.
        repo: the dataset repository, ``ORG/NAME``.
        version: the tag is ``v<version>``.
        dry_run: send and ask nothing, and say what would be published.
        include_restricted: publish also corpora whose corpus.yaml says ``redistributable: false``,
            and the rankings that are made of one.

    Returns:
        What was published.

    Raises:
        InputError: the name is none, no corpus may be redistributed, a text is a sample, a dataset
            is not built, lacks a part of its source or misses a gate of the audit, there is no
            token, the version is already
            published, a corpus that may not be redistributed would go to a repository that is not
            private, the repository holds something else, or the Hub cannot be reached or refuses.
            No tag is made then.
    """
    _check_name(repo)
    built = [group for group in groups if group.datasets]
    restricted = [group.name for group in built if not group.redistributable]
    left_out = [] if include_restricted else restricted
    published = [group for group in built if group.name not in left_out]
    if not published:
        raise InputError(
            "params.yaml: corpora",
            expected="a corpus that may be redistributed",
            found=f"{', '.join(restricted)}, which may not" if restricted else "none",
            todo="add another corpus, or see --include-restricted",
        )
    private = bool(restricted) and include_restricted
    tag = f"v{version}"
    tags: list[str] = []
    present: list[str] = []
    if not dry_run:
        _check_no_samples(published)
        _check_audit(published, audit)
        _check_token()
        tags, present, is_private = _look(repo)
        _check_new(repo, tag, tags)
        if private and not is_private:
            raise InputError(
                repo,
                expected=f"a private repository for {', '.join(restricted)}, not to be "
                "redistributed",
                found="one that exists and is not private",
                todo="make it private in its settings on the Hub, name a new repository, or "
                "publish without --include-restricted",
            )
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "hub"
        package(published, instances, audit, folder)
        check_card(folder)
        if not dry_run:
            _check_complete(published, instances)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}
        removed = sorted(set(present) - set(files) - {".gitattributes"})
        if removed and not tags:
            raise InputError(
                repo,
                expected="a new or empty repository, or one that this command has published",
                found=f"other files and no tag: {', '.join(removed[:3])} …",
                todo="name another repository, or empty this one",
            )
        url = None
        if not dry_run:
            url = _upload(folder, list(files), removed, repo, tag, private)
    return Publication(repo, tag, files, removed, left_out, url)


def check_card(folder: Path) -> None:
    """Check that the card of a package states the datasets, rows and contents that are there.

    `datasets` refuses to load what does not fit the card, and a published version stays.

    Raises:
        InputError: naming the first split that is not as the card says.
    """
    card = folder / "README.md"
    text = card.read_text("utf-8")
    stated = {
        (info["config_name"], split["name"]): split["num_examples"]
        for info in yaml.safe_load(text.split("---\n")[1])["dataset_info"]
        for split in info["splits"]
    }
    found = {(entry["config"], entry["split"]): entry for entry in digests(folder)}
    for name, split in sorted(stated.keys() | found.keys()):
        rows = stated.get((name, split))
        entry = found.get((name, split), {"rows": None, "content": ""})
        if rows != entry["rows"] or entry["content"] not in text:
            raise InputError(
                card,
                expected=f"{name}, {split}: {rows} rows with a content hash that the card states",
                found=f"{entry['rows']} rows, content {entry['content'] or 'missing'}",
                todo="make the package again with `python -m builders package`, or `dvc repro`",
            )


def _check_name(repo: str) -> None:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo, re.ASCII):
        raise InputError(
            "--repo",
            expected="ORG/NAME: a user or organisation of the Hub, and a name",
            found=repr(repo),
            todo="correct the name",
        )


def _check_no_samples(groups: Sequence[Group]) -> None:
    samples = [group.name for group in groups if any(origin.sample for origin in group.origins)]
    if samples:
        raise InputError(
            "params.yaml: sources",
            expected="corpora",
            found=f"the samples that ship with Probeta: {', '.join(samples)}",
            todo="set sources to upstream or a mirror and run `dvc repro`, or try with --dry-run",
        )


def _check_audit(groups: Sequence[Group], audit: Path) -> None:
    datasets = read_audit(audit)["datasets"]
    missed = [
        f"{dataset.name}, {failure}"
        for group in groups
        for dataset in group.datasets
        for failure in datasets.get(dataset.name, {"failures": []})["failures"]
    ]
    if missed:
        raise InputError(
            audit,
            expected="no gate missed but those that params.yaml declares as inherited",
            found="; ".join(missed),
            todo="see what was measured there; mend the dataset, or declare why it is so",
        )


def _check_complete(groups: Sequence[Group], instances: Path) -> None:
    for group in groups:
        built = json.loads((instances / group.name / "build.json").read_text("utf-8"))
        for dataset in group.datasets:
            missing, found = [], {}
            if dataset.facts:
                found = built[dataset.name]["source_parts"]
                missing = missing_parts(dataset.facts, found)
            for source, own in built[dataset.name].get("sources", {}).items():
                found[source] = own["source_parts"]
                missing += [f"{source} ({part})" for part in own["missing_parts"]]
            if missing:
                raise InputError(
                    f"dataset {dataset.name}",
                    expected="the source's rows, as many as it officially has",
                    found=f"much less of its {' and '.join(missing)}: {found}",
                    todo=f"get the missing files of {group.name}, and run `dvc repro`",
                )


def _check_token() -> None:
    from huggingface_hub import get_token

    if get_token() is None:
        raise InputError(
            "the Hugging Face Hub",
            expected="a token that may write",
            found="none",
            todo="log in with `hf auth login`, or set HF_TOKEN",
        )


def _check_new(repo: str, tag: str, tags: list[str]) -> None:
    if tag in tags:
        raise InputError(
            repo,
            expected=f"no tag {tag}: a published version is never overwritten",
            found=", ".join(tags),
            todo="raise the version",
        )


def _look(repo: str) -> tuple[list[str], list[str], bool]:
    """Return tags and files of a repository, and whether only members may see it.

    One that does not exist has neither, and can be made private.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    api = HfApi()
    with _failures(repo):
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
    """Make the repository if need be, commit everything at once, tag it; return its address."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    api = HfApi()
    deletions = [CommitOperationDelete(path) for path in removed]
    additions = [CommitOperationAdd(path, folder / path) for path in files]
    with _failures(repo):
        # None leaves a new repository as the organisation wishes, an existing one stays as it is.
        api.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
        # Not upload_folder, which may end between two of its commits.
        commit = api.create_commit(
            repo,
            [*deletions, *additions],
            commit_message=f"Probeta {tag}",
            repo_type="dataset",
        )
        api.create_tag(repo, tag=tag, revision=commit.oid, repo_type="dataset")
    return f"{api.endpoint}/datasets/{repo}/tree/{tag}"


@contextmanager
def _failures(repo: str) -> Iterator[None]:
    """Turn what huggingface_hub raises into an InputError."""
    import httpx2

    try:
        yield
    # Answers of the Hub are OSErrors, a refused card is a ValueError, a failed upload of a large
    # file a RuntimeError.
    except (httpx2.HTTPError, OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"the Hugging Face Hub, {repo}",
            expected="that it answers, and takes what is published",
            found=f"{type(error).__name__}: {' '.join(str(error).split())}",
            todo="check the connection, and with `hf auth whoami` that the token may write to "
            f"{repo.split('/')[0]}; then run the same command again",
        ) from None
