"""Instances and records on disk: schemas, shards, digests."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from builders.plan.datasets import Dataset
from builders.tasks.task import Column, Kind
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.records import (
    SPLITS,
    WINDOW,
    Example,
    Record,
    Split,
    from_row,
    record_schema,
    record_unit,
)
from corpora_recipes.running.errors import InputError, OutputError, SmallSample
from corpora_recipes.running.outputs import as_json

# In a package: what mteb's metadata state of its datasets, see ``packaging.harnesses.mteb_facts``.
MTEB_FACTS = "mteb.json"


def instance_schema(
    columns: Mapping[str, Column], labels: list[str], about: dict[str, Any]
) -> pa.Schema:
    """Return the schema of a dataset's instances.

    Args:
        columns: name to column, in their order; labels are int64, scores float64.
        labels: names of the classes; the column ``label``, if there is one, holds their indices.
        about: facts on the dataset; stored as JSON under the metadata key ``probeta``.

    Returns:
        A schema whose ``huggingface`` metadata let ``datasets`` read the labels as ClassLabel.
    """
    types = {
        "string": pa.string(),
        "strings": pa.list_(pa.string()),
        # int64 throughout: `datasets` silently drops the ClassLabel of a smaller integer type.
        "integer": pa.int64(),
        "number": pa.float64(),
    }
    features = {name: _feature(column.kind) for name, column in columns.items()}
    if "label" in columns:
        features["label"] = {"names": labels, "_type": "ClassLabel"}
    metadata = {
        "huggingface": json.dumps({"info": {"features": features}}, ensure_ascii=False),
        "probeta": json.dumps(about, ensure_ascii=False, sort_keys=True),
    }
    fields = [(name, types[column.kind]) for name, column in columns.items()]
    return pa.schema(fields, metadata=metadata)


def _feature(kind: Kind) -> dict[str, Any]:
    dtype = {"integer": "int64", "number": "float64"}.get(kind, "string")
    value = {"dtype": dtype, "_type": "Value"}
    # "Sequence", not "List": old and new releases of `datasets` read it.
    return {"feature": value, "_type": "Sequence"} if kind == "strings" else value


def labels_of(schema: pa.Schema) -> list[str]:
    """Return the class names in the schema's metadata; empty if rows have no label."""
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    names: list[str] = features["label"]["names"] if "label" in features else []
    return names


def about_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the facts on the dataset in the schema's metadata."""
    about: dict[str, Any] = json.loads(schema.metadata[b"probeta"])
    return about


ROWS_PER_SHARD = 50_000
ROW_GROUP = 1000
Rows = dict[Split, list[dict[str, Any]]]
# Unit ("documents" …) to outcome to number.
Counts = dict[str, dict[str, int]]


class BuiltRows(NamedTuple):
    """The rows of a dataset.

    Attributes:
        labels: names of the classes in the order of their numbers; empty if rows have none.
        counts: the numbers of records used or left out, by reason.
        fault: what the corpus lacks for it; then there are no rows.
        todo: what helps if there are too few rows.
    """

    rows: Rows
    labels: list[str]
    counts: Counts
    fault: InputError | None = None
    todo: str = "add the source's files that are missing"


# The keys of a dataset in build.json that are no such units.
NO_COUNTS = ("rows", "labels", "folds", "sources", "window")


def describe(counts: Counts) -> str:
    """Return the counts of a report in words: "documents: read 9, …; passages: …"."""

    def spaced(name: str) -> str:
        return name.replace("_", " ")

    return "; ".join(
        f"{spaced(unit)}: "
        + ", ".join(f"{spaced(reason)} {n:,}" for reason, n in counts_of_unit.items())
        for unit, counts_of_unit in counts.items()
    )


def write_dataset(
    dataset: Dataset, splits: Rows, labels: list[str], folder: Path
) -> dict[str, Any]:
    """Write a dataset's rows to ``folder/<dataset>``; return their numbers by split and class.

    The report has the number of "folds" too, 0 if rows have none.
    """
    folds = {row["fold"] for rows in splits.values() for row in rows if "fold" in row}
    report: dict[str, Any] = {"rows": {}, "labels": {}, "folds": len(folds)}
    for split, rows in splits.items():
        written = write_split(rows, dataset, split, labels, folder / dataset.name)
        report["rows"][split] = len(written)
        names = Counter(labels[row["label"]] for row in written if "label" in row)
        report["labels"][split] = dict(sorted(names.items()))
    return report


def write_report(report: dict[str, Any], folder: Path) -> None:
    """Write the report on the datasets of a folder to ``folder/build.json``."""
    (folder / "build.json").write_text(as_json(report), "utf-8")


def describe_rows(dataset: str, report: dict[str, Any]) -> str:
    """Return the number of rows per split that a report on a dataset has, in words."""
    return f"{dataset}: " + ", ".join(f"{of} {rows:,}" for of, rows in report["rows"].items())


def write_split(
    rows: Sequence[dict[str, Any]], dataset: Dataset, split: Split, labels: list[str], folder: Path
) -> list[dict[str, Any]]:
    """Complete the rows of one split, put them in keyed order, write them, and return them.

    Each row gets its split, licence and label number: its label is one of ``labels`` or its index.
    A column that no row has, such as ``fold``, is left out; so are the tokens: `package` adds them.
    """
    numbers = {label: number for number, label in enumerate(labels)}
    complete = [_complete(row, dataset, split, numbers) for row in rows]
    complete.sort(key=lambda r: (keyed_hash(dataset.seed, dataset.name, r["id"], "row"), r["id"]))
    present = {name for row in complete for name in row}
    columns = {name: column for name, column in dataset.columns().items() if name in present}
    schema = instance_schema(columns, labels, dataset.about())
    shards = max(1, -(-len(complete) // ROWS_PER_SHARD))
    for shard in range(shards):
        path = folder / f"{split}-{shard:05d}-of-{shards:05d}.parquet"
        part = complete[shard * ROWS_PER_SHARD : (shard + 1) * ROWS_PER_SHARD]
        write_shard(path, schema, [part])
    return complete


def write_shard(path: Path, schema: pa.Schema, parts: Iterable[Sequence[dict[str, Any]]]) -> None:
    """Write a shard, in row groups of ``ROW_GROUP``, which each part but the last must fill."""
    with parquet_writer(path, schema, dictionary=["label"]) as writer:
        for rows in parts:
            writer.write_table(pa.Table.from_pylist(rows, schema), row_group_size=ROW_GROUP)


def _complete(
    row: dict[str, Any], dataset: Dataset, split: Split, numbers: Mapping[str, int]
) -> dict[str, Any]:
    # Rows of a dataset of several corpora already have the licence of their corpus.
    complete = {"licence": dataset.licence, **row, "split": split}
    if "label" in row:
        label = numbers.get(row["label"], row["label"])
        if label not in range(len(numbers)):
            declared = f"a class that is declared: {', '.join(numbers)}"
            where, todo = f"{dataset.in_words}, row {row['id']}", "declare it under `labels`"
            todo += " of corpus.yaml, or in those of the task; or let the code return another"
            raise InputError(where, declared, repr(row["label"]), todo)
        complete["label"] = label
    return complete


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Yield a Parquet file, for reading alone."""
    try:
        # Not read_table, which would take folder names for columns.
        with pq.ParquetFile(path) as file:
            yield file
    # Besides pyarrow's errors: texts that are not UTF-8, metadata that are not JSON or lack a key.
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fault = f"{type(error).__name__}: {error}"
        todo = "download or write the file again"
        raise InputError(path, "a Parquet file", fault, todo) from error


def digests(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one row per split of each dataset in ``folder``.

    Yields:
        ``config`` (dataset), ``split``, ``rows``, ``sha256`` (of the files, in order of name) and
        ``content``: SHA-256 over the rows as canonical JSON lines, which does not depend on the
        version of pyarrow that wrote them.
    """
    datasets = list(datasets_in(folder))
    for config, split, shards in datasets:
        yield {"config": config, "split": split, **digest(shards)}
    if not datasets:
        todo = "build the datasets first, or name another folder"
        raise InputError(folder, "folders of <split>-00000-of-0000N.parquet", "none", todo)


def digest(shards: Sequence[Path]) -> dict[str, Any]:
    """Return ``rows``, ``sha256`` and ``content`` of a split's shards, see ``digests``."""
    content, files, rows = hashlib.sha256(), hashlib.sha256(), 0
    for path in shards:
        files.update(path.read_bytes())
        with open_parquet(path) as file:
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
        for split, shards in shards_in(parent).items():
            yield parent.name, split, shards


def shards_in(dataset: Path) -> dict[Split, list[Path]]:
    """Return split to its shards, in order, in the folder of a dataset."""
    files = {split: sorted(dataset.glob(f"{split}-?????-of-?????.parquet")) for split in SPLITS}
    return {split: shards for split, shards in files.items() if shards}


_TODO = "write them with `probeta read`"


def window_of(path: Path) -> dict[str, Any] | None:
    """Return between which days the documents of a file were made, if it says so."""
    window = (pq.read_schema(path).metadata or {}).get(WINDOW)
    return None if window is None else dict(json.loads(window))


def record_batches(
    path: Path, kind: str, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file of records of a kind in batches, of all columns if none is named."""
    try:
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise OutputError(path, "the records of the corpus", str(error), _TODO) from None
    names = record_schema(kind).names
    with file:
        if file.schema_arrow.names != names:
            expected = f"records ({kind}) with the columns {', '.join(names)}"
            raise OutputError(path, expected, ", ".join(file.schema_arrow.names), _TODO)
        # A document or a dialogue may be a whole book.
        size = 500 if record_unit(kind) != "documents" else 20
        yield from file.iter_batches(batch_size=size, columns=columns)


def read_records(path: Path, kind: str, collection: str = "") -> Iterator[Record]:
    """Yield the records of a file; of examples, only those of one collection if it is named."""
    for batch in record_batches(path, kind):
        if collection:
            batch = batch.filter(pc.equal(batch["collection"], collection))
        for row in batch.to_pylist():
            yield from_row(kind, row)


def read_examples(path: Path, collection: str) -> list[Example]:
    """Return the examples of a collection, in the order of the file; it may be empty."""
    records = read_records(path, "examples", collection)
    return [record for record in records if isinstance(record, Example)]


def no_examples(path: Path, collections: Sequence[str], *, sample: bool) -> InputError:
    """Return the error of a file, or of a ``sample``, without examples of some collections."""
    batches = record_batches(path, "examples", ["collection"])
    others = sorted({name for batch in batches for name in batch["collection"].to_pylist()})
    found = f"only those of {', '.join(others)}" if others else "no examples"
    todo = "name a collection of the file, or add the missing source files: a sample has only some"
    kind = SmallSample if sample else OutputError
    return kind(path, f"examples of {' or '.join(collections)}", found, todo)
