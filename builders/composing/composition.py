"""Composes a ranking: its texts, the links between paraphrases, and counts of both."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.composing.background import Background
from builders.composing.outcomes import OUTCOMES, Outcome
from builders.composing.positives import positive_pairs
from builders.composing.vocabulary import as_word, frequent_words
from builders.plan.collections import Collection, collection_facts, missing_parts
from builders.plan.origins import licence_of
from builders.plan.rankings import RankingDataset
from builders.sampling.folds import tested_part
from builders.sampling.same_text import has_words
from builders.store.dataset_files import Counts
from builders.store.record_files import no_examples, read_examples
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Example
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.same_text import mark

# The size of Wang et al.'s (2022) background for words.
FREQUENT_WORDS = 20_000


class Composition:
    """Composes a ranking: the texts are added first, then the pairs are linked.

    Attributes:
        collections: path of each collection that was read to its part of the report, see
            ``builders.composing.composing.compose``.
    """

    def __init__(self, dataset: RankingDataset, records: Path, sources: str) -> None:
        """Read the pairs.

        Args:
            dataset: the ranking.
            records: the folder with the records of its corpora.
            sources: `sources` of params.yaml; the rows of a sample have the licence of the sample.

        Raises:
            InputError: records are missing or of another kind, or no pair was found.
        """
        self._dataset = dataset
        self._records = records
        self._sources = sources
        self._of_words = dataset.task.unit == "word"
        # `str` returns the text itself; words are already in one form.
        self._same: Callable[[str], Hashable] = (
            str if self._of_words or dataset.background else mark
        )
        self._background = Background(dataset.name, self._same)
        self._texts = Counter({"read": 0, "of_a_test_part": 0, "no_words": 0, "same_as_another": 0})
        self._words: dict[str, int] = {}
        self._outcomes = Counter[Outcome]()
        self.collections: dict[str, dict[str, Any]] = {}
        self._pairs = {collection.path: self._read(collection) for collection in dataset.pairs}
        if not any(self.collections[c.path]["source_parts"] for c in dataset.pairs):
            first = dataset.pairs[0].corpus
            named = [c.name for c in dataset.pairs if c.corpus == first]
            raise no_examples(self._path(first), named)

    def add_background(self) -> None:
        """Add the texts of the background's collections, or of the pairs' if it has none.

        Raises:
            InputError: records are missing or of another kind.
        """
        for collection in self._dataset.background or self._dataset.pairs:
            path = collection.path
            examples = self._pairs[path] if path in self._pairs else self._read(collection)
            texts = (text for example in examples for text in example.texts)
            self._add(texts, path, collection.corpus)
        self._texts["of_a_test_part"] = self._left_out(self._dataset.background)

    def add_vocabulary(self) -> None:
        """Add the most frequent words of the vocabulary's corpus, if any.

        Raises:
            InputError: its records are missing or of another kind, or have no words.
        """
        corpus = self._dataset.vocabulary
        if corpus is None:
            return
        vocabulary = frequent_words(self._path(corpus), corpus.facts.records, FREQUENT_WORDS)
        if not vocabulary.words:
            raise InputError(
                self._path(corpus),
                expected="running text, to take its most frequent words",
                found="no word",
                todo="read more of the corpus, or name another as `vocabulary`",
            )
        self._add(vocabulary.words, corpus.name, corpus)
        self._words = {
            "running": vocabulary.running,
            "different": vocabulary.different,
            "most_frequent": len(vocabulary.words),
            "occurrences_of_the_rarest": vocabulary.rarest,
        }

    def link_pairs(self) -> None:
        """Link the paraphrases of every collection of pairs.

        Raises:
            InputError: the scores of a collection do not separate its top quarter.
        """
        for collection in self._dataset.pairs:
            where = f"{self._path(collection.corpus)}: {collection.name}"
            examples = self._pairs[collection.path]
            chosen = positive_pairs(examples, self._same, collection.facts.scale, where)
            linked = Counter(self._background.link(*example.texts) for example in chosen.examples)
            self._outcomes.update(chosen.dropped)
            self._outcomes.update(linked)
            self.collections[collection.path] |= {
                "different": chosen.different,
                "chosen": len(chosen.examples),
                "positives": linked["used"],
                "lowest_score": chosen.lowest_score,
            }
        self._outcomes["of_a_test_part"] = self._left_out(self._dataset.pairs)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the dataset, in the order in which their texts were added."""
        return self._background.rows()

    def counts(self, rows: Sequence[dict[str, Any]]) -> Counts:
        """Return the numbers of pairs, texts and the vocabulary's words, by outcome."""
        queries = [row for row in rows if row["positives"]]
        pairs = {outcome: self._outcomes[outcome] for outcome in OUTCOMES}
        return {
            "pairs": {"read": self._outcomes.total()} | _without_zeros(pairs),
            "texts": _without_zeros(self._texts)
            | {
                "used": len(rows),
                "with_positives": len(queries),
                "groups_of_positives": len({row["document_id"] for row in queries}),
            },
            **({"words": self._words} if self._words else {}),
        }

    def _path(self, corpus: Corpus) -> Path:
        """Return the file of a corpus's records."""
        return self._records / f"{corpus.name}.parquet"

    def _left_out(self, collections: Iterable[Collection]) -> int:
        """Return the number of examples left out because a probe is tested on them."""
        return sum(self.collections[c.path]["of_a_test_part"] for c in collections)

    def _read(self, collection: Collection) -> list[Example]:
        """Return the examples of a collection sorted by id, without those of a probe's test."""
        corpus = collection.corpus
        examples = read_examples(self._path(corpus), collection.name)
        parts: Counter[str] = Counter(example.split or "all" for example in examples)
        facts = collection_facts(corpus, collection.name, corpus.language)
        probed = collection.path in self._dataset.probed
        tested = tested_part(examples) if probed else None
        kept = [example for example in examples if tested is None or example.split != tested]
        self.collections[collection.path] = {
            "source_parts": {p: parts[p] for p in (*SPLITS, "all") if parts[p]},
            "missing_parts": missing_parts(facts, parts),
            "test_part": tested,
            "of_a_test_part": len(examples) - len(kept),
        }
        if self._of_words:
            kept = [replace(e, texts=tuple(map(as_word, e.texts))) for e in kept]
        return sorted(kept, key=lambda example: example.id)

    def _add(self, texts: Iterable[str], source: str, corpus: Corpus) -> None:
        licence = licence_of(corpus, self._sources)
        for text in texts:
            self._texts["read"] += 1
            if not has_words(text):
                self._texts["no_words"] += 1
            elif not self._background.add(text, source, licence):
                self._texts["same_as_another"] += 1


def _without_zeros(counts: Mapping[Any, int]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}
