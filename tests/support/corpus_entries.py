"""Entries of corpora, for tests."""

from typing import Any

from corpora_recipes.recipe import Corpus, load_facts


def corpus_of(recipe: str, language: str = "es", **options: Any) -> Corpus:
    """Return the entry of a corpus that says no more than its recipe, language and options."""
    return Corpus(recipe, recipe, language, None, 1111, options, {}, load_facts(recipe))
