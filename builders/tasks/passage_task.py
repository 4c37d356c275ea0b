"""Tasks whose instances are made of passages: sentences chosen from each document."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from builders.sampling.draw import Draw
from builders.sampling.passages import Passage
from builders.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageTask(Task):
    """A task with two steps: from a record to passages, from a split's passages to rows.

    Attributes:
        passages: returns the passages of a record (of a kind in ``records``), which depend only on
            it and the dataset's draw.
        instances: returns rows, given a split's passages in the order to take them, the dataset's
            draw and the highest number of rows.
        documents_a_row: the number of documents per row.
        lends_documents: whether another such task of the corpus may use its documents too, if
            there are too few.
        level_lengths: whether rows show the sentences of a passage "together" or "alone", if
            their length must not reveal their position (see ``builders.sampling.lengths``); "" if
            the task does not ask for positions.
    """

    passages: Callable[[Any, Draw], list[Passage]]
    instances: Callable[[Sequence[Passage], Draw, int], list[dict[str, Any]]]
    documents_a_row: float
    lends_documents: bool
    level_lengths: Literal["together", "alone", ""] = ""
