"""Tests of the identification of languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.running.errors import InputError
from corpora_recipes.text.language import MIN_LETTERS, identify, is_language

SENTENCES = {
    "es": [
        "La niña cruza el puente antes de que empiece a llover.",
        "Los Wilson y los Smith de Londres hablan bien de The Old Green Bridge Company.",
        "Ni en Londres ni en Bruselas lo saben todavía.",
        "¿Y quién te ha dicho que vengas ahora?",
        "El museo de Atenas (en griego: Μουσείο) se abrió al público en 1975, tras la guerra.",
        "Según él, «the show must go on», pero nadie le hizo caso.",
    ],
    "en": [
        "The girl crosses the bridge before it starts to rain.",
        "Nobody told me about it until they came.",
    ],
    "fr": [
        "La fille traverse le pont avant qu'il commence à pleuvoir.",
        "Personne ne m'en a jamais parlé, ma chère.",
    ],
    "it": ["La bambina attraversa il ponte prima che cominci a piovere, e poi torna a casa."],
    "pt": ["A menina atravessa a ponte antes que comece a chover, e depois volta para casa."],
    "ca": ["La nena travessa el pont abans que comenci a ploure, i després torna cap a casa."],
    "gl": ["A nena cruza a ponte antes de que empece a chover, e logo volve coa súa nai á casa."],
    "eu": ["Neskak zubia zeharkatzen du euria hasi baino lehen, eta gero etxera itzultzen da."],
}
ALL = [(language, sentence) for language, listed in SENTENCES.items() for sentence in listed]


@pytest.mark.parametrize(("language", "sentence"), ALL)
def test_sentences(language: str, sentence: str) -> None:
    assert is_language(sentence, language)
    assert is_language(sentence, "es") == (language == "es")


def test_a_short_sentence_that_looks_like_another_language() -> None:
    sentence = "Ni en Londres ni en Bruselas lo saben todavía."
    assert is_language(sentence, "es-CL")
    # The model takes it for Extremaduran.
    assert is_language("La lluvia golpea los cristales.", "es")
    assert identify("Originaria de Indonesia.") != "es"


@given(st.text(max_size=MIN_LETTERS - 1))
def test_too_short_to_tell(text: str) -> None:
    assert is_language(text, "es")


def test_only_letters_count() -> None:
    assert is_language("That is 1,234,567,890.12 + 3 = x.", "es")
    assert not is_language("That is not what they all said.", "es")


def test_names_and_figures_do_not_count() -> None:
    assert is_language("Subtitles by Henry Armstrong: THE GIRL AND THE BRIDGE", "es")


def test_unknown_language() -> None:
    with pytest.raises(InputError, match="a language that py3langid can identify: af, am"):
        is_language("Neña, ¿vienes?", "ast")
