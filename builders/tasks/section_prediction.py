"""Section prediction (SSP): does a sentence stand in the summary of a text, or in its body?

Chen et al. (2019), section 3, asks it of the abstracts and bodies of papers; Araujo et al. (2022)
of the subheads and bodies of Spanish news.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from builders.passage_task import PassageTask
from builders.passages import flat, is_finished, is_telling, one_passage
from builders.sampling import Passage
from builders.schemas import Text
from corpora_recipes.hashing import keyed_choice
from corpora_recipes.records import Document

if TYPE_CHECKING:
    from builders.dataset import Dataset

# A body sentence is as long as the summary's if it is at most so much longer or shorter.
SIMILAR = 1.1
QUOTATION = frozenset("\"“”„«»‘’'")


def passages(document: Document, dataset: "Dataset") -> list[Passage]:
    """Return a sentence of the summary and one of the body, if possible of the same length.

    The one of the summary is drawn, the other is drawn from those of the body that are about as
    long; where none is, it is the one that comes closest.
    """
    summary = list(filter(_is_usable, document.summary))
    body = [s for section in document.sections for s in flat(section) if _is_usable(s)]
    if not summary or not body:
        return []
    seed, name = dataset.seed, dataset.name
    one = summary[keyed_choice(len(summary), seed, name, document.id, "summary")]
    ratios = [max(len(one), len(s)) / min(len(one), len(s)) for s in body]
    similar = [s for s, ratio in zip(body, ratios, strict=True) if ratio <= SIMILAR]
    if not similar:
        similar = [body[ratios.index(min(ratios))]]
    other = similar[keyed_choice(len(similar), seed, name, document.id, "body")]
    return one_passage(document, (one, other))


def _is_usable(sentence: str) -> bool:
    # People are quoted in the body, hardly ever above it; short sentences recur in other articles.
    return is_finished(sentence) and is_telling(sentence) and QUOTATION.isdisjoint(sentence)


def instances(passages: Sequence[Passage], dataset: "Dataset", quota: int) -> list[dict[str, Any]]:
    """Return SSP rows of one split: for every passage one of each class.

    Args:
        passages: of a sentence of the summary and one of the body, in keyed order.
        dataset: not used.
        quota: the most rows to make.
    """
    del dataset  # nothing is left to draw
    return [
        {
            "id": f"{source.id}#{TASK.labels[label]}",
            "passage": source.id,
            "sentence": sentence,
            "label": label,
        }
        for source in passages[: quota // 2]
        for label, sentence in ((1, source.sentences[0]), (0, source.sentences[1]))
    ]


TASK = PassageTask(
    name="section_prediction",
    abbreviation="SSP",
    question="Does the sentence come from the summary of a text (the subhead of a news item), or "
    "from its body?",
    records=("documents",),
    labels=("body", "summary"),
    texts=(Text("sentence", "tokens", "string", "natural text"),),
    constructed=True,
    example="""\
| sentence | class |
|---|---|
| El puerto cerrará dos días para dragar la bocana. | **summary** |
| La última vez que se dragó fue hace nueve años. | **body** |""",
    passages=passages,
    instances=instances,
    needs="a finished sentence without quotation marks in a document's summary and one in its body",
    # A document gives two rows, but about half of them are left out for their lengths.
    documents_a_row=1.0,
    # A row of another task would tell that its sentence is from the body.
    lends_documents=False,
    level_lengths="alone",
)
