"""Sentence position (SP): which of the first five sentences was moved to the front?

Chen et al. (2019), "Evaluation Benchmarks and Learning Criteria for Discourse-Aware Sentence
Representations", section 3; for Spanish Araujo et al. (2022).
"""

from collections.abc import Sequence
from typing import Any

from builders.sampling.passages import Draw, Passage, as_passages, first_sentences
from builders.tasks.task import PassageTask, make_task
from corpora_recipes.records import Document

COUNT = 5


def passages(document: Document, _: Draw) -> list[Passage]:
    """Return the first five sentences of the document's first section, if it has as many."""
    return as_passages(document, first_sentences(document, COUNT))


def instances(passages: Sequence[Passage], draw: Draw, quota: int) -> list[dict[str, Any]]:
    """Return SP rows of one split: the moved sentence, then the other four in their order.

    The position is uniform over 1 … 5, and every position is exactly equally frequent.
    """
    count = min(quota, len(passages))
    used = passages[: count - count % COUNT]
    rows = []
    positions = draw.classes(COUNT, [source.id for source in used])
    for source, position in zip(used, positions, strict=True):
        moved = source.sentences[position]
        others = source.sentences[:position] + source.sentences[position + 1 :]
        rows.append({"passage": source.id, "sentences": [moved, *others], "label": position})
    return rows


TASK = make_task(PassageTask, "sentence_position", passages=passages, instances=instances)
