"""Entries of corpora, for tests."""

from typing import Any

from corpora_recipes.recipe import Corpus, load_facts


def corpus_of(recipe: str, language: str = "es", **options: Any) -> Corpus:
    """Return the entry of a corpus that says no more than its recipe, language and options."""
    return Corpus(
        name=recipe,
        recipe=recipe,
        language=language,
        documents=None,
        seed=1111,
        options=options,
        datasets={},
        facts=load_facts(recipe),
    )
