"""The stage `compose`: records to the instances of a ranking."""

import math
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, Literal, NamedTuple, get_args

import pyarrow as pa

from builders.plan.datasets import (
    Collection,
    RankingDataset,
    check_tokens,
    collection_facts,
    licence_of,
    missing_parts,
)
from builders.sampling.candidates import source_test_split
from builders.sampling.passages import has_words
from builders.store import (
    Counts,
    describe,
    no_examples,
    read_examples,
    record_batches,
    write_dataset,
    write_report,
)
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Example, connected_groups
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import OutputError, ParamsError, RawError
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.tokens import lower_case, sentence_hash, word_pattern

# "Top 25 %": one scored pair in so many is a paraphrase (Wang et al. 2022).
PAIRS_PER_PARAPHRASE = 4

# In the order in which they are decided.
Outcome = Literal[
    "of_a_test_part",
    "no_words",
    "missing_score",
    "negative_score",
    "out_of_scale",
    "repeated",
    "below_top_quarter",
    "same_text",
    "not_in_background",
    "used",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Positives(NamedTuple):
    """The paraphrases of a collection, each once, and counts of the pairs.

    ``dropped`` has the reasons, ``different`` is the number of pairs that they were chosen from.
    """

    examples: list[Example]
    dropped: Counter[Outcome]
    different: int
    lowest_score: float | None


def positive_pairs(
    examples: Sequence[Example],
    same: Callable[[str], Hashable],
    scale: Sequence[float] | None,
    where: str,
) -> Positives:
    """Return the pairs of a collection that are paraphrases.

    If the collection has a scale, or any example a score, these are the quarter with the highest
    scores, ties included (so of n pairs ceil(n/4) or more); otherwise all. A pair that occurs
    several times, in either order of its texts, is one pair with the mean of its scores. Of the
    pairs that are dropped, only those below the top quarter count among the n.

    Args:
        examples: pairs of one collection.
        same: returns the key by which texts count as the same.
        scale: the lowest and the highest possible score; None if unknown.
        where: the collection, for messages.
    """
    is_scored = scale is not None or any(example.score is not None for example in examples)
    dropped: Counter[Outcome] = Counter()
    pairs_by_key: dict[frozenset[Hashable], list[Example]] = {}
    for example in examples:
        if reason := _drop_reason(example, is_scored, scale):
            dropped[reason] += 1
        else:
            pairs_by_key.setdefault(frozenset(map(same, example.texts)), []).append(example)
    pairs = [same_pair[0] for same_pair in pairs_by_key.values()]
    dropped["repeated"] = sum(map(len, pairs_by_key.values())) - len(pairs)
    if not is_scored or not pairs:
        return Positives(pairs, dropped, len(pairs), None)
    scores = [
        mean(example.score for example in same_pair if example.score is not None)
        for same_pair in pairs_by_key.values()
    ]
    limit = sorted(scores, reverse=True)[math.ceil(len(scores) / PAIRS_PER_PARAPHRASE) - 1]
    if limit == min(scores):
        n_above = sum(score > limit for score in scores)
        expected = "a top quarter of pairs whose scores are all above the lowest score"
        found = f"{len(scores):,} different pairs, {n_above:,} of them above the lowest, {limit:g}"
        todo = "name other pairs, or leave the scores out and keep only the paraphrases"
        raise RawError(where, expected, found, todo)
    paraphrases = [pair for pair, score in zip(pairs, scores, strict=True) if score >= limit]
    dropped["below_top_quarter"] = len(pairs) - len(paraphrases)
    return Positives(paraphrases, dropped, len(pairs), limit)


def _drop_reason(example: Example, scored: bool, scale: Sequence[float] | None) -> Outcome | None:
    """Return the reason why a pair cannot be used; None if it can."""
    if not all(map(has_words, example.texts)):
        return "no_words"
    if not scored:
        return None
    if example.score is None or not math.isfinite(example.score):
        return "missing_score"
    if example.score < 0:
        return "negative_score"
    if scale is not None and not scale[0] <= example.score <= scale[1]:
        return "out_of_scale"
    return None


class Background:
    """The texts of a dataset with some name, which are the same if ``same`` gives one key."""

    def __init__(self, name: str, same: Callable[[str], Hashable]) -> None:
        """Begin without texts."""
        self._name = name
        self._same = same
        # The key of texts that count as the same, to the row with the first of them.
        self._rows: dict[Hashable, dict[str, Any]] = {}
        self._linked: dict[Hashable, set[Hashable]] = {}

    def add(self, text: str, source: str, licence: str) -> bool:
        """Add a text, and return whether it is new."""
        key = self._same(text)
        if key in self._rows:
            return False
        # The id depends neither on the seed nor on other texts.
        row_id = f"{self._name}/{keyed_hash(0, text):016x}"
        self._rows[key] = {"id": row_id, "text": text, "source": source, "licence": licence}
        return True

    def link(self, first: str, second: str) -> Outcome:
        """Make two texts positives of each other, and return the outcome of the pair."""
        left, right = self._same(first), self._same(second)
        if left == right:
            return "same_text"
        if not (left in self._rows and right in self._rows):
            return "not_in_background"
        if right in self._linked.setdefault(left, set()):
            return "repeated"
        self._linked[left].add(right)
        self._linked.setdefault(right, set()).add(left)
        return "used"

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the dataset, in the order in which their texts were added.

        The positives of a row are in the order of their ids. Its ``document_id`` is the smallest
        id of its group of linked texts, or its own id without links.
        """
        groups = self._groups()
        return [
            row
            | {
                "positives": sorted(self._rows[k]["id"] for k in self._linked.get(key, ())),
                "document_id": groups.get(key, row["id"]),
            }
            for key, row in self._rows.items()
        ]

    def _groups(self) -> dict[Hashable, str]:
        """Return, for each linked text, the smallest id of its group."""
        links = ((key, *others) for key, others in self._linked.items())
        smallest: dict[Hashable, str] = {}
        for group in connected_groups(links, lambda link: link):
            keys = {key for link in group for key in link}
            smallest |= dict.fromkeys(keys, min(self._rows[key]["id"] for key in keys))
        return smallest


# Different words that are counted in memory (about 150 MB) before they are added to a table.
MAX_WORDS_IN_MEMORY = 1_000_000
_ADD_COUNTS = """
    INSERT INTO counts VALUES (?, ?)
    ON CONFLICT (word) DO UPDATE SET number = number + excluded.number
"""
# Sentences that are split into words at a time, as a record may be a whole book.
SENTENCES_PER_SLICE = 10_000
# The column of a record that holds its running text.
_COLUMNS = {"documents": "sections", "dialogues": "conversations"}


class Vocabulary(NamedTuple):
    """The chosen words, and counts of the text they are from.

    Attributes:
        words: the most frequent first, ties in alphabetical order.
        rarest: the frequency of the last of ``words``; 0 without words.
    """

    words: list[str]
    running: int
    different: int
    rarest: int


def frequent_words(path: Path, kind: str, count: int) -> Vocabulary:
    """Return the most frequent words of a file of records.

    A word is a run of letters in lower case, with a hyphen or an apostrophe between letters; a
    typographic apostrophe counts as the plain one. Of documents, only the sections are read.
    """
    counts: Counter[str] = Counter()
    n_words = 0
    # "" is a temporary file, which sqlite fills only if the words need much memory.
    with closing(sqlite3.connect("")) as database:
        database.execute("CREATE TABLE counts (word TEXT PRIMARY KEY, number INT) WITHOUT ROWID")
        with progress(None, f"words of {path.stem}", "word") as bar:
            for text in _texts(path, kind):
                words = split_words(text)
                counts.update(words)
                n_words += len(words)
                bar.update(len(words))
                if len(counts) >= MAX_WORDS_IN_MEMORY:
                    database.executemany(_ADD_COUNTS, sorted(counts.items()))
                    counts.clear()
        database.executemany(_ADD_COUNTS, sorted(counts.items()))
        (n_different,) = database.execute("SELECT count(*) FROM counts").fetchone()
        most_frequent = database.execute(
            "SELECT word, number FROM counts ORDER BY number DESC, word LIMIT ?", (count,)
        ).fetchall()
    rarest = most_frequent[-1][1] if most_frequent else 0
    return Vocabulary([word for word, _ in most_frequent], n_words, n_different, rarest)


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, see ``frequent_words``."""
    return _pattern().findall(normalise_word(text).replace("’", "'"))


def normalise_word(text: str) -> str:
    """Return the form in which words are compared: in lower case and NFC."""
    return unicodedata.normalize("NFC", lower_case(text))


@cache
def _pattern() -> re.Pattern[str]:
    letters = word_pattern(r"[^\W\d_]")
    return re.compile(rf"{letters}(?:[-']{letters})*")


def _texts(path: Path, kind: str) -> Iterator[str]:
    """Yield the text of the records, ``SENTENCES_PER_SLICE`` at a time."""
    column = _COLUMNS[kind]
    for batch in record_batches(path, kind, [column]):
        sentences = _strings(batch[column])
        for start in range(0, len(sentences), SENTENCES_PER_SLICE):
            # Not "": a sentence must not run into the next one.
            yield "\n".join(sentences.slice(start, SENTENCES_PER_SLICE).to_pylist())


def _strings(values: pa.Array) -> pa.Array:
    """Return the sentences that an array of nested lists holds."""
    while not pa.types.is_string(values.type):
        if pa.types.is_struct(values.type):
            values = values.field("paragraphs")
        values = values.flatten()
    return values


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
    in lower case and NFC. Texts without a letter or a digit are skipped.

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
    """Composes a ranking: the texts are added first, then the pairs are linked."""

    def __init__(self, dataset: RankingDataset, records: Path, sources: str) -> None:
        """Read the pairs."""
        self._dataset, self._records, self._sources = dataset, records, sources
        self._of_words = dataset.task.unit == "word"
        # `str` returns the text itself; words are already in one form.
        by_text = self._of_words or dataset.background
        self._same: Callable[[str], Hashable] = str if by_text else sentence_hash
        self.background = Background(dataset.name, self._same)
        self._texts = Counter({"read": 0, "of_a_test_part": 0, "no_words": 0, "same_as_another": 0})
        self._words: dict[str, int] = {}
        self._outcomes = Counter[Outcome]()
        # Path of each collection that was read to its part of the report.
        self.collections: dict[str, dict[str, Any]] = {}
        self._pairs = {collection.path: self._read(collection) for collection in dataset.pairs}
        if not any(self.collections[c.path]["source_parts"] for c in dataset.pairs):
            first = dataset.pairs[0].corpus
            named = [c.name for c in dataset.pairs if c.corpus == first]
            raise no_examples(self._path(first), named, sample=dataset.sample)

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
            positives = positive_pairs(examples, self._same, collection.facts.scale, where)
            linked = Counter(self.background.link(*example.texts) for example in positives.examples)
            self._outcomes.update(positives.dropped)
            self._outcomes.update(linked)
            self.collections[collection.path] |= {
                "different": positives.different,
                "chosen": len(positives.examples),
                "positives": linked["used"],
                "lowest_score": positives.lowest_score,
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
        """Return the number of examples skipped because a probe is tested on them."""
        return sum(self.collections[c.path]["of_a_test_part"] for c in collections)

    def _read(self, collection: Collection) -> list[Example]:
        """Return the examples of a collection sorted by id, without those of a probe's test."""
        corpus = collection.corpus
        examples = read_examples(self._path(corpus), collection.name)
        part_sizes: Counter[str] = Counter(example.split or "all" for example in examples)
        facts = collection_facts(corpus, collection.name, corpus.language)
        probed = collection.path in self._dataset.probed
        test_split = source_test_split(examples) if probed else None
        used_examples = [
            example for example in examples if test_split is None or example.split != test_split
        ]
        self.collections[collection.path] = {
            "source_parts": {p: part_sizes[p] for p in (*SPLITS, "all") if part_sizes[p]},
            "missing_parts": missing_parts(facts, part_sizes),
            "test_part": test_split,
            "of_a_test_part": len(examples) - len(used_examples),
        }
        if self._of_words:
            used_examples = [
                replace(e, texts=tuple(map(normalise_word, e.texts))) for e in used_examples
            ]
        return sorted(used_examples, key=lambda example: example.id)

    def _add(self, texts: Iterable[str], source: str, corpus: Corpus) -> None:
        licence = licence_of(corpus, self._sources)
        for text in texts:
            self._texts["read"] += 1
            if not has_words(text):
                self._texts["no_words"] += 1
            elif not self.background.add(text, source, licence):
                self._texts["same_as_another"] += 1
