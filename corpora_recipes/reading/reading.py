"""The `read` command: a folder of raw files becomes a Parquet file of records, with its counts."""

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from corpora_recipes.blocks import read_corpus
from corpora_recipes.columns import to_table
from corpora_recipes.errors import InputError
from corpora_recipes.executors import open_executor
from corpora_recipes.hashing import keyed_uniform
from corpora_recipes.outputs import parquet_writer, whole_file
from corpora_recipes.recipes import Corpus, load_recipe
from corpora_recipes.records import Drops, Example, Split, record_schema, to_row

# Rows a row group: small enough to read one at a time, large enough to compress well.
ROW_GROUP = 1000
# 60/20/20, as Araujo et al. (2022), Appendix A, split the corpora that have no split.
TRAIN, VALIDATION = 0.6, 0.8


def read(corpus: Corpus, raw: Path, out: Path, *, workers: int | None, executor: str) -> Drops:
    """Read a corpus into ``out`` and its counts into the .json file beside it.

    Args:
        corpus: what to read, and how many documents of it.
        raw: folder in the corpus's raw layout.
        out: the Parquet file to write (``record_schema``); its bytes depend
            on the raw files, the seed and the quota alone.
        workers: how many blocks are read at once; None for one a CPU, or one a thread of the
            cluster.
        executor: "local" or the address of a Dask scheduler.

    Returns:
        What was seen and dropped.

    Raises:
        InputError: the raw files are damaged or hold no document, or a share of drops is above
            the limit that corpus.yaml states for it. Nothing is written then.
    """
    if not raw.is_dir():
        raise InputError(
            raw,
            expected=f"a folder with the raw files of {corpus.name}",
            found="no such folder",
            todo=f"run `python -m corpora_recipes fetch {corpus.name} --out {raw}`",
        )
    if out.is_dir() or out.suffix == ".json":
        todo = "name a file, such as records.parquet"
        found = "a folder" if out.is_dir() else "where the counts would go"
        raise InputError(out, expected="a file to write", found=found, todo=todo)
    # Workers on other machines have other working directories.
    blocks = load_recipe(corpus.recipe).blocks(raw.absolute(), corpus)
    schema = record_schema(corpus.facts["records"])
    total = Drops()
    taken = 0
    with (
        open_executor(executor, workers) as pool,
        parquet_writer(out, schema) as writer,
        _progress(corpus) as bar,
    ):
        rows: list[dict[str, Any]] = []
        ahead = 2 * pool.at_once if pool else 1
        for records, drops in read_corpus(blocks, corpus, pool, ahead):
            total.add(drops)
            for record in records:
                row = to_row(record)
                # Examples without parts get folds, which their labels have a say in.
                if not record.split and not isinstance(record, Example):
                    row["split"] = decide_split(corpus.seed, corpus.name, record.id)
                rows.append(row)
            taken += len(records)
            if bar is not None:
                bar.update(len(records))
            while len(rows) >= ROW_GROUP:
                _write(writer, rows[:ROW_GROUP], schema)
                del rows[:ROW_GROUP]
        _write(writer, rows, schema)
        _check(corpus, raw, total, taken)
    with whole_file(out.with_suffix(".json")) as temporary:
        text = json.dumps(total.as_dict(), ensure_ascii=False, indent=2, sort_keys=True)
        temporary.write_text(text + "\n", "utf-8")
    return total


def decide_split(seed: int, corpus: str, document_id: str) -> Split:
    """Return the split of a document of a corpus that has no split of its own.

    It is a function of the document's id alone: no other document can change it.
    """
    point = keyed_uniform(seed, corpus, document_id, "split")
    return "train" if point < TRAIN else "validation" if point < VALIDATION else "test"


def _progress(corpus: Corpus) -> AbstractContextManager[Any]:
    """Return a progress bar, or None if nobody watches: tqdm takes 40 ms to import."""
    if not sys.stderr.isatty():
        return nullcontext()
    from tqdm import tqdm

    return tqdm(total=corpus.documents, desc=f"read {corpus.name}", unit="doc")


def _write(writer: Any, rows: list[dict[str, Any]], schema: Any) -> None:
    if rows:
        writer.write_table(to_table(rows, schema), row_group_size=ROW_GROUP)


def _check(corpus: Corpus, raw: Path, drops: Drops, taken: int) -> None:
    counts = json.dumps(drops.as_dict(), ensure_ascii=False)
    if taken == 0:
        raise InputError(
            raw,
            expected=f"at least one document for {corpus.name}",
            found=f"none; counts: {counts}",
            todo="check that the folder holds the right files and that `language` fits them",
        )
    for name, limit in corpus.facts["drop_limits"].items():
        unit, reason = name.split(".")
        share = drops.dropped[unit, reason] / max(1, drops.seen[unit])
        if share > limit:
            raise InputError(
                raw,
                expected=f"at most {limit:.2%} of the {unit} dropped as {reason}",
                found=f"{share:.2%}; counts: {counts}",
                todo=f"look at the raw files; the limit stands in {corpus.recipe}/corpus.yaml",
            )
