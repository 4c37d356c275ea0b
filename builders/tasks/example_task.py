"""Tasks whose rows are labelled examples that others published."""

from dataclasses import dataclass

from builders.sampling.folds import FOLDS
from builders.tasks.task import LABEL, Column, Task
from corpora_recipes.facts import CollectionFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTask(Task):
    """A task whose rows are examples; their corpus names the classes.

    Attributes:
        named_by_language: whether the name of each collection is the code of its language.
        once: whether of examples with the same texts only one is taken, so that no two rows have
            the same texts and different labels.
        least_in_class: a class with fewer examples is left out.
    """

    records: tuple[str, ...] = ("examples",)
    labels: tuple[str, ...] = ()
    constructed: bool = False
    named_by_language: bool = False
    once: bool = False
    least_in_class: int = 0

    def fits(self, facts: CollectionFacts) -> bool:
        """Return whether a collection (its part of corpus.yaml) has what the task needs."""
        if self.target == "neighbours":
            return facts.texts is None
        answer = facts.labels if self.target == "label" else facts.scale
        return answer is not None and facts.texts == len(self.texts)


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
        "fold": Column("integer", f"0 … {FOLDS - 1}, for cross-validation"),
    }
