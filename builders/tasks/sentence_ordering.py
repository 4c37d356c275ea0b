"""Binary sentence ordering (BSO): two neighbouring sentences, in their order or swapped?

Chen et al. (2019), section 3; the first two sentences, as Araujo et al. (2022) describe it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from builders.passage_task import PassageTask
from builders.passages import first_sentences, one_passage
from builders.sampling import Passage, balanced_classes
from builders.schemas import SENTENCES
from corpora_recipes.records import Document

if TYPE_CHECKING:
    from builders.dataset import Dataset


def passages(document: Document, dataset: "Dataset") -> list[Passage]:
    """Return the first two sentences of the document's first section, if it has as many."""
    del dataset  # the place is the same in every dataset
    return one_passage(document, first_sentences(document, 2))


def instances(passages: Sequence[Passage], dataset: "Dataset", quota: int) -> list[dict[str, Any]]:
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
            "passage": source.id,
            "sentences": list(source.sentences if label else reversed(source.sentences)),
            "label": label,
        }
        for source, label in zip(used, labels, strict=True)
    ]


TASK = PassageTask(
    name="sentence_ordering",
    abbreviation="BSO",
    question="Do the two sentences stand in their order, or swapped?",
    records=("documents",),
    labels=("swapped", "original"),
    texts=SENTENCES,
    constructed=True,
    example="""\
| shown | sentence | class |
|---|---|---|
| 1st | Tocó fondo a los cuatro metros. | |
| 2nd | Un verano llegó una draga. | **swapped** |""",
    passages=passages,
    instances=instances,
    needs="two finished sentences at the start of a document (in its first section)",
    documents_a_row=1.0,
    lends_documents=True,
    level_lengths="together",
)
