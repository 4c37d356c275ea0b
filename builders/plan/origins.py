"""The corpora and collections that a dataset's texts are from: licences, facts, missing parts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from corpora_recipes.facts import CollectionFacts
from corpora_recipes.recipe import Corpus

SAMPLE_LICENCE = "Apache-2.0"
# The least share of a part's official count, as some rows are dropped with a reason.
COMPLETE = 0.95


class Origin(NamedTuple):
    """A corpus whose texts a dataset holds; its licence, or that of the sample if it is that."""

    corpus: Corpus
    licence: str
    sample: bool

    @property
    def title(self) -> str:
        """The corpus's name, for readers."""
        return f"{self.corpus.facts.name}{' (sample)' if self.sample else ''}"


def origins_of(corpora: Iterable[Corpus], sources: str) -> list[Origin]:
    """Return the origins of the texts of some corpora; ``sources`` is that of params.yaml."""
    return [Origin(c, licence_of(c, sources), c.is_sample(sources)) for c in corpora]


def licence_of(corpus: Corpus, sources: str) -> str:
    """Return the licence of a corpus's texts; samples have their own licence."""
    return SAMPLE_LICENCE if corpus.is_sample(sources) else corpus.facts.licence


def licence_id(licence: str) -> str:
    """Return a licence's name in the form of the identifiers of the Hub: cc-by-4.0."""
    return licence.lower().replace(" ", "-")


class Collection(NamedTuple):
    """A collection that a ranking takes texts from, by its name in the corpus."""

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
    """Return a collection's part of corpus.yaml; counts only for the language that they are of."""
    facts = corpus.facts.collections[collection]
    if language in (collection, corpus.facts.language):
        return facts
    return replace(facts, published="", sizes={})


def missing_parts(facts: CollectionFacts, counts: Mapping[str, int]) -> list[str]:
    """Return the parts with far fewer examples (``counts``) than a collection officially has."""
    return [
        part
        for part, size in facts.sizes.items()
        if size is not None and counts.get(part, 0) < COMPLETE * size
    ]
