"""The sections `rankings` and `audit` of params.yaml."""

from pathlib import Path

import pytest

from builders.plan.params import inherited_params, rankings_params
from corpora_recipes.running.errors import InputError

PATH = Path("params.yaml")


def test_sections_that_are_right() -> None:
    rankings = {"mine": {"task": "sentence_ranking"}}
    assert rankings_params({"rankings": rankings}, PATH) == rankings
    inherited = {"sp": {"leakage": {"at_most": 0.5, "because": "It is so."}}}
    assert inherited_params({"audit": {"inherited": inherited}}, PATH) == inherited
    assert inherited_params({"audit": {}}, PATH) == {}


@pytest.mark.parametrize(
    ("rankings", "words"),
    [
        ({"mine": 5}, ["rankings.mine", "{task: sentence_ranking"]),
    ],
)
def test_what_is_wrong_in_rankings_is_said(rankings, words) -> None:
    with pytest.raises(InputError) as error:
        rankings_params({"rankings": rankings}, PATH)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize(
    ("audit", "words"),
    [
        ({"sp": "x"}, ["audit", "keys among inherited"]),
        ({"inherited": {"sp": "leakage"}}, ["audit.inherited", "each with gates"]),
        (
            {"inherited": {"sp": {"leakage": {"at_most": 2, "because": "x"}}}},
            ["the highest share of rows", "'at_most': 2"],
        ),
    ],
)
def test_what_is_wrong_in_audit_is_said(audit, words) -> None:
    with pytest.raises(InputError) as error:
        inherited_params({"audit": audit}, PATH)
    assert all(word in str(error.value) for word in words), str(error.value)
