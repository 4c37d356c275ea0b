"""Every recipe: its sample read, by rows and counts."""

import hashlib
import json
import pickle
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from reading_oracle import corpus_for
from recipe_reading import read_settled

from corpora_recipes.fetching.sources import sample_folder
from corpora_recipes.recipe import RECIPES, load_facts, load_recipe, recipe_names
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- every recipe --------------------------------------------------------------------------------

ONE_LANGUAGE = [name for name in recipe_names() if len(load_facts(name).sample_languages) < 2]


@pytest.mark.parametrize("name", recipe_names())
def test_an_empty_folder_is_refused(name: str, tmp_path: Path) -> None:
    corpus = corpus_for(name, {"language": "es"} if load_facts(name).language == "any" else {})
    with pytest.raises(InputError) as error:
        load_recipe(name).blocks(tmp_path, corpus)
    assert error.value.where.startswith(str(tmp_path))


@pytest.mark.parametrize("name", ONE_LANGUAGE)
def test_blocks_have_keys_of_their_own_and_reach_workers(name: str) -> None:
    listed = load_recipe(name).blocks(RECIPES / name / "sample", corpus_for(name, {}))
    assert pickle.loads(pickle.dumps(listed)) == listed
    assert len({block.key for block in listed}) == len(listed) > 0


@pytest.mark.parametrize(("name", "collection", "classes"), TABLES["classes"])
def test_classes_are_in_the_published_order(name: str, collection: str, classes: str) -> None:
    labels = load_facts(name).collections[collection].labels or {}
    assert list(labels.values()) == classes.split()


# --- samples -------------------------------------------------------------------------------------

GOLDEN = Path(__file__).with_name("samples.json")
# The other languages, treebanks and forms that a sample has.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "disrpt": [
        *({"language": language, "treebank": "any"} for language in ("es", "fr")),
        *({"relations": kind} for kind in ("explicit", "implicit")),
        {"language": "fr", "published_parts": False},
    ],
    "paws_x": [{"language": "fr"}],
    "pdtb": [{"treebank": "gdtb"}],
    "rst_discourse_treebank": [{"treebank": "gum"}, {"classes": False}],
    "wikipedia": [{"language": "en"}, {"sections": "lead"}],
    "xnli": [{"language": language} for language in ("en", "fr", "de")],
}
SAMPLES = {
    " ".join([recipe, *map(str, options.values())]): (recipe, options)
    for recipe in recipe_names()
    for options in ({}, *VARIANTS.get(recipe, ()))
}


@cache
def rows_of(name: str) -> tuple[list[Any], dict[str, Any]]:
    recipe, options = SAMPLES[name]
    language = load_facts(recipe).language
    corpus = corpus_for(recipe, {"language": "es" if language == "any" else language} | options)
    records, drops = read_settled(sample_folder(corpus), corpus)
    return list(records.values()), drops.as_dict()


def described(name: str) -> dict[str, Any]:
    records, counts = rows_of(name)
    lines = [json.dumps(asdict(r), ensure_ascii=False, sort_keys=True) for r in records]
    parts = Counter(
        f"{getattr(r, 'collection', '')} {getattr(r, 'split', None) or 'all'}".strip()
        for r in records
    )
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return {"counts": counts, "parts": parts, "first": lines[0][:600], "sha256": digest}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_as_it_was(name: str) -> None:
    assert described(name) == json.loads(GOLDEN.read_text("utf-8")).get(name), "see `make samples`"


@pytest.mark.parametrize("name", SAMPLES)
def test_examples_are_what_corpus_yaml_says_of_their_collections(name: str) -> None:
    facts = load_facts(SAMPLES[name][0]).collections
    for example in rows_of(name)[0]:
        if not isinstance(example, Example):
            continue
        collection = facts[example.collection]
        assert collection.texts in (None, len(example.texts))
        assert example.columns.keys() == collection.columns.keys()
        assert (example.label is None) == (collection.labels is None)
        assert not collection.labels or example.label in collection.labels.values()
        assert (example.score is None) == (collection.scale is None)


def write_golden(recipe: str = "") -> None:
    """Pin what the samples give now, of one recipe or of all: `make samples`."""
    pinned = json.loads(GOLDEN.read_text("utf-8")) if recipe else {}
    asked = [name for name in SAMPLES if recipe in ("", SAMPLES[name][0])]
    pinned |= {name: described(name) for name in asked}
    ordered = {name: pinned[name] for name in SAMPLES if name in pinned}
    GOLDEN.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", "utf-8")
