"""Lower case."""

from corpora_recipes.text.tokens import lower_case


def test_lower_case_of_any_language() -> None:
    assert lower_case("París ÑANDÚ") == "parís ñandú"
    assert lower_case("İsveç, IZGARA") == "isveç, izgara"
