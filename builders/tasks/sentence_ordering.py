"""Binary sentence ordering (BSO): two neighbouring sentences, in their order or swapped?

Chen et al. (2019), section 3.3, and Araujo et al. (2022) for Spanish. The papers speak of the first
two sentences, but a text often opens with a definition or a title, whose form gives the order away
(90 % of Wikipedia pairs by character n-grams alone). Their published rows are neighbours from any
place of the first five sentences, as here by default.
"""

from collections.abc import Sequence
from typing import Any

from builders.sampling.passages import Draw, Passage, as_passages, first_sentences
from builders.tasks.task import PassageTask, make_task
from corpora_recipes.records import Document

COUNT = 2
# The sentences that neighbours are chosen from.
FIRST = 5


def passages(document: Document, draw: Draw) -> list[Passage]:
    """Return two neighbours of the first five sentences of the document's first section.

    Their place is uniform over the four. With ``pair: first``, they are the first two.
    """
    if draw.options.get("pair") == "first":
        return as_passages(document, first_sentences(document, COUNT))
    sentences = first_sentences(document, FIRST)
    place = draw.choice(FIRST - COUNT + 1, document.id, "pair")
    return as_passages(document, sentences and sentences[place : place + COUNT])


def instances(passages: Sequence[Passage], draw: Draw, quota: int) -> list[dict[str, Any]]:
    """Return BSO rows of one split, half of them swapped (label 0)."""
    count = min(quota, len(passages))
    used = passages[: count - count % 2]
    labels = draw.classes(2, [source.id for source in used])
    return [
        {
            "passage": source.id,
            "sentences": list(source.sentences if label else reversed(source.sentences)),
            "label": label,
        }
        for source, label in zip(used, labels, strict=True)
    ]


TASK = make_task(PassageTask, "sentence_ordering", passages=passages, instances=instances)
