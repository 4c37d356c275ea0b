"""The rows of a package: instances with tokens, or the unchanged rows of an earlier package."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tqdm import tqdm

from builders.auditing.report import read_audit
from builders.packaging.tokenising import add_tokens
from builders.plan.datasets import Dataset
from builders.store.shards import copy_shards, digest, digest_of_files, shards_in
from corpora_recipes.records import Split
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError

# Split to ``rows``, ``sha256`` and ``content`` of its shards, see ``digest``.
Digests = Mapping[Split, Mapping[str, Any]]


def write_rows(dataset: Dataset, instances: Path, digests: Digests, folder: Path) -> dict[str, Any]:
    """Write the instances of a dataset with tokens to ``folder/<dataset>``.

    Args:
        dataset: the dataset.
        instances: the folder of its instances.
        digests: those of the instances.
        folder: of the package.

    Returns:
        What audit.json says of the rows: ``content``, split to the hash of the content; and
        ``packaged``, what they were made from (see ``made_from``) and the SHA-256 of the ``files``.

    Raises:
        InputError: spaCy has no tokeniser for the language.
    """
    total = sum(part["rows"] for part in digests.values())
    with tqdm(total=total, desc=f"tokens of {dataset.name}", unit="row", disable=None) as bar:
        for shards in shards_in(instances).values():
            for shard in shards:
                target = folder / dataset.name / shard.name
                add_tokens(shard, target, dataset.columns(), bar.update)
    written = {split: digest(shards) for split, shards in shards_in(folder / dataset.name).items()}
    return {
        "content": {split: part["content"] for split, part in written.items()},
        "packaged": {
            **made_from(digests),
            "files": {split: part["sha256"] for split, part in written.items()},
        },
    }


def take_over_rows(
    name: str, digests: Digests, earlier: Path, facts: Mapping[str, Any], folder: Path
) -> dict[str, Any] | None:
    """Copy the rows of a dataset from an earlier package, if they would be written the same.

    Args:
        name: of the dataset.
        digests: those of its instances.
        earlier: the folder of the earlier package.
        facts: what its audit.json says of its datasets, see ``facts_of``.
        folder: of the package.

    Returns:
        The same as ``write_rows``; None if the instances, the code or a library have changed, or
        the files are not those that were written.
    """
    shards = shards_in(earlier / name).items()
    files = {split: digest_of_files(paths) for split, paths in shards}
    known = facts.get(name, {})
    if known.get("packaged") != {**made_from(digests), "files": files}:
        return None
    copy_shards(earlier / name, folder / name)
    return {"content": known["content"], "packaged": known["packaged"]}


def made_from(digests: Digests) -> dict[str, Any]:
    """Return all that decides the packaged rows: instances, code and versions of libraries."""
    return {
        "instances": {split: part["sha256"] for split, part in digests.items()},
        "code": code_digest("builders.packaging.tokenising"),
        "spacy": version("spacy"),
        "pyarrow": version("pyarrow"),
    }


def facts_of(package: Path) -> Mapping[str, Any]:
    """Return what the audit.json of a package says of its datasets; nothing without a package."""
    try:
        facts: Mapping[str, Any] = read_audit(package / "audit.json")["datasets"]
    except InputError:
        return {}
    return facts
