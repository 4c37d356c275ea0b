"""The tokens of a sentence, by spaCy."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.extras import load_packages

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer


# spaCy's rules that all languages share, for those that have none of their own.
_SHARED = "xx"
# spaCy splits these with a package that it does not install.
_WITH_PACKAGE = frozenset(("ja", "ko", "th", "vi"))


@cache
def _tokenizer(language: str) -> "Tokenizer":
    (spacy,) = load_packages(f"language {language!r}", "spacy")
    try:
        return spacy.blank(language if has_rules(language) else _SHARED).tokenizer
    except ImportError as error:
        expected = "a language that spaCy can tokenise here"
        todo = "install the package named above"
        raise ParamsError(f"language {language!r}", expected, str(error), todo) from error


def tokenize(sentence: str, language: str) -> list[str]:
    """Return the sentence's tokens by spaCy's rule tokeniser for the language, without white space.

    A language without rules of its own gets those that spaCy has for all ("xx").
    """
    texts = [token.text for token in _tokenizer(language.partition("-")[0])(sentence)]
    return [text for text in texts if not text.isspace()]


@cache
def has_rules(language: str) -> bool:
    """Return whether spaCy has rules for a language, importing it only if no folder says so."""
    spacy = find_spec("spacy")
    folders = (spacy and spacy.submodule_search_locations) or []
    code = language.partition("-")[0]
    if any((Path(folder, "lang", code) / "__init__.py").is_file() for folder in folders):
        return True
    from spacy.util import find_matching_language

    return find_matching_language(code) is not None  # It knows other names of languages too.


def check_language(language: str) -> None:
    """Check that texts in a language can be split into tokens."""
    code = language.partition("-")[0]
    if code in _WITH_PACKAGE:
        _tokenizer(code)
