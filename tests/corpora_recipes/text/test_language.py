"""How languages are written and identified; signs of damage."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.running.errors import InputError
from corpora_recipes.text import damage
from corpora_recipes.text.damage import FAULTS, GROUPS, KINDS, find_faults, group_of
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

TABLES = read_tables(__file__)

# --- language ------------------------------------------------------------------------------------

# Two sentences of each script, as they stand in a text.
TEXTS = TABLES["texts"]


@pytest.mark.parametrize("language", TEXTS)
def test_sentences_end_at_the_marks_of_their_script(language: str) -> None:
    sentences = [*TEXTS[language]]
    assert split_sentences(writing_of(language).separator.join(sentences), language) == sentences
    assert all(is_finished(sentence, language) for sentence in sentences)
    assert not any(is_finished(sentence[:-3], language) for sentence in sentences)


@pytest.mark.parametrize(("finished", "sentences"), TABLES["finished"])
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


SENTENCES = TABLES["sentences"]
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


# --- damage --------------------------------------------------------------------------------------

TABLE = yaml.safe_load(Path(damage.__file__).with_suffix(".yaml").read_text("utf-8"))
ENTRIES: dict[str, dict[str, Any]] = {
    name: entry for group in GROUPS for name, entry in TABLE[group].items()
}
EXAMPLES = [entry[key] for entry in ENTRIES.values() for key in ("match", "near_miss")]
PLAIN = ["casa", "puente", "camino", "lluvia", "mañana", "pájaro", "verde", "canta", "niña"]


def test_groups() -> None:
    assert list(FAULTS) == ["characters", "markup", "extraction_damage", "mis_split"]
    assert [len(names) for names in FAULTS.values()] == [11, 14, 20, 6]
    assert len(ENTRIES) == sum(map(len, FAULTS.values()))  # no name in two groups
    assert all(name in FAULTS[group_of(name)] for name in ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_examples(name: str) -> None:
    assert name in find_faults(ENTRIES[name]["match"], "es")
    assert find_faults(ENTRIES[name]["near_miss"], "es") == []
    precision = ENTRIES[name]["precision"]
    assert 0 <= precision["right"] <= precision["read"]


def test_needed_characters_hide_nothing() -> None:
    for pattern in damage._patterns("es", "sentence"):
        for example in EXAMPLES:
            if pattern.needs and pattern.matches(example):
                assert not pattern.needs.isdisjoint(example), (pattern.name, example)


@pytest.mark.parametrize(("sentence", "expected"), TABLES["damage"])
def test_damage_sentences(sentence: str, expected: list[str]) -> None:
    assert find_faults(sentence, "es") == expected


def test_kinds() -> None:
    turn = "pero ven. ¿Vienes? Yo voy..Espera"
    assert [find_faults(turn, "es", kind) for kind in KINDS] == [
        ["two_full_stops", "begins_in_lower_case", "no_final_punctuation", "two_sentences"],
        [],
        [],
        [],
    ]
    assert find_faults("Lo dice el art.", "es", "turn") == ["ends_in_abbreviation"]
    assert find_faults("(que vive en Lugo", "es", "fragment") == []
    assert find_faults(", que vive ( ) en Lugo", "es", "fragment") == ["empty_brackets"]
    tokenised = 'Dijo " ven " ( a Lugo ) , y calló .'
    assert find_faults(tokenised, "es", "fragment") == []
    assert find_faults(tokenised, "es", "turn") == [
        "blank_before_punctuation",
        "blank_inside_brackets",
        "stray_quote",
    ]


def test_tweets_may_hold_urls_and_bars() -> None:
    tweet = "Fiesta mayor | todo listo https://pueblo.example &amp; con ganas"
    assert find_faults(tweet, "es", "fragment") == ["vertical_bar", "html_entity", "url"]
    assert find_faults(tweet, "es", "example") == ["html_entity"]


def test_unknown_kind() -> None:
    with pytest.raises(InputError, match="one of sentence, turn, fragment, example"):
        find_faults("Llueve.", "es", "row")  # type: ignore[arg-type]


def test_languages() -> None:
    assert find_faults("El pueblo tiene una población de.", "es-AR") == ["dangling_word"]
    # Words of one language say nothing in another one …
    assert find_faults("El pueblo tiene una población de.", "nl") == []
    assert find_faults("She works at the the mill.", "en") == ["doubled_function_word"]
    assert find_faults("She works with Mr.", "en") == ["ends_in_abbreviation"]
    # … and what needs no words is found in every one.
    assert find_faults("De molen () staat in het dorp.", "nl") == ["empty_brackets"]


@given(
    st.lists(st.sampled_from(PLAIN), min_size=2, max_size=15),
    st.sampled_from(["{}", "«{}»", "“{}”", '"{}"', "({})", "—{}—", "{},", "{};", "{}:"]),
    st.integers(1, 13),
    st.sampled_from([".", "!", "?", "…", "...", ".»", ":"]),
)
def test_plain_sentences_have_no_fault(words: list[str], form: str, at: int, end: str) -> None:
    words[0] = words[0].capitalize()
    if 0 < at < len(words) - 1:
        words[at] = form.format(words[at])
    assert find_faults(" ".join(words) + end, "es") == []


@given(st.text() | st.lists(st.sampled_from(EXAMPLES)).map(" ".join))
def test_any_text(text: str) -> None:
    found = find_faults(text, "es")
    assert found == [name for name in ENTRIES if name in found]  # in order, none twice
    assert (
        set(find_faults(text, "es", "fragment"))
        <= set(find_faults(text, "es", "turn"))
        <= set(found)
    )
    assert set(find_faults(text, "es", "example")) <= set(find_faults(text, "es", "fragment"))
    assert set(find_faults(text, "nl")) <= set(found)
