"""Mends what text copied from a PDF has: ligatures, accents apart, words cut at line ends.

A word is joined if the corpus has it elsewhere: "ciu-\ndad" is "ciudad", "canci´on" is "canción".
"franco-\nalemana" keeps its hyphen, "pre- y posguerra" its space. What is left in doubt is damage.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

# Words in lower case, as far as they decide, to how often a corpus has them.
Words = Mapping[str, int]

_LIGATURES = {character: unicodedata.normalize("NFKC", character) for character in "ﬀﬁﬂﬃﬄﬅﬆ"}
_translation = str.maketrans(_LIGATURES)
_MARKS = {"´": "\u0301", "˜": "\u0303", "¨": "\u0308", "ˆ": "\u0302", "¸": "\u0327", "ˇ": "\u030c"}
# A text without any of these has no sign of ``find_pdf_characters``.
PDF_CHARACTERS = "".join([*_LIGATURES, *_MARKS])
_LETTERS, _ACCENTS = r"[^\W\d_]", f"[{''.join(_MARKS)}]"
# The lookbehinds keep time linear in the length of a word.
_CUT = re.compile(rf"(?<!{_LETTERS})({_LETTERS}+)[-‐‑¬](\s+)({_LETTERS}+)")
_ACCENTED = re.compile(rf"(?<!{_LETTERS}){_LETTERS}*(?: ?{_ACCENTS} ?{_LETTERS}+)+")
_FORWARDS = re.compile(rf" ?({_ACCENTS}) ?({_LETTERS}?)")
_BACKWARDS = re.compile(rf"({_LETTERS}?) ?({_ACCENTS}) ?")
_WORD = re.compile(rf"{_LETTERS}+(?:-{_LETTERS}+)*")
# That is no part of a word cut at the end of a line.
_WHOLE_WORD = re.compile(
    rf"(?<!{_LETTERS})(?<![-‐‑¬]\s){_WORD.pattern.replace('+', '++')}+(?![-‐‑¬]\s)"
)
# After a hyphen and a space, these join two parts of words: "pre- y posguerra".
_JOINING = (
    "als|and|bis|bzw|e|edo|eller|en|et|eta|és|että|i|ja|o|och|of|og|oder|or|ou|tai|u|und|wie|y"
)
_HYPHENATED = re.compile(
    rf"[-‐‑¬] (?<={_LETTERS}{{2}}..)(?!(?:{_JOINING})\b)(?={_LETTERS}{{2}})[^\W\d_A-ZÀ-ÖØ-Þ]"
)
_OPENING_DASH = re.compile(r"(?<!\w)[-–—](?=[\w¿¡«“\"])")
# An accent beside a letter; "d´Or" and "Kim´s" have an apostrophe.
_APART = re.compile(
    rf"´(?:(?<={_LETTERS}{{2}}´)|(?<![^\W\d_dlDL]´)(?<=\w´)) ?[aeiou]|´ı|(?<!\w)´[AEIOU]"
    rf"|˜ ?[nNaAoO]|¨(?<={_LETTERS}¨)[aeiouAEIOU]|¸(?:(?<=[cC]¸)(?=\w)|[cC])"
    rf"|[ˆˇ](?:(?<={_LETTERS}.)|{_LETTERS})"
)


def find_pdf_characters(text: str) -> str | None:
    """Return "ligature" or "accent_apart", signs that ``mend`` may leave, or None."""
    if not _LIGATURES.keys().isdisjoint(text):
        return "ligature"
    return "accent_apart" if _APART.search(text) else None


def has_cut_word(sentence: str) -> bool:
    """Return whether a word was cut at a line end: "ciu- dad". Hyphens in pairs are dashes."""
    cut = _HYPHENATED.search(sentence)
    return cut is not None and not _OPENING_DASH.search(sentence, 0, cut.start())


def mend(text: str, words: Words) -> str:
    """Return a text of a PDF, with line breaks as in the source, with its words whole.

    Ligatures become letters. Words are joined if ``words`` has them in this form; without any, no
    word is.
    """
    text = text.translate(_translation) if not text.isascii() else text
    if not words:
        return text
    text = _CUT.sub(lambda cut: _join(cut, words), text)
    return _ACCENTED.sub(lambda word: _most_frequent(word[0], _composed(word[0]), words), text)


def find_words(texts: Iterable[str]) -> set[str]:
    """Return the words, in lower case, whose frequency decides how ``mend`` joins texts."""
    words: set[str] = set()
    for text in texts:
        for cut in _CUT.finditer(text):
            words.update(map(str.lower, (*_joined(cut), cut[1], cut[3])))
        for word in _ACCENTED.finditer(text):
            words.update(map(str.lower, _composed(word[0])))
    return words


def count_words(texts: Iterable[str], words: Collection[str]) -> Counter[str]:
    """Count those of the words, in lower case, that texts have."""
    found = (word.lower() for text in texts for word in _WHOLE_WORD.findall(text))
    return Counter(word for word in found if word in words)


def _join(cut: re.Match[str], words: Words) -> str:
    # Without a line break, a hyphen after a word may be a dash.
    parts = min(words.get(part.lower(), 0) for part in (cut[1], cut[3])) if cut[2] == " " else 0
    return _most_frequent(cut[0], _joined(cut), words, parts)


def _joined(cut: re.Match[str]) -> list[str]:
    first, _, second = cut.groups()
    return [first + second, f"{first}-{second}"] if second[0].islower() else []


def _composed(word: str) -> list[str]:
    """Return a word with its accents on the letters after them, and before them."""

    def compose(mark: str, letter: str) -> str:
        composed = unicodedata.normalize("NFC", letter.replace("ı", "i") + _MARKS[mark])
        return composed if len(composed) == 1 else mark

    readings = (
        _FORWARDS.sub(lambda match: compose(match[1], match[2]), word),
        _BACKWARDS.sub(lambda match: compose(match[2], match[1]), word),
    )
    return [reading for reading in readings if _WORD.fullmatch(reading)]


def _most_frequent(text: str, readings: Sequence[str], words: Words, least: int = 0) -> str:
    """Return the reading that the corpus has most often, and more than ``least`` times."""
    counts = [words.get(reading.lower(), 0) for reading in readings]
    most = max(counts, default=0)
    return readings[counts.index(most)] if most > least else text
