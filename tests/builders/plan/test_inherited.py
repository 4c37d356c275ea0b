"""The sections `rankings` and `audit` of params.yaml."""

from pathlib import Path

import pytest

from builders.plan.inherited import inherited_params, rankings_params
from corpora_recipes.running.errors import InputError

PATH = Path("params.yaml")


def test_sections_that_are_right() -> None:
    rankings = {"mine": {"task": "sentence_ranking"}}
    assert rankings_params({"rankings": rankings}, PATH) == rankings
    inherited = {"sp": {"leakage": {"at_most": 0.5, "because": "It is so."}}}
    assert inherited_params({"audit": {"inherited": inherited}}, PATH) == inherited
    assert inherited_params({"audit": {}}, PATH) == {}


@pytest.mark.parametrize(
    ("audit", "where", "word"),
    [
        ({"sp": "x"}, ".sp", "keys among inherited"),
        ({"inherited": {"sp": "leakage"}}, ".inherited.sp", "gates"),
        ({"inherited": {"sp": {}}}, ".inherited.sp", "gates"),
        ({"inherited": {"sp": {"text": {"at_most": 1}}}}, ".sp.text.because", "nothing"),
        (
            {"inherited": {"sp": {"text": {"at_most": 2, "because": "x"}}}},
            ".text.at_most",
            "share",
        ),
        ({"inherited": {"sp": {"text": {"at_most": 1, "because": ""}}}}, ".because", "reason"),
    ],
)
def test_what_is_wrong_is_said(audit, where, word) -> None:
    with pytest.raises(InputError, match=word) as error:
        inherited_params({"audit": audit}, PATH)
    assert error.value.where.startswith("params.yaml: audit")
    assert error.value.where.endswith(where)


def test_a_ranking_is_an_entry() -> None:
    with pytest.raises(InputError, match=r"rankings\.mine"):
        rankings_params({"rankings": {"mine": 5}}, PATH)
