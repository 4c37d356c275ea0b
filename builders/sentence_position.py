"""Sentence position (SP): one of the first five sentences is moved to the front; which was it?

Chen et al. (2019), "Evaluation Benchmarks and Learning Criteria for Discourse-Aware Sentence
Representations", section 3; for Spanish Araujo et al. (2022).
"""

from collections.abc import Sequence
from typing import Any

from builders.dataset import Dataset
from builders.passages import first_sentences
from builders.sampling import Passage, balanced_classes
from corpora_recipes.records import Document

SENTENCES = 5
# Whether its documents may serve another such task too, where there are too few.
LENDS_DOCUMENTS = True
NEEDS = "five finished sentences at the start of a document (in its first section)"
DOCUMENTS_A_ROW = 1.0


def passage(document: Document, dataset: Dataset) -> tuple[str, ...] | None:
    """Return the first five sentences of the document's first section, or None if it has fewer."""
    del dataset  # the place is the same in every dataset
    return first_sentences(document, SENTENCES)


def instances(passages: Sequence[Passage], dataset: Dataset, quota: int) -> list[dict[str, Any]]:
    """Return SP rows of one split: the moved sentence, then the other four in their order.

    The position is uniform over 1 … 5, and every position is exactly equally frequent.

    Args:
        passages: of five sentences each, in keyed order.
        dataset: gives the seed and the name for keyed choices.
        quota: the most rows to make.
    """
    count = min(quota, len(passages))
    used = passages[: count - count % SENTENCES]
    rows = []
    positions = balanced_classes(used, SENTENCES, dataset.seed, dataset.name)
    for source, position in zip(used, positions, strict=True):
        moved = source.sentences[position]
        others = source.sentences[:position] + source.sentences[position + 1 :]
        rows.append(
            {
                "sentences": [moved, *others],
                "label": position,
                "document_id": source.document_id,
            }
        )
    return rows
