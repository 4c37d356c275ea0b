"""Reads a folder of raw files with a recipe, without the stage around it."""

from pathlib import Path
from types import ModuleType
from typing import Any

from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Drops


def read_all(recipe: ModuleType, raw: Path, corpus: Corpus) -> tuple[list[Any], dict[str, Any]]:
    """Return the records of all blocks, and the counts as ``Drops.as_dict`` gives them."""
    records: list[Any] = []
    drops = Drops()
    for block in recipe.blocks(raw, corpus):
        result = recipe.read_block(block, corpus)
        records += result.records
        drops.add(result.drops)
    return records, drops.as_dict()
