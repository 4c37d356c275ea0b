"""A corpus that must be asked for and is not there: its error, and its records without rows."""

import json
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.parquet import parquet_writer
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import record_schema
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_outputs

# The key in the metadata of a file of records, and in the file of counts beside it.
_KEY = "missing"


class MissingCorpus(InputError):
    """The files of a corpus that only people can get are not there."""


def missing_corpus(corpus: Corpus, names: Sequence[str], out: Path) -> MissingCorpus:
    """Return the error that says how to get the corpus.

    Args:
        corpus: one whose corpus.yaml has ``manual``.
        names: of its files, or patterns.
        out: the folder that `fetch` writes, where they may be put.
    """
    return MissingCorpus(
        f"{corpus.where}: {corpus.facts.name}",
        expected=f"its files, as {out}/{f', {out}/'.join(names)}",
        found=f"none or not all; {how_to_get(corpus)}",
        todo=f"put the files into {out} and run `dvc repro` again; or, to try it out, write "
        f"`sources: sample` in `corpus` of the entry {corpus.name}",
    )


def how_to_get(corpus: Corpus) -> str:
    """Return how people get a corpus, on one line."""
    return " ".join(corpus.facts.manual.split())


def write_missing(corpus: Corpus, out: Path) -> None:
    """Write records without rows, and counts that say how to get the corpus.

    Args:
        corpus: the missing corpus.
        out: the file of records.
    """
    how = how_to_get(corpus)
    schema = record_schema(corpus.facts.records).with_metadata({_KEY: how})
    with whole_outputs([out, out.with_suffix(".json")]) as (records, counts):
        with parquet_writer(records, schema):
            pass
        counts.write_text(json.dumps({_KEY: how}, ensure_ascii=False, indent=2) + "\n", "utf-8")


def why_missing(records: Path) -> str:
    """Return how to get the corpus of a file of records, "" if it is there or no such file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = (pq.read_schema(records).metadata or {}).get(_KEY.encode(), b"")
    except (OSError, pa.ArrowInvalid):
        return ""  # what reads the records says what is wrong with them
    return str(found, "utf-8")
