"""Makes records in any number from those of the samples, with other words in their texts.

A record is a copy of one of the sample in which most words are replaced by others of the language:
sentences of the real form, without sense. A keyed hash of the copy and the word decides whether the
word stays, one in four does, so that a probe has something to learn, and which other one replaces
it.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from builders.store import read_records
from corpora_recipes.params import load_corpora
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Example, ParsedSentence, record_schema, to_row
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.outputs import records_of

# Numbers of records of the real corpora, or read of them; others are left as their samples are.
RECORDS = {
    "wikipedia": 200_000,
    "wikipedia_en": 200_000,
    "mlsum": 290_645,
    "theses": 14_029,
    "opensubtitles": 8_000,
    "gutenberg": 604,
    "arxiv": 100_000,
    "roc_stories": 98_161,
    "irc_disentanglement": 10_000,
    "peerread": 14_784,
    "rst_spanish_treebank": 267,
    "rst_discourse_treebank": 385,
    "universal_dependencies": 34_000,
}
EXAMPLES = {"tass", "muchocine", "fac", "sqc", "paws_x", "xnli", "sick_es", "sts", "xprobe", "pdtb"}
EXAMPLES |= {"evalrank"}
# Rows of a part of a collection that corpus.yaml does not number.
PART_ROWS = 10_000
# At any scale: of fewer parsed sentences, not every class has a row.
MIN_RECORDS = 2_000
VOCABULARY = 2**15
BATCH = 500
SAMPLES = Path("samples")
# The fields of records, and of their sections, with texts.
FIELDS = ("sections", "summary", "paragraphs", "conversations", "edus", "texts")

_WORD = re.compile(r"(?<![\w#@])[^\W\d_]{4,}(?!\w)")


class Words:
    """The words of a language.

    Attributes:
        common: those that stay as they are, since they show the language.
        drawn: those that replace others, frequent ones first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the words of texts, and make more: the half of one and the half of another."""
        counts = Counter(word for text in texts for word in _WORD.findall(text) if word.islower())
        ranked = [word for word, _ in counts.most_common()]
        self.common = frozenset(ranked[:150])
        words = dict.fromkeys(ranked[150:])
        for number in range(20 * VOCABULARY):
            if len(words) >= VOCABULARY or not ranked:
                break
            first, last = (ranked[crc32(b"%d %d" % (number, i)) % len(ranked)] for i in (0, 1))
            words.setdefault(first[: max(2, len(first) // 2)] + last[len(last) // 2 :])
        self.drawn: list[str] = list(words)

    def replace(self, text: str, copy: int) -> str:
        """Return the text in a copy."""

        def draw(match: re.Match[str]) -> str:
            word = match[0]
            if not word.islower() or word in self.common:
                return word
            hashed = crc32(f"{copy} {word}".encode())
            if hashed % 4 == 0:
                return word
            # Frequent words come often.
            return self.drawn[int(len(self.drawn) * (hashed / 2**32) ** 3)]

        return _WORD.sub(draw, text)


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts of a record, a section, or lists of texts."""
    if isinstance(value, str):
        yield value
    elif not isinstance(value, ParsedSentence):
        names = [name for name in FIELDS if hasattr(value, name)]
        for part in [getattr(value, name) for name in names] if is_dataclass(value) else value:
            yield from texts_of(part)


def with_words(value: Any, words: Words, copy: int) -> Any:
    """Return a record, a section, or lists of texts in a copy, with other words."""
    if isinstance(value, str):
        return words.replace(value, copy)
    if isinstance(value, ParsedSentence):
        # Whole tokens, and their lemmas; what is annotated stays.
        forms = [words.replace(word.form, copy) for word in value.words]
        return replace(
            value,
            words=tuple(
                word._replace(form=form, lemma=form if form != word.form else word.lemma)
                for word, form in zip(value.words, forms, strict=True)
            ),
            tokens=tuple(t._replace(form=words.replace(t.form, copy)) for t in value.tokens),
        )
    if is_dataclass(value):
        names = [name for name in FIELDS if hasattr(value, name)]
        changes = {name: with_words(getattr(value, name), words, copy) for name in names}
        return replace(value, **changes)  # type: ignore[type-var]
    return type(value)(with_words(part, words, copy) for part in value)


def copies(records: list[Any], words: Words, n_records: int) -> Iterator[Any]:
    """Yield so many records with other words: 60, 20 and 20 in a hundred in the splits."""
    for number in range(n_records):
        copy, row = divmod(number, len(records))
        split = SPLITS[max(0, crc32(b"%d" % number) % 5 - 2)]
        made = replace(records[row], id=f"{records[row].id}-{copy}", split=split)
        if isinstance(made, ParsedSentence):
            made = replace(made, document_id=f"{made.document_id}-{number}")
        yield with_words(made, words, copy)


def examples(corpus: Corpus, records: list[Any], words: Words, scale: float) -> Iterator[Example]:
    """Yield the examples of all collections, part by part."""
    for name, facts in corpus.facts.collections.items():
        models = [record for record in records if record.collection == name]
        # With few words to replace, a text would come twice.
        long = [e for e in models if min(len(_WORD.findall(text)) for text in e.texts) > 6]
        for part, size in (facts.sizes or dict.fromkeys(SPLITS)).items():
            split = part if part in SPLITS else None
            for made in copies(long or models, words, round((size or PART_ROWS) * scale)):
                example_id = f"{made.id}-{part}"
                yield replace(made, id=example_id, document_id=example_id, split=split)


def make_records(corpus: Corpus, words: Words, scale: float) -> int:
    """Write records of a corpus like those of its sample; return their number.

    ``words`` are those of its language, and ``scale`` is the share of the real number to make.
    """
    kind = corpus.facts.records
    made: Iterable[Any]
    made = records = list(read_records(SAMPLES / records_of(corpus.name), kind))
    if corpus.recipe in EXAMPLES:
        made = examples(corpus, records, words, scale)
    elif corpus.name in RECORDS:
        whole = RECORDS[corpus.name]
        made = copies(records, words, max(round(whole * scale), min(whole, MIN_RECORDS)))
    schema, n_records = record_schema(kind), 0
    with parquet_writer(records_of(corpus.name), schema) as writer:
        made = iter(made)
        while rows := [to_row(record) for record in islice(made, BATCH)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))
            n_records += len(rows)
    return n_records


def main(scale: str) -> None:
    """Make the records of the run in this folder from those of the run in the folder `samples`."""
    corpora = load_corpora(PARAMS)
    texts: dict[str, list[str]] = {}
    for corpus in corpora:
        for record in read_records(SAMPLES / records_of(corpus.name), corpus.facts.records):
            texts.setdefault(corpus.language, []).extend(texts_of(record))
    words = {language: Words(spoken) for language, spoken in texts.items()}
    for corpus in corpora:
        n_records = make_records(corpus, words[corpus.language], float(scale))
        print(f"{corpus.name}: {n_records:,} records", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
