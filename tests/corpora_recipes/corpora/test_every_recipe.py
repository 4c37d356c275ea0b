"""What holds for every recipe: an empty folder is refused, and blocks go to workers."""

import pickle
from pathlib import Path

import pytest
from reading_oracle import corpus_for

from corpora_recipes.recipe import RECIPES, load_facts, load_recipe, recipe_names
from corpora_recipes.running.errors import InputError

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


@pytest.mark.parametrize(
    ("name", "collection", "classes"),
    [
        ("fac", "texts", "subjective objective"),
        ("paws_x", "pairs", "not_paraphrase paraphrase"),
        ("sick_es", "pairs", "contradiction neutral entailment"),
        ("sqc", "questions", "abbreviation description entity human location number"),
        ("tass", "task1", "neutral negative positive"),
        ("tass", "task2", "others joy sadness anger surprise disgust fear"),
        ("xnli", "pairs", "entailment neutral contradiction"),
    ],
)
def test_classes_are_in_the_published_order(name: str, collection: str, classes: str) -> None:
    labels = load_facts(name).collections[collection].labels or {}
    assert list(labels.values()) == classes.split()
