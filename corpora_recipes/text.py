"""Clean-up of natural text, sentence splitting and the classic protocol's tokens."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.errors import InputError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

# Controls that are no blanks, soft hyphen, zero-width and directional marks, byte order mark.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_DAMAGE = {
    "replacement_character": re.compile("\ufffd"),
    "unpaired_surrogate": re.compile("[\ud800-\udfff]"),
    "private_use_character": re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]"),
    "mojibake": re.compile("Ã[\x80-\xbf]|Â[\xa0-\xbf]|â€"),  # UTF-8 read as Windows-1252
}

# What is no natural text: links, templates, tags, attributes, entities, addresses, codes, marks of
# footnotes, bars that part pieces of a page (but not 1|2|3). Every alternative begins with one
# certain character: so the search is fast.
_MARKUP = re.compile(
    r"\[(?:\[|\d{1,3}\])|\]\]|\{\{|\}\}|<(?<!<<)/?[a-zA-Z][^<>]*>(?!>)|<!--|>(?<=-->)"
    r"|=(?:=|(?<=\w=)\"|(?<=\bstyle=)|(?<=\bclass=)|(?<=\bhref=)|(?<=\bwidth=))"
    r"|&(?:[a-zA-Z]\w*|#\w+);|://|\\(?:[a-zA-Z]{2}|u[\da-fA-F]{4}|[nrt](?![a-z]))"
    r"|\^\{|_\{|_\d(?<=\bformula_\d)|\|(?<!\d\|)|\|(?!\d)|\*\*\w[^*]*\*\*"
)

_STOPS = ".!?…؟۔।։"
_DASHES = "—–―-•"
_OPENING = "¿¡«‹“„‘‚\"'([{<*" + _DASHES
_CLOSING = "»›”“’\"')]}>*"
_MAY_END = re.compile(rf"[{_STOPS}{re.escape(_CLOSING)}] ")
# The lookbehinds keep time linear in the length of a word.
_TAIL = re.compile(rf"(?<![{_STOPS}])([{_STOPS}]+)([{re.escape(_CLOSING)}]*)$")
_NOTE_MARKS = re.compile(r"(?<!\d\])(?:\[\d+\])+$")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_NUMBER_IN_BRACKETS = re.compile(r"\(\d[\d.:/–-]*\)")
_FIRST_WORD = re.compile(r"[^\W_]+")
_ROMAN_NUMERAL = re.compile(r"(?=[CXLVI])C{0,3}(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?!\w)")
_ACRONYM = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")
# Two apostrophes or grave accents for a quotation mark; after a number they are seconds.
_TWO_MARKS = re.compile(r"(?<![\w′'])''(?=[^\s'])((?:[^']|(?<!')'(?!'))*)''(?!')")
_TWO_APOSTROPHES = re.compile(r"(?<![\d′'])''(?!')|(?<!`)``(?!`)")

# What tidy() may have to put in order; most texts hold nothing of it. The pattern begins with a set
# of characters that are few in any text: so the search is fast.
_UNTIDY = re.compile(
    r"[.,;:!?…)\]»”\"(\[¿¡«“](?:(?<=\s[.,;:!?)\]»”])|(?<=[(\[¿¡«“])(?=\s)"
    r"|(?<=\s\")(?=[,;:.!?)\]]|\Z)"
    r"|(?!\s)(?:(?<=\w\w\w[.!?…])[\"»”)]?|(?<=\w\w\w[\"»”)])[.!?…])(?:[^\W\d_a-z]|[¿¡]))"
)
_GLUED = re.compile(r"[.!?…][\"»”)]?(?:[^\W\d_a-z]|[¿¡])")  # what _glued_start needs
_OF_ADDRESS = re.compile(r"[/@.]")
# A blank before a mark, and what takes its place; "...", ".NET", ".5", "3 : 1" and ":)" are let be.
# First the characters that each begins with: where there are none, it need not be looked for.
_BEFORE_MARKS = [
    ((" ,",), re.compile(r" (,)(?<=\S ,)(?=[^\W\d_])"), r"\1 "),
    ((" ,",), re.compile(r" (,)(?<=\S ,)(?=[\s\"»”]|\Z)"), r"\1"),
    ((" .",), re.compile(r" (\.)(?<=[^\s.] \.)(?! \.)(?=[\"»”)\]]*(?:\s|\Z))"), r"\1"),
    ((" )", " ]"), re.compile(r" ([)\]])(?<=[\w.,;!?…\"»”’%)\]] [)\]])(?=[^\W\d_])"), r"\1 "),
    ((" )", " ]"), re.compile(r" ([)\]])(?<=[\w.,;!?…\"»”’%)\]] [)\]])"), r"\1"),
    # A straight mark before a stop or at the end closes.
    ((' "',), re.compile(r" (\")(?<=[^\s([{¿¡«“\"—–-] \")(?=[,;:!?)\]]|\.(?![.\w])|\Z)"), r"\1"),
]
_AFTER_MARKS = [
    # After a word the blank stands on the wrong side.
    (("( ", "[ "), re.compile(r"([(\[]) (?<=[^\W\d_][(\[] )(?=\w[^()\[\]]*+[)\]])"), r" \1"),
    (("( ", "[ "), re.compile(r"([(\[]) (?<![^\s\"«“¿¡(][(\[] )(?=[\w\"«“¿¡])"), r"\1"),
    (("¿ ", "¡ "), re.compile(r"([¿¡]) (?=[\w\"«“(])"), r"\1"),
]
# Not in French, which sets these apart.
_SET_APART = [
    ((" ;",), re.compile(r" (;)(?<=\S ;)(?=[^\W\d_])"), r"\1 "),
    ((" ;",), re.compile(r" (;)(?<=\S ;)(?=[\s\"»”]|\Z)"), r"\1"),
    ((" :",), re.compile(r" (:)(?<=[^\s\d] :)(?=\s|\Z)"), r"\1"),
    ((" !", " ?"), re.compile(r" (?=[!?])(?<=[\w.…\"»”)\]] )([!?]+)(?=[\s\"»”.,;:)\]]|\Z)"), r"\1"),
]
_ANGLED = [
    (("« ",), re.compile(r"(«) (?<![^\s([¿¡—]« )(?=[\w¿¡(])"), r"\1"),
    ((" »",), re.compile(r" (»)(?<=[\w.,;:!?…)] »)(?=[\s.,;:!?)\]]|\Z)"), r"\1"),
]
_CURLY = [
    (("“ ",), re.compile(r"(“) (?<![^\s([¿¡—]“ )(?=[\w¿¡(])"), r"\1"),
    ((" ”",), re.compile(r" (”)(?<=[\w.,;:!?…)] ”)(?=[.,;:!?)\]]|\Z)"), r"\1"),
    ((" ”",), re.compile(r"(“[^“”]*[^\s“”]) (?=”)"), r"\1"),
]
# Two full stops after a word are one too many: "a. C..", "11-M..".
_TWO_STOPS = re.compile(r"(?<=[^\s.])\.\.(?![.\w])")
_STOPS_BEFORE_QUOTE = tuple(",.;:!?)")
_STRAY_QUOTE = re.compile(
    r"[\"“”](?:(?:(?<=\s.)|(?<=\A.))(?=[\s,;)]|\.(?!\.)|\Z)"
    r"|(?<=[^\W\d_]\")(?=[^\W\d_])|(?<=\")[,;.]\")"
)
_BRACKETS = (("(", ")"), ("[", "]"))
_QUOTES = (("«", "»"), ("“", "”"))
_PAIRS = (*_BRACKETS, *_QUOTES, ('"', '"'))
_REACH = 30  # words to each side in which a bracket or a quotation must open and close
_LONGEST_PLAIN = 2_000  # characters: looking for all marks of longer sentences would cost more


def clean(text: str) -> str:
    """Return the text in NFC, without invisible characters, every run of blanks as one space.

    Blanks are all Unicode white space, line breaks among them; invisible are controls, zero-width
    and directional marks, soft hyphens and byte order marks. Two apostrophes that stand for a
    quotation mark (''así'') become one, which is straight ("así"); those of seconds (10'') stay.
    Nothing is repaired: U+FFFD stays.
    """
    if not _is_single_spaced(text):
        # What is printable holds nothing invisible: most texts, once their blanks are single.
        single = " ".join(text.split())
        text = single if single.isprintable() else " ".join(_INVISIBLE.sub("", text).split())
    text = unicodedata.normalize("NFC", text)
    if "''" in text or "``" in text:
        text = _TWO_APOSTROPHES.sub('"', _TWO_MARKS.sub(r'"\1"', text))
    return text


def tidy(text: str, language: str) -> str:
    """Put the blanks of a text where they belong around punctuation; nothing but blanks changes.

    None stands before a stop or a closing mark ("la casa , que" → "la casa, que") nor after an
    opening one; one stands between sentences where a common first word shows that another begins
    ("la casa.El río" → "la casa. El río"). A straight quotation mark closes before a stop and at
    the end; of the others see ``pair_quotes``. French keeps the blanks that it sets before ; : ! ?
    and inside « », German what stands inside its quotation marks.

    Args:
        text: clean text (see ``clean``).
        language: ISO 639 code.

    Returns:
        The text; tidying it again changes nothing.
    """
    if not _UNTIDY.search(text):
        return text
    code = language.partition("-")[0]
    rules = [*_BEFORE_MARKS, *_AFTER_MARKS]
    if code != "fr":
        rules += _SET_APART
    if code not in ("fr", "de"):
        rules += _ANGLED
    if code != "de":
        rules += _CURLY
    starts = _glued_start(code)
    while True:
        tidied = text
        for beginnings, pattern, put in rules:
            if any(beginning in tidied for beginning in beginnings):
                tidied = pattern.sub(put, tidied)
        if _GLUED.search(tidied):
            tidied = _part(tidied, starts)
        if tidied == text or not _UNTIDY.search(tidied):
            return tidied
        text = tidied


@cache
def _glued_start(language: str) -> re.Pattern[str]:
    """Return the pattern of a word, the stop after it and the beginning of another sentence.

    A blank may stand before the stop instead of after it; the first word may be part of an address.
    """
    words = (word.capitalize() for word in _rules(language).starters if len(word) > 1)
    starters = "|".join(sorted(words, key=lambda word: (-len(word), word))) or r"(?!)"
    return re.compile(
        r"(?<=[^\W\d_]{2}[^\W\d_A-Z])([\"»”)]?)( ?)([.!?…][\"»”)]?)"
        rf"(?=(?:{starters})(?: |,)|[¿¡][^\W\d_])"
    )


def _part(text: str, starts: re.Pattern[str]) -> str:
    """Put a blank wherever a sentence starts, but for inside an address."""
    out = []
    position = 0
    begin = searched = 0  # where the word begins, and up to where that was looked for
    for match in starts.finditer(text):
        closing, blank, stop = match.groups()
        begin = max(begin, text.rfind(" ", searched, match.start()) + 1)
        searched = match.start()
        is_stop = not blank or stop[0] == "."
        if is_stop and not _OF_ADDRESS.search(text, begin, searched):
            out += [text[position:searched], closing, stop, " "]
            position = begin = match.end()
    out.append(text[position:])
    return "".join(out)


def pair_quotes(sentence: str) -> str:
    """Put the blanks of a sentence before opening and after closing straight quotation marks.

    Marks open and close in turn. So where an even number of them stand, and those that tell by
    their place whether they open (at the beginning, after a bracket) or close (before a stop, at
    the end) agree, the others are known: 'la" casa "azul y la" torre".' → 'la "casa" azul y la
    "torre".' Any other sentence, and one with a mark inside a word, is returned as it is.
    """
    pieces = sentence.split('"')
    if len(pieces) < 3 or len(pieces) % 2 == 0:
        return sentence
    certain = 0
    for i, (before, after) in enumerate(pairwise(pieces)):
        if before[-1:].isalnum() and after[:1].isalnum():
            return sentence
        closes = not after or (after[0] in ",;:.!?)]" and not after.startswith("..."))
        opens = not before or before[-1] in "([{¿¡"
        if opens == closes:
            if opens:
                return sentence
            continue
        if opens != (i % 2 == 0):
            return sentence
        certain += 1
    if not certain:
        return sentence
    text = pieces[0]
    for quoted, after in zip(pieces[1::2], pieces[2::2], strict=True):
        before = " " if text[-1:].isalnum() or text.endswith(_STOPS_BEFORE_QUOTE) else ""
        behind = " " if after[:1].isalnum() or after.startswith("(") else ""
        text += f'{before}"{quoted.strip()}"{behind}{after}'
    return text


def tidy_sentences(text: str, language: str) -> list[str]:
    """Split running text into sentences with their punctuation in order.

    Args:
        text: clean text (see ``clean``) of one paragraph.
        language: ISO 639 code.

    Returns:
        The sentences, as ``split_sentences`` splits them, with one full stop where two stand,
        tidied (see ``tidy``) and with their straight quotation marks paired (see ``pair_quotes``).
    """
    found = split_sentences(tidy(text, language), language)
    return [
        # Without these marks there is nothing left to do.
        pair_quotes(tidy(single_stops(sentence), language))
        if ".." in sentence or '"' in sentence
        else sentence
        for sentence in found
    ]


def single_stops(text: str) -> str:
    """Return the text with one full stop where two end a word; three are an ellipsis and stay."""
    return _TWO_STOPS.sub(".", text) if ".." in text else text


def ends_in_abbreviation(sentence: str, language: str) -> bool:
    """Tell whether a sentence ends in an abbreviation that ends none, so that it was cut there."""
    if not sentence.endswith("."):
        return False
    rules = _rules(language)
    last = sentence[sentence.rfind(" ") + 1 :].lstrip(_OPENING)
    if last[:-1] not in rules.words:
        return False
    before = sentence.rsplit(" ", 2)[-2:-1]
    return last in rules.never_ends or " ".join([*before, last]) in rules.never_ends


def has_stray_quote(sentence: str) -> bool:
    """Tell whether a quotation mark neither opens nor closes anything.

    It stands alone, or inside a word, or two of them hold nothing but a stop.
    """
    return _STRAY_QUOTE.search(sentence) is not None


def damage(text: str) -> str | None:
    """Name what shows that the text was spoilt before it came to us, or None if nothing does.

    Returns:
        "replacement_character", "unpaired_surrogate" (it cannot be written as UTF-8),
        "private_use_character" (bullets of symbol fonts, mostly) or "mojibake" (UTF-8 read as
        Windows-1252).
    """
    if text.isascii():
        return None
    return next((reason for reason, pattern in _DAMAGE.items() if pattern.search(text)), None)


def has_markup(text: str) -> bool:
    """Tell whether something of a page's markup is left in a text: a tag, a link, an address …"""
    return _MARKUP.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the splitter knows of one language; abbreviations.yaml explains the fields."""

    never_ends: frozenset[str]
    in_names: frozenset[str]
    may_end: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    words: frozenset[str]
    starters: frozenset[str]
    ordinals: bool


@cache
def _table() -> dict[str, dict[str, str | bool]]:
    import yaml

    path = Path(__file__).with_name("abbreviations.yaml")
    table: dict[str, dict[str, str | bool]] = yaml.safe_load(path.read_text("utf-8"))
    return table


@cache
def _rules(language: str) -> _Rules:
    entry = _table().get(language.partition("-")[0], {})
    spaced = {
        key: {form for item in str(entry.get(key, "")).split(",") for form in _cases(item.strip())}
        for key in ("never_ends", "in_names", "may_end")
    }
    forms = {
        key: frozenset(spaced[key] | {form.replace(" ", "") for form in spaced[key]})
        for key in spaced
    }
    parts = [form.split() for key in spaced for form in spaced[key]]
    return _Rules(
        **forms,
        pairs=frozenset(pair for words in parts for pair in pairwise(words)),
        words=frozenset(
            word.removesuffix(".") for words in [*parts, *forms.values()] for word in words
        ),
        starters=frozenset(str(entry.get("starters", "")).split()),
        ordinals=bool(entry.get("ordinals", False)),
    )


def _cases(abbreviation: str) -> set[str]:
    """Return the entry, and capitalised too if it is lower case and more than one letter."""
    if len(abbreviation) > 2 and abbreviation.islower():
        return {abbreviation, abbreviation[0].upper() + abbreviation[1:]}
    return {abbreviation}


def split_sentences(text: str, language: str, *, is_clean: bool = False) -> list[str]:
    """Split running text into sentences.

    Args:
        text: natural text of one paragraph; line breaks count as blanks.
        language: ISO 639 code. Its abbreviations stand in abbreviations.yaml; a language that is
            not there is split by the rules that need none (case, initials, numbers, brackets).
        is_clean: whether the text comes from ``clean``; it saves a look at its blanks.

    Returns:
        The sentences in order, none empty; joined with one space they are the text with every run
        of blanks as one space. A sentence ends only before a blank.
    """
    rules = _rules(language)
    if not (is_clean or _is_single_spaced(text)):
        text = " ".join(text.split())
    sentences = []
    words: list[str] = []
    start = 0  # where the sentence begins, in characters
    first = first_at = 0  # the same in words, as far as they were counted
    last = last_at = 0  # the word that may end the sentence
    spoken = 0  # the first word since then with a letter or a digit
    marks = [pair for pair in _PAIRS if pair[0] in text]
    for match in _MAY_END.finditer(text):
        blank = match.end() - 1
        after = text[blank + 1]
        if after.islower() and after.isalpha() and not text[blank + 2 : blank + 3].isupper():
            continue
        if not _plainly_ends(text, start, blank, marks, rules):
            words = words or text.split(" ")
            first += text.count(" ", first_at, start)
            last += text.count(" ", last_at, blank)
            first_at, last_at = start, blank
            spoken = max(spoken, first)
            while spoken <= last and not _ALPHANUMERIC.search(words[spoken]):
                spoken += 1
            if spoken > last or not _is_boundary(words, first, last, rules):
                continue
            if words[last + 1] == '"' and text.count('"', start, blank) % 2:
                continue  # it closes
        sentences.append(text[start:blank])
        start = blank + 1
    if text:
        sentences.append(text[start:])
    return sentences


def _is_single_spaced(text: str) -> bool:
    """Tell whether the only blanks are single spaces between words; printable text has no other."""
    return text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " "


def _plainly_ends(
    text: str, start: int, blank: int, marks: Sequence[tuple[str, str]], rules: _Rules
) -> bool:
    """Tell whether it is plain that the sentence from ``start`` on ends before a blank.

    So do most: in a full stop, after a word that is part of no abbreviation, before a capital
    letter, with all brackets and quotations closed. ``_is_boundary`` would say the same of them.
    """
    if text[blank - 1] != "." or not text[blank + 1].isupper() or blank - start > _LONGEST_PLAIN:
        return False
    begin = text.rfind(" ", start, blank) + 1
    word = text[begin : blank - 1]
    if (
        not begin
        or len(word) < 2
        or not word.isalnum()
        or (len(word) == 2 and word.isdigit())
        or word in rules.words
        or word.lower() in rules.words
    ):
        return False
    for opening, closing in marks:  # noqa: SIM110 (half as slow as all())
        if not _all_closed(text, start, blank, opening, closing):
            return False
    return True


def _all_closed(text: str, start: int, stop: int, opening: str, closing: str) -> bool:
    """Tell whether every opening mark of a part of a text is closed before the next one opens."""
    at = text.find(opening, start, stop)
    while at >= 0:
        end = text.find(closing, at + 1, stop)
        if end < 0:
            return False
        if opening == closing:
            if (at > start and text[at - 1] != " ") or text[end - 1] == " ":
                return False
            at = text.find(opening, end + 1, stop)
        else:
            at = text.find(opening, at + 1, stop)
            if 0 <= at < end:
                return False
    return True


def _is_boundary(words: Sequence[str], start: int, i: int, rules: _Rules) -> bool:
    """Tell whether the sentence that begins at words[start] ends with words[i].

    One of these words has a letter or a digit, and no straight quotation mark is to be closed.
    """
    word = _NOTE_MARKS.sub("", words[i])
    tail = _TAIL.search(word)
    if tail is None:
        # A closing mark that stands alone, as in French, belongs to the stop before it.
        if i == start or word.strip(_CLOSING) or not (tail := _TAIL.search(words[i - 1])):
            return False
        word = words[i - 1]
    elif tail[2] in (")", "]") and not _ALPHANUMERIC.search(word):
        return False  # (!), [...]
    following = words[i + 1]
    if not following.strip("»›”)]}>"):
        return False
    if tail[1] != "." and _NUMBER_IN_BRACKETS.match(following):
        return False  # a title and its year: ¿Quién? (1984)
    after = next((w for w in words[i + 1 : i + 1 + _REACH] if _ALPHANUMERIC.search(w)), "")
    after = after.lstrip(_OPENING + _STOPS)
    if not after or (after[0].islower() and not after[1:2].isupper()):
        return False
    if tail[1] == "." and not _full_stop_ends(words, start, i, word, tail, after, rules):
        return False
    return not _inside(
        " ".join(words[max(start, i + 1 - _REACH) : i + 1]),
        " ".join(words[i + 1 : i + 1 + _REACH]),
    )


def _full_stop_ends(
    words: Sequence[str],
    start: int,
    i: int,
    word: str,
    tail: re.Match[str],
    after: str,
    rules: _Rules,
) -> bool:
    """Tell whether the single full stop of ``word`` can end a sentence before ``after``."""
    core = re.split("['’]", word[: tail.start()].lstrip(_OPENING))[-1]
    following = words[i + 1]
    if (core + ".", following.partition(".")[0] + ".") in rules.pairs:
        return False
    before = words[i - 1].lstrip(_OPENING) if i > start else ""
    names = {core + ".", f"{before} {core}."}
    first = _FIRST_WORD.match(after)
    # "A." alone is no preposition but an initial, or the end of "S. p. A.".
    starter = first is not None and first[0].lower() in rules.starters and after[1:2] != "."
    if first is not None and len(first[0]) > 1 and f"{core}{first[0]}".isupper():
        names.add(core.lower() + ".")  # a text all in capitals
    if names & rules.never_ends:
        return False
    number = after[0].isdigit() or (not starter and _ROMAN_NUMERAL.match(after) is not None)
    abbreviation_may_end = not (number or not following.strip(_DASHES) or tail[2][:1] in (")", "]"))
    if names & rules.may_end:
        return abbreviation_may_end
    if names & rules.in_names or _ACRONYM.fullmatch(core):
        return abbreviation_may_end and starter
    if i == start and (core.isdigit() or len(core) == 1 or _ROMAN_NUMERAL.fullmatch(core)):
        return len(core) > 3  # the number of a list item or a heading; a year is none
    if core.isdigit():
        return starter or not rules.ordinals or len(core) > 2
    if len(core) == 1 and core.isalpha():
        unit = core.islower() and before[-1:].isdigit()
        return abbreviation_may_end and (unit or starter)
    return True


def _inside(left: str, right: str) -> bool:
    """Tell whether the place between two texts is inside a bracket or a quotation.

    A quotation counts only if the sentence goes on after it («Vete. Ya», dijo).
    """
    for opening, closing in _BRACKETS:
        if left.count(opening) > left.count(closing):
            content, closed, _ = right.partition(closing)
            if closed and opening not in content:
                return True
    for opening, closing in _QUOTES:
        if left.count(opening) > left.count(closing) and _quotation_goes_on(
            right, opening, closing
        ):
            return True
    # A straight mark opens where a blank stands before it.
    opened = 2 * f" {left}".count(' "') > left.count('"')
    return opened and _quotation_goes_on(right, ' "', '"')


def _quotation_goes_on(right: str, opening: str, closing: str) -> bool:
    """Tell whether an open quotation ends in ``right`` and the sentence around it goes on."""
    content, _, onward = right.partition(closing)
    onward = onward.lstrip(_CLOSING)
    return opening not in content and (
        onward[:1] in (",", ";")
        or (onward[:1] == " " and onward.lstrip(" " + _DASHES)[:1].islower())
    )


@cache
def _tokenizer(language: str) -> "Tokenizer":
    import spacy

    try:
        return spacy.blank(language.partition("-")[0]).tokenizer
    except ImportError as error:
        raise InputError(
            f"language {language!r}",
            expected="a language that spaCy can tokenise (an ISO 639 code such as es, en, pt)",
            found=str(error),
            todo="take a code of the list at https://spacy.io/usage/models#languages (xx is for "
            "any language), or install the package that is named above",
        ) from error


def tokenize(sentence: str, language: str) -> list[str]:
    """Return the sentence's tokens by spaCy's rule tokeniser for the language, without blanks.

    Raises:
        InputError: spaCy has no tokeniser for the language, or needs a package for it.
    """
    texts = [token.text for token in _tokenizer(language)(sentence)]
    return [text for text in texts if not text.isspace()]
