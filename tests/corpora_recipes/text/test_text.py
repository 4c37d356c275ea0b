"""Tests of the clean-up, the sentence splitter and the tokens."""

import subprocess
import sys
import tracemalloc
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.text.cleaning import clean, find_damage, has_markup, unescape
from corpora_recipes.text.sentences import ends_in_abbreviation, split_sentences
from corpora_recipes.text.tidying import has_stray_quote, pair_quotes, tidy, tidy_sentences

TABLES = read_tables(__file__)

HARD = [
    line.split(" | ")
    for line in Path(__file__).with_name("hard_sentences.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
# A list item's letter inside a paragraph ("… claro. b. El …") starts no sentence in lower case.
KNOWN_TO_FAIL = [["a. El primer punto es claro.", "b. El segundo no lo es."]]


def test_hard_sentences() -> None:
    failed = [
        expected for expected in HARD if split_sentences(" ".join(expected), "es") != expected
    ]
    assert len(HARD) == 163
    assert failed == KNOWN_TO_FAIL


@pytest.mark.parametrize(("language", "expected"), TABLES["languages"])
def test_languages(language: str, expected: list[str]) -> None:
    assert split_sentences(" ".join(expected), language) == expected


def test_abbreviations_belong_to_their_language() -> None:
    text = "Llegó la Sra. Ortega."
    assert split_sentences(text, "es") == [text]
    assert split_sentences(text, "nl") == ["Llegó la Sra.", "Ortega."]


PIECES = """
    el Juan etc. Sr. EE. UU. p. ej. J. 3. 3.14 1990. fin. (a b.) b). «Ven Ya. ya.» » " "No no" no."
    , —dijo —Voy — ¿Qué qué? ¡Ah! ... …y … Después XIX. IV [1] [...] (1990) :( . ! a) a. C. una casa
"""
WORDS = st.sampled_from(PIECES.split())


@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=80))
@settings(max_examples=240)
def test_any_text_is_split_once_and_loses_nothing(text: str) -> None:
    sentences = split_sentences(text, "es")
    assert " ".join(sentences) == " ".join(text.split())
    assert all(s and s == s.strip() for s in sentences)
    assert all(split_sentences(sentence, "es") == [sentence] for sentence in sentences)
    for sentence in sentences[:-1]:
        assert any(c.isalnum() for c in sentence)
        assert any(c in ".!?…" for c in sentence.split()[-1] + sentence.split()[-2:][0])


@given(st.text() | st.text("a1' `\u200b\"′", max_size=12))
@settings(max_examples=120)
def test_clean_is_idempotent_and_normalised(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(c != " " and (c.isspace() or unicodedata.category(c) == "Cc") for c in cleaned)


@pytest.mark.parametrize(("text", "expected"), TABLES["clean"])
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_marks_without_end_are_put_into_order() -> None:
    # Python alone would take an hour.
    cleaned = clean("a" + "\u0301\u0323" * 500_000)
    assert cleaned[:32] == "ạ" + "\u0323" * 14 + "\u0301" * 15 + "\u034f\u0323"
    assert Counter(cleaned)["\u0301"] == 500_000
    thirty = "a" + "\u0323" * 15 + "\u0301" * 15
    assert clean("a" + "\u0301\u0323" * 15) == unicodedata.normalize("NFC", thirty)


def test_a_quotation_without_end_takes_no_memory() -> None:
    text = "''a" + "x ' " * 100_000
    tracemalloc.start()
    try:
        assert clean(text) == f'"{text[2:].strip()}'
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("text", "reason"), TABLES["damage"])
def test_damage(text: str, reason: str | None) -> None:
    assert find_damage(text) == reason


def test_splitting_does_not_import_spacy() -> None:
    code = (
        "import sys; from corpora_recipes.text.sentences import split_sentences; "
        "split_sentences('A. B.', 'es'); "
        "sys.exit('spacy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("language", "text", "expected"), TABLES["tidy"])
def test_tidy(language: str, text: str, expected: str) -> None:
    assert tidy(text, language) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        *TABLES["pairs"],
        *((text, text) for text in ('Mide 10" y "algo más.', 'Son "uno "dos y "tres.')),
    ],
)
def test_pair_quotes(sentence: str, expected: str) -> None:
    assert pair_quotes(sentence) == expected


MARKS = st.lists(
    st.sampled_from([*' ,.;:!?()[]"“”«»¿¡…-', "casa", "El", "El río", " ", " ", "5", "fin", "..."]),
    max_size=14,
).map(lambda pieces: clean("".join(pieces)))


@given(MARKS, st.sampled_from(["es", "fr", "de", "en", "xx"]))
@settings(max_examples=150)
def test_tidying_changes_nothing_but_blanks_and_once(text: str, language: str) -> None:
    tidied = tidy(text, language)
    assert tidy(tidied, language) == tidied == clean(tidied)
    paired = pair_quotes(tidied)
    assert pair_quotes(paired) == paired
    assert tidied.replace(" ", "") == paired.replace(" ", "") == text.replace(" ", "")


@given(st.lists(st.sampled_from(["casa", "río", "torre", "faro", "azul"]), min_size=3, max_size=9))
def test_sound_quotations_stay(words: list[str]) -> None:
    text = "El " + " ".join(f'"{w}"' if len(w) == 4 else f"{w}," for w in words) + " está (aquí)."
    assert pair_quotes(tidy(text, "es")) == text


@pytest.mark.parametrize(("text", "stray"), TABLES["stray_quotes"])
def test_stray_quotes(text: str, stray: bool) -> None:
    assert has_stray_quote(text) is stray


@pytest.mark.parametrize(("sentence", "language", "cut"), TABLES["abbreviations"])
def test_ends_in_abbreviation(sentence: str, language: str, cut: bool) -> None:
    assert ends_in_abbreviation(sentence, language) is cut


LEFT_OVER = ["[[a", "{{a", "<i>a</i>", "<!-- a", "== a", 'b="a', "a &amp; b", "a &#1; b", "a|b"]
LEFT_OVER += ["http://a.example", "a\\nB", "x^{2}", "formula_1", "a | b", "así.[12]", "**a**"]


CLEAN = ["a < b y c > d", "Roble & Hijos; pan", "1|2|3", "[1984]", "«<<el río>>»", "y p**a"]


@pytest.mark.parametrize("text", [*LEFT_OVER, *CLEAN])
def test_markup(text: str) -> None:
    assert has_markup(text) == (text in LEFT_OVER)


def test_tidy_sentences() -> None:
    text = (
        'Nació en 20 a. C.. Vivió en la" casa "azul , que ardió.En el río (el Lento ) hay " paz ".'
    )
    assert tidy_sentences(text, "es") == [
        "Nació en 20 a. C.",
        'Vivió en la" casa "azul, que ardió.',
        'En el río (el Lento) hay "paz".',
    ]


WORDS = (
    'Casa. el Sr. (a a) "Sí." «No no». 1. XV. EE. UU. B2. ¿Y? S. A. “ ” " ) ... ª. año. Él [1] '
    "2005. p. ej."
)


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=14),
    st.sampled_from(["es", "en", "de"]),
)
def test_what_plainly_ends_a_sentence_does(words: list[str], language: str) -> None:
    text = " ".join(words)
    found = split_sentences(text, language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corpora_recipes.text.sentences._plainly_ends", lambda *_: False)
        assert split_sentences(text, language) == found


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("." * 200_000 + "a. A", 2),
        ("[1]" * 60_000 + "a. A", 2),
        ("«ab Casa. Xx», y " * 12_000, 1),
        ('"ab Casa. Xx", y ' * 12_000, 1),
        ("casa.El," * 12_000, 12_001),
    ],
    ids=lambda value: value[-12:] if isinstance(value, str) else "",
)
def test_long_texts_end(text: str, sentences: int) -> None:
    # A quadratic step would take minutes.
    assert len(tidy_sentences(clean(text), "es")) == sentences


def test_parts_of_one_word_are_parted_but_not_those_of_an_address() -> None:
    assert tidy("Vive en casa.Los ríos.Los lagos", "es") == "Vive en casa. Los ríos. Los lagos"
    assert tidy("una casa.El,casa.El,", "es") == "una casa. El,casa. El,"
    assert tidy("una casa.El,a@casa.El,casa.El,", "es") == "una casa. El,a@casa.El,casa.El,"


def test_references_of_any_length() -> None:
    assert unescape("a&aacute;&#233;&#xe9;&amp;lt;R&B&#x110000;") == "aáéé&lt;R&B\ufffd"
    for digits in ("9" * 8, "9" * 5000, "0" * 5000, "x" + "9" * 5000):
        assert unescape(f"a&#{digits};b&#{digits}") == "a\ufffdb\ufffd"
