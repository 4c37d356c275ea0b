"""How languages are written: final marks, capitals, words without spaces, quotations."""

import pytest

from corpora_recipes.text.language import (
    count_words,
    is_finished,
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
