"""What a task is: its question, texts, columns and class labels; and the three kinds of tasks.

A ``PassageTask`` makes rows of sentences that it takes from documents, an ``ExampleTask`` has the
labelled examples of others, a ``TreebankTask`` asks for a property of parsed sentences.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BeforeValidator

from builders.sampling.candidates import N_FOLDS, Candidate, Tree, WordCounts
from builders.sampling.passages import Draw, Passage
from builders.tasks.benchmarks import GROUPS, LPT, Group
from corpora_recipes.recipe import CollectionFacts
from corpora_recipes.validation import validate
from corpora_recipes.yaml_files import load_yaml

Kind = Literal["string", "strings", "integer", "number"]
Answer = Literal["label", "score", "word", "neighbours"]
Unit = Literal["sentence", "word"]
TaskKind = TypeVar("TaskKind", bound="Task")


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


_FILE = Path(__file__).with_name("tasks.yaml")
_FACTS: dict[str, dict[str, Any]] = load_yaml(_FILE)
_GROUPS = {group.abbreviation: group for group in GROUPS}
LABEL: Mapping[str, Column] = MappingProxyType({"label": Column("integer", "the class")})


@dataclass(frozen=True, slots=True)
class Text:
    """A column of natural text, and the column with the same text as spaCy tokens.

    Attributes:
        about: its content, for the dataset card.
        count: the number of texts per row in this column; None if it varies.
    """

    natural: str
    tokens: str
    kind: Kind
    about: str
    count: int | None = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, without its data.

    Attributes:
        question: the question that an encoder answers, for the dataset card and the report.
        records: the kinds of records that instances are made of.
        labels: class names in the order of their numbers; empty if the rows name them.
        texts: the columns with text.
        needs: the material of a row, for messages.
        options: name to what a dataset may choose.
        provenance: column name to column, for the origin of a row.
        constructed: whether the labels result from the construction of the rows, or rows are chosen
            by their labels, so that no trivial cue may reveal them; False if people annotated them
            and all are taken.
        target: the answer: "label", a class; "score", a number; "word", the last text of the row;
            or "neighbours", which has no column: the evaluation looks at nearest neighbours.
        trained: whether a probe is trained for it; otherwise all rows are test.
        unit: of the texts: a sentence (or a longer text), or a word.
        unchanged: the class of the rows whose text is as in the source, if the others are changed
            on purpose; "" if all are as in the source.
        asks_length: whether the answer is the length of the text, so that length tells it.
        gold: the right answer in the report; ``{}`` is the name of the class.
        label: what its datasets are called in the report, under their group, such as "Tense"; "" to
            call them after their corpus.
        example: an invented instance, as Markdown.
        citation: the paper of the method, to cite with those of the corpora; "" for none.
    """

    name: str
    group: Annotated[Group, BeforeValidator(lambda name: _GROUPS.get(name, name))]
    question: str
    records: tuple[str, ...]
    labels: tuple[str, ...] = ()
    texts: tuple[Text, ...]
    needs: str
    constructed: bool
    example: str
    label: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    provenance: Mapping[str, Column] = field(default_factory=dict)
    target: Answer = "label"
    trained: bool = True
    unit: Unit = "sentence"
    unchanged: str = ""
    asks_length: bool = False
    gold: str = "{}"
    citation: str = ""

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
        """Return every column of the instances, in their order, given those of the answers."""
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


def make_task(kind: type[TaskKind], name: str, **functions: Any) -> TaskKind:
    """Return the task that tasks.yaml describes under its name, with the functions of its kind."""
    return validate(kind, {"name": name, **_FACTS[name], **functions}, f"{_FILE}: {name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTask(Task):
    """A task with two steps: from a record to passages, from a split's passages to rows.

    Attributes:
        passages: returns the passages of a record (of a kind in ``records``), which depend only on
            it and the dataset's draw.
        instances: returns rows, given a split's passages in the order to take them, the dataset's
            draw and the highest number of rows. A row has ``passage``, the id of its passage; the
            columns of ``texts``; ``label``, a class or its number, each equally often; those of
            ``provenance`` that are not null; and ``id``, if a passage gives several rows.
        documents_per_row: the number of documents per row.
        lends_documents: whether another such task of the corpus may use its documents too, if
            there are too few.
        settle: decides what depends on the passages of all splits, and leaves out those of classes
            that are too rare; None if ``labels`` are all classes.
        level_lengths: whether rows show the sentences of a passage "together" or "alone", if
            their length must not reveal their position (see ``builders.sampling.passages``); "" if
            the task does not ask for positions.
    """

    passages: Callable[[Any, Draw], list[Passage]]
    instances: Callable[[Sequence[Passage], Draw, int], list[dict[str, Any]]]
    documents_per_row: float
    lends_documents: bool
    settle: Callable[[Sequence[Passage]], Sequence[Passage]] | None = None
    level_lengths: Literal["together", "alone", ""] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTask(Task):
    """A task whose rows are examples; their corpus names the classes.

    Attributes:
        named_by_language: whether the name of each collection is the code of its language.
        deduplicate: whether of examples with the same texts only one is taken, so that no two rows
            have the same texts and different labels.
        min_class_size: a class with fewer examples is left out.
        folds: their number, if the source has no parts.
    """

    records: tuple[str, ...] = ("examples",)
    constructed: bool = False
    named_by_language: bool = False
    deduplicate: bool = False
    min_class_size: int = 0
    folds: int = N_FOLDS

    def fits(self, facts: CollectionFacts) -> bool:
        """Return whether a collection (its part of corpus.yaml) has what the task needs."""
        if self.target == "neighbours":
            return facts.texts is None
        if facts.texts != len(self.texts) or (self.unit == "word") > (facts.unit == "word"):
            return False
        answers = {"label": facts.labels, "score": facts.scale, "word": facts.texts}
        return answers[self.target] is not None


def answer_columns(facts: CollectionFacts) -> dict[str, Column]:
    """Return the columns for the label and the score that a collection has."""
    columns = dict(LABEL) if facts.labels is not None else {}
    if facts.scale is not None:
        lowest, highest = facts.scale
        columns["score"] = Column("number", f"from {lowest} to {highest}")
    return columns


def further_columns(facts: CollectionFacts) -> dict[str, Column]:
    """Return the further columns of the rows of a collection."""
    return {
        **{name: Column("string", about) for name, about in facts.columns.items()},
        "source_split": Column(
            "string", "the part of the source (train, validation or test), empty if it has none"
        ),
        "also_in": Column(
            "strings",
            "other splits that hold the same text, or the same pair in this order, ignoring "
            "case and punctuation",
        ),
        **FOLD,
    }


def _columns(kind: str) -> dict[str, Column]:
    return {name: Column(*column) for name, column in _FACTS["columns"][kind].items()}


ORIGIN = _columns("origin")
FOLD = {"fold": ORIGIN["fold"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class TreebankTask(Task):
    """A task on a property of a sentence, which its tree tells, or on a change that we make.

    Attributes:
        find: returns what a sentence offers, or the reason why it offers nothing, in snake case.
            It depends only on the sentence and the dataset's draw. The label is one of ``labels``,
            or "" as long as it is not decided; the columns are those of ``provenance`` that are
            neither in ``ORIGIN`` nor null.
        count: counts what ``settle`` must know of all sentences, also those that offer nothing.
        settle: decides what depends on all candidates, such as which words are asked for, and
            leaves out candidates.
        feature: the feature that the words in question must have, such as "Tense"; "" for none. A
            sentence where the word lacks it is left out for the reason "without_tense".
        carrier: these words, for messages.
        by_length: whether classes are balanced among sentences of the same length, so that length
            does not tell the class.
        lengths: the shortest and the longest sentence, in tokens.
        least_share: of the classes that sentences have, as many are asked for as leave this share
            of the rows that the best number of them leaves; 0 for all.
    """

    find: Callable[[Tree, Draw], Candidate | str]
    count: Callable[[Tree, WordCounts], None] | None = None
    settle: Callable[[Sequence[Candidate], WordCounts, Draw], Sequence[Candidate]] | None = None
    feature: str = ""
    carrier: str = ""
    by_length: bool = True
    lengths: tuple[int, int] = (5, 40)
    least_share: float = 0
    group: Group = LPT
    records: tuple[str, ...] = ("parsed_sentences",)
    texts: tuple[Text, ...] = (Text("sentence", "tokens", "string", "natural text"),)
    constructed: bool = True
    provenance: Mapping[str, Column] = field(default_factory=lambda: ORIGIN | _columns("word"))
