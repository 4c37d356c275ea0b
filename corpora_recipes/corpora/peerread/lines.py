"""Running text out of the lines that a program found in a PDF.

A line break is the end of a paragraph, or a place where something stood in between: a formula, a
footnote, the foot of a page.
"""

import re
from collections.abc import Sequence

LOST = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: a sentence that has it is not whole

# Ligatures that are one character in the font.
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_PARTED = re.compile(r"([^\W\d_]+)-\n([a-z]+)")
_ENDS = re.compile(r"[.!?:][\"'”’)\]]*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
# In a line of prose, two thirds of the pieces between spaces have words.
_PROSE = 2 / 3
_SHORTEST = 3


def paragraphs(text: str, language_words: frozenset[str]) -> list[str]:
    """Return the paragraphs of a section.

    Parts of a word at a line break are joined, with the hyphen if the paper has the word with it
    elsewhere. A line that is no prose, as of a formula, is left out. Where the line after a break
    does not go on as the line before it ends, and where a line was left out, stands ``LOST``.

    Args:
        text: the section's.
        language_words: the words of the paper in lower case, with and without hyphens.
    """
    text = _PARTED.sub(
        lambda found: _joined(found[1], found[2], language_words), text.translate(_LIGATURES)
    )
    found: list[str] = []
    after_loss = False
    for line in map(str.strip, text.split("\n")):
        if not line:
            continue
        if not _is_prose(line):
            after_loss = True
            continue
        goes_on = bool(found) and not _ENDS.search(found[-1])
        starts_low = line[0].islower()
        if after_loss or goes_on != starts_low:
            if goes_on:
                found[-1] += f" {LOST}"
            found.append(f"{LOST} {line}" if after_loss or starts_low else line)
        elif goes_on:
            found[-1] += f" {line}"
        else:
            found.append(line)
        after_loss = False
    if after_loss and found and not _ENDS.search(found[-1]):
        found[-1] += f" {LOST}"
    return found


def words_of(texts: Sequence[str]) -> frozenset[str]:
    """Return the words of texts in lower case, with and without hyphens inside."""
    return frozenset(
        word.lower() for text in texts for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", text)
    )


def _joined(first: str, second: str, words: frozenset[str]) -> str:
    whole = f"{first}{second}"
    parted = f"{first}-{second}"
    return parted if parted.lower() in words and whole.lower() not in words else whole


def _is_prose(line: str) -> bool:
    pieces = line.split()
    with_words = sum(_WORD.search(piece) is not None or piece.isalpha() for piece in pieces)
    return len(_WORD.findall(line)) >= _SHORTEST and with_words >= _PROSE * len(pieces)
