"""Mutants of every recipe's sample are read with honest counts, or refused with a clear message.

`make fuzz` reads many more of them, and keeps those that end otherwise.
"""

from collections import Counter
from pathlib import Path

import pytest
from mutants import forms, mutant
from reading_oracle import read_form

from corpora_recipes.recipe import recipe_names

MUTANTS = 12


@pytest.mark.parametrize("recipe", recipe_names())
def test_mutants_are_read_or_refused(
    recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = Counter(
        read_form(recipe, mutant(recipe, str(number)), tmp_path) for number in range(MUTANTS)
    )
    # Otherwise the mutations are too weak or too strong to test anything.
    assert outcomes.keys() == {"read", "refused"}, outcomes


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_form_is_read_without_a_mutation(recipe: str, tmp_path: Path) -> None:
    for form in forms(recipe):
        assert read_form(recipe, form, tmp_path) == "read"


def test_a_mutant_depends_on_its_key_alone() -> None:
    first, again = (mutant("sqc", "7") for _ in range(2))
    assert first == again
    assert len({str(mutant("sqc", str(number))) for number in range(20)}) > 15
