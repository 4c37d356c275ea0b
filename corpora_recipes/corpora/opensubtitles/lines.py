"""Turns the sentences of a subtitle file into lines of dialogue."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from corpora_recipes.recipe import load_facts
from corpora_recipes.records import Drops
from corpora_recipes.text.cleaning import clean, damage
from corpora_recipes.text.sentences import ends_in_abbreviation
from corpora_recipes.text.tidying import has_stray_quote, pair_quotes, tidy
from corpora_recipes.text.writing import FINAL, is_lower

# Characters of the longest sentence that is read: matching time can be quadratic in the length, and
# spoken sentences are far shorter.
LONGEST = 1000

_DASH = "–—―-"
# A line break and a dash always begin another speaker's line.
_AT_BREAK = re.compile(rf"\n\s*(?=[{_DASH}])")
# Inside a line a single dash may do so; two are an interruption ("Yo-- no sé").
_INSIDE = re.compile(rf"(?<=\S)\s+(?=[{_DASH}](?![{_DASH}])\s*([^\s{_DASH}]))")
_ENDS = re.compile(rf"[{FINAL}»”\")\]{_DASH}]$")
_LEADING = re.compile(rf"^\s*[{_DASH}][\s{_DASH}]*")
# A stop at the beginning: the text before it was in another line.
_LOST_BEGINNING = re.compile(r"[,;:)\]}!?%]|\.(?![.\w])")
# If nothing else is left of a line, no speech is lost.
_SILENT = re.compile(rf"[\s.…{_DASH}]*")
_LONG_WORD = re.compile(r"[^\W\d_]{4}")

_CLOSING = re.compile(r"[,.;:!?…%)\]}»”]+|['’]\w+|n['’]t")
_OPENING = re.compile(r"[¿¡(\[{«“]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of corpus.yaml: its matches are replaced, or lines with a match are dropped.

    The name is the kind of mark, or the reason for dropping, as counted; ``put`` is the replacement
    of a mark, None if the line is dropped.
    """

    name: str
    pattern: re.Pattern[str]
    put: str | None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of corpus.yaml that apply to a language, in the file's order.

    Without ``signs``, only the rules ``of_words`` can match; none of these is a mark.
    """

    language: str
    rules: Sequence[Rule]
    of_words: Sequence[Rule]
    signs: re.Pattern[str]

    def apply(self, line: str, drops: Drops) -> tuple[str, str | None]:
        """Return the line without marks, and the reason for dropping it or None.

        Marks are counted in the unit "marks", as seen and dropped.
        """
        reason = "too_long" if len(line) > LONGEST else damage(line)
        marked = False
        for rule in self.rules if self.signs.search(line) else self.of_words:
            if reason is not None:
                return line, reason
            if rule.put is not None:
                line, count = rule.pattern.subn(rule.put, line)
                _count_marks(drops, rule.name, count)
                marked = marked or count > 0
                if marked and not line.strip(" \n" + _DASH):
                    reason = "only_marks"
            elif rule.pattern.search(line):
                reason = rule.name
        if reason is None and is_caption(line):
            reason = "caption"
        return line, reason


@cache
def load_rules(language: str) -> Rules:
    """Return the rules for a language (ISO 639 code), compiled once in each process."""
    every = load_facts("opensubtitles").special["rules"]
    of_language = [rule for rule in every if rule.get("language", language) == language]
    rules = [
        Rule(
            rule.get("mark") or rule["drop"],
            re.compile(rule["pattern"]),
            rule.get("put", "") if "mark" in rule else None,
        )
        for rule in of_language
    ]
    signs = [rule.get("signs", "") for rule in of_language]
    of_words = [rule for rule, sign in zip(rules, signs, strict=True) if not sign]
    return Rules(language, rules, of_words, re.compile(f"[{''.join(signs)}]"))


def read_lines(lines: Iterable[str], rules: Rules, drops: Drops) -> list[list[str]]:
    """Return the conversations of a film, whose sentences have the line breaks of the source.

    A dropped line ends the conversation, unless only dots and dashes are left of it ("[PORTAZO]",
    "ANA:", "…").
    """
    conversations: list[list[str]] = [[]]
    names_follow = False
    for sentence in lines:
        line, reason = rules.apply(sentence, drops)
        line = line.strip()
        if names_follow and reason is None and not line.endswith(tuple(FINAL)):
            reason = "credits"
        names_follow = reason == "credits" and line.endswith((":", " por"))
        if reason is not None:
            drops.sift("turns", line, reason)
            if not _SILENT.fullmatch(line):
                conversations.append([])
            continue
        for turn in split_turns(line):
            text = pair_quotes(tidy(clean(_LEADING.sub("", turn)), rules.language))
            _count_marks(drops, "dash", int(_LEADING.match(turn) is not None))
            if drops.sift("turns", text, _fault(text, rules.language)):
                conversations[-1].append(text)
            elif not _SILENT.fullmatch(text):
                conversations.append([])
    return [turns for turns in conversations if turns]


def _fault(turn: str, language: str) -> str | None:
    """Return why a turn cannot be used, None if it can."""
    if not any(c.isalpha() for c in turn):
        return "no_letters"
    if _LOST_BEGINNING.match(turn):
        return "lost_beginning"
    if ends_in_abbreviation(turn, language):
        return "cut_at_abbreviation"
    return "broken_quotation" if has_stray_quote(turn) else None


def is_caption(line: str) -> bool:
    """Tell whether a line is text on the screen (HACE DOS AÑOS): capitals, no stop."""
    return (
        line.isupper()
        and _LONG_WORD.search(line) is not None
        and not line.rstrip("\"»”' \n").endswith((*FINAL, ","))
    )


def split_turns(line: str) -> list[str]:
    """Split a line before dashes that mark another speaker; the dashes stay.

    Inside a line, a dash after a space marks another speaker if the preceding text ends in a stop
    or begins with a dash, and the following text does not begin with a lower-case letter.
    """
    turns = []
    for part in _AT_BREAK.split(line):
        start = 0
        opens_with_dash = part.lstrip()[:1] in tuple(_DASH)
        for match in _INSIDE.finditer(part):
            ends = _ENDS.search(part[start : match.start()]) is not None
            if (ends or opens_with_dash) and not is_lower(match[1]):
                turns.append(part[start : match.start()])
                start = match.end()
        turns.append(part[start:])
    return [turn for turn in turns if turn.strip()]


def detokenize(parts: Sequence[Sequence[str]]) -> str:
    """Return the natural text of a sentence, from the tokens of its parts between two times.

    There is a line break instead of a space between parts. Straight quotation marks open and close
    in turn.
    """
    text = ""
    glued = True
    quotes = 0
    for tokens in parts:
        blank = "\n"
        for token in tokens:
            closes = _CLOSING.fullmatch(token) is not None
            opens = _OPENING.fullmatch(token) is not None
            if token == '"':
                quotes += 1
                closes, opens = quotes % 2 == 0, quotes % 2 == 1
            text += token if glued or closes else blank + token
            glued = opens
            blank = " "
    return text


def _count_marks(drops: Drops, name: str, count: int) -> None:
    if count:
        drops.seen["marks"] += count
        drops.dropped["marks", name] += count
