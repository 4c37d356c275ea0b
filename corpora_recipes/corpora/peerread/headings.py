"""The headings of a paper: their numbers, their spelling, and which sections are its middle."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?:(-?\d+(?:\.\d+)*)|([IVX]+|[A-Z])(?:\.\d+)*)[.):]?\s+(?=\S)")
_ROMAN = re.compile(r"[IVX]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a section.

    Attributes:
        text: without its number, not all in capitals.
        level: 2 for a section, 3 for a subsection …
        number: the number of the section that it belongs to or is, "" without one.
        is_lettered: whether letters number it ("A.1"), as in appendices.
    """

    text: str
    level: int
    number: str
    is_lettered: bool


def parse_heading(raw: str) -> Heading | None:
    """Return a heading: "3.1 THE MODEL" is "The model", of level 3, in section 3.

    Returns:
        The heading, None if the text has no letters.
    """
    raw = " ".join(raw.split())
    if not any(map(str.isalpha, raw)):
        return None
    found = _NUMBER.match(raw)
    # "A simple model" has no number.
    if found and found[2] and len(found[2]) == 1 and not re.match(r"[A-Z][.\d)]", raw):
        rest = raw[found.end() :]
        if rest[:1].islower():
            found = None
    text = raw[found.end() :] if found else raw
    if text.isupper():
        text = text.capitalize()
    number = (found[1] or found[0].rstrip(" .):")) if found else ""
    is_lettered = bool(found and found[2] and not _ROMAN.fullmatch(found[2]))
    return Heading(text, 2 + number.count("."), number.split(".")[0], is_lettered)


def reasons(
    headings: Iterable[Heading | None], ends: Mapping[str, Sequence[str]]
) -> list[str | None]:
    """Return for each heading of a paper why its section is not of the middle, None if it is.

    Args:
        headings: in the order of the paper, None for text without one.
        ends: reason to the words that a heading of that kind has; a subsection goes with the
            section whose number it has.
    """
    patterns = {
        reason: re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)
        for reason, words in ends.items()
    }
    found: list[str | None] = []
    parents: dict[str, str | None] = {}
    for heading in headings:
        if heading is None:
            found.append("no_heading")
            continue
        reason = next((r for r, p in patterns.items() if p.search(heading.text)), None)
        if reason is None and heading.is_lettered:
            reason = "appendix"
        if reason is None and heading.level > 2:
            reason = parents.get(heading.number)
        elif heading.number:
            parents.setdefault(heading.number, reason)
        found.append(reason)
    return found
