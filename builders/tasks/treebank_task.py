"""Tasks whose rows are single sentences of a treebank."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from builders.sampling.balance import worthwhile_classes
from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree
from builders.sampling.word_counts import WordCounts
from builders.tasks.groups import LPT, Group
from builders.tasks.task import Column, Task, Text
from corpora_recipes.casing import lower_case


def as_they_are(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Return the candidates as they are."""
    del counts, draw
    return candidates


def of_worthwhile_classes(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Return the candidates of the classes that are worth asking for."""
    del counts
    classes = worthwhile_classes(candidates, draw)
    return [candidate for candidate in candidates if candidate.label in classes]


def counting_nothing(tree: Tree, counts: WordCounts) -> None:
    """Count nothing of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreebankTask(Task):
    """A task on a property of a sentence, which its tree tells, or on a change that we make.

    Attributes:
        find: returns what a sentence offers, or the reason why it offers nothing, in snake case.
            It depends only on the sentence and the dataset's draw.
        count: counts what ``settle`` must know of all sentences, also those that offer nothing.
        settle: decides what depends on all candidates, such as which words are asked for, and
            leaves out candidates.
        feature: the feature that the words in question must have, such as "Tense"; "" for none. A
            sentence where the word lacks it is left out for the reason ``without(feature)``.
        carrier: these words, for messages.
        by_length: whether classes are balanced among sentences of the same length, so that length
            does not tell the class.
        lengths: the shortest and the longest sentence, in tokens.
    """

    find: Callable[[Tree, Draw], Candidate | str]
    count: Callable[[Tree, WordCounts], None] = counting_nothing
    settle: Callable[[Sequence[Candidate], WordCounts, Draw], Sequence[Candidate]] = as_they_are
    feature: str = ""
    carrier: str = ""
    by_length: bool = True
    lengths: tuple[int, int] = (5, 40)
    group: Group = LPT
    records: tuple[str, ...] = ("parsed_sentences",)
    labels: tuple[str, ...] = ()
    texts: tuple[Text, ...] = (Text("sentence", "tokens", "string", "natural text"),)
    constructed: bool = True


def without(feature: str) -> str:
    """Return the reason for which a sentence is left out whose word lacks a feature."""
    return f"without_{feature.lower()}"


def offered(tree: Tree, **found: Any) -> Candidate:
    """Return a sentence as a candidate.

    Args:
        tree: of the sentence.
        found: further fields of the candidate.
    """
    sentence = tree.sentence
    return Candidate(
        id=sentence.id,
        treebank=sentence.treebank,
        document_id=sentence.document_id,
        licence=sentence.licence,
        split=sentence.split,
        text=tree.text,
        length=len(tree.tokens),
        **found,
    )


def told_by(tree: Tree, word: int, label: str) -> Candidate:
    """Return a sentence whose class one of its words tells.

    Args:
        tree: of the sentence.
        word: its number.
        label: the class.
    """
    form = tree.words[word].form
    return offered(
        tree,
        label=label,
        forms=(lower_case(form),),
        columns={"word": form, "position": tree.token_of[word] + 1},
    )


ORIGIN = {
    "treebank": Column("string", "the treebank that the sentence is of"),
    "length": Column("integer", "number of tokens as the text shows them"),
}
WORD = ORIGIN | {
    "word": Column("string", "the word that tells the class, as annotated"),
    "position": Column("integer", "the number of its token in the sentence, from 1"),
}
