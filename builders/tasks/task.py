"""The type of a task: its question, texts, columns and class labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from builders.tasks.groups import Group

Kind = Literal["string", "strings", "integer", "number"]
Answer = Literal["label", "score", "neighbours"]
Unit = Literal["sentence", "word"]


class Option(NamedTuple):
    """A choice that a dataset's entry in params.yaml may make.

    Attributes:
        choices: the values, the default first.
        records: the kind of records that it makes sense for.
        about: what is chosen, for the dataset card.
    """

    choices: tuple[str, ...]
    records: str
    about: str


class Column(NamedTuple):
    """A column of instances: the kind of its values, and its content in words."""

    kind: Kind
    about: str


LABEL: Mapping[str, Column] = MappingProxyType({"label": Column("integer", "the class")})


@dataclass(frozen=True, slots=True)
class Text:
    """A column of natural text, and the column with the same text as spaCy tokens.

    Attributes:
        natural: name of the column with the natural text.
        tokens: name of the column with its tokens, joined by single spaces.
        kind: "string" for one text per row, "strings" for a list of texts.
        about: its content, for the dataset card.
        count: the number of texts per row in this column; None if it varies.
    """

    natural: str
    tokens: str
    kind: Kind
    about: str
    count: int | None = 1


@dataclass(frozen=True, slots=True)
class Task:
    """A task, without its data.

    Attributes:
        name: as in params.yaml, e.g. "sentence_position".
        group: the group that its scores are averaged in.
        question: the question that an encoder answers, for the dataset card and the report.
        records: the kinds of records that instances are made of.
        labels: class names in the order of their numbers; empty if the corpus names them.
        texts: the columns with text.
        needs: the material of a row, for messages.
        options: name to what a dataset may choose.
        provenance: column name to column, for the origin of a row.
        constructed: whether the labels result from the construction of the rows, or rows are chosen
            by their labels, so that no trivial cue may reveal them; False if people annotated them
            and all are taken.
        target: the answer: "label", a class; "score", a number; or "neighbours", which has no
            column: the evaluation looks at nearest neighbours.
        trained: whether a probe is trained for it; otherwise all rows are test.
        unit: of the texts: a sentence (or a longer text), or a word.
        unchanged: the class of the rows whose text is as in the source, if the others are changed
            on purpose; "" if all are as in the source.
        asks_length: whether the answer is the length of the text, so that length tells it.
        gold: the right answer in the report; ``{}`` is the name of the class.
        example: an invented instance, as Markdown.
    """

    name: str
    group: Group
    question: str
    records: tuple[str, ...]
    labels: tuple[str, ...]
    texts: tuple[Text, ...]
    needs: str
    constructed: bool
    example: str
    options: Mapping[str, Option] = field(default_factory=dict)
    provenance: Mapping[str, Column] = field(default_factory=dict)
    target: Answer = "label"
    trained: bool = True
    unit: Unit = "sentence"
    unchanged: str = ""
    asks_length: bool = False
    gold: str = "{}"

    def defaults(self, records: str) -> dict[str, str]:
        """Return the default of each option that makes sense for a kind of records."""
        return {
            name: option.choices[0]
            for name, option in self.options.items()
            if option.records == records
        }

    @property
    def replaces_sentences(self) -> bool:
        """Whether some rows hold a sentence of another passage, their donor."""
        return "donor_id" in self.provenance

    @property
    def lists_positives(self) -> bool:
        """Whether a row lists the rows with its paraphrases."""
        return "positives" in self.provenance

    def columns(
        self,
        answers: Mapping[str, Column] = LABEL,
        further: Mapping[str, Column] = MappingProxyType({}),
    ) -> dict[str, Column]:
        """Return every column of the task's instances, in their order.

        Args:
            answers: the columns with the answers; ``target`` is one of them.
            further: further columns of a dataset.
        """
        texts = {text.natural: Column(text.kind, text.about) for text in self.texts}
        tokens = {
            text.tokens: Column(text.kind, f"`{text.natural}` as spaCy tokens joined by spaces")
            for text in self.texts
        }
        return {
            "id": Column("string", "stable id of the row"),
            **texts,
            **tokens,
            **answers,
            "document_id": Column(
                "string", "id that dependent rows share, such as that of their document"
            ),
            **self.provenance,
            **further,
            "split": Column("string", "train, validation or test"),
            "licence": Column("string", "licence of the text"),
        }


def sentences(count: int) -> tuple[Text, ...]:
    """Return the text column of a task whose rows have ``count`` sentences."""
    return (Text("sentences", "tokens", "strings", "natural text", count),)
