"""Entries of corpora, for tests."""

from corpora_recipes.recipe import Corpus, load_facts


def corpus_of(recipe: str, language: str = "es") -> Corpus:
    """Return the entry of a corpus that says no more than its recipe and its language."""
    return Corpus(
        name=recipe,
        recipe=recipe,
        language=language,
        documents=None,
        seed=1111,
        options={},
        datasets={},
        facts=load_facts(recipe),
    )
