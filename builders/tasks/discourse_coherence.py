"""Discourse coherence (DC): six sentences in a row; is one of them from somewhere else?

Chen et al. (2019), section 3.4; for Spanish, and of turns of dialogue, Araujo et al. (2022).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from builders.passage_task import PassageTask
from builders.passages import any_sentences, normalise, one_passage, windows
from builders.sampling import Donors, Fits, Passage, balanced_classes, in_keyed_order
from builders.schemas import SENTENCES, Column
from corpora_recipes.hashing import keyed_choice, keyed_hash
from corpora_recipes.records import Dialogue, Document

if TYPE_CHECKING:
    from builders.dataset import Dataset

COUNT = 6
# Two rows, one coherent and one not, take two sources and one donor; a few donors more than that
# keep one document less from changing who gets which.
PASSAGES_A_ROW = 1.6
# The second to the fifth sentence, counted from 0.
REPLACEABLE = (1, 2, 3, 4)


def passages(record: Document | Dialogue, dataset: "Dataset") -> list[Passage]:
    """Return six sentences in a row, drawn from all such of a document, or all of a dialogue.

    A document gives one passage, a dialogue as many of six turns as it has that do not overlap.
    """
    if isinstance(record, Dialogue):
        return windows(record, COUNT, dataset.seed, dataset.name)
    return one_passage(record, any_sentences(record, COUNT, dataset.seed, dataset.name))


def instances(passages: Sequence[Passage], dataset: "Dataset", quota: int) -> list[dict[str, Any]]:
    """Return DC rows of one split; half are incoherent (label 0).

    Passages are sources or donors by keyed hash: a donor gives one sentence and is never a source,
    so that a replacing sentence is seen nowhere else. It is of another document as long as one is
    left (a split may have a single book), it comes from the place in the donor's passage that it
    takes in the row, so that its form does not tell it from its neighbours, and the row has no
    sentence of the same words.

    Args:
        passages: of six sentences each, in keyed order.
        dataset: gives the seed and name for keyed choices, and the kind of donors.
        quota: the most rows to make.
    """
    seed, name = dataset.seed, dataset.name
    pairs = min(quota // 2, int(len(passages) / (2 * PASSAGES_A_ROW)))
    wanted = int(2 * pairs * PASSAGES_A_ROW)
    roles = sorted(passages[:wanted], key=lambda p: (keyed_hash(seed, name, p.id, "role"), p.id))
    used = in_keyed_order(roles[: 2 * pairs], seed, name, "select")
    # What is left of documents that gave nothing yet are more donors to choose among; of a long
    # book they would be most of them.
    donors = roles[2 * pairs :] + [p for p in passages[wanted:] if p.rank == 0]
    labels = balanced_classes(used, 2, seed, name)
    takers = [source for source, label in zip(used, labels, strict=True) if label == 0]
    places = {
        taker.id: REPLACEABLE[keyed_choice(len(REPLACEABLE), seed, name, taker.id, "position")]
        for taker in takers
    }
    donor_of = _match(takers, places, Donors(donors, seed, name), dataset.donors)
    coherent = [s for s, label in zip(used, labels, strict=True) if label == 1]
    replaced = [taker for taker in takers if taker.id in donor_of]
    return [
        *(_row(source, 1) for source in coherent[: len(replaced)]),
        *(_row(taker, 0, places[taker.id], donor_of[taker.id]) for taker in replaced),
    ]


def _row(
    source: Passage, label: int, place: int | None = None, donor: Passage | None = None
) -> dict[str, Any]:
    sentences = list(source.sentences)
    if place is not None and donor is not None:
        sentences[place] = donor.sentences[place]
    return {
        "passage": source.id,
        "sentences": sentences,
        "label": label,
        "replaced_position": None if place is None else place + 1,
        "donor_id": None if donor is None else donor.id,
    }


def _match(
    takers: Sequence[Passage], places: dict[str, int], donors: Donors, kind: str
) -> dict[str, Passage]:
    """Return the donor of each taker; one that none fits is left out."""
    words = {taker.id: set(map(normalise, taker.sentences)) for taker in takers}

    def is_new(taker: Passage, donor: Passage) -> bool:
        return normalise(donor.sentences[places[taker.id]]) not in words[taker.id]

    def is_from_elsewhere(taker: Passage, donor: Passage) -> bool:
        return taker.document_id != donor.document_id and is_new(taker, donor)

    # A document with many takers has few donors elsewhere: it chooses first.
    count = Counter(taker.document_id for taker in takers)
    takers = sorted(takers, key=lambda taker: -count[taker.document_id])
    # Each step goes over all takers: whoever finds none must not take what another could.
    matched: dict[str, Passage] = {}

    def step(take: Callable[[Passage, Fits], Passage | None], fits: Fits) -> None:
        for taker in takers:
            if taker.id not in matched and (donor := take(taker, fits)) is not None:
                matched[taker.id] = donor

    if kind == "same_topic":
        step(donors.take_same_topic, is_from_elsewhere)
    step(donors.take, is_from_elsewhere)
    step(donors.take, is_new)
    return matched


TASK = PassageTask(
    name="discourse_coherence",
    abbreviation="DC",
    question="Do the six sentences (or turns of a dialogue) follow each other in the source, or "
    "was one of the second to the fifth replaced by one from elsewhere?",
    records=("documents", "dialogues"),
    labels=("incoherent", "coherent"),
    texts=SENTENCES,
    constructed=True,
    example="""\
| | sentence |
|---|---|
| 1 | ¿Queda pan? |
| 2 | Un panecillo de ayer. |
| 3 | *La draga tocó fondo a los cuatro metros.* |
| 4 | Con aceite estará bueno. |
| 5 | El aceite se acabó el lunes. |
| 6 | Entonces, con agua. |

The third is of another document: **incoherent**.""",
    provenance={
        "replaced_position": Column(
            "integer", "which sentence was replaced (2 to 5), null where none was"
        ),
        "donor_id": Column(
            "string", "the passage that the replacing sentence comes from, null where there is none"
        ),
    },
    passages=passages,
    instances=instances,
    needs="six finished sentences in a row in one section, or turns in one conversation",
    documents_a_row=PASSAGES_A_ROW,
    # The rows of another task would tell which sentences are neighbours in the source.
    lends_documents=False,
)
