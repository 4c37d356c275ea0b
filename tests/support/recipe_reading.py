"""Reads a folder of raw files with a recipe, without the stage around it."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from corpora_recipes.reading import read_corpus
from corpora_recipes.recipe import Corpus, load_facts, load_recipe
from corpora_recipes.records import Drops


def recipe_corpus(
    recipe: str,
    language: str = "es",
    documents: int | None = None,
    special: dict[str, Any] | None = None,
    **options: Any,
) -> Corpus:
    """Return a corpus named like its recipe, with the recipe's facts, changed as said."""
    facts = load_facts(recipe)
    facts = facts if special is None else replace(facts, special={**facts.special, **special})
    return Corpus(recipe, recipe, language, documents, 1111, facts.options | options, {}, facts)


def read_all(recipe: ModuleType, raw: Path, corpus: Corpus) -> tuple[list[Any], dict[str, Any]]:
    """Return the records of all blocks, and the counts as ``Drops.as_dict`` gives them."""
    records: list[Any] = []
    drops = Drops()
    for block in recipe.blocks(raw, corpus):
        result = recipe.read_block(block, corpus)
        records += result.records
        drops.add(result.drops)
    return records, drops.as_dict()


def read_settled(raw: Path, corpus: Corpus) -> tuple[dict[str, Any], Drops]:
    """Return the records as `read` settles them, by their ids, and what was dropped."""
    records: dict[str, Any] = {}
    total = Drops()
    for batch, drops in read_corpus(
        load_recipe(corpus.recipe).blocks(raw, corpus), corpus, None, 1
    ):
        records.update({record.id: record for record in batch})
        total.add(drops)
    return records, total
