"""The whole sample of each recipe: its counts, the sizes of its parts and a digest of all rows.

After a change that is meant to change records, this writes samples.json anew; review its diff:
`PYTHONPATH=.:tests/support python tests/corpora_recipes/corpora/test_samples.py`.
"""

import hashlib
import json
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from reading_oracle import corpus_for
from recipe_reading import read_settled

from corpora_recipes.fetching.sources import sample_folder
from corpora_recipes.recipe import load_facts, recipe_names
from corpora_recipes.records import Example

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
    assert described(name) == json.loads(GOLDEN.read_text("utf-8"))[name]


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


if __name__ == "__main__":
    text = json.dumps({name: described(name) for name in SAMPLES}, ensure_ascii=False, indent=1)
    GOLDEN.write_text(text + "\n", "utf-8")
