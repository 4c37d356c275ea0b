"""Writes small folders of instances in the form that the builders give them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

NOUNS = ["faro", "tren", "pozo", "gato", "mapa", "vino", "reloj", "monte"]
LABELS = {
    "sentence_position": ["1", "2", "3", "4", "5"],
    "sentence_ordering": ["swapped", "original"],
    "discourse_coherence": ["incoherent", "coherent"],
    "section_prediction": ["body", "summary"],
    "discourse_relations": ["NS-elaboración", "NS-fondo", "SN-causa"],
    "sentence_classification": ["negative", "positive"],
    "linguistic_probing": ["original", "inverted"],
    "pair_classification": ["contradiction", "neutral", "entailment"],
}
LISTS, ONE = pa.list_(pa.string()), pa.string()
PASSAGES = ("sentence_position", "sentence_ordering", "discourse_coherence")
SINGLE = ("section_prediction", "sentence_classification", "linguistic_probing")
RANKINGS = ("sentence_ranking", "word_ranking")
PAIRS = ("pair_classification", "relatedness", "similarity")
COLUMNS = {
    "discourse_relations": dict.fromkeys(("left", "right", "left_tokens", "right_tokens"), LISTS),
    "paradigms": {"terms": LISTS, "tokens": LISTS},
    "analogies": {f"{kind}{n}": ONE for kind in ("word", "tokens") for n in range(1, 5)},
    "categories": {"word": ONE, "tokens": ONE},
    **{task: {"sentences": LISTS, "tokens": LISTS} for task in PASSAGES},
    **{task: {"sentence": ONE, "tokens": ONE} for task in SINGLE},
    **{task: {"text": ONE, "tokens": ONE, "positives": LISTS} for task in RANKINGS},
    **dict.fromkeys(PAIRS, dict.fromkeys(("sentence1", "sentence2", "tokens1", "tokens2"), ONE)),
}
FURTHER = {"label": pa.int64(), "score": pa.float64(), "fold": pa.int64(), "subset": pa.string()}

Row = dict[str, Any]


def sentence(number: int) -> str:
    return f"El {NOUNS[number % 8]} número {number} sigue donde estaba."


def row(
    number: int,
    label: int | None,
    *,
    document: str | None = None,
    score: float | None = None,
    fold: int | None = None,
    subset: str | None = None,
    **texts: str | Sequence[str],
) -> Row:
    """Return an instance; the tokens are the texts with a mark, so that forms can be told apart."""
    further = {"label": label, "score": score, "fold": fold, "subset": subset}
    tokens = {
        f"tokens{name.removeprefix('sentence').removeprefix('s')}"
        if name.startswith("sentence")
        else f"{name}_tokens": f"{given} ."
        if isinstance(given, str)
        else [f"{text} ." for text in given]
        for name, given in texts.items()
    }
    return {
        "id": f"i{number}",
        "document_id": document or f"d{number}",
        **{name: value for name, value in further.items() if value is not None},
        **{name: given if isinstance(given, str) else list(given) for name, given in texts.items()},
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
    """Write a dataset into ``folder``, named after the folder unless told otherwise.

    Of the columns that not every dataset has, it gets those that the first row of all has.
    """
    first = next((first for rows in splits.values() for first in rows), {"label": 0})
    columns = COLUMNS.get(task, {}) | {n: kind for n, kind in FURTHER.items() if n in first}
    features: dict[str, Any] = {name: {} for name in columns}
    about: dict[str, Any] = {"dataset": name or folder.name, "corpus": folder.parent.name}
    about |= {"task": task, "language": "es", "version": "1.0.0", "seed": 7, "sample": False}
    if "label" in first:
        features["label"] = {"names": list(labels or LABELS[task]), "_type": "ClassLabel"}
    metadata = {"probeta": about, "huggingface": {"info": {"features": features}}}
    schema = pa.schema(
        [("id", ONE), *columns.items(), ("document_id", ONE)],
        metadata={key: json.dumps(value) for key, value in metadata.items()},
    )
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in splits.items():
        for shard in range(shards):
            table = pa.Table.from_pylist(list(rows[shard::shards]), schema=schema)
            pq.write_table(table, folder / f"{split}-{shard:05d}-of-{shards:05d}.parquet")
    return folder
