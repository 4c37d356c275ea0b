"""Discourse coherence (DC): is one of six consecutive sentences from elsewhere?

Chen et al. (2019), section 3.4; for Spanish, and for turns of dialogue, Araujo et al. (2022).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from builders.sampling.passages import (
    Donors,
    Draw,
    Fits,
    Passage,
    WordSimilarity,
    any_sentences,
    as_passages,
    in_keyed_order,
    windows,
)
from builders.tasks.task import PassageTask, make_task
from corpora_recipes.records import Dialogue, Document
from corpora_recipes.text.tokens import normalise

COUNT = 6
# Passages for each row: with two donors for each taker, one is mostly similar.
WITH_SIMILAR_DONORS = 2.0
# The second to the fifth sentence, counted from 0.
REPLACEABLE = range(1, COUNT - 1)


def passages(record: Document | Dialogue, draw: Draw) -> list[Passage]:
    """Return six consecutive sentences of a document, or all such windows of a dialogue.

    A document gives one passage, a dialogue all non-overlapping passages of six turns.
    """
    if isinstance(record, Dialogue):
        return windows(record, COUNT, draw)
    return as_passages(record, any_sentences(record, COUNT, draw))


def instances(passages: Sequence[Passage], draw: Draw, quota: int) -> list[dict[str, Any]]:
    """Return DC rows of one split; half are incoherent (label 0).

    Passages are sources or donors by keyed hash: a donor gives one sentence and is never a source,
    so that a replacing sentence occurs nowhere else. It is from another document while one is left
    (a split may have a single book). It has the same place in the donor's passage as in the row, so
    that its form does not reveal it, and its words differ from every sentence of the row.
    """
    policy = draw.options.get("donors", "random")
    a_row = WITH_SIMILAR_DONORS if policy == "similar" else TASK.documents_per_row
    pairs = min(quota // 2, int(len(passages) / (2 * a_row)))
    needed = int(2 * pairs * a_row)
    roles = sorted(passages[:needed], key=lambda p: (draw.hash(p.id, "role"), p.id))
    used = in_keyed_order(roles[: 2 * pairs], draw, "select")
    # The remaining first passages of documents are donors too; more passages of a long book would
    # be most of the donors.
    donors = roles[2 * pairs :] + [p for p in passages[needed:] if p.rank == 0]
    labels = draw.classes(2, [source.id for source in used])
    takers = [source for source, label in zip(used, labels, strict=True) if label == 0]
    places = {
        taker.id: REPLACEABLE[draw.choice(len(REPLACEABLE), taker.id, "position")]
        for taker in takers
    }
    donor_of = _match(takers, places, Donors(donors, draw), policy)
    coherent = [s for s, label in zip(used, labels, strict=True) if label == 1]
    replaced = [taker for taker in takers if taker.id in donor_of]
    return [
        *(_row(source) for source in coherent[: len(replaced)]),
        *(_replaced(taker, places[taker.id], donor_of[taker.id]) for taker in replaced),
    ]


def _row(source: Passage) -> dict[str, Any]:
    return {"passage": source.id, "sentences": list(source.sentences), "label": 1}


def _replaced(taker: Passage, place: int, donor: Passage) -> dict[str, Any]:
    row = _row(taker) | {"label": 0, "replaced_position": place + 1, "donor_id": donor.id}
    row["sentences"][place] = donor.sentences[place]
    return row


def _match(
    takers: Sequence[Passage], places: dict[str, int], donors: Donors, policy: str
) -> dict[str, Passage]:
    """Return the donor of each taker; takers without a fitting donor are left out."""
    words = {taker.id: set(map(normalise, taker.sentences)) for taker in takers}

    def is_new(taker: Passage, donor: Passage) -> bool:
        return normalise(donor.sentences[places[taker.id]]) not in words[taker.id]

    def is_from_elsewhere(taker: Passage, donor: Passage) -> bool:
        return taker.document_id != donor.document_id and is_new(taker, donor)

    # A document with many takers has few donors elsewhere, so it chooses first.
    count = Counter(taker.document_id for taker in takers)
    takers = sorted(takers, key=lambda taker: -count[taker.document_id])
    # Each step covers all takers before the next relaxes the conditions.
    matched: dict[str, Passage] = {}

    def step(take: Callable[[Passage, Fits], Passage | None], fits: Fits) -> None:
        for taker in takers:
            if taker.id not in matched and (donor := take(taker, fits)) is not None:
                matched[taker.id] = donor

    if policy == "same_topic":
        step(donors.take_same_topic, is_from_elsewhere)
    if policy == "similar":
        step(_nearest(takers, places, donors), is_from_elsewhere)
    step(donors.take, is_from_elsewhere)
    step(donors.take, is_new)
    return matched


def _nearest(
    takers: Sequence[Passage], places: dict[str, int], donors: Donors
) -> Callable[[Passage, Fits], Passage | None]:
    """Return the function that takes the donor whose sentence fits in as the original does."""
    likeness = WordSimilarity([sentence for taker in takers for sentence in taker.sentences])

    def take(taker: Passage, fits: Fits) -> Passage | None:
        place = places[taker.id]
        others = taker.sentences[:place] + taker.sentences[place + 1 :]
        original = likeness.of(taker.sentences[place], others)
        return donors.take_nearest(
            taker, fits, lambda donor: abs(likeness.of(donor.sentences[place], others) - original)
        )

    return take


TASK = make_task(PassageTask, "discourse_coherence", passages=passages, instances=instances)
