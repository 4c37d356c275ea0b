"""Corpora of pairs, single texts and clusters for the tests, and their records."""

from dataclasses import replace
from typing import Any

from corpora_recipes.recipe import CollectionFacts, Corpus
from corpora_recipes.records import Example, Split

CLUSTERS = CollectionFacts("Clusters.", None, columns={"cluster": "its name"}, sizes={"all": 2})
COLLECTIONS = {
    "scored": CollectionFacts("Pairs.", 2, scale=(0, 5)),
    "plain": CollectionFacts("Pairs.", 2, sizes={"all": 2}),
    "single": CollectionFacts("Texts.", 1),
    "words": CollectionFacts("Pairs of words.", 2, unit="word"),
    "lexicon": CollectionFacts("Words.", 1, unit="word"),
    **dict.fromkeys(("en", "es", "sw"), CLUSTERS),
}


def corpus_of_pairs(made: Corpus, name: str = "pairs", **changes: Any) -> Corpus:
    """Return what ``make_corpus`` has made with ``COLLECTIONS``, no datasets and further facts."""
    pairs: dict[str, Any] = {"records": "examples", "collections": COLLECTIONS}
    pairs |= {"name": name.title()} | changes
    return Corpus(name, "sts", "es", None, 1111, {}, {}, replace(made.facts, **pairs))


def pair(
    number: int,
    texts: tuple[str, str],
    score: float | None = None,
    split: Split | None = None,
    collection: str = "scored",
) -> Example:
    """Return a pair; the ids of pairs are in the order of their numbers."""
    key = f"{collection}/{number:03d}"
    return Example(key, collection, texts, None, score, key, {}, split)


def single(
    number: int, text: str, split: Split | None = None, collection: str = "single"
) -> Example:
    """Return an example of one text."""
    key = f"{collection}/{number:03d}"
    return Example(key, collection, (text,), None, None, key, {}, split)


def cluster(language: str, name: str, *terms: str) -> Example:
    """Return a cluster of terms."""
    key = f"{language}/{name}"
    return Example(key, language, terms, None, None, key, {"cluster": name}, None)
