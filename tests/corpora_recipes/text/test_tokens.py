"""Detokenising, tokenising, lower case."""

import re
import time
import tracemalloc

import pytest
from case_tables import read_tables
from hypothesis import example, given
from hypothesis import strategies as st
from recipe_reading import refused

from corpora_recipes.text.tokens import (
    check_language,
    detokenize,
    has_tokenizer_rules,
    lower_case,
    tokenize,
)

TABLES = read_tables(__file__)

TOKENISED = [
    *TABLES["tokenised"],
    # Apostrophes.
    ("La " + '" Porter \' s Inn "' + " cerró .", 'La "Porter\'s Inn" cerró.'),
]
KEPT = TABLES["kept"]


# Languages set marks in their own way.
@pytest.mark.parametrize(
    ("language", "tokenised", "natural"),
    [
        *(("es", *row) for row in TOKENISED),
        *(("es", text, text) for text in KEPT),
        ("fr", "Quoi ? Il dit : « Oui ! »", "Quoi ? Il dit : « Oui ! »"),
        ("fr-CA", "Il vient , ( enfin ) .", "Il vient, (enfin)."),
        ("de", "Er sagte : » Ja « , leise .", "Er sagte: » Ja «, leise."),
        ("en", "Is it here ( or there ) ?", "Is it here (or there)?"),
        ("es-MX", "¿ Mande ?", "¿Mande?"),
        ("en", "a well - known plan", "a well - known plan"),
    ],
)
def test_what_was_tokenised_is_joined(language: str, tokenised: str, natural: str) -> None:
    assert detokenize(tokenised, language) == natural
    assert detokenize(natural, language) == natural


@pytest.mark.parametrize("text", TABLES["texts"])
def test_text_comes_back_from_its_tokens(text: str) -> None:
    assert detokenize(" ".join(tokenize(text, "es")), "es") == text


WORDS = ["casa", "de", "EE", "y", "D", "s", "a", "km", "C", "X-1", "l'home", "12", "3"]
SIGNS = ["&", "#", "%", "°", "º", "/", "–", "—", "_", "+", "$", "...", ".-", "´", "’", "‘", ""]
MARKS = [*".,;:?!()[]{}\"'«»“”¿¡`…", "''", "``", "?!"]
LINES = st.lists(st.sampled_from(WORDS + SIGNS + MARKS * 2), max_size=24).map(" ".join)


@given(LINES | st.text(), st.sampled_from(["es", "en", "fr", "de"]))
@example('a " " b \' \' = " " c " " d .', "es")
@example(" , ( ) '", "es")
def test_only_blanks_go_and_once_is_enough(text: str, language: str) -> None:
    joined = detokenize(text, language)
    assert joined.replace(" ", "") == text.replace(" ", "")
    assert detokenize(joined, language) == joined


@given(LINES)
def test_words_are_never_joined_with_words(text: str) -> None:
    assert not re.search("(?:casa|de|EE)(?:casa|de|EE)", detokenize(text, "es"))


def test_it_is_fast() -> None:
    lines = [tokenised for tokenised, _ in TOKENISED] * 100
    begin = time.process_time()
    for line in lines:
        detokenize(line, "es")
    # Lines full of marks: ten times as much as 100,000 sentences in three seconds allow.
    assert (time.process_time() - begin) / len(lines) < 3e-4


TOKENS = TABLES["tokens"]


@pytest.mark.parametrize(("language", "tokenised", "natural"), TOKENS)
def test_what_is_known_to_be_tokens_needs_no_sign_of_it(language, tokenised, natural) -> None:
    assert detokenize(tokenised, language, tokens=True) == natural
    assert detokenize(natural, language, tokens=True) == natural


@pytest.mark.parametrize("unit", ["a ' ", "`` a '' ", '" a '])
def test_many_quotation_marks_take_no_memory_of_their_square(unit: str) -> None:
    text = f"x , {unit * 4000}"
    tracemalloc.start()
    try:
        assert detokenize(text, "es").startswith("x,")
        assert tracemalloc.get_traced_memory()[1] < 200 * len(text)
    finally:
        tracemalloc.stop()


def test_tokenize() -> None:
    assert tokenize("El Sr. Pérez  pagó 3,5 € (¿del IVA?) en EE.UU.", "es") == [
        "El", "Sr.", "Pérez", "pagó", "3,5", "€", "(", "¿", "del", "IVA", "?", ")", "en", "EE.UU.",
    ]  # fmt: skip
    assert tokenize("Don't go.", "en") == ["Do", "n't", "go", "."]
    assert tokenize(" \n", "es") == []


def test_tokenize_in_languages_without_rules() -> None:
    """As in Galician: the rules that all languages share."""
    assert not has_tokenizer_rules("gl")
    assert tokenize("Dixo: «Non, o Sr. Pérez.»", "gl") == [
        "Dixo", ":", "«", "Non", ",", "o", "Sr", ".", "Pérez", ".", "»",
    ]  # fmt: skip


def test_tokenize_names_a_missing_package() -> None:
    with refused(match="language 'th'", found="PyThaiNLP"):
        check_language("th-TH")


def test_lower_case_of_any_language() -> None:
    assert lower_case("París ÑANDÚ") == "parís ñandú"
    assert lower_case("İsveç, IZGARA") == "isveç, izgara"
