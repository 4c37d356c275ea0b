"""Gate 5, for datasets of others: boilerplate that nobody has listed, several rows in one."""

from collections.abc import Iterator

import numpy as np

from builders.auditing.gates.gate import Check, Found, Gate, count_check, share_check
from builders.exchange.target import Target
from corpora_recipes.text.same_text import normalise

# Texts that begin or end with the same words, in so many rows and in one class only, are
# boilerplate. Fewer words or rows would be turns of phrase ("On the other hand").
_WORDS, _ROWS = 5, 5
BOILERPLATE = 0.005
# A row holds others if one of its texts is so many times longer than all but one text in a
# thousand, of a thousand or more.
_TIMES, _IN = 5, 1000


def _boilerplate(target: Target) -> Iterator[Check]:
    """Count the rows of one text that share its beginning or end with rows of their class only."""
    rows = [(part, row) for part in target.parts.values() for row in range(len(part.texts))]
    holders: dict[tuple[str, ...], list[int]] = {}
    for number, (part, row) in enumerate(rows):
        words = normalise(part.texts[row][0]).split()
        if len(words) >= _WORDS:
            holders.setdefault(("begins", *words[:_WORDS]), []).append(number)
            holders.setdefault(("ends", *words[-_WORDS:]), []).append(number)
    why: dict[int, str] = {}
    for (how, *words), numbers in holders.items():
        if len(numbers) >= _ROWS:
            classes = {int(part.labels[row]) for part, row in map(rows.__getitem__, numbers)}
            if len(classes) == 1:
                said = f"{how} with “{' '.join(words)}”, as {len(numbers) - 1} others of its class"
                why |= dict.fromkeys(numbers, said)
    found: Iterator[Found] = ((*rows[number], why[number]) for number in sorted(why))
    what = "rows that begin or end like others of their class, and like none of another"
    yield share_check("text", what, len(why) / len(rows), BOILERPLATE, len(rows), found)


def _swallowed(target: Target) -> Iterator[Check]:
    """Count the texts that are far longer than all others: several rows in one."""
    lengths = [
        (len(text.split()), part, row)
        for part in target.parts.values()
        for row, texts in enumerate(part.texts)
        for text in texts
    ]
    usual = int(np.sort([length for length, _, _ in lengths])[-1 - len(lengths) // _IN])
    found: list[Found] = [
        (part, row, f"{length} words; {_IN - 1} of {_IN:,} texts have {usual} or fewer")
        for length, part, row in lengths
        if length > _TIMES * usual
    ]
    yield count_check("text", "texts so long that they must hold several rows", len(found), found)


BOILERPLATE_OF_OTHERS = Gate(
    "text",
    _boilerplate,
    applies=lambda target: (
        not target.corpus
        and target.constructed
        and bool(target.labels)
        and len(next(iter(target.parts.values())).texts[0]) == 1
    ),
)
SWALLOWED = Gate(
    "text",
    _swallowed,
    applies=lambda target: (
        not target.corpus
        and sum(len(row) for part in target.parts.values() for row in part.texts) >= _IN
    ),
)
