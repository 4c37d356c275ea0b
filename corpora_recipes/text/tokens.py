"""The tokens of a sentence, by spaCy."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer


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
            todo="choose a code from https://spacy.io/usage/models#languages (xx is for any "
            "language), or install the package named above",
        ) from error


def tokenize(sentence: str, language: str) -> list[str]:
    """Return the sentence's tokens by spaCy's rule tokeniser for the language, without white space.

    Raises:
        InputError: spaCy has no tokeniser for the language, or needs a package for it.
    """
    texts = [token.text for token in _tokenizer(language)(sentence)]
    return [text for text in texts if not text.isspace()]


def check_language(language: str) -> None:
    """Check that spaCy has rules for a language, without importing it if a folder says so.

    Raises:
        InputError: it has none.
    """
    spacy = find_spec("spacy")
    folders = (spacy and spacy.submodule_search_locations) or []
    code = language.partition("-")[0]
    if not any((Path(folder, "lang", code) / "__init__.py").is_file() for folder in folders):
        # It knows other names of languages too.
        _tokenizer(language)
