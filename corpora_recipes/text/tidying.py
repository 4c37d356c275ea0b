"""Corrects spaces and quotation marks around punctuation."""

import re
from functools import cache
from itertools import pairwise

from corpora_recipes.text.cleaning import find_damage, has_markup
from corpora_recipes.text.language import writing_of
from corpora_recipes.text.sentences import rules_of, split_sentences

# Texts that tidy() may have to correct, which are few. The pattern begins with a set of rare
# characters, so that the search is fast.
_UNTIDY = re.compile(
    r"[.,;:!?…)\]»”\"(\[¿¡«“](?:(?<=\s[.,;:!?)\]»”])|(?<=[(\[¿¡«“])(?=\s)"
    r"|(?<=\s\")(?=[,;:.!?)\]]|\Z)"
    r"|(?!\s)(?:(?<=\w\w\w[.!?…])[\"»”)]?|(?<=\w\w\w[\"»”)])[.!?…])(?:[^\W\d_a-z]|[¿¡]))"
)
_GLUED = re.compile(r"[.!?…][\"»”)]?(?:[^\W\d_a-z]|[¿¡])")  # needed by _glued_start
_OF_ADDRESS = re.compile(r"[/@.]")
# A space before a mark, and its replacement; "...", ".NET", ".5", "3 : 1" and ":)" are not changed.
# First the strings that each rule begins with: without them, the rule is skipped.
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
    # After a word the space is on the wrong side.
    (("( ", "[ "), re.compile(r"([(\[]) (?<=[^\W\d_][(\[] )(?=\w[^()\[\]]*+[)\]])"), r" \1"),
    (("( ", "[ "), re.compile(r"([(\[]) (?<![^\s\"«“¿¡(][(\[] )(?=[\w\"«“¿¡])"), r"\1"),
    (("¿ ", "¡ "), re.compile(r"([¿¡]) (?=[\w\"«“(])"), r"\1"),
]
# Not where there is a space before these, as in French.
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
# Two full stops after a word become one: "a. C..", "11-M..".
_TWO_STOPS = re.compile(r"(?<=[^\s.])\.\.(?![.\w])")
# The most words in a quotation whose closing mark looks like an opening one: with more, two marks
# may be lost.
_MAX_QUOTED_WORDS = 8
_STOPS_BEFORE_QUOTE = tuple(",.;:!?)")
_STRAY_QUOTE = re.compile(
    r"[\"“”](?:(?:(?<=\s.)|(?<=\A.))(?=[\s,;)]|\.(?!\.)|\Z)"
    r"|(?<=[^\W\d_]\")(?=[^\W\d_])|(?<=\")[,;.]\")"
)


def tidy(text: str, language: str) -> str:
    """Correct the spaces of a text around punctuation; only spaces change.

    No space is left before a stop or a closing mark ("la casa , que" → "la casa, que") nor after
    an opening one; a space is put between sentences if a common first word shows that another
    begins ("la casa.El río" → "la casa. El río"). A straight quotation mark closes before a stop
    and at the end; for the others see ``pair_quotes``. Spaces stay where the language has them
    (writing.yaml): in French before ; : ! ? and inside « »; and so they do inside of quotation
    marks that the language uses the other way round, as German. The text is clean (see ``clean``);
    tidying it again changes nothing.
    """
    if not _UNTIDY.search(text):
        return text
    writing = writing_of(language)
    rules = [*_BEFORE_MARKS, *_AFTER_MARKS]
    if ";" not in writing.set_apart:
        rules += _SET_APART
    if ("«", "»") in writing.quotations and "«" not in writing.set_apart:
        rules += _ANGLED
    if ("“", "”") in writing.quotations:
        rules += _CURLY
    starts = _glued_start(language)
    while True:
        tidied = text
        for beginnings, pattern, replacement in rules:
            if any(beginning in tidied for beginning in beginnings):
                tidied = pattern.sub(replacement, tidied)
        if _GLUED.search(tidied):
            tidied = _split_glued(tidied, starts)
        if tidied == text or not _UNTIDY.search(tidied):
            return tidied
        text = tidied


@cache
def _glued_start(language: str) -> re.Pattern[str]:
    """Return the pattern of a word, the stop after it and the beginning of another sentence."""
    words = (word.capitalize() for word in rules_of(language).starters if len(word) > 1)
    starters = "|".join(sorted(words, key=lambda word: (-len(word), word))) or r"(?!)"
    return re.compile(
        r"(?<=[^\W\d_]{2}[^\W\d_A-Z])([\"»”)]?)( ?)([.!?…][\"»”)]?)"
        rf"(?=(?:{starters})(?: |,)|[¿¡][^\W\d_])"
    )


def _split_glued(text: str, starts: re.Pattern[str]) -> str:
    """Put a space wherever a sentence starts, except inside an address."""
    pieces = []
    position = 0
    begin = searched = 0  # the start of the word, and the end of the text searched for it
    for match in starts.finditer(text):
        closing, blank, stop = match.groups()
        begin = max(begin, text.rfind(" ", searched, match.start()) + 1)
        searched = match.start()
        is_stop = not blank or stop[0] == "."
        if is_stop and not _OF_ADDRESS.search(text, begin, searched):
            pieces += [text[position:searched], closing, stop, " "]
            position = begin = match.end()
    pieces.append(text[position:])
    return "".join(pieces)


def pair_quotes(sentence: str) -> str:
    """Put the spaces of a sentence before opening and after closing straight quotation marks.

    Marks open and close in turn. So if their number is even, and those whose place shows that they
    open (at the beginning, after a bracket) or close (before a stop, at the end) agree with that,
    the others are known: 'la" casa "azul y la" torre".' → 'la "casa" azul y la
    "torre".' They are known, too, if every mark that should open stands at the beginning of a
    word, and few words are quoted: 'la "casa "azul' → 'la "casa" azul'. Any other sentence, and
    one with a mark inside a word, is returned as it is.
    """
    pieces = sentence.split('"')
    if len(pieces) < 3 or len(pieces) % 2 == 0:
        return sentence
    certain = all(
        before[-1:] in ("", " ")
        and quoted[:1] not in ("", " ")
        and len(quoted.split()) <= _MAX_QUOTED_WORDS
        for before, quoted in zip(pieces[::2], pieces[1::2], strict=False)
    )
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
        certain = True
    if not certain:
        return sentence
    text = pieces[0]
    for quoted, after in zip(pieces[1::2], pieces[2::2], strict=True):
        before = " " if text[-1:].isalnum() or text.endswith(_STOPS_BEFORE_QUOTE) else ""
        behind = " " if after[:1].isalnum() or after.startswith("(") else ""
        text += f'{before}"{quoted.strip()}"{behind}{after}'
    return text


def tidy_sentences(text: str, language: str) -> list[str]:
    """Split the clean text of a paragraph into sentences with their punctuation in order.

    That is with one full stop for two, tidied, and with straight quotation marks paired.
    """
    return [
        # Without these marks there is nothing left to do.
        pair_quotes(tidy(single_stops(sentence), language))
        if ".." in sentence or '"' in sentence
        else sentence
        for sentence in split_sentences(tidy(text, language), language)
    ]


def single_stops(text: str) -> str:
    """Return the text with one full stop for two at the end of a word; an ellipsis stays."""
    return _TWO_STOPS.sub(".", text) if ".." in text else text


def find_flaw(sentence: str) -> str | None:
    """Return the reason to drop a sentence of running text, None to keep it.

    Returns:
        A sign of ``find_damage``, or "markup_left", "broken_quotation" or "no_letters".
    """
    if (sign := find_damage(sentence)) is not None:
        return sign
    if has_markup(sentence):
        return "markup_left"
    if has_stray_quote(sentence):
        return "broken_quotation"
    return None if any(map(str.isalpha, sentence)) else "no_letters"


def has_stray_quote(sentence: str) -> bool:
    """Return whether a quotation mark neither opens nor closes anything.

    It is alone, or inside a word, or two of them enclose only a stop.
    """
    return _STRAY_QUOTE.search(sentence) is not None
