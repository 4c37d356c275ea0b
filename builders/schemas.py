"""The pyarrow schema and the class labels of each task."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

# Class names in the order of the published label numbers (DiscoEval: 1 is the coherent text).
LABELS: dict[str, list[str]] = {
    "sentence_position": ["1", "2", "3", "4", "5"],
    "sentence_ordering": ["swapped", "original"],
    "discourse_coherence": ["incoherent", "coherent"],
}

# Column name to the kind of its values: what stands between the id and the label …
TEXT_COLUMNS: dict[str, dict[str, str]] = {
    "sentence_position": {"sentences": "strings", "tokens": "strings"},
    "sentence_ordering": {"sentences": "strings", "tokens": "strings"},
    "discourse_coherence": {"sentences": "strings", "tokens": "strings"},
    "discourse_relations": {
        "left": "strings",
        "right": "strings",
        "left_tokens": "strings",
        "right_tokens": "strings",
    },
}
# … and what stands behind it.
PROVENANCE_COLUMNS: dict[str, dict[str, str]] = {
    "sentence_position": {},
    "sentence_ordering": {},
    "discourse_coherence": {
        "replaced_position": "integer",
        "donor_id": "string",
    },
    "discourse_relations": {
        "relation": "string",
        "order": "string",
        "left_first": "integer",
        "left_last": "integer",
        "right_first": "integer",
        "right_last": "integer",
    },
}


def instance_schema(task: str, labels: list[str], about: dict[str, Any]) -> "pa.Schema":
    """Return the schema of a task's instances.

    Every task has the columns ``id``, ``label`` (int64), ``document_id`` and ``split``;
    natural text and spaCy tokens (joined by blanks) stand in lists of the same length.

    Args:
        task: a key of ``TEXT_COLUMNS``.
        labels: names of the classes; the label column holds their indices.
        about: what the reader should know of the dataset (name, task, corpus, version …); stored
            as JSON under the metadata key ``probeta``.

    Returns:
        A schema whose ``huggingface`` metadata let ``datasets`` read the labels as ClassLabel.
    """
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "strings": pa.list_(pa.string()),
        # int64 throughout: `datasets` silently gives up the ClassLabel of a smaller label type.
        "integer": pa.int64(),
    }
    columns = {
        "id": "string",
        **TEXT_COLUMNS[task],
        "label": "integer",
        "document_id": "string",
        **PROVENANCE_COLUMNS[task],
        "split": "string",
    }
    features = {name: _feature(kind) for name, kind in columns.items()}
    features["label"] = {"names": labels, "_type": "ClassLabel"}
    metadata = {
        "huggingface": json.dumps({"info": {"features": features}}, ensure_ascii=False),
        "probeta": json.dumps(about, ensure_ascii=False, sort_keys=True),
    }
    return pa.schema([(name, types[kind]) for name, kind in columns.items()], metadata=metadata)


def _feature(kind: str) -> dict[str, Any]:
    value = {"dtype": "int64" if kind == "integer" else "string", "_type": "Value"}
    # "Sequence" and not "List": both old and new releases of `datasets` read it.
    return {"feature": value, "_type": "Sequence"} if kind == "strings" else value


def labels_of(schema: "pa.Schema") -> list[str]:
    """Return the class names that the schema's metadata state."""
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    names: list[str] = features["label"]["names"]
    return names


def about_of(schema: "pa.Schema") -> dict[str, Any]:
    """Return what the schema's metadata say about the dataset."""
    about: dict[str, Any] = json.loads(schema.metadata[b"probeta"])
    return about
