"""Writing conventions of languages (writing.yaml), and language identification (py3langid)."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from corpora_recipes.running.errors import ParamsError
from corpora_recipes.yaml_files import load_yaml

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


_TABLE: dict[str, Any] = load_yaml(Path(__file__).with_name("writing.yaml"))
FINAL: str = _TABLE["final"]
CLOSING: str = _TABLE["closing"]
OPENING: str = _TABLE["opening"]
UNSPACED: str = _TABLE["unspaced"]
# Signs of a word, about, in scripts without spaces.
_SIGNS_PER_WORD = 2


@dataclass(frozen=True, slots=True)
class Writing:
    """How a language is written; writing.yaml explains the fields."""

    quotations: tuple[tuple[str, str], ...] = ()
    set_apart: str = ""
    also_final: str = ""
    spaces: bool = True
    split: bool = True
    package: str = ""

    @property
    def final(self) -> str:
        """The marks that end its sentences."""
        return FINAL + self.also_final

    @property
    def separator(self) -> str:
        """The text between two sentences, or two words."""
        return " " if self.spaces else ""


@cache
def writing_of(language: str) -> Writing:
    """Return how a language is written, given its code (BCP 47); its region does not matter."""
    entries = _TABLE["languages"]
    facts = entries["any"] | entries.get(language.partition("-")[0], {})
    return Writing(**facts | {"quotations": tuple((a[0], a[1]) for a in facts["quotations"])})


def is_finished(sentence: str, language: str = "", *, also: str = "") -> bool:
    """Return whether a sentence ends in a final mark (or ``also``), before closing marks alone."""
    last = sentence.rstrip(CLOSING + " ")[-1:]
    return last != "" and last in writing_of(language).final + also


def is_lower(text: str) -> bool:
    """Return whether a text begins with a small letter that could be a capital at a beginning.

    Georgian has capitals for texts all in capitals alone, so that its letters are no small ones.
    """
    first = text[:1]
    return first.islower() and not first.title() == first != first.upper()


def is_letters(word: str) -> bool:
    """Return whether a word has letters alone, with the marks that belong to them."""
    return word.isalpha() or (
        word[:1].isalpha() and all(c.isalpha() or category(c)[0] == "M" for c in word)
    )


_split_scripts = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+").findall
_is_unspaced = re.compile(rf"[{UNSPACED}]").match


def split_words(text: str) -> list[str]:
    """Split a text at spaces, and between scripts with and without spaces."""
    return text.split() if text.isascii() else _split_scripts(text)


def count_words(text: str) -> int:
    """Return the number of words of a text, which is estimated for scripts without spaces."""
    return sum(-(-len(w) // _SIGNS_PER_WORD) if _is_unspaced(w) else 1 for w in split_words(text))


_DIGIT = re.compile(r"\d")

# With fewer letters a text is too short: of Spanish sentences with 10 to 14 letters in judged
# words, 6 % would be taken for another language, with 15 to 19 letters 1 %, with 20 to 24 0 %.
MIN_LETTERS = 20
# A text is in another language if the expected one has less than this probability.
MIN_PROBABILITY = 0.05


def identify(text: str) -> str:
    """Return the ISO 639 code of the language that the text is most likely in.

    The model is py3langid's (Lui and Baldwin 2012, "langid.py: An Off-the-shelf Language
    Identification Tool"; naive Bayes over byte n-grams). Abstracts are identified reliably; of
    single short Spanish sentences, one in sixty is taken for Aragonese, Catalan or similar.
    """
    return str(_identifier().classify(text)[0])


def is_language(text: str, language: str) -> bool:
    """Return whether a text may be in a language.

    It is not if the model of ``identify`` gives the language less than ``MIN_PROBABILITY``.
    Only words without a capital or a digit are judged, because names and figures belong to no
    language. A text with fewer than ``MIN_LETTERS`` letters in such words (or all in capitals)
    is too short and counts as in the language. So single sentences are judged reliably.

    Error rates, measured on sentences that are long enough. Spanish taken for another language:
    none of 1,337 gold sentences of UD Spanish GSD; 0.1 % of encyclopedia prose (n = 20,683; they
    quote Greek, Arabic and the like); 0.04 % of abstracts (8,422), 0.03 % of subtitles (11,835)
    and 0.01 % of news (15,317), besides 0.2 % and 0.1 % that truly are English or Galician.
    Other languages taken for Spanish: English 0.3 % (11,030), French 0.0 % (550), Italian 0.8 %
    (266), Portuguese 3.1 % (355), Catalan 2.3 % (171), Galician 6.1 % (147), Basque 0.0 % (124),
    Aragonese 0.0 % (24); Asturian, which the model does not know, 86 % (21). Of rows of five
    sentences (six subtitles) joined by spaces 0.0 % (14,440) and 0.0 % (2,731, less Asturian).

    Args:
        text: natural text; for a row of a dataset, its sentences joined by spaces.
        language: ISO 639 code; a regional subtag ("es-AR") is ignored.
    """
    code = language.partition("-")[0]
    identifier = _identifier()
    if code not in identifier.labels:
        expected = f"a language that py3langid can identify: {', '.join(identifier.labels)}"
        raise ParamsError(f"language {language!r}", expected, repr(code))
    if is_too_short(text):
        return True
    # Most texts are in the expected language: only for the others, rank takes twice the time.
    likeliest, probability = identifier.classify(_words(text))
    if likeliest != code:
        probability = dict(identifier.rank(_words(text)))[code]
    return bool(probability >= MIN_PROBABILITY)


def can_identify(language: str) -> bool:
    """Return whether the model knows a language."""
    return language.partition("-")[0] in _identifier().labels


def is_too_short(text: str) -> bool:
    """Return whether a text has too few letters in judged words to identify its language."""
    return sum(character.isalpha() for character in _words(text)) < MIN_LETTERS


# A text is asked about by is_too_short and is_language, one after the other.
@lru_cache(maxsize=1)
def _words(text: str) -> str:
    """Return a text's words without a capital or a digit: names and figures have no language."""
    return " ".join(
        word for word in split_words(text) if word == word.lower() and not _DIGIT.search(word)
    )


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
