"""The `compose` command: records of one or more corpora become a ranking dataset."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.building import Counts, describe, write_dataset
from builders.card import missing_parts
from builders.dataset import collection_facts, licence_of
from builders.examples import tested_part
from builders.passages import has_words, mark
from builders.ranking import Background, positive_pairs
from builders.rankings import Part, Ranking
from builders.record_files import no_examples, read_examples
from builders.vocabulary import as_word, frequent_words
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_folder
from corpora_recipes.recipes import Corpus
from corpora_recipes.records import SPLITS, Example

# What becomes of pairs, in the order in which it is decided.
_OUTCOMES = (
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
)
# As many as Wang et al. (2022) take for the background of the word level.
FREQUENT_WORDS = 20_000


def compose(ranking: Ranking, records: Path, out: Path, sources: str) -> dict[str, Any]:
    """Build a ranking dataset.

    Writes ``out/<dataset>/test-00000-of-0000n.parquet`` and ``out/build.json``. Which rows there
    are depends on the records, the entry in params.yaml and what datasets probe alone; their order
    depends on the seed besides.

    Sentences are the same if they differ in nothing but case, punctuation and symbols; the first
    stands for all, by the order of the entry's ``pairs``, then by id. If the entry names a
    ``background``, that is a set published so, and sentences are the same only if they are equal.
    Words are, in lower case and NFC. What has no letter and no digit is no row.

    Args:
        ranking: its entry in params.yaml.
        records: the folder with the records of its corpora, ``<corpus>.parquet``.
        out: folder to write; what it held before is replaced as a whole.
        sources: what params.yaml says; the rows of a sample have the licence of the sample.

    Returns:
        What stands in ``build.json``. For the dataset: ``rows`` and ``labels`` as `build` has them;
        what became of ``pairs``, ``texts`` and ``words``; and ``sources``, collection to
        ``source_parts`` (the source's part to the number of its examples), ``missing_parts`` (those
        of which much less is there than there should be), ``test_part`` (the part that is left
        out, None if there is none) and the number ``of_a_test_part``. If pairs are taken from it,
        also the number of ``different`` pairs that can be used, of those ``chosen`` as they mean
        the same, and of the ``positives`` that come from it first, and the ``lowest_score`` of
        those chosen (None without scores).

    Raises:
        InputError: records are missing or of another kind, no pair can be used, scores tell no
            quarter apart, or the vocabulary has no words. Nothing is written then.
    """
    dataset = ranking.dataset
    of_words = dataset.task == "word_ranking"
    reader = _Reader(records, of_words=of_words)
    pairs = {part.name: reader.read(part) for part in ranking.pairs}
    if not any(reader.found[part.name]["source_parts"] for part in ranking.pairs):
        first = ranking.pairs[0].corpus
        named = [part.collection for part in ranking.pairs if part.corpus == first]
        raise no_examples(reader.path_of(first), named)
    # `str` leaves a text as it is; words have been brought to one form.
    same = str if of_words or ranking.background else mark
    background = Background(dataset.name, same)
    counts: Counts = {"pairs": {}, "texts": {}}
    texts = Counter({"read": 0, "of_a_test_part": 0, "no_words": 0, "same_as_another": 0})

    def add(found: Iterable[str], source: str, licence: str) -> None:
        for text in found:
            texts["read"] += 1
            if not has_words(text):
                texts["no_words"] += 1
            else:
                texts["same_as_another"] += not background.add(text, source, licence)

    for part in ranking.background or ranking.pairs:
        examples = pairs[part.name] if part.name in pairs else reader.read(part)
        licence = licence_of(part.corpus, sources)
        add((text for example in examples for text in example.texts), part.name, licence)
    if ranking.background:
        texts["of_a_test_part"] = reader.left_out(ranking.background)
    if ranking.vocabulary is not None:
        corpus = ranking.vocabulary
        path = reader.path_of(corpus)
        words = frequent_words(path, corpus.facts["records"], FREQUENT_WORDS)
        if not words.words:
            raise InputError(
                path,
                expected="running text, whose most frequent words are taken",
                found="no word",
                todo="read more of the corpus, or name another as `vocabulary`",
            )
        add(words.words, corpus.name, licence_of(corpus, sources))
        counts["words"] = {
            "running": words.running,
            "different": words.different,
            "most_frequent": len(words.words),
            "occurrences_of_the_rarest": words.rarest,
        }
    outcomes: Counter[str] = Counter()
    report = reader.found
    for part in ranking.pairs:
        where = f"{reader.path_of(part.corpus)}: {part.collection}"
        chosen = positive_pairs(pairs[part.name], same, part.facts.get("scale"), where)
        outcomes.update(chosen.dropped)
        found = Counter(background.link(*example.texts) for example in chosen.examples)
        outcomes.update(found)
        report[part.name] |= {
            "different": chosen.different,
            "chosen": len(chosen.examples),
            "positives": found["used"],
            "lowest_score": chosen.lowest_score,
        }
    rows = background.rows()
    outcomes["of_a_test_part"] = reader.left_out(ranking.pairs)
    counts["pairs"] = {"read": outcomes.total()} | {
        outcome: outcomes[outcome] for outcome in _OUTCOMES if outcomes[outcome]
    }
    queries = [row for row in rows if row["positives"]]
    counts["texts"] = {reason: n for reason, n in texts.items() if n} | {
        "used": len(rows),
        "with_positives": len(queries),
        "groups_of_positives": len({row["document_id"] for row in queries}),
    }
    if not queries:
        raise InputError(
            f"dataset {dataset.name} ({dataset.task.replace('_', ' ')})",
            expected="one pair or more of two texts that mean the same"
            + (", both of the background" if ranking.background else ""),
            found=describe(counts),
            todo="add the source's files that are missing, or name other pairs"
            + (" or another background" if ranking.background else ""),
        )
    with whole_folder(out) as folder:
        written = write_dataset(dataset, {"test": rows}, [], folder)
        built = {dataset.name: written | counts | {"sources": report}}
        text = json.dumps(built, ensure_ascii=False, indent=2)
        (folder / "build.json").write_text(text + "\n", "utf-8")
    return built


class _Reader:
    """Reads the examples of collections in the order of their ids, and counts them.

    Attributes:
        found: collection to ``source_parts``, ``missing_parts``, ``test_part`` and
            ``of_a_test_part``, see ``compose``.
    """

    def __init__(self, records: Path, *, of_words: bool) -> None:
        self._records = records
        self._of_words = of_words
        self.found: dict[str, dict[str, Any]] = {}

    def path_of(self, corpus: Corpus) -> Path:
        """Return the file of a corpus's records."""
        return self._records / f"{corpus.name}.parquet"

    def left_out(self, parts: Iterable[Part]) -> int:
        """Return how many examples of the collections were left out."""
        return sum(self.found[part.name]["of_a_test_part"] for part in parts)

    def read(self, part: Part) -> list[Example]:
        """Return the examples of a collection, without those that a probe of it is tested on."""
        examples = read_examples(self.path_of(part.corpus), part.collection)
        parts: Counter[str] = Counter(example.split or "all" for example in examples)
        facts = collection_facts(part.corpus, part.collection, part.corpus.language)
        tested = tested_part(examples) if part.probed else None
        kept = [example for example in examples if tested is None or example.split != tested]
        self.found[part.name] = {
            "source_parts": {p: parts[p] for p in (*SPLITS, "all") if parts[p]},
            "missing_parts": missing_parts(facts, parts),
            "test_part": tested,
            "of_a_test_part": len(examples) - len(kept),
        }
        if self._of_words:
            kept = [replace(e, texts=tuple(map(as_word, e.texts))) for e in kept]
        return sorted(kept, key=lambda example: example.id)
