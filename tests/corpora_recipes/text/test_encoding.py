"""Tests of text.encoding: what a wrong encoding damaged is found, and restored if in no doubt."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.text.cleaning import POSSIBLY_DAMAGED, clean, find_damage
from corpora_recipes.text.encoding import find_wrong_encoding, restore

TABLES = read_tables(__file__)

SOUND = TABLES["sound"]
PAGES = ("latin-1", "cp1252", "cp1250", "cp1251", "cp1253", "iso8859-15", "mac_roman", "cp850")


def misread(text: str, page: str) -> str:
    """Return a text's UTF-8 as read in a code page; bytes that it lacks are controls."""
    return "".join(bytes([b]).decode(page, "ignore") or chr(b) for b in text.encode())


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("language", SOUND)
def test_mojibake(language: str, page: str) -> None:
    sound = SOUND[language]
    assert find_damage(sound) is None
    assert restore(sound) == sound
    damaged = misread(sound, page)
    assert find_wrong_encoding(damaged) == "mojibake"
    # Also where its second half shows nothing.
    assert find_damage(clean(damaged)) == "mojibake"
    assert restore(damaged) in ((sound,) if page in PAGES[:2] else (sound, damaged))


@given(st.sampled_from([*SOUND.values()]), st.sampled_from(PAGES), st.data())
def test_one_search_in_re2_misses_no_damage(sound: str, page: str, data: st.DataObject) -> None:
    """Also of pieces, and with marks of other damage."""
    text = data.draw(st.sampled_from((sound, misread(sound, page))))
    begin = data.draw(st.integers(0, len(text)))
    text = text[begin : begin + data.draw(st.integers(0, 20))] + data.draw(
        st.text(st.sampled_from("aáÁÃÂíяЯ´˜¨ﬁ\x85\x80\ufffd\ue000 "), max_size=6)
    )
    (possible,) = pc.match_substring_regex(pa.array([text]), POSSIBLY_DAMAGED).to_pylist()
    assert possible or find_damage(text) is None


@pytest.mark.parametrize("word", ["río", "Ésta", "Ángel", "Óscar", "Úrsula", "Ñu", "año", "¿Qué?"])
def test_one_letter_is_enough(word: str) -> None:
    for page in ("latin-1", "cp1252"):
        assert find_damage(clean(f"Dice {misread(word, page)} otra vez.")) == "mojibake"


def test_mojibake_twice() -> None:
    damaged = misread(misread("La niña vio el río.", "cp1252"), "cp1252")
    assert restore(damaged) == "La niña vio el río."


@pytest.mark.parametrize("text", TABLES["sound_texts"])
def test_sound_text(text: str) -> None:
    assert find_damage(text) is None
    assert restore(text) == text


@pytest.mark.parametrize(("sound", "page", "other"), TABLES["other_pages"])
def test_text_of_another_page(sound: str, page: str, other: str) -> None:
    damaged = sound.encode(page).decode(other)
    assert damaged != sound
    assert (find_wrong_encoding(damaged) == "wrong_code_page") == (
        other != "cp1252" or page != "mac_roman"
    )


def test_restoring_what_is_in_doubt_changes_nothing() -> None:
    for text in ("HabÃ\ufffda una vez", "rÃo", "Ã-á"):
        assert restore(text) == text


def test_marks_of_windows() -> None:
    assert restore("el \x93río\x94 \x96 y\x85") == "el “río” – y…"
    assert find_damage("el \x93río\x94") == "control_character"
