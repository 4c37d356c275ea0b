"""Writes small folders of instances in the form that the builders give them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LABELS = {
    "sentence_position": ["1", "2", "3", "4", "5"],
    "sentence_ordering": ["swapped", "original"],
    "discourse_coherence": ["incoherent", "coherent"],
    "discourse_relations": ["NS-elaboración", "NS-fondo", "SN-causa"],
}
TEXTS = {
    "sentence_position": ("sentences", "tokens"),
    "sentence_ordering": ("sentences", "tokens"),
    "discourse_coherence": ("sentences", "tokens"),
    "discourse_relations": ("left", "right", "left_tokens", "right_tokens"),
}

Row = dict[str, Any]


def row(number: int, label: int, *, document: str | None = None, **texts: Sequence[str]) -> Row:
    """Return an instance; the tokens are the texts with a mark, so that forms can be told apart."""
    tokens = {
        "tokens" if name == "sentences" else f"{name}_tokens": [f"{text} ." for text in given]
        for name, given in texts.items()
    }
    return {
        "id": f"i{number}",
        "document_id": document or f"d{number}",
        "label": label,
        **{name: list(given) for name, given in texts.items()},
        **tokens,
    }


def write_dataset(
    folder: Path,
    task: str,
    splits: dict[str, Sequence[Row]],
    *,
    name: str | None = None,
    shards: int = 1,
    labels: Sequence[str] | None = None,
) -> Path:
    """Write a dataset into ``folder``, named after the folder unless told otherwise."""
    texts = pa.list_(pa.string())
    about = {
        "dataset": name or folder.name,
        "task": task,
        "corpus": folder.parent.name,
        "language": "es",
        "version": "1.0.0",
        "seed": 7,
    }
    label = {"names": list(labels or LABELS[task]), "_type": "ClassLabel"}
    schema = pa.schema(
        [
            ("id", pa.string()),
            *((column, texts) for column in TEXTS.get(task, ())),
            ("label", pa.int64()),
            ("document_id", pa.string()),
        ],
        metadata={
            "probeta": json.dumps(about),
            "huggingface": json.dumps({"info": {"features": {"label": label}}}),
        },
    )
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in splits.items():
        for shard in range(shards):
            table = pa.Table.from_pylist(list(rows[shard::shards]), schema=schema)
            pq.write_table(table, folder / f"{split}-{shard:05d}-of-{shards:05d}.parquet")
    return folder
