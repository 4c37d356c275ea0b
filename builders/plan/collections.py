"""Collections of examples: their facts from corpus.yaml, and their missing parts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from corpora_recipes.facts import CollectionFacts
from corpora_recipes.recipe import Corpus

# The least share of a part's official count, as some rows are dropped with a reason.
COMPLETE = 0.95


class Collection(NamedTuple):
    """A collection that a ranking takes texts from.

    Attributes:
        corpus: its entry in params.yaml.
        name: the collection's name in the corpus.
    """

    corpus: Corpus
    name: str

    @property
    def path(self) -> str:
        """Its name in params.yaml: corpus/collection."""
        return f"{self.corpus.name}/{self.name}"

    @property
    def facts(self) -> CollectionFacts:
        """The collection's part of corpus.yaml."""
        return self.corpus.facts.collections[self.name]


def collection_facts(corpus: Corpus, collection: str, language: str) -> CollectionFacts:
    """Return a collection's part of corpus.yaml; counts only for the language that they are of.

    Args:
        corpus: its entry in params.yaml.
        collection: its name.
        language: of the texts.
    """
    facts = corpus.facts.collections[collection]
    if language in (collection, corpus.facts.language):
        return facts
    return replace(facts, published="", sizes={})


def missing_parts(facts: CollectionFacts, found: Mapping[str, int]) -> list[str]:
    """Return the parts with far fewer examples than a collection officially has.

    Args:
        facts: the collection's part of corpus.yaml.
        found: part to its number of examples.
    """
    return [
        part
        for part, count in facts.sizes.items()
        if count is not None and found.get(part, 0) < COMPLETE * count
    ]
