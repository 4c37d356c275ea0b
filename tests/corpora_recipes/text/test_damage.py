"""Tests of the patterns that find spoilt sentences."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.running.errors import InputError
from corpora_recipes.text import damage
from corpora_recipes.text.damage import FAULTS, GROUPS, KINDS, find_faults, group_of

TABLE = yaml.safe_load(Path(damage.__file__).with_suffix(".yaml").read_text("utf-8"))
ENTRIES: dict[str, dict[str, Any]] = {
    name: entry for group in GROUPS for name, entry in TABLE[group].items()
}
EXAMPLES = [entry[key] for entry in ENTRIES.values() for key in ("match", "near_miss")]
PLAIN = ["casa", "puente", "camino", "lluvia", "mañana", "pájaro", "verde", "canta", "niña"]


def test_groups() -> None:
    assert list(FAULTS) == ["characters", "markup", "extraction_damage", "mis_split"]
    assert [len(names) for names in FAULTS.values()] == [8, 14, 19, 6]
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


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("La torre (, 1882) es alta.", ["bracket_opens_with_punctuation"]),
        (
            "La torre (– Lugo,) es alta.",
            ["bracket_opens_with_punctuation", "bracket_closes_with_punctuation"],
        ),
        ("El pueblo tiene una población de .", ["blank_before_punctuation", "dangling_word"]),
        ("Nació en, hijo de un herrero.", ["preposition_before_comma"]),
        ("La obra trata de en un pueblo.", ["words_around_a_hole"]),
        ("El hombre más alto midió de altura.", ["lost_measure"]),
        ("Se casó el 3 de mayo de, en Lugo.", ["preposition_before_comma", "lost_date"]),
        ("Dirige la empresa Roble S.A .", ["blank_before_punctuation", "cut_at_abbreviation"]),
        ("Vive con su tío, el Dr.", ["ends_in_abbreviation"]),
        ("¿Quién llama? Las vecinas callan.", ["two_sentences"]),
        ("«¿Quién llama? ¡Nadie!», dijo la vecina.", []),
        ("¡Qué calor! ¡qué polvo!", []),
        ("Hay tres: 1) el pan, b) el vino y iv) la sal.", []),
        ("La abuela (viuda de un marino vive en el puerto.", ["unbalanced_brackets"]),
        ("—¿Y la abuela? —preguntó el niño.", []),
        ("Y no volvió».", []),
        ("eBay y la señora De la Rúa ganaron.", []),
    ],
)
def test_sentences(sentence: str, expected: list[str]) -> None:
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
