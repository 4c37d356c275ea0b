"""How languages are written: marks, capitals, words without spaces; and their identification."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.running.errors import InputError
from corpora_recipes.text.language import (
    MIN_LETTERS,
    count_words,
    identify,
    is_finished,
    is_language,
    is_lower,
    split_words,
    writing_of,
)
from corpora_recipes.text.sentences import abbreviations, split_sentences
from corpora_recipes.text.tidying import tidy

# Two sentences of each script, as they stand in a text.
TEXTS = {
    "am": ("ዝናቡ ዛሬ ጠዋት ጀመረ።", "ወንዙ ሞልቷል።"),
    "ar": ("هل وصل القارب اليوم؟", "نعم، وصل مع المد."),
    "bn": ("নদীর জল আজ বেড়েছে।", "নৌকা ঘাটে বাঁধা।"),
    "cs": ("Stavba vznikla kolem roku 1900 př. n. l. na břehu.", "Patří k ní hráz sv. Jana."),
    "el": ("Πού είναι η βάρκα;", "Έφυγε με την παλίρροια."),
    "hi": ("नदी का पानी आज बढ़ गया।", "नाव घाट पर बँधी है।"),
    "hy": ("Գետը այսօր վարարել է։", "Նավակը կապված է ափին։"),
    "ja": ("川の水が増えた（昨日。今日も）。", "「船は出ない。」と彼は言った。"),
    "ka": ("მდინარე დღეს ადიდდა.", "ნავი ნაპირზე დგას."),
    "sat": ("ᱜᱟᱰᱟ ᱫᱟᱜ ᱵᱟᱲᱟᱭᱮᱱᱟ᱾", "ᱞᱟᱹᱣᱠᱟᱹ ᱛᱚᱞ ᱢᱮᱱᱟᱜᱼᱟ᱾"),
    "ur": ("دریا کا پانی آج بڑھ گیا۔", "کشتی گھاٹ پر بندھی ہے۔"),
    "zh": ("他问：“船来了吗？还没有。”", "今天水位很高！"),
}


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_end_at_the_marks_of_their_script(language: str) -> None:
    sentences = [*TEXTS[language]]
    assert split_sentences(writing_of(language).separator.join(sentences), language) == sentences
    assert all(is_finished(sentence, language) for sentence in sentences)
    assert not any(is_finished(sentence[:-3], language) for sentence in sentences)


@pytest.mark.parametrize(
    ("finished", "sentences"),
    [
        (True, ["La casa es azul.", "¿Es azul? (¡Sí!)", "Dijo: «Es azul.»", "Es así:", "No sé…"]),
        (False, ['La casa, llamada "AZUL"', "La casa (azul)", "La casa,", "La casa —", '"']),
    ],
)
def test_finished_sentences(finished: bool, sentences: list[str]) -> None:
    assert [is_finished(sentence, also=":") for sentence in sentences] == [finished] * 5


def test_small_letters() -> None:
    assert [word for word in ("el", "El", "მდინარე", "8", "ª", "") if is_lower(word)] == ["el", "ª"]


def test_words_without_spaces() -> None:
    assert split_words("船は10時に出る。 Sí, 船。") == ["船は", "10", "時に出る。", "Sí,", "船。"]
    assert count_words("船は10時に出る。") == 5
    assert count_words("La casa, «azul».") == 3


def test_quotations_are_those_of_the_language() -> None:
    text = "Er sagte: „ Ja “ und ging ( weg )."
    assert tidy(text, "de") == tidy(text, "cs") == "Er sagte: „ Ja “ und ging (weg)."
    assert tidy("Il dit « oui » ; « non » !", "fr") == "Il dit « oui » ; « non » !"
    assert tidy("Il dit « oui » ; « non » !", "it") == "Il dit «oui»; «non»!"


def test_abbreviations_have_what_splits_and_finds_damage() -> None:
    assert all({"never_ends", "starters"} <= entry.keys() for entry in abbreviations().values())
    army = "He served in the U.S. Army at No. 7."
    assert split_sentences(f"{army} He has a B.S. The rest is known.", "en") == [
        army, "He has a B.S.", "The rest is known."
    ]  # fmt: skip


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
    # Nor do names and figures.
    assert is_language("Subtitles by Henry Armstrong: THE GIRL AND THE BRIDGE", "es")


def test_unknown_language() -> None:
    with pytest.raises(InputError, match="a language that py3langid can identify: af, am"):
        is_language("Neña, ¿vienes?", "ast")
