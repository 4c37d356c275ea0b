"""EvalRank: does the text that means the same stand nearer than all others (Wang et al. 2022)?

Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022), "Just Rank: Rethinking Evaluation with Word and
Sentence Similarities". A row is a text of the background; its positives are the rows that mean the
same. Nothing is trained: the evaluation ranks each positive among all other texts.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from statistics import mean
from typing import Any, Literal, NamedTuple

from builders.passages import has_words
from builders.schemas import Column, Task, Text
from corpora_recipes.errors import InputError
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import Example

# "Top 25 %": one scored pair in so many means the same (Wang et al. 2022).
ONE_IN = 4

Outcome = Literal["used", "same_text", "not_in_background", "repeated"]

CITATION = (
    "Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022). Just Rank: Rethinking Evaluation with Word and "
    "Sentence Similarities. In Proceedings of the 60th Annual Meeting of the Association for "
    "Computational Linguistics (Volume 1: Long Papers), pages 6060–6077, Dublin, Ireland. "
    "https://aclanthology.org/2022.acl-long.419"
)

_PROVENANCE = {
    "positives": Column("strings", "ids of the rows that mean the same; none in mere background"),
    "source": Column("string", "corpus, or corpus/collection, where the text stands first"),
}

TASKS = (
    Task(
        name="sentence_ranking",
        abbreviation="EvalRank",
        question="Is the sentence that means the same nearer than all others? Each positive of a "
        "sentence is ranked among all sentences of the dataset; nothing is trained.",
        records=(),
        labels=(),
        texts=(Text("text", "tokens", "string", "natural text of the sentence"),),
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        trained=False,
        example="""\
| text | positive |
|---|---|
| El faro se apagó al amanecer. | **La luz del faro dejó de verse al alba.** |""",
    ),
    Task(
        name="word_ranking",
        abbreviation="EvalRank",
        question="Is the word that means the same nearer than all others? Each positive of a word "
        "is ranked among all words of the dataset; nothing is trained.",
        records=(),
        labels=(),
        texts=(Text("text", "tokens", "string", "the word, in lower case"),),
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        trained=False,
        example="""\
| text | positive |
|---|---|
| barca | **bote** |""",
    ),
)


class Background:
    """The texts that are ranked, each once, and the links between those that mean the same.

    Args:
        name: of the dataset.
        same: gives what two texts that count as one have in common.
    """

    def __init__(self, name: str, same: Callable[[str], Hashable]) -> None:
        self._name = name
        self._same = same
        # What stands for a text to its row; the first text that it stands for is the row's.
        self._rows: dict[Hashable, dict[str, Any]] = {}
        self._linked: dict[Hashable, set[Hashable]] = {}

    def add(self, text: str, source: str, licence: str) -> bool:
        """Add a text, and tell whether it is a new one."""
        key = self._same(text)
        if key in self._rows:
            return False
        # Neither the seed nor the other texts decide the id.
        row_id = f"{self._name}/{keyed_hash(0, text):016x}"
        self._rows[key] = {"id": row_id, "text": text, "source": source, "licence": licence}
        return True

    def link(self, first: str, second: str) -> Outcome:
        """Make two texts positives of each other, and say what became of the pair."""
        one, other = self._same(first), self._same(second)
        if one == other:
            return "same_text"
        if not (one in self._rows and other in self._rows):
            return "not_in_background"
        if other in self._linked.setdefault(one, set()):
            return "repeated"
        self._linked[one].add(other)
        self._linked.setdefault(other, set()).add(one)
        return "used"

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the dataset, in the order in which their texts were added.

        The positives of a row are in the order of their ids. Its ``document_id`` is the smallest
        id of the texts that links lead to, its own if there are none.
        """
        groups = self._groups()
        return [
            row
            | {
                "positives": sorted(self._rows[k]["id"] for k in self._linked.get(key, ())),
                "document_id": groups.get(key, row["id"]),
            }
            for key, row in self._rows.items()
        ]

    def _groups(self) -> dict[Hashable, str]:
        """Return the smallest id of its group for each text that is linked."""
        found: dict[Hashable, str] = {}
        for start in self._linked:
            if start in found:
                continue
            group, todo = {start}, [start]
            while todo:
                new = self._linked[todo.pop()] - group
                group |= new
                todo += new
            found |= dict.fromkeys(group, min(self._rows[key]["id"] for key in group))
        return found


class Positives(NamedTuple):
    """The pairs of a collection that mean the same.

    Attributes:
        examples: the pairs, each once.
        dropped: reason to the number of examples that are none of them.
        different: number of different pairs that they were chosen of.
        lowest_score: of the pairs; None if they are not scored.
    """

    examples: list[Example]
    dropped: Counter[str]
    different: int
    lowest_score: float | None


def positive_pairs(
    examples: Sequence[Example],
    same: Callable[[str], Hashable],
    scale: Sequence[float] | None,
    where: str,
) -> Positives:
    """Return the pairs of a collection that mean the same.

    If the collection has a scale, or any example a score, these are the quarter with the highest
    scores and what has the same score as the last of them (so a quarter of n is ceil(n/4) pairs or
    more); else all. What stands there several times, in either order of its texts, is one pair,
    and its score the mean of those that it got.

    Args:
        examples: pairs of one collection. Dropped are those with a text of no letter and no digit
            (``no_words``); of scored collections those without a finite score (``missing_score``),
            with one below zero (``negative_score``) or else off the scale (``out_of_scale``);
            further copies of a pair (``repeated``); and the pairs that are not among the highest
            (``below_top_quarter``). Only these last count among the n.
        same: gives what two texts that count as one have in common.
        scale: the lowest and the highest score that there may be; None if that is not known.
        where: the collection, for a message.

    Raises:
        InputError: the lowest of all scores is in the quarter, which then tells nothing apart.
    """
    scored = scale is not None or any(example.score is not None for example in examples)
    dropped: Counter[str] = Counter()
    copies: dict[frozenset[Hashable], list[Example]] = {}
    for example in examples:
        if reason := _fault(example, scored, scale):
            dropped[reason] += 1
        else:
            copies.setdefault(frozenset(map(same, example.texts)), []).append(example)
    pairs = [own[0] for own in copies.values()]
    dropped["repeated"] = sum(map(len, copies.values())) - len(pairs)
    if not scored or not pairs:
        return Positives(pairs, dropped, len(pairs), None)
    scores = [mean(e.score for e in own if e.score is not None) for own in copies.values()]
    limit = sorted(scores, reverse=True)[math.ceil(len(scores) / ONE_IN) - 1]
    if limit == min(scores):
        highest = sum(score > limit for score in scores)
        raise InputError(
            where,
            expected="scores of which the highest quarter is above the lowest score",
            found=f"{len(scores):,} different pairs, {highest:,} of them with a score above the "
            f"lowest, {limit:g}",
            todo="name other pairs, or leave the scores out and keep only pairs that mean the same",
        )
    chosen = [pair for pair, score in zip(pairs, scores, strict=True) if score >= limit]
    dropped["below_top_quarter"] = len(pairs) - len(chosen)
    return Positives(chosen, dropped, len(pairs), limit)


def _fault(example: Example, scored: bool, scale: Sequence[float] | None) -> str:
    """Return why a pair cannot be used, "" if it can."""
    if not all(map(has_words, example.texts)):
        return "no_words"
    if not scored:
        return ""
    if example.score is None or not math.isfinite(example.score):
        return "missing_score"
    if example.score < 0:
        return "negative_score"
    if scale is not None and not scale[0] <= example.score <= scale[1]:
        return "out_of_scale"
    return ""
