"""What a task is to the data: its columns and class labels, as a pyarrow schema."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["string", "strings", "integer", "number"]
Target = Literal["label", "score", "neighbours"]


class Column(NamedTuple):
    """A column of instances: the kind of its values, and what it holds."""

    kind: Kind
    about: str


LABEL: Mapping[str, Column] = MappingProxyType({"label": Column("integer", "the class")})


class Text(NamedTuple):
    """A column of natural text and the column with the same as spaCy tokens joined by blanks."""

    natural: str
    tokens: str
    kind: Kind
    about: str


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a task without its data.

    Attributes:
        name: as in params.yaml, e.g. "sentence_position".
        abbreviation: the papers', e.g. "SP".
        question: what an encoder is asked, for the dataset card.
        records: the kinds of records that instances are made of.
        labels: class names in the order of their numbers; empty where the corpus names them.
        texts: the columns with text.
        provenance: column name to column, for what else is kept of a row's making.
        constructed: whether the labels come from how we build rows, so that no trivial cue may
            give them away; False where people annotated them.
        target: the column that is asked for: "label", a class, or "score", a number; or
            "neighbours" if none is, but which texts stand near each other.
        trained: whether a probe is trained for it; else all rows are test.
        example: a text of our own and what the task makes of it, as Markdown.
    """

    name: str
    abbreviation: str
    question: str
    records: tuple[str, ...]
    labels: tuple[str, ...]
    texts: tuple[Text, ...]
    constructed: bool
    example: str
    provenance: Mapping[str, Column] = field(default_factory=dict)
    target: Target = "label"
    trained: bool = True

    def columns(
        self,
        answers: Mapping[str, Column] = LABEL,
        further: Mapping[str, Column] = MappingProxyType({}),
    ) -> dict[str, Column]:
        """Return every column of the task's instances, in their order.

        Args:
            answers: the columns with what people said of a row; ``target`` is one of them.
            further: what else a dataset keeps of its rows.
        """
        texts = {text.natural: Column(text.kind, text.about) for text in self.texts}
        tokens = {
            text.tokens: Column(text.kind, f"`{text.natural}` as spaCy tokens joined by blanks")
            for text in self.texts
        }
        return {
            "id": Column("string", "stable id of the row"),
            **texts,
            **tokens,
            **answers,
            "document_id": Column(
                "string", "what rows that depend on each other share: a document …"
            ),
            **self.provenance,
            **further,
            "split": Column("string", "train, validation or test"),
            "licence": Column("string", "licence of the text"),
        }


SENTENCES = (Text("sentences", "tokens", "strings", "natural text"),)


def instance_schema(
    columns: Mapping[str, Column], labels: list[str], about: dict[str, Any]
) -> "pa.Schema":
    """Return the schema of a dataset's instances.

    Args:
        columns: name to column, in their order; labels are int64, scores float64.
        labels: names of the classes; the column ``label``, if there is one, holds their indices.
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
    # "Sequence" and not "List": both old and new releases of `datasets` read it.
    return {"feature": value, "_type": "Sequence"} if kind == "strings" else value


def labels_of(schema: "pa.Schema") -> list[str]:
    """Return the class names that the schema's metadata state; none if rows have no label."""
    features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
    names: list[str] = features["label"]["names"] if "label" in features else []
    return names


def about_of(schema: "pa.Schema") -> dict[str, Any]:
    """Return what the schema's metadata say about the dataset."""
    about: dict[str, Any] = json.loads(schema.metadata[b"probeta"])
    return about
