"""The stage `compose`: makes a ranking dataset from records of one or more corpora."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.composing.background import Background
from builders.composing.positives import OUTCOMES, Outcome, positive_pairs
from builders.composing.vocabulary import as_word, frequent_words
from builders.plan.datasets import check_tokens
from builders.plan.origins import Collection, collection_facts, licence_of, missing_parts
from builders.plan.rankings import RankingDataset
from builders.sampling.folds import source_test_split
from builders.sampling.same_text import has_words
from builders.store.record_files import no_examples, read_examples
from builders.store.shards import Counts, describe, write_dataset, write_report
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Example
from corpora_recipes.running.errors import OutputError, ParamsError
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.same_text import mark

# The size of Wang et al.'s (2022) background for words.
FREQUENT_WORDS = 20_000


def compose(dataset: RankingDataset, records: Path, out: Path, sources: str) -> dict[str, Any]:
    """Build a ranking dataset.

    Writes ``out/<dataset>/test-00000-of-0000n.parquet`` and ``out/build.json``. The rows
    depend only on the records, the entry in params.yaml and the datasets that probes are trained
    on; their order depends on the seed too.

    Sentences are the same if they differ only in case, punctuation and symbols; the row has the
    first of them, by the order of the entry's ``pairs``, then by id. If the entry names a
    ``background``, which is a published set, only equal sentences are the same. Words are compared
    in lower case and NFC. Texts without a letter or a digit are left out.

    Args:
        dataset: the ranking, an entry of params.yaml.
        records: the folder with the records of its corpora, ``<corpus>.parquet``.
        out: folder to write; what it held before is replaced as a whole.
        sources: `sources` of params.yaml; the rows of a sample have the licence of the sample.

    Returns:
        The content of ``build.json``. For the dataset: ``rows`` and ``labels`` as in `build`; the
        numbers of ``pairs``, ``texts`` and ``words`` by outcome; and ``sources``, collection to
        ``source_parts`` (the source's part to the number of its examples), ``missing_parts`` (those
        with far fewer examples than the official count), ``test_part`` (the part that is left out,
        or None) and ``of_a_test_part`` (the number of its examples). For collections of pairs also
        the numbers of ``different`` usable pairs, of those ``chosen`` as paraphrases, and of
        ``positives`` that no collection before it has, and the ``lowest_score`` of those chosen
        (None without scores).
    """
    check_tokens(dataset)
    composition = _Composition(dataset, records, sources)
    composition.add_background()
    composition.add_vocabulary()
    composition.link_pairs()
    rows = composition.background.rows()
    counts = composition.counts(rows)
    if not counts["texts"]["with_positives"]:
        todo = "add the source's files that are missing, or name other `pairs` or `background`"
        expected = dataset.task.needs
        expected += ", both in the background" if dataset.background else ""
        raise ParamsError(dataset.in_words, expected, describe(counts), todo)
    with whole_folder(out) as folder:
        written = write_dataset(dataset, {"test": rows}, [], folder)
        report = {dataset.name: written | counts | {"sources": composition.collections}}
        write_report(report, folder)
    return report


class _Composition:
    """Composes a ranking: the texts are added first, then the pairs are linked.

    Attributes:
        collections: path of each collection that was read to its part of the report.
    """

    def __init__(self, dataset: RankingDataset, records: Path, sources: str) -> None:
        """Read the pairs."""
        self._dataset, self._records, self._sources = dataset, records, sources
        self._of_words = dataset.task.unit == "word"
        # `str` returns the text itself; words are already in one form.
        by_text = self._of_words or dataset.background
        self._same: Callable[[str], Hashable] = str if by_text else mark
        self.background = Background(dataset.name, self._same)
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
        """Add the texts of the background's collections, or of the pairs' if it has none."""
        for collection in self._dataset.background or self._dataset.pairs:
            path = collection.path
            examples = self._pairs[path] if path in self._pairs else self._read(collection)
            texts = (text for example in examples for text in example.texts)
            self._add(texts, path, collection.corpus)
        self._texts["of_a_test_part"] = self._left_out(self._dataset.background)

    def add_vocabulary(self) -> None:
        """Add the most frequent words of the vocabulary's corpus, if any."""
        corpus = self._dataset.vocabulary
        if corpus is None:
            return
        vocabulary = frequent_words(self._path(corpus), corpus.facts.records, FREQUENT_WORDS)
        if not vocabulary.words:
            todo = "read more of the corpus, or name another as `vocabulary`"
            raise OutputError(self._path(corpus), "running text with words", "no word", todo)
        self._add(vocabulary.words, corpus.name, corpus)
        self._words = {
            "running": vocabulary.running,
            "different": vocabulary.different,
            "most_frequent": len(vocabulary.words),
            "occurrences_of_the_rarest": vocabulary.rarest,
        }

    def link_pairs(self) -> None:
        """Link the paraphrases of every collection of pairs."""
        for collection in self._dataset.pairs:
            where = f"{self._path(collection.corpus)}: {collection.name}"
            examples = self._pairs[collection.path]
            chosen = positive_pairs(examples, self._same, collection.facts.scale, where)
            linked = Counter(self.background.link(*example.texts) for example in chosen.examples)
            self._outcomes.update(chosen.dropped)
            self._outcomes.update(linked)
            self.collections[collection.path] |= {
                "different": chosen.different,
                "chosen": len(chosen.examples),
                "positives": linked["used"],
                "lowest_score": chosen.lowest_score,
            }
        self._outcomes["of_a_test_part"] = self._left_out(self._dataset.pairs)

    def counts(self, rows: Sequence[dict[str, Any]]) -> Counts:
        """Return the numbers of pairs, texts and the vocabulary's words, by outcome."""
        queries = [row for row in rows if row["positives"]]
        outcomes: dict[str, int] = {name: n for name in OUTCOMES if (n := self._outcomes[name])}
        return {
            "pairs": {"read": self._outcomes.total(), **outcomes},
            "texts": {
                **+self._texts,
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
        tested = source_test_split(examples) if probed else None
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
            elif not self.background.add(text, source, licence):
                self._texts["same_as_another"] += 1
