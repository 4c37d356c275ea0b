"""Finds the end of a picture caption that is joined to the text after it.

The texts of MLSUM are pages whose layout is lost: the caption of the first picture is followed by
the first sentence. The only boundary is the credit at the end of the caption::

    El alcalde, en el pleno. En vídeo, su intervención. FOTO: ANA RUIZ (EFE) | VÍDEO: ATLAS La junta
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

# A caption ends within REACH characters, and within NEAR if only a name in capitals marks its end;
# marks of a caption occur within NEAR.
REACH, NEAR = 600, 350
# Maximal number of words in a credit, and of names joined by marks in it.
CREDIT, NAMES = 40, 4
# Maximal number of words in a person's name before the agency or mark of a credit.
NAME = 5

_WORD = re.compile(r"[|/©]|[^\s|/©]+")
_LABEL = re.compile(
    r"\(?(?:fotos?|fotograf[íi]as?|v[íi]deos?|im[áa]gen(?:es)?|realizaci[óo]n|redacci[óo]n"
    r"|gr[áa]ficos?|grafismo|edici[óo]n|ilustraci[óo]n|producci[óo]n|montaje):",
    re.IGNORECASE,
)
_MARK = re.compile(r"[|/©;,+–—-]|y|Y")
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+")
_PARTICLES = frozenset(("de", "del", "la", "las", "los", "van", "von", "di", "da", "y", "i", "EL"))
VIDEO = re.compile(r"\W*en (?:el |un |este )?v[íi]deo\b", re.IGNORECASE)
# Marks of text that belongs to a caption.
MARKS = re.compile(
    r"(?:(?<!\S)|\()(?:FOTOS?|Fotos?|V[ÍI]DEOS?|V[íi]deos?|IMAGEN):\s"
    r"|(?:^|(?<=[.)/]) ?)En (?:el )?v[íi]deo[,:]"
)
_ENDS = frozenset(".!?…)”»’'\"")
_OPENS = "\"'«“‘¿¡([—"
_ARTICLES = frozenset(("EL", "LA", "LOS", "LAS", "UN", "UNA"))


# A caption without a credit that marks its end, only words such as "En vídeo".
ENDLESS = -1


def find_caption(text: str, agencies: Sequence[str], broadcasters: Sequence[str]) -> int:
    """Return where the caption at the beginning of a text ends: 0 without one, or ENDLESS.

    Names of picture agencies and broadcasters are in lower case. Those of broadcasters, which occur
    in names of programmes too, are credits only after a mark such as "VÍDEO:".
    """
    limit = text.find(" ", 2 * REACH, 3 * REACH)
    words = list(_WORD.finditer(text, 0, limit if limit >= 0 else 3 * REACH))
    credits = _Credits(
        words,
        frozenset(tuple(name.split()) for name in agencies),
        frozenset(tuple(name.split()) for name in broadcasters),
    )
    start = 0
    while (after := credits.next_end(start)) is not None:
        end = words[after].start() if after < len(words) else words[-1].end()
        # A video has another caption, after that of the picture.
        if not VIDEO.match(text, end):
            return end
        start = after
    return ENDLESS if start or MARKS.search(text, 0, NEAR) else 0


@dataclass(frozen=True, slots=True)
class _Credits:
    words: Sequence[re.Match[str]]
    agencies: frozenset[tuple[str, ...]]
    broadcasters: frozenset[tuple[str, ...]]

    def next_end(self, start: int) -> int | None:
        """Return the index of the word after the first complete credit from ``start`` on."""
        for first in range(start, len(self.words)):
            if self.words[first].start() - self.words[start].start() > REACH:
                return None
            if self._may_begin(first, start) and (end := self._end(first)) is not None:
                return end
        return None

    def _may_begin(self, i: int, start: int) -> bool:
        word = self.words[i][0]
        if _LABEL.match(word) or word in ("|", "©"):
            return True
        if word[0] == "(" and self._agency(i):
            return word[-1] != "."
        if word == "/":
            # Not one after a time of day, in a television guide.
            return (
                start < i < len(self.words) - 1
                and not self.words[i - 1][0][-1].isdigit()
                and bool(self._agency(i + 1) or _LABEL.match(self.words[i + 1][0]))
            )
        near = self.words[i].start() - self.words[start].start() <= NEAR
        run = self._capitals(i) if near and word not in _ARTICLES else 0
        if i == start or self.words[i - 1][0][-1] in _ENDS:
            return run >= 2 or bool(self._agency(i)) or self._name(i) > 0
        # Without a stop before it, at least three words in capitals, or two and an agency.
        return run >= 3 or (run == 2 and bool(self._agency(i + 2)))

    def _end(self, i: int) -> int | None:
        """Return the index of the word after the credit at i, None if no credit begins there."""
        ends: list[int] = []
        named = False
        last = min(i + CREDIT, len(self.words))
        while i < last:
            word = self.words[i][0]
            if size := self._agency(i):
                i += size
                named = True
                ends.append(i)
            elif _LABEL.match(word) or _MARK.fullmatch(word):
                named = True
                i += 1
            elif size := self._capitals(i):
                # A single word in capitals may equally begin the text (PSOE).
                if size > 1 or not ends or self._marked(i):
                    ends += range(i + min(size, 2) if named else i + size, i + size + 1)
                i += size
            elif size := self._name(i):
                i += size
            elif ends and (size := self._bracketed(i)):
                i += size
                ends.append(i)
            else:
                break
        return next((end for end in reversed(ends) if self._text_may_begin(end, named)), None)

    def _marked(self, i: int) -> bool:
        before = self.words[i - 1][0] if i else ""
        return before in ("|", "/", "©") or _LABEL.match(before) is not None

    def _agency(self, i: int) -> int:
        """Return the number of words in the agency's name at i, 0 without such a name."""
        marked = self._marked(i)
        for size in (3, 2, 1):
            names = [m[0].strip("().,:;").casefold() for m in self.words[i : i + size]]
            if len(names) < size:
                continue
            # Short names may be words: ap, ep.
            clear = len(names[0]) > 2 or marked or self.words[i][0].strip("().,:;").isupper()
            if (tuple(names) in self.agencies and (clear or self.words[i][0][0] == "(")) or (
                marked and tuple(names) in self.broadcasters
            ):
                return size
        return 0

    def _capitals(self, i: int) -> int:
        """Return the number of words in the name in capitals at i, 0 without such a name."""
        size = 0
        letters = 0
        for match in islice(self.words, i, i + CREDIT):
            word = match[0].strip("().,:;@")
            is_name = len(word) > 1 and not any(c.isdigit() for c in word)
            if _LABEL.match(match[0]) or not word.isupper() or not word[0].isalpha():
                break
            if not is_name and not _INITIALS.fullmatch(match[0].strip("(),:;@")):
                break
            size += 1
            letters = max(letters, len(word))
            if match[0][-1] in ",:;":
                break
        # EE UU, CC OO
        return size if letters > 2 else 0

    def _name(self, i: int, names: int = NAMES) -> int:
        """Return the number of words in the name at i before an agency or a mark, else 0."""
        for size in range(1, NAME + 1):
            if i + size >= len(self.words):
                return 0
            word = self.words[i + size - 1][0]
            if not (word[0].isupper() or word in _PARTICLES or word[0] == "@"):
                return 0
            if word[-1] in _ENDS and not _INITIALS.fullmatch(word) and word[-1] != ")":
                return 0
            following = self.words[i + size][0]
            if following in ("|", "/") or (following[0] == "(" and self._agency(i + size)):
                return size if self._source_follows(i + size, names) else 0
            if size > 1 and self._agency(i + size) and not following[0].islower():
                return size
        return 0

    def _bracketed(self, i: int) -> int:
        """Return the number of words in the bracketed name at i, 0 without such a name."""
        for size in range(1, NAME + 1):
            words = [m[0] for m in self.words[i : i + size]]
            if words[-1][-1] == ")":
                name = " ".join(words)[1:-1]
                known = tuple(name.casefold().split()) in self.agencies | self.broadcasters
                return size if words[0][0] == "(" and (known or name.istitle()) else 0
        return 0

    def _source_follows(self, i: int, names: int) -> bool:
        """Tell whether an agency, a label or a name in capitals follows the mark at i."""
        if self._agency(i):
            return True
        return i + 1 < len(self.words) and self._is_source(i + 1, names)

    def _is_source(self, i: int, names: int) -> bool:
        return bool(
            self._agency(i)
            or self._capitals(i)
            or _LABEL.match(self.words[i][0])
            or (names and self._name(i, names - 1))
        )

    def _text_may_begin(self, i: int, named: bool) -> bool:
        """Tell whether the text can begin with word i; with a number only after an agency."""
        if self.words[i - 1][0][-1] in ",:;.":
            return False
        if i == len(self.words):
            return True
        word = self.words[i][0]
        if _LABEL.match(word):
            return False
        return word[0] in _OPENS or word[0].isupper() or (named and word[0].isdigit())
