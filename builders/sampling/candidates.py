"""Candidates: the sentences of a treebank that a task may take, with the answer to each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from corpora_recipes.records import Split

# Width of the bins of sentence length, in tokens.
BIN = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may become a row.

    Attributes:
        id: of the sentence.
        treebank: of the sentence.
        document_id: of the sentence.
        licence: of the sentence.
        split: of the sentence.
        text: the natural text.
        length: in tokens of the text.
        label: the class; "" as long as it is not decided.
        changed: the text after the change that the task asks about; "" if it asks about none.
        forms: the words that tell the class, in lower case; each belongs to one split.
        stratum: a further property that must not tell the class; classes are balanced in each.
        columns: where the answer stands, or what was changed: columns of the row.
        material: what the task needs to decide about the candidate when it knows all.
    """

    id: str
    treebank: str
    document_id: str
    licence: str
    split: Split
    text: str
    length: int
    label: str = ""
    changed: str = ""
    forms: tuple[str, ...] = ()
    stratum: str = ""
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    material: Any = None

    @property
    def bin(self) -> int:
        """The bin of its length."""
        return self.length // BIN
