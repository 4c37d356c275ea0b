"""The pyarrow schema of a dataset's instances, and its metadata."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from builders.tasks.task import Column, Kind


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
