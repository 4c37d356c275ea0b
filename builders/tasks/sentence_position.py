"""Sentence position (SP): one of the first five sentences is moved to the front; which was it?

Chen et al. (2019), "Evaluation Benchmarks and Learning Criteria for Discourse-Aware Sentence
Representations", section 3; for Spanish Araujo et al. (2022).
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

COUNT = 5


def passages(document: Document, dataset: "Dataset") -> list[Passage]:
    """Return the first five sentences of the document's first section, if it has as many."""
    del dataset  # the place is the same in every dataset
    return one_passage(document, first_sentences(document, COUNT))


def instances(passages: Sequence[Passage], dataset: "Dataset", quota: int) -> list[dict[str, Any]]:
    """Return SP rows of one split: the moved sentence, then the other four in their order.

    The position is uniform over 1 … 5, and every position is exactly equally frequent.

    Args:
        passages: of five sentences each, in keyed order.
        dataset: gives the seed and the name for keyed choices.
        quota: the most rows to make.
    """
    count = min(quota, len(passages))
    used = passages[: count - count % COUNT]
    rows = []
    positions = balanced_classes(used, COUNT, dataset.seed, dataset.name)
    for source, position in zip(used, positions, strict=True):
        moved = source.sentences[position]
        others = source.sentences[:position] + source.sentences[position + 1 :]
        rows.append({"passage": source.id, "sentences": [moved, *others], "label": position})
    return rows


TASK = PassageTask(
    name="sentence_position",
    abbreviation="SP",
    question="The first of five sentences was taken from one of the five places of the passage, "
    "the others follow in their order: from which place?",
    records=("documents",),
    labels=("1", "2", "3", "4", "5"),
    texts=SENTENCES,
    constructed=True,
    example="""\
| shown | sentence | place |
|---|---|---|
| 1st | Por eso nadie se bañaba en ella. | **3** |
| 2nd | La laguna está a dos leguas del pueblo. | 1 |
| 3rd | Decían que no tenía fondo. | 2 |
| 4th | Un verano llegó una draga. | 4 |
| 5th | Tocó fondo a los cuatro metros. | 5 |

The class is the place of the sentence shown first: 3.""",
    passages=passages,
    instances=instances,
    needs="five finished sentences at the start of a document (in its first section)",
    documents_a_row=1.0,
    lends_documents=True,
    level_lengths="together",
)
