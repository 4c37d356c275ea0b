"""Separates speech from narration in Spanish prose, and joins turns to conversations.

A paragraph that opens with a dash is a turn; inside it, narration is enclosed in dashes, and the
text after the second dash is speech again::

    --Ven--dijo él--. Te espero.            Ven. Te espero.
    --¿De qué se trata?--De mi hermano.     two turns
    --Mi primo--el alto--no vino.           Mi primo—el alto—no vino.

Only the words distinguish the three cases: narration opens with a verb of narration, a new speaker
with a capital after the end of a sentence, and the rest is an aside of the speaker.

Long because all rules contribute to the same decision and are evaluated together.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from corpora_recipes.yaml_files import load_yaml

# Csaky and Recski (2021), section 3, and their code's dialog_gap and max_length: characters of
# narration after which another dialogue begins, and the maximal number of words in a turn.
MAX_GAP = 150
MAX_TURN_WORDS = 100
# A book has lost line breaks if more than this share of its turn paragraphs have a second speaker
# on the first line.
GLUED_SHARE = 0.05
MAX_HEADING = 100  # characters of a heading in capitals

_DASH = "—"
_FULL_LINE = 60  # a line with room for the next word within this width was broken on purpose
_TABLE: dict[str, list[str]] = load_yaml(Path(__file__).with_name("speech.yaml"))


def _expand(name: str) -> str:
    """Return an expression of speech.yaml, with those that it names in their places."""
    return re.sub(r"<([a-z_]+)>", lambda part: _expand(part[1]), "".join(_TABLE[name]))


PATTERNS = {name: re.compile(_expand(name)) for name in _TABLE}


@dataclass(frozen=True, slots=True)
class Style:
    """How a book prints dialogue.

    Attributes:
        hyphens: dashes are single hyphens (-Ven -dijo él-. Ya).
        closing: the full stop follows the dash that closes narration (--Ven--dijo él--. Ya); a full
            stop before a dash then ends the speaker's turn. In the other books
            (--Ven--dijo él.--Ya) the speaker continues.
        glued: short paragraphs were joined (--¿Quién?--Tu padre. Salió corriendo.), so that
            narration can follow speech without a dash.
    """

    hyphens: bool = False
    closing: bool = True
    glued: bool = False

    @classmethod
    def of(cls, text: str) -> "Style":
        """Determine the style of a book by the more frequent forms."""
        hyphens = len(re.findall(r"(?m)^[ \t]*-(?![-\s\d])", text))
        verb = r"(?:--|[-—–])\s?[a-z]\w*(?:ó|aba|ía|jo|so)\b[^-—–.]*"
        openings = len(re.findall(r"(?m)^[ \t]*(?:--|[—–])", text))
        speakers = len(re.findall(r"(?m)^(?:--|[—–])[^-—–\n]*[.!?](?:--|[—–])[A-ZÁÉÍÓÚ¡¿]", text))
        after = len(re.findall(rf"{verb}(?:--|[-—–])[.,;:]", text))
        before = len(re.findall(rf"{verb}\.(?:--|—|–)\s*[A-Z¡¿]", text))
        return cls(
            hyphens=hyphens > openings,
            closing=after >= before,
            glued=speakers > GLUED_SHARE * openings,
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation; ``reason`` says why it cannot be used, None if it can."""

    text: str
    reason: str | None = None


@dataclass(slots=True)
class Spoken:
    """The content of a paragraph that opens with a turn, one turn per speaker.

    The ``reason`` of a turn is "thought" (not spoken), or "narration_inside" if narration and
    speech cannot be separated. ``gaps`` are the characters of narration before each turn but the
    first, ``tail`` is the narration after the last one.
    """

    turns: list[Turn] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    tail: str = ""


def split_paragraphs(text: str) -> Iterator[list[str]]:
    """Yield the paragraphs of a text, each a list of its lines without line breaks.

    Paragraphs are separated by empty lines, or by a line that ended early before one that opens
    with a dash, as some books print dialogue without empty lines.
    """
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        is_empty = not line.strip()
        opens = re.match(r"\s*(?:-{1,2}|[—–])\s*[¿¡«A-ZÁÉÍÓÚÑ.]", line)
        if paragraph and (is_empty or (opens and _ended_early(paragraph[-1], line))):
            yield paragraph
            paragraph = []
        if not is_empty:
            paragraph.append(line.rstrip())


def _ended_early(line: str, following: str) -> bool:
    return len(line.strip()) + 1 + len(following.split()[0]) <= _FULL_LINE


def is_verse(lines: Sequence[str]) -> bool:
    """Tell whether most lines of a paragraph ended with room for the next word."""
    early = sum(_ended_early(a, b) for a, b in pairwise(lines))
    return 2 * early > len(lines) - 1


def join_lines(lines: Sequence[str], style: Style) -> str:
    """Return the paragraph as one line, without marks of notes and italics, every dash as "—"."""
    text = lines[0].strip()
    for line in lines[1:]:
        broken = not style.hyphens and re.fullmatch(r"\w-", text[-2:])
        is_word = broken and line.strip()[:1].isalpha()
        text += ("" if is_word else " ") + line.strip()
    text = PATTERNS["marks"].sub("", text)
    text = re.sub(r"-{2,3}|―|–(?!\d)|—{2}", _DASH, text)
    if style.hyphens:
        text = re.sub(r"(?<!\S)-(?=\S)|(?<=\S)-(?=[\s.,;:!?…»)]|\Z)", _DASH, text)
        text = re.sub(r"\A([«»]?)-", rf"\1{_DASH}", text)
    else:
        text = re.sub(r"\A([«»]?)-(?=\s*[\w¿¡«.])|(?<=\s)-(?=[a-zñáéíóú¿¡])", rf"\1{_DASH}", text)
        text = PATTERNS["hyphen_before_saying"].sub(_DASH, text)
    return " ".join(text.split())


def parse_turn(paragraph: str, style: Style) -> Spoken:
    """Parse a paragraph (of ``join_lines``) that opens with a dash, or a mark used like one."""
    spoken = Spoken()
    opened = re.sub(rf"\A[«»]*\s*{_DASH}?\s*»?", _DASH, paragraph)
    opened = re.sub(rf"(?<=\s)«{_DASH}\s?", "«", opened)
    pieces = [piece for piece in re.split(rf"\s*{_DASH}\s*", opened) if piece]
    speech, narration = "", ""
    thought = unclear = False
    quotations = 0  # open in the narration
    # Kind of the last piece: "speech", "aside" (of the speaker) or "narration".
    state = "narration"
    for i, piece in enumerate(pieces):
        if i == 0:
            speech, state = piece, "speech"
        elif state == "narration":
            if quotations > 0 or _goes_on(narration, piece):
                narration += f" {piece}"
                quotations += piece.count("«") - piece.count("»")
                continue
            thought = thought or PATTERNS["thought"].search(narration) is not None
            if style.closing and narration[-1] in ".!?…" and piece[0] not in ".,;:":
                _finish(spoken, speech, narration, _reason(thought, unclear), style)
                spoken.gaps.append(len(narration))
                speech, thought, unclear = piece, False, False
            else:
                joined = _continue(speech, narration, piece)
                unclear = unclear or joined is None
                speech = joined or f"{speech} {piece}"
            narration, state = "", "speech"
        else:
            kind = _after_speech(speech, piece, "".join(pieces[i + 1 : i + 2]))
            if (
                state == "aside"
                and kind == "narration"
                and not PATTERNS["narration_goes_on"].match(piece)
            ):
                kind = "speech"
            if kind == "narration":
                narration, state = piece, "narration"
                quotations = piece.count("«") - piece.count("»")
            elif kind == "aside" or state == "aside":
                speech += _DASH + piece
                state = "aside" if kind == "aside" and state == "speech" else "speech"
            else:
                _finish(spoken, speech, "", _reason(thought, unclear), style)
                spoken.gaps.append(len(spoken.tail))
                speech, thought, unclear = piece, False, False
    thought = thought or PATTERNS["thought"].search(narration) is not None
    _finish(spoken, speech, narration, _reason(thought, unclear), style)
    return spoken


def _reason(thought: bool, unclear: bool) -> str | None:
    return "thought" if thought else "narration_inside" if unclear else None


def _goes_on(narration: str, piece: str) -> bool:
    """Tell whether narration continues in a piece after a dash."""
    if PATTERNS["narration_goes_on"].match(piece):
        return True
    if piece[0].islower():  # an aside of the narrator, in another sentence
        return narration[-1].isalpha() and PATTERNS["next_sentence"].search(narration) is not None
    first = PATTERNS["sentence_start"].split(piece, maxsplit=1)[0]
    if narration[-1] not in ".!?…" or PATTERNS["present_person"].search(first):
        return False
    return (
        PATTERNS["past_third"].search(first) is not None
        or PATTERNS["gerund"].match(first) is not None
    )


def _after_speech(speech: str, piece: str, following: str) -> str:
    """Return the kind of a piece between dashes in speech: "narration", a "turn", or an "aside"."""
    ended = PATTERNS["sentence_end"].search(speech[-10:]) is not None
    if piece[0].islower():
        if (
            PATTERNS["narration"].match(piece)
            or PATTERNS["saying"].search(piece)
            or (ended and not following)
        ):
            return "narration"
        return "aside"
    introduces = not following and piece.endswith(":") and _is_narrative(piece)
    if (
        introduces
        or PATTERNS["narration_capital"].match(piece)
        or re.match(r"[,;:]|\.(?!\.)", following)
    ):
        return "narration"
    if not ended and piece[0].isalpha():
        return "aside"
    return "turn"


def _cut(speech: str, style: Style) -> tuple[str, str]:
    """Return speech, and the narration ("" if none) that follows it without a dash."""
    speech = PATTERNS["in_brackets"].sub("", speech)
    match = PATTERNS["after_quotation"].search(speech)
    if match and speech.count("«", 0, match.start()) <= speech.count("»", 0, match.start()):
        return speech[: match.start()], speech[match.end() :]
    if (match := PATTERNS["unmarked"].search(speech)) and _is_narrative(speech[match.end() :]):
        return speech[: match.start()], speech[match.end() :]
    sentences = PATTERNS["sentence_start"].split(speech)
    at = len(sentences)
    if style.glued and not _is_narrative(sentences[0]):
        depth = 0  # a quotation is not cut
        for i, sentence in enumerate(sentences):
            if i and depth <= 0 and _is_narrative(sentence):
                at = i
                break
            depth += sentence.count("«") - sentence.count("»")
    elif len(sentences) > 1 and speech.endswith(":") and _is_narrative(sentences[-1]):
        at = len(sentences) - 1
    return " ".join(sentences[:at]), " ".join(sentences[at:])


def _is_narrative(sentence: str) -> bool:
    """Tell whether a sentence is in the past and in the third person."""
    return PATTERNS["past_third"].search(sentence) is not None and not PATTERNS[
        "present_person"
    ].search(sentence)


def _continue(speech: str, narration: str, piece: str) -> str | None:
    """Join a speaker's speech before and after narration; the stops may be at either end."""
    marks = re.match(r"[.,;:…!?»)]*", piece)
    mark = marks[0] if marks else ""
    continuation = piece[len(mark) :].strip()
    lower = continuation.lstrip("¿¡«(")[:1].islower()
    if not mark and speech[-1:] not in ".!?…,;:":
        if narration[-1] in ",;:" and lower:
            mark = narration[-1]
        elif narration[-1] in ".:!?…" and not lower:
            mark = "."
        else:
            stop = _missing_stop(speech, continuation)
            if stop is None:
                return None
            mark = stop
    elif not mark and speech[-1:] in ",;:" and narration[-1] in ".!?…" and not lower:
        mark = "."
    if mark[:1] in (".", ",", ";", ":"):
        if speech[-1:] in ",;:":
            speech = speech[:-1]
        elif speech[-1:] in ".!?…" and (mark == "." or (speech[-1] == "." and speech[-2:] != "..")):
            mark = ""
    return f"{speech}{mark} {continuation}".strip()


def _missing_stop(speech: str, continuation: str) -> str | None:
    """Return the stop between two pieces of speech: ",", "." or "", None if it is unclear."""
    if continuation[:1] in ("¿", "¡"):
        return "," if continuation[1:2].islower() else "."
    clause = re.split(r"[.,;:!?…¿¡«»]", speech[-200:])[-1].strip()
    again = clause != "" and continuation.lower().startswith(clause.lower())
    if again or PATTERNS["call"].match(clause) or PATTERNS["adversative"].match(continuation):
        return ","
    if PATTERNS["link"].match(continuation) or PATTERNS["unfinished"].search(clause):
        return ""
    if PATTERNS["subject"].match(clause) and PATTERNS["verb"].match(continuation):
        return ""
    return None


def _finish(spoken: Spoken, speech: str, narration: str, reason: str | None, style: Style) -> None:
    """Add a turn; the narration after it becomes the tail."""
    if not narration:
        speech, narration = _cut(speech, style)
        if PATTERNS["thought"].search(narration):
            reason = "thought"
        elif any(
            PATTERNS["present_person"].search(s)
            for s in PATTERNS["sentence_start"].split(narration)
        ):
            reason = "narration_inside"
    elif not re.search(r"[.!?…»\"]\Z", speech):
        speech = speech.rstrip(",;: ") + "."
    spoken.turns.append(Turn(_tidy(speech), reason))
    spoken.tail = narration


def _tidy(speech: str) -> str:
    """Return the turn with correct spaces, and without quotation marks around it."""
    speech = re.sub(r"\A(?:[,;:»]|\.(?!\.))\s*", "", speech)
    text = re.sub(r"(?<=[¿¡«(])\s+|\s+(?=[.,;:!?»)])", "", " ".join(speech.split()))
    quoted = re.fullmatch(r"«([^«»]*)»([.,;]?)", text)
    if quoted:
        end = "" if quoted[1][-1:] in ".!?…" else quoted[2]
        text = quoted[1] + end
    if text.count("«") > text.count("»") and text.startswith("«"):
        text = text[1:]
    if text.count("»") > text.count("«"):
        text = re.sub(r"(?<=[.!?…])»[.,;]?\Z|»(?=[.,;]?\Z)", "", text)
    return text.strip()


def conversations(text: str, style: Style) -> list[list[Turn]]:
    """Return the turns of a text in conversations, including turns that cannot be used.

    A conversation ends after a gap longer than MAX_GAP, at a heading, at verse, and at speech
    in the middle of a paragraph of narration.
    """
    done: list[list[Turn]] = []
    current: list[Turn] = []
    gap = 0
    narration = ""  # the last narration, if nothing has followed it
    quoting = False  # whether the last turn was a quotation inside a turn

    def end() -> None:
        nonlocal current, gap, narration
        if current:
            done.append([Turn(_tidy(turn.text), turn.reason) for turn in current])
        current, gap, narration = [], 0, ""

    for lines in split_paragraphs(text):
        raw = " ".join(lines)
        paragraph = join_lines(lines, style)
        if raw.lstrip().startswith("["):
            continue  # a note or a picture
        if not paragraph or PATTERNS["blank_to_fill"].search(raw) or is_heading(paragraph):
            end()
            continue
        opens = re.match(rf"[«»]?\s*{_DASH}", paragraph) is not None
        if not opens and paragraph[0] == "«":
            opens = _is_quoted_turn(paragraph, narration)
        if opens:
            if len(lines) > 1 and is_verse(lines):
                end()
                current = [Turn(paragraph, "verse")]
                end()
                continue
            spoken = parse_turn(paragraph, style)
            if gap > MAX_GAP:
                end()
            same = bool(current) and PATTERNS["same_speaker"].search(narration) is not None
            for i, turn in enumerate(spoken.turns):
                if i and spoken.gaps[i - 1] > MAX_GAP:
                    end()
                if i == 0 and same:
                    last = current[-1]
                    current[-1] = Turn(f"{last.text} {turn.text}", last.reason or turn.reason)
                else:
                    current.append(turn)
            narration = spoken.tail
            gap = len(narration)
            quoting = paragraph[0] == "»"
        elif paragraph[0] == "»" and current and not gap and not quoting:
            last = current[-1]
            current[-1] = Turn(f"{last.text} {paragraph.lstrip('» ')}", last.reason)
        elif PATTERNS["embedded"].search(paragraph):
            end()
        else:
            gap += len(paragraph)
            narration = paragraph
    end()
    return done


def is_heading(paragraph: str) -> bool:
    """Tell whether a paragraph is a heading or a line that separates scenes."""
    if paragraph[0] == _DASH:  # as in --XVII--
        return paragraph[-1] == _DASH and not any(c.islower() for c in paragraph)
    letters = [c for c in paragraph if c.isalpha()]
    if letters and len(paragraph) <= MAX_HEADING and all(c.isupper() for c in letters):
        return True
    return (
        PATTERNS["break"].match(paragraph) is not None
        or PATTERNS["heading"].match(paragraph) is not None
    )


def _is_quoted_turn(paragraph: str, narration: str) -> bool:
    """Tell whether a paragraph that opens with a quotation mark is spoken."""
    inside = PATTERNS["quoted_narration"].search(paragraph)
    if inside:
        spoken = PATTERNS["saying"].search(inside[1]) is not None
        return spoken and not PATTERNS["thought"].search(inside[1])
    before = narration[-120:]
    return (
        before.endswith(":")
        and PATTERNS["saying"].search(before) is not None
        and not PATTERNS["thought"].search(before)
    )
