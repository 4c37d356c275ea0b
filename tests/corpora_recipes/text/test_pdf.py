"""Tests of text.pdf: words of a PDF are made whole if the corpus has them, and else are damage."""

import pytest
from case_tables import read_tables

from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.pdf import count_words, find_words, has_cut_word, mend

TABLES = read_tables(__file__)

CORPUS = [
    "El hospital de la ciudad es viejo, y la canción también.",
    "La comisión franco-italiana y el niño pingüino. Así es la lingüística.",
]


def mended(text: str) -> str:
    texts = [text, *CORPUS]
    return mend(text, count_words(texts, find_words(texts)))


@pytest.mark.parametrize(("text", "expected"), TABLES["mended"])
def test_mend(text: str, expected: str) -> None:
    assert mended(text) == expected


@pytest.mark.parametrize(("text", "sign"), TABLES["damage"])
def test_what_is_left_is_damage(text: str, sign: str) -> None:
    left = clean(mended(text))
    assert (find_damage(left) or (has_cut_word(left) and "hyphenated_word")) == sign


def test_dashes_in_pairs_cut_no_word() -> None:
    assert not has_cut_word("El puente -muy viejo- se cayó.")
    assert has_cut_word("El puen- te -muy viejo- se cayó.")


def test_time_is_linear() -> None:
    for text in ("a" * 200_000, "a´" * 100_000, "a- " * 60_000, "´" * 200_000):
        assert mend(text, {}) == text
        has_cut_word(text)
        find_damage(text)
