"""Writes instances to Parquet shards with stable names and bytes, and computes their digests."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from builders.store.opening import opened
from builders.store.schema import instance_schema
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from builders.plan.datasets import Dataset

ROWS_A_SHARD = 50_000
ROW_GROUP = 1000


def write_split(
    rows: Sequence[dict[str, Any]],
    dataset: "Dataset",
    split: Split,
    labels: list[str],
    folder: Path,
) -> list[dict[str, Any]]:
    """Complete the rows of one split, put them in keyed order and write them.

    Each row gets its split, licence and label number. A column that no row has, such as ``fold``,
    is left out; so are the tokens, which `package` adds.

    Args:
        rows: of the dataset's task.
        dataset: the dataset.
        split: the split.
        labels: names of the classes; a row's label is one of them or its index.
        folder: for the shards, which are named as on the Hub.

    Returns:
        The completed rows, in the order written.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    complete = [_complete(row, dataset, split, numbers) for row in rows]
    complete.sort(key=lambda r: (keyed_hash(dataset.seed, dataset.name, r["id"], "row"), r["id"]))
    there = {name for row in complete for name in row}
    columns = {name: column for name, column in dataset.columns().items() if name in there}
    schema = instance_schema(columns, labels, dataset.about())
    shards = max(1, -(-len(complete) // ROWS_A_SHARD))
    for shard in range(shards):
        path = folder / f"{split}-{shard:05d}-of-{shards:05d}.parquet"
        part = complete[shard * ROWS_A_SHARD : (shard + 1) * ROWS_A_SHARD]
        write_shard(path, schema, [part])
    return complete


def write_shard(path: Path, schema: pa.Schema, parts: Iterable[Sequence[dict[str, Any]]]) -> None:
    """Write a shard, in row groups of ``ROW_GROUP``.

    Args:
        path: the shard, in a whole output.
        schema: of its rows; a value that a row does not have is null.
        parts: its rows, in parts of which each but the last fills its row groups.
    """
    with parquet_writer(path, schema, dictionary=["label"]) as writer:
        for rows in parts:
            writer.write_table(pa.Table.from_pylist(rows, schema), row_group_size=ROW_GROUP)


def _complete(
    row: dict[str, Any], dataset: "Dataset", split: Split, numbers: Mapping[str, int]
) -> dict[str, Any]:
    done = dict(row)
    done["split"] = split
    # Rows of a dataset of several corpora already have the licence of their corpus.
    done.setdefault("licence", dataset.licence)
    if isinstance(row.get("label"), str):
        done["label"] = numbers[row["label"]]
    return done


def digests(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one row per split of each dataset in ``folder``.

    Yields:
        ``config`` (dataset), ``split``, ``rows``, ``sha256`` (of the files, in order of name) and
        ``content``: SHA-256 over the rows as canonical JSON lines, which does not depend on the
        version of pyarrow that wrote them.

    Raises:
        InputError: the folder has no dataset.
    """
    found = False
    for config, split, shards in datasets_in(folder):
        found = True
        yield {"config": config, "split": split, **digest(shards)}
    if not found:
        raise InputError(
            folder,
            expected="folders of <split>-00000-of-0000N.parquet",
            found="none",
            todo="build the datasets first, or name another folder",
        )


def digest(shards: Sequence[Path]) -> dict[str, Any]:
    """Return ``rows``, ``sha256`` and ``content`` of a split's shards, see ``digests``."""
    content, rows = hashlib.sha256(), 0
    for path in shards:
        with opened(path) as file:
            for batch in file.iter_batches(batch_size=ROW_GROUP):
                for row in batch.to_pylist():
                    line = json.dumps(row, ensure_ascii=False, sort_keys=True)
                    content.update(line.encode() + b"\n")
                    rows += 1
    return {"rows": rows, "sha256": digest_of_files(shards), "content": content.hexdigest()}


def digest_of_files(shards: Sequence[Path]) -> str:
    """Return the SHA-256 of a split's shards, joined in their order."""
    whole = hashlib.sha256()
    for path in shards:
        whole.update(path.read_bytes())
    return whole.hexdigest()


def datasets_in(folder: Path) -> Iterator[tuple[str, Split, list[Path]]]:
    """Yield (dataset, split, shards in order) for every dataset in ``folder``, sorted."""
    # Names that begin with a dot are unfinished output of a killed run.
    names = {
        path.parent
        for path in folder.rglob("*-of-*.parquet")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    for parent in sorted(names, key=lambda path: (path.name, path)):
        for split, shards in shards_in(parent).items():
            yield parent.name, split, shards


def shards_in(dataset: Path) -> dict[Split, list[Path]]:
    """Return split to its shards, in order, in the folder of a dataset."""
    found = {split: sorted(dataset.glob(f"{split}-?????-of-?????.parquet")) for split in SPLITS}
    return {split: shards for split, shards in found.items() if shards}


def copy_shards(dataset: Path, folder: Path) -> None:
    """Copy the shards of a dataset to a new folder."""
    folder.mkdir(parents=True)
    for shards in shards_in(dataset).values():
        for path in shards:
            shutil.copyfile(path, folder / path.name)
