"""What a program found in the PDF of a paper: its lines as running text, and its headings.

A line break is the end of a paragraph, or a place where something stood in between: a formula, a
footnote, the foot of a page.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LOST = "\ufffc"  # OBJECT REPLACEMENT CHARACTER: a sentence that has it is not whole

# Ligatures that are one character in the font.
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_PARTED = re.compile(r"([^\W\d_]+)-\n([a-z]+)")
_ENDS = re.compile(r"[.!?:][\"'”’)\]]*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
# In a line of prose, two thirds of the pieces between spaces have words.
_PROSE = 2 / 3
_SHORTEST = 3

_NUMBER = re.compile(r"(?:(-?\d+(?:\.\d+)*)|([IVX]+|[A-Z])(?:\.\d+)*)[.):]?\s+(?=\S)")
_ROMAN = re.compile(r"[IVX]+")


def paragraphs(text: str, language_words: frozenset[str]) -> list[str]:
    """Return the paragraphs of a section.

    Parts of a word at a line break are joined, with the hyphen if the paper has the word with it
    elsewhere. A line that is no prose, as of a formula, is left out. Where the line after a break
    does not go on as the line before it ends, and where a line was left out, stands ``LOST``.
    ``language_words`` are those of the paper in lower case, with and without hyphens.
    """
    text = _PARTED.sub(
        lambda found: _joined(found[1], found[2], language_words), text.translate(_LIGATURES)
    )
    texts: list[str] = []
    after_loss = False
    for line in map(str.strip, text.split("\n")):
        if not line:
            continue
        if not _is_prose(line):
            after_loss = True
            continue
        goes_on = bool(texts) and not _ENDS.search(texts[-1])
        starts_low = line[0].islower()
        if after_loss or goes_on != starts_low:
            if goes_on:
                texts[-1] += f" {LOST}"
            texts.append(f"{LOST} {line}" if after_loss or starts_low else line)
        elif goes_on:
            texts[-1] += f" {line}"
        else:
            texts.append(line)
        after_loss = False
    if after_loss and texts and not _ENDS.search(texts[-1]):
        texts[-1] += f" {LOST}"
    return texts


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


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a section (level 2) or a subsection (3 …), without its number.

    ``number`` is that of the section that it belongs to or is, "" without one, or a letter, as in
    appendices.
    """

    text: str
    level: int
    number: str
    is_lettered: bool


def parse_heading(raw: str) -> Heading | None:
    """Return a heading: "3.1 THE MODEL" is "The model", of level 3, in section 3.

    It is None if the text has no letters.
    """
    raw = " ".join(raw.split())
    if not any(map(str.isalpha, raw)):
        return None
    start = _NUMBER.match(raw)
    # "A simple model" has no number.
    if start and len(start[2] or "") == 1 and not re.match(r"[A-Z][.\d)]", raw):
        start = None if raw[start.end() :][:1].islower() else start
    text = raw[start.end() :] if start else raw
    if text.isupper():
        text = text.capitalize()
    number = (start[1] or start[0].rstrip(" .):")) if start else ""
    is_lettered = bool(start and start[2] and not _ROMAN.fullmatch(start[2]))
    return Heading(text, 2 + number.count("."), number.split(".")[0], is_lettered)


def reasons(
    headings: Iterable[Heading | None], ends: Mapping[str, Sequence[str]]
) -> list[str | None]:
    """Return for each heading of a paper why its section is not of the middle, None if it is.

    ``ends`` are reasons to the words of such headings; a subsection goes with the section whose
    number it has.
    """
    patterns = {
        reason: re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)
        for reason, words in ends.items()
    }
    of_each: list[str | None] = []
    parents: dict[str, str | None] = {}
    for heading in headings:
        if heading is None:
            of_each.append("no_heading")
            continue
        reason = next((r for r, p in patterns.items() if p.search(heading.text)), None)
        if reason is None and heading.is_lettered:
            reason = "appendix"
        if reason is None and heading.level > 2:
            reason = parents.get(heading.number)
        elif heading.number:
            parents.setdefault(heading.number, reason)
        of_each.append(reason)
    return of_each
