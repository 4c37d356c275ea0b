"""The rows of a package: instances with tokens, or the rows of an earlier package."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builders.packaging.tokenising import add_tokens
from builders.plan.datasets import Dataset
from builders.store.shards import copy_shards, digest, shards_in
from corpora_recipes.records import Split
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.environment import versions_of
from corpora_recipes.running.memo import Cache, Key
from corpora_recipes.running.telling import progress

# Split to ``rows``, ``sha256`` and ``content`` of its shards, see ``digest``.
Digests = Mapping[Split, Mapping[str, Any]]
# Split to the hash of the content of its rows.
Content = dict[str, str]


def write_rows(dataset: Dataset, instances: Path, digests: Digests, folder: Path) -> Content:
    """Write the instances of a dataset with tokens to ``folder/<dataset>``."""
    total = sum(part["rows"] for part in digests.values())
    with progress(total, f"tokens of {dataset.name}", "row") as bar:
        for shards in shards_in(instances).values():
            for shard in shards:
                target = folder / dataset.name / shard.name
                add_tokens(shard, target, dataset.columns(), bar.update)
    return {
        split: digest(shards)["content"]
        for split, shards in shards_in(folder / dataset.name).items()
    }


def kept_rows(name: str, digests: Digests, earlier: Path, folder: Path) -> Content | None:
    """Copy the rows of a dataset from an earlier package, if they would be written the same."""
    content: Content | None = Cache("tokens").get(name, _key(digests))
    if content is not None:
        copy_shards(earlier / name, folder / name)
    return content


def keep_rows(memo: Cache, name: str, digests: Digests, content: Content, package: Path) -> None:
    """Remember the rows of a dataset in a package."""
    shards = [path for paths in shards_in(package / name).values() for path in paths]
    memo.put(name, _key(digests), shards, content)


def _key(digests: Digests) -> Key:
    return {
        "inputs": {split: part["sha256"] for split, part in digests.items()},
        "code": code_digest("builders.packaging.tokenising"),
        "versions": versions_of(("pyarrow", "spacy")),
    }
