"""Writes instances to Parquet shards with stable names and bytes, and computes their digests."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import Dataset
from builders.store.schema import instance_schema
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import tokenize

ROWS_A_SHARD = 50_000
ROW_GROUP = 1000


def write_split(
    rows: Sequence[dict[str, Any]],
    dataset: Dataset,
    split: Split,
    labels: list[str],
    folder: Path,
    progress: Callable[[int], object],
) -> list[dict[str, Any]]:
    """Complete the rows of one split, put them in keyed order and write them.

    Each row gets its split, licence, label number and the spaCy tokens of its texts. A column
    that no row has, such as ``fold``, is left out.

    Args:
        rows: of the dataset's task.
        dataset: the dataset.
        split: the split.
        labels: names of the classes; a row's label is one of them or its index.
        folder: for the shards, which are named as on the Hub.
        progress: called with a number of rows done.

    Returns:
        The completed rows, in the order written.
    """
    import pyarrow as pa

    numbers = {label: number for number, label in enumerate(labels)}
    complete = []
    for row in rows:
        complete.append(_complete(row, dataset, split, numbers))
        progress(1)
    complete.sort(key=lambda r: (keyed_hash(dataset.seed, dataset.name, r["id"], "row"), r["id"]))
    there = {name for row in complete for name in row}
    columns = {name: column for name, column in dataset.columns().items() if name in there}
    schema = instance_schema(columns, labels, dataset.about())
    shards = max(1, -(-len(complete) // ROWS_A_SHARD))
    for shard in range(shards):
        path = folder / f"{split}-{shard:05d}-of-{shards:05d}.parquet"
        part = complete[shard * ROWS_A_SHARD : (shard + 1) * ROWS_A_SHARD]
        with parquet_writer(path, schema, dictionary=["label"]) as writer:
            writer.write_table(pa.Table.from_pylist(part, schema=schema), row_group_size=ROW_GROUP)
    return complete


def _complete(
    row: dict[str, Any], dataset: Dataset, split: Split, numbers: Mapping[str, int]
) -> dict[str, Any]:
    done = dict(row)
    done["split"] = split
    # Rows of a dataset of several corpora already have the licence of their corpus.
    done.setdefault("licence", dataset.licence)
    if isinstance(row.get("label"), str):
        done["label"] = numbers[row["label"]]
    language = _tokenised_as(dataset)
    for text in dataset.task.texts:
        natural = row[text.natural]
        done[text.tokens] = (
            _joined(natural, language)
            if isinstance(natural, str)
            else [_joined(item, language) for item in natural]
        )
    return done


def _tokenised_as(dataset: Dataset) -> str:
    """Return the language whose rules split the texts of a dataset into tokens.

    Words of a language without rules in spaCy are split by its rules for any language ("xx"):
    nearly all words are single tokens, which no rules split.
    """
    if dataset.task.unit == "word":
        try:
            tokenize("", dataset.language)
        except InputError:
            return "xx"
    return dataset.language


def _joined(text: str, language: str) -> str:
    return " ".join(tokenize(text, language))


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
    import pyarrow.parquet as pq

    files, content, rows = hashlib.sha256(), hashlib.sha256(), 0
    for path in shards:
        files.update(path.read_bytes())
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROW_GROUP):
                for row in batch.to_pylist():
                    line = json.dumps(row, ensure_ascii=False, sort_keys=True)
                    content.update(line.encode() + b"\n")
                    rows += 1
    return {"rows": rows, "sha256": files.hexdigest(), "content": content.hexdigest()}


def datasets_in(folder: Path) -> Iterator[tuple[str, Split, list[Path]]]:
    """Yield (dataset, split, shards in order) for every dataset in ``folder``, sorted."""
    # Names that begin with a dot are unfinished output of a killed run.
    names = {
        path.parent
        for path in folder.rglob("*-of-*.parquet")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    for parent in sorted(names, key=lambda path: (path.name, path)):
        for split in SPLITS:
            shards = sorted(parent.glob(f"{split}-?????-of-?????.parquet"))
            if shards:
                yield parent.name, split, shards
