"""The declared misses: what a corpus.yaml and `audit.inherited` of params.yaml say."""

from dataclasses import replace
from pathlib import Path

import pytest

from builders.audit_report import GATES
from builders.plan.groups import groups_of, inherited_of
from builders.tasks.benchmarks import BENCHMARKS
from corpora_recipes.recipe import Declared, load_facts, recipe_names
from corpora_recipes.running.errors import InputError

PATH = Path("params.yaml")
MISS = {"at_most": 0.5, "because": "It is so."}


def test_params_replace_what_is_known_of_a_corpus(make_corpus) -> None:
    corpus = make_corpus()
    known = {name: {"text": Declared(0.1, "It was so.")} for name in ("sp_mine", "sp_other")}
    corpus = replace(corpus, facts=replace(corpus.facts, inherited=known))
    groups = groups_of([corpus], {}, "upstream")
    # Only of the datasets that are asked for.
    assert inherited_of({"audit": {}}, PATH, groups) == {
        "sp_mine": {"text": {"at_most": 0.1, "because": "It was so."}}
    }
    params = {"audit": {"inherited": {"sp_mine": {"leakage": MISS}}}}
    assert inherited_of(params, PATH, groups) == params["audit"]["inherited"]


def test_a_corpus_declares_misses_of_gates_by_datasets_that_are_made_of_it() -> None:
    for recipe in recipe_names():
        for name, gates in load_facts(recipe).inherited.items():
            (entry,) = (entries[name] for entries in BENCHMARKS.values() if name in entries)
            assert recipe in [settings["recipe"] for settings in entry["corpora"]]
            assert gates.keys() <= GATES.keys()


@pytest.mark.parametrize(
    ("audit", "where", "word"),
    [
        ({"sp": "x"}, ".sp", "keys among inherited"),
        ({"inherited": {"sp": "leakage"}}, ".inherited.sp", "gates"),
        ({"inherited": {"sp": {"text": {"at_most": 1}}}}, ".sp.text.because", "nothing"),
        ({"inherited": {"sp": {"text": MISS | {"at_most": 2}}}}, ".text.at_most", "share"),
        ({"inherited": {"sp": {"text": {"at_most": 1, "because": ""}}}}, ".because", "reason"),
    ],
)
def test_what_is_wrong_is_said(audit, where, word) -> None:
    with pytest.raises(InputError, match=word) as error:
        inherited_of({"audit": audit}, PATH, [])
    assert error.value.where.startswith("params.yaml: audit")
    assert error.value.where.endswith(where)
