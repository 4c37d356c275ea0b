"""Codes of languages, here and in mteb."""

import pytest

from builders.exchange.leaderboard import mteb_language, short_code
from corpora_recipes.running.errors import InputError


@pytest.mark.parametrize(
    ("code", "mteb"), [("es", "spa-Latn"), ("es-MX", "spa-Latn"), ("zh", "zho-Hans")]
)
def test_codes_for_mteb(code: str, mteb: str) -> None:
    assert mteb_language(code) == mteb


def test_a_language_that_is_not_in_the_table() -> None:
    with pytest.raises(InputError, match="language xx"):
        mteb_language("xx")


@pytest.mark.parametrize(
    ("mteb", "code"),
    [
        ("spa-Latn", "es"),
        ("fas-Arab", "fa"),
        ("ara-Arab", "ar"),
        ("arb-Arab", "ar"),
        ("cmn-Hans", "zh"),
        ("ast-Latn", "ast"),
    ],
)
def test_codes_of_mteb(mteb: str, code: str) -> None:
    assert short_code(mteb) == code
