"""Discourse coherence (DC): six sentences in a row; is one of them from somewhere else?

Chen et al. (2019), section 3.4; for Spanish Araujo et al. (2022).
"""

from collections.abc import Sequence
from typing import Any

from builders.dataset import Dataset
from builders.passages import any_sentences
from builders.sampling import Donors, Passage, balanced_classes
from corpora_recipes.hashing import keyed_choice
from corpora_recipes.records import Document

SENTENCES = 6
# The rows of another task would tell which sentences are neighbours in the source.
LENDS_DOCUMENTS = False
NEEDS = "six finished sentences in a row in one section"
# Two rows, one coherent and one not, take two sources and one donor; a few donors more than that
# keep one document less from changing who gets which.
DOCUMENTS_A_ROW = 1.6
# The second to the fifth sentence, counted from 0.
REPLACEABLE = (1, 2, 3, 4)


def passage(document: Document, dataset: Dataset) -> tuple[str, ...] | None:
    """Return six sentences in a row, drawn from all such of the document, or None."""
    return any_sentences(document, SENTENCES, dataset.seed, dataset.name)


def instances(passages: Sequence[Passage], dataset: Dataset, quota: int) -> list[dict[str, Any]]:
    """Return DC rows of one split; half are incoherent (label 0).

    The first documents are sources, the others donors: a donor gives one sentence and is never a
    source, so that a replacing sentence is seen nowhere else. It comes from the place in the
    donor's passage that it takes in the row, so that its form does not tell it from its neighbours.

    Args:
        passages: of six sentences each, in keyed order.
        dataset: gives the seed and name for keyed choices, and the kind of donors.
        quota: the most rows to make.
    """
    seed, name = dataset.seed, dataset.name
    pairs = min(quota // 2, int(len(passages) / (2 * DOCUMENTS_A_ROW)))
    used, donors = passages[: 2 * pairs], passages[2 * pairs :]
    labels = balanced_classes(used, 2, seed, name)
    replaced = [source for source, label in zip(used, labels, strict=True) if label == 0]
    donor_of = _match(replaced, Donors(donors, seed, name), dataset.donors)
    rows = []
    for source, label in zip(used, labels, strict=True):
        row: dict[str, Any] = {
            "sentences": list(source.sentences),
            "label": label,
            "document_id": source.document_id,
            "replaced_position": None,
            "donor_id": None,
        }
        if label == 0:
            donor = donor_of[source.document_id]
            drawn = keyed_choice(len(REPLACEABLE), seed, name, source.document_id, "position")
            place = REPLACEABLE[drawn]
            row["sentences"][place] = donor.sentences[place]
            row["replaced_position"] = place + 1
            row["donor_id"] = donor.document_id
        rows.append(row)
    return rows


def _match(takers: Sequence[Passage], donors: Donors, kind: str) -> dict[str, Passage]:
    # Topic matches go first: whoever finds none must not take what another could have matched.
    matched: dict[str, Passage] = {}
    if kind == "same_topic":
        for taker in takers:
            if (donor := donors.take_same_topic(taker)) is not None:
                matched[taker.document_id] = donor
    for taker in takers:
        if taker.document_id not in matched:
            matched[taker.document_id] = donors.take(taker)
    return matched
