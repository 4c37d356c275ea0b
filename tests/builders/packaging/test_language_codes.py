"""Codes of languages, here and in mteb."""

import pytest

from builders.packaging.harnesses import mteb_language, short_code
from corpora_recipes.running.errors import InputError


@pytest.mark.parametrize("pair", ["es spa-Latn", "zh zho-Hans", "fa fas-Arab", "ar ara-Arab"])
def test_codes_for_mteb_and_back(pair: str) -> None:
    code, mteb = pair.split()
    assert (mteb_language(code), short_code(mteb)) == (mteb, code)


def test_varieties_and_languages_without_a_short_code() -> None:
    assert mteb_language("es-MX") == "spa-Latn"
    assert list(map(short_code, ("arb-Arab", "cmn-Hans", "ast-Latn"))) == ["ar", "zh", "ast"]


def test_a_language_that_is_not_in_the_table() -> None:
    with pytest.raises(InputError, match="language xx"):
        mteb_language("xx")
