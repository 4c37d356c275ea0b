"""The `read` command: turns a folder of raw files into a Parquet file of records, with counts."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from corpora_recipes.fetching.pins import check_complete
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.reading.blocks import BEYOND_QUOTA, read_corpus
from corpora_recipes.recipe import Corpus, load_recipe
from corpora_recipes.records import Drops, Example, decide_split, record_unit
from corpora_recipes.rows import WINDOW, record_schema, to_row
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.outputs import whole_outputs
from corpora_recipes.running.telling import progress

# Rows per row group: small enough to read one at a time, large enough to compress well.
ROW_GROUP = 1000
# Below this many bytes of raw files, one process has read them before others have started.
SMALL = 1_000_000


def read(
    corpus: Corpus,
    raw: Path,
    out: Path,
    *,
    workers: int | None,
    executor: str,
    strict: bool = False,
) -> Drops:
    """Read a corpus to ``out``, and write its counts to the .json file beside it, both together.

    Args:
        corpus: the corpus, with the number of documents to read.
        raw: folder in the corpus's raw layout.
        out: the Parquet file to write (``record_schema``); its bytes depend
            only on the raw files, the seed and the quota.
        workers: number of blocks read at once, see ``open_executor``; None for one in this process
            if the raw files are small.
        executor: "local" or the address of a Dask scheduler.
        strict: whether a share of drops above its limit is an error; see ``above_limits``.

    Raises:
        InputError: the raw files are damaged or not all there, or hold no document, or more than
            half of the documents were dropped; if ``strict``, also if a share of drops is above its
            limit. Nothing is written then.
    """
    if not raw.is_dir():
        todo = f"run `probeta fetch --only {corpus.name}`"
        raise RawError(raw, f"the raw files of {corpus.name}", "no such folder", todo)
    check_complete(raw, corpus.name)
    # Workers on other machines have other working directories.
    recipe = load_recipe(corpus.recipe)
    blocks = recipe.blocks(raw.absolute(), corpus)
    window = recipe.window(blocks, corpus)
    size = sum(path.stat().st_size for path in raw.rglob("*") if path.is_file())
    if workers is None and executor == "local" and size < SMALL:
        workers = 1
    schema = record_schema(corpus.facts.records)
    if window is not None:
        schema = schema.with_metadata({WINDOW: json.dumps(asdict(window), ensure_ascii=False)})
    total = Drops()
    count = 0
    with (
        open_executor(executor, workers) as pool,
        whole_outputs([out, out.with_suffix(".json")]) as (records_file, counts_file),
        parquet_writer(records_file, schema) as writer,
        progress(corpus.documents, f"read {corpus.name}", "document") as bar,
    ):
        rows: list[dict[str, Any]] = []
        ahead = 2 * pool.at_once if pool else 1
        for records, drops in read_corpus(blocks, corpus, pool, ahead):
            total.add(drops)
            for record in records:
                row = to_row(record)
                # Examples without parts get folds, which depend on their labels.
                if not record.split and not isinstance(record, Example):
                    row["split"] = decide_split(corpus.seed, corpus.name, record.id)
                rows.append(row)
            count += len(records)
            bar.update(len(records))
            while len(rows) >= ROW_GROUP:
                writer.write_table(pa.Table.from_pylist(rows[:ROW_GROUP], schema), ROW_GROUP)
                del rows[:ROW_GROUP]
        if rows:
            writer.write_table(pa.Table.from_pylist(rows, schema), ROW_GROUP)
        _check(corpus, raw, total, count, strict=strict)
        report: dict[str, Any] = total.as_dict()
        if window is not None:
            report["window"] = asdict(window)
        text = json.dumps(report, ensure_ascii=False, indent=2, sort_keys=True)
        counts_file.write_text(text + "\n", "utf-8")
    return total


def above_limits(corpus: Corpus, drops: Drops) -> list[str]:
    """Return, in words, the shares of drops above those of ``drop_limits`` in corpus.yaml."""
    excess = []
    for name, limit in corpus.facts.drop_limits.items():
        unit, reason = name.split(".")
        share = drops.dropped[unit, reason] / max(1, drops.seen[unit])
        if share > limit:
            excess.append(
                f"{share:.2%} of the {unit} dropped as {reason}, above the limit of {limit:.2%} "
                f"(drop_limits in {corpus.recipe}/corpus.yaml)"
            )
    return excess


def _check(corpus: Corpus, raw: Path, drops: Drops, count: int, *, strict: bool) -> None:
    counts = json.dumps(drops.as_dict(), ensure_ascii=False)
    inspect = "inspect the raw files, and check that `language` fits them"
    if drops.dropped:
        (unit, reason), most = max(drops.dropped.items(), key=lambda drop: drop[1])
        share = f"{most:,} of {drops.seen[unit]:,} {unit}"
        inspect = f"most were dropped as {reason} ({share}); {inspect}: if they are right, the "
        inspect += "rules of the recipe do not fit this language"
    if count == 0:
        expected = f"at least one document for {corpus.name}"
        raise RawError(raw, expected, f"none; counts: {counts}", inspect)
    seen, dropped = _dropped_documents(corpus, drops)
    if dropped > seen / 2:
        expected = f"at least half of the documents for {corpus.name}"
        todo = f"{inspect}; if so many drops are normal, raise the limit under drop_limits in "
        todo += f"{corpus.recipe}/corpus.yaml"
        raise RawError(raw, expected, f"{dropped:,} of {seen:,} dropped; counts: {counts}", todo)
    if strict and (excess := above_limits(corpus, drops)):
        found = f"{'; '.join(excess)}; counts: {counts}"
        todo = "inspect the raw files, or read them without --strict"
        raise RawError(raw, "no share of drops above its limit", found, todo)


def _dropped_documents(corpus: Corpus, drops: Drops) -> tuple[int, int]:
    """Count the documents (or examples) seen, and those dropped."""
    unit = record_unit(corpus.facts.records)
    counts = {reason: n for (of, reason), n in drops.dropped.items() if of == unit}
    limits = {reason: corpus.facts.drop_limits.get(f"{unit}.{reason}", 0) for reason in counts}
    seen = drops.seen[unit] - counts.pop(BEYOND_QUOTA, 0)
    normal = sum(n for reason, n in counts.items() if max(0.5, n / seen) < limits[reason])
    return seen - normal, sum(counts.values()) - normal
