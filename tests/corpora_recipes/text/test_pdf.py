"""Tests of text.pdf: words of a PDF are made whole if the corpus has them, and else are damage."""

import pytest

from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.pdf import count_words, find_words, has_cut_word, mend

CORPUS = [
    "El hospital de la ciudad es viejo, y la canción también.",
    "La comisión franco-italiana y el niño pingüino. Así es la lingüística.",
]


def mended(text: str) -> str:
    texts = [text, *CORPUS]
    return mend(text, count_words(texts, find_words(texts)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("un hospi-\ntal de la ciu-\n  dad", "un hospital de la ciudad"),
        ("un Hospi- tal", "un Hospital"),
        ("franco-\nitaliana y franco- italiana", "franco-italiana y franco-italiana"),
        ("La canci´on del ni˜no; canci ´on", "La canción del niño; canción"),
        ("As´ı es la ling¨u´ıstica", "Así es la lingüística"),
        ("la cancio´n", "la canción"),
        ("la oﬁcina y el ﬂan", "la oficina y el flan"),
        ("pre-\ny posguerra", "pre-\ny posguerra"),
        ("la ciudad- también- es", "la ciudad- también- es"),
        ("el bar Kim´s, d´Or", "el bar Kim´s, d´Or"),
    ],
)
def test_mend(text: str, expected: str) -> None:
    assert mended(text) == expected


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("un puer-\nto viejo", "hyphenated_word"),
        ("un puer‐\nto viejo", "hyphenated_word"),
        ("el para´ıso", "accent_apart"),
        ("una man˜ana", "accent_apart"),
        ("´Ultimo tren", "accent_apart"),
    ],
)
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
