"""Shared by recipes of examples: natural text, classes and scores of a row, and counts."""

import math
import re
from collections.abc import Callable, Iterable

from corpora_recipes.formats.tables import Row
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.running.limits import MOST_RECORDS
from corpora_recipes.text.cleaning import nfc

# Invisible: zero-width spaces and word joiners, soft hyphens, marks of direction; not the joiners
# in emoji (U+200C, U+200D).
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)


def natural(text: str) -> str:
    """Return a text on one line, in NFC, with single spaces and without invisible characters.

    Raises:
        Dropped: "empty_text" if nothing is left.
    """
    line = " ".join(nfc(INVISIBLE.sub("", text)).split())
    if not line:
        raise Dropped("empty_text")
    return line


def class_of(raw: str, collection: str, corpus: Corpus, row: Row) -> str:
    """Return the name of the class that a source spells ``raw``; white space around it is ignored.

    Raises:
        InputError: the collection has no such class.
    """
    labels = corpus.facts.collections[collection].labels
    spelling = raw.strip()
    if not labels and spelling:
        return spelling
    if not labels or spelling not in labels:
        expected = f"a label among {', '.join(labels)}" if labels else "a label"
        raise row.error(expected, repr(raw), "use the file as published")
    return labels[spelling]


def score_of(raw: str, collection: str, corpus: Corpus, row: Row) -> float:
    """Return the score of an example.

    Raises:
        InputError: it is not a number, or outside the collection's scale.
    """
    scale = corpus.facts.collections[collection].scale
    assert scale is not None, f"{collection} has no scores"
    lowest, highest = scale
    score = number_of(raw)
    if not lowest <= score <= highest:
        raise row.error(f"a score from {lowest} to {highest}", repr(raw))
    return score


def number_of(raw: str) -> float:
    """Return the decimal number in a field, ignoring white space around it; NaN if not a number."""
    # Not float() alone: it takes "inf", and "0_3" for 3.
    number = float(raw) if _NUMBER.fullmatch(raw.strip()) else math.nan
    return number if math.isfinite(number) else math.nan


def collect(rows: Iterable[Row], make: Callable[[Row], Example]) -> BlockResult:
    """Return the examples of a block's rows; those that ``make`` drops are counted by reason.

    Raises:
        InputError: they are more than ``MOST_RECORDS``.
    """
    result = BlockResult()
    for row in rows:
        if len(result.records) == MOST_RECORDS:
            expected = f"at most {MOST_RECORDS:,} examples in a file"
            raise row.error(expected, "more", "use the file as published")
        result.drops.seen["examples"] += 1
        try:
            result.records.append(make(row))
        except Dropped as drop:
            result.drops.dropped["examples", drop.reason] += 1
    return result
