"""Discourse coherence (DC): six sentences in a row; is one of them from somewhere else?

Chen et al. (2019), section 3.4; for Spanish Araujo et al. (2022).
"""

from collections.abc import Sequence
from typing import Any

from builders.dataset import Dataset
from builders.passages import any_sentences
from builders.sampling import Donors, Passage, balanced_classes
from corpora_recipes.hashing import keyed_choice, keyed_uniform
from corpora_recipes.records import Document

SENTENCES = 6
# Two rows, one coherent and one not, take two sources and one donor.
DOCUMENTS_A_ROW = 1.5
# The second to the fifth sentence, counted from 0.
REPLACEABLE = (1, 2, 3, 4)


def passage(document: Document, dataset: Dataset) -> tuple[str, ...] | None:
    """Return six sentences in a row, drawn from all such of the document, or None."""
    return any_sentences(document, SENTENCES, dataset.seed, dataset.name)


def instances(passages: Sequence[Passage], dataset: Dataset, quota: int) -> list[dict[str, Any]]:
    """Return DC rows of one split; half are incoherent (label 0).

    A third of the documents are donors: they give one sentence and are never a source, so that a
    replacing sentence is seen nowhere else. It comes from the place in the donor's passage that
    it takes in the row, so that its form does not tell it from its neighbours.

    Args:
        passages: of six sentences each, in keyed order.
        dataset: gives the seed and name for keyed choices, and the kind of donors.
        quota: the most rows to make.
    """
    seed, name = dataset.seed, dataset.name
    lots = [keyed_uniform(seed, name, p.document_id, "role") for p in passages]
    sources = [p for p, lot in zip(passages, lots, strict=True) if lot >= 1 / 3]
    donors = [p for p, lot in zip(passages, lots, strict=True) if lot < 1 / 3]
    count = min(quota, len(sources), 2 * len(donors))
    used = sources[: count - count % 2]
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
