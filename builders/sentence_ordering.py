"""Binary sentence ordering (BSO): two neighbouring sentences, in their order or swapped?

Chen et al. (2019), section 3; the first two sentences, as Araujo et al. (2022) describe it.
"""

from collections.abc import Sequence
from typing import Any

from builders.dataset import Dataset
from builders.passages import first_sentences
from builders.sampling import Passage, balanced_classes
from corpora_recipes.records import Document

# Whether its documents may serve another such task too, where there are too few.
LENDS_DOCUMENTS = True
NEEDS = "two finished sentences at the start of a document (in its first section)"
DOCUMENTS_A_ROW = 1.0


def passage(document: Document, dataset: Dataset) -> tuple[str, ...] | None:
    """Return the first two sentences of the document's first section, or None if it has fewer."""
    del dataset  # the place is the same in every dataset
    return first_sentences(document, 2)


def instances(passages: Sequence[Passage], dataset: Dataset, quota: int) -> list[dict[str, Any]]:
    """Return BSO rows of one split, half of them swapped (label 0).

    Args:
        passages: of two sentences each, in keyed order.
        dataset: gives the seed and the name for keyed choices.
        quota: the most rows to make.
    """
    count = min(quota, len(passages))
    used = passages[: count - count % 2]
    labels = balanced_classes(used, 2, dataset.seed, dataset.name)
    return [
        {
            "sentences": list(source.sentences if label else reversed(source.sentences)),
            "label": label,
            "document_id": source.document_id,
        }
        for source, label in zip(used, labels, strict=True)
    ]
