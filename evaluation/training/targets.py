"""What can be learnt from a document without labels: a sentence's neighbours, place and titles."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from corpora_recipes.records import Document

LEVELS = 7
"""Classes of the nesting level; deeper sections are in the last (Chen et al., released code)."""
BINS = 20
"""Classes of a position: its share of the whole, in equal parts (``quant_pos`` in their code)."""


class Sentence(NamedTuple):
    """A sentence, and what is to be told from it.

    Attributes:
        text: natural text.
        follows: whether it comes directly after the sentence yielded before it.
        level: of its section, 0 … LEVELS - 1; 0 is the lead.
        in_paragraph: its position in its paragraph, 0 … BINS - 1.
        of_paragraph: the position of its paragraph in the document, 0 … BINS - 1.
        heading: of its section, "" if it has none.
    """

    text: str
    follows: bool
    level: int
    in_paragraph: int
    of_paragraph: int
    heading: str


def sentences_of(document: Document, is_held_out: Callable[[str], bool]) -> Iterator[Sentence]:
    """Yield the sentences of a document that may be learnt from.

    Args:
        document: its sections' sentences are neighbours, those of two sections are not.
        is_held_out: whether a sentence stands in a test; it is left out, and is no neighbour.
    """
    paragraphs = sum(len(section.paragraphs) for section in document.sections)
    number = 0
    for section in document.sections:
        follows = False
        for paragraph in section.paragraphs:
            for place, text in enumerate(paragraph):
                if is_held_out(text):
                    follows = False
                    continue
                yield Sentence(
                    text,
                    follows,
                    min(section.level, LEVELS) - 1,
                    place * BINS // len(paragraph),
                    number * BINS // paragraphs,
                    section.heading,
                )
                follows = True
            number += 1
