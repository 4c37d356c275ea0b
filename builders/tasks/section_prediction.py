"""Section prediction (SSP): is a sentence from the summary of a text, or from its body?

Chen et al. (2019), section 3, with the abstracts and bodies of papers; Araujo et al. (2022) with
the subheads and bodies of Spanish news.
"""

from collections.abc import Sequence
from typing import Any

from builders.sampling.passages import Draw, Passage, as_passages, sentences_in
from builders.tasks.task import PassageTask, make_task
from corpora_recipes.records import Document
from corpora_recipes.text.language import is_finished
from corpora_recipes.text.tokens import is_telling

# The highest ratio of the lengths of two sentences that count as equally long.
SIMILAR = 1.1
QUOTATION = frozenset("\"“”„«»‘’'")


def passages(document: Document, draw: Draw) -> list[Passage]:
    """Return a sentence of the summary and one of the body, if possible of about equal length.

    The sentence of the summary is drawn first; the other is drawn from body sentences of about
    its length, or is the closest in length.
    """
    summary = list(filter(_is_usable, document.summary))
    body = [s for section in document.sections for s in sentences_in(section) if _is_usable(s)]
    if not summary or not body:
        return []
    chosen = summary[draw.choice(len(summary), document.id, "summary")]

    def ratio(sentence: str) -> float:
        return max(len(chosen), len(sentence)) / min(len(chosen), len(sentence))

    similar = [s for s in body if ratio(s) <= SIMILAR] or [min(body, key=ratio)]
    other = similar[draw.choice(len(similar), document.id, "body")]
    return as_passages(document, (chosen, other))


def _is_usable(sentence: str) -> bool:
    # Quotations are hardly ever in the summary; short sentences recur in other articles.
    return (
        is_finished(sentence, also=":") and is_telling(sentence) and QUOTATION.isdisjoint(sentence)
    )


def instances(passages: Sequence[Passage], _: Draw, quota: int) -> list[dict[str, Any]]:
    """Return SSP rows of one split: for each passage, one of each class."""
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


TASK = make_task(PassageTask, "section_prediction", passages=passages, instances=instances)
