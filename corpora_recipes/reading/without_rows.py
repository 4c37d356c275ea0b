"""The records of a corpus that must be asked for and is not there: none, and how to get it."""

import json
from pathlib import Path

from corpora_recipes.missing import how_to_get
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.recipe import Corpus
from corpora_recipes.rows import MISSING, record_schema
from corpora_recipes.running.outputs import whole_outputs


def write_missing(corpus: Corpus, out: Path) -> None:
    """Write records without rows, and counts that say how to get the corpus.

    Args:
        corpus: the missing corpus.
        out: the file of records.
    """
    how = how_to_get(corpus)
    schema = record_schema(corpus.facts.records).with_metadata({MISSING: how})
    with whole_outputs([out, out.with_suffix(".json")]) as (records, counts):
        with parquet_writer(records, schema):
            pass
        text = json.dumps({"missing": how}, ensure_ascii=False, indent=2)
        counts.write_text(text + "\n", "utf-8")
