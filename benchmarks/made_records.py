"""Makes records in any number from those of the samples, with other words in their texts.

A record is a copy of one of the sample in which most words are replaced by others of the language,
drawn by a keyed hash: sentences of the real form, without sense, none twice. Which words are drawn
depends a little on the class of an example, on the place of a sentence in its document, and on the
document, so that a probe has something to learn.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.store import read_records
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.params import load_corpora
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import (
    SPLITS,
    Dialogue,
    DiscourseTree,
    Document,
    Example,
    ParsedSentence,
    Record,
    Split,
    record_schema,
    to_row,
)
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
EXAMPLES = ("tass", "muchocine", "fac", "sqc", "paws_x", "xnli", "sick_es", "sts", "xprobe", "pdtb")
# Rows of the parts that corpus.yaml does not number.
PARTS: dict[tuple[str, str], dict[str, int | None]] = {
    ("tass", "task1"): {"train": 4_802, "validation": 2_465, "test": 7_133},
    ("tass", "task2"): {"train": 5_886, "validation": 857, "test": 1_665},
    ("pdtb", "explicit"): {"train": 9_383, "validation": 3_613, "test": 3_758},
    ("pdtb", "implicit"): {"train": 8_693, "validation": 2_972, "test": 3_024},
    # The Spanish files are smaller; those of the other tasks have these sizes.
    ("xprobe", "sentence_length"): {"train": 100_000, "validation": 10_000, "test": 10_000},
}
WORD_CLASSES = 1_000
# At any scale: of fewer parsed sentences, not every class has a row.
LEAST = 2_000
# Kinds of words: the number of a word modulo this. Those of places, and those of documents.
KINDS, PLACES = 16, 8
VOCABULARY = 2_048 * KINDS
BATCH = 500

_WORD = re.compile(r"(?<![\w#@])[^\W\d_]{4,}(?!\w)")
# Knuth's linear congruential generator; its first state is a keyed hash.
_FACTOR, _STEP, _MASK = 6364136223846793005, 1442695040888963407, 2**64 - 1
Kinds = tuple[int, int]


class Words:
    """The words of a language, and texts with such words.

    Attributes:
        kept: words that stay as they are, since they show the language.
        drawn: those that replace others, frequent ones first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the words of texts, and make more: the half of one and the half of another."""
        counts = Counter(word for text in texts for word in _WORD.findall(text) if word.islower())
        found = [word for word, _ in counts.most_common()]
        self.kept = frozenset(found[:150])
        words = dict.fromkeys(found[150:])
        for number in range(20 * VOCABULARY):
            if len(words) >= VOCABULARY:
                break
            hashed = keyed_hash(number, "word")
            first, last = found[hashed % len(found)], found[(hashed >> 32) % len(found)]
            words.setdefault(first[: max(2, len(first) // 2)] + last[len(last) // 2 :])
        self.drawn = list(words)[: len(words) // KINDS * KINDS]
        self._around: dict[str, list[str]] = {}

    def around(self, text: str) -> list[str]:
        """Return what stands between the words of a text that are replaced."""
        if text not in self._around:
            pieces, end = [], 0
            for match in _WORD.finditer(text):
                if match[0].islower() and match[0] not in self.kept:
                    pieces.append(text[end : match.start()])
                    end = match.end()
            self._around[text] = [*pieces, text[end:]]
        return self._around[text]

    def draw(self, number: int, kinds: Kinds) -> tuple[int, str]:
        """Return the next number, and a word: three in eight are of these kinds."""
        number = (number * _FACTOR + _STEP) & _MASK
        share = (number >> 40) / 2**24
        # Frequent words come often.
        place = int(len(self.drawn) * share * share * share)
        bits = number >> 36
        if (bits >> 1) % 8 < 3:
            place += kinds[bits & 1] - place % KINDS
        return number, self.drawn[place]

    def other(self, text: str, number: int, kinds: Kinds) -> str:
        """Return a text with other words."""
        first, *rest = self.around(text)
        parts = [first]
        for piece in rest:
            number, word = self.draw(number, kinds)
            parts += (word, piece)
        return "".join(parts)


def make_records(corpus: Corpus, sample: Path, out: Path, words: Words, scale: float) -> int:
    """Write records of a corpus like those of its sample; return their number.

    ``words`` are those of its language, and ``scale`` is the share of the real number to make.
    """
    kind = corpus.facts.records
    records = list(read_records(sample, kind))
    made: Iterator[Record]
    if corpus.recipe == "evalrank":
        made = _ranked(corpus, records, words, scale)
    elif corpus.recipe in EXAMPLES:
        made = _examples(corpus, records, words, scale)
    elif corpus.name in RECORDS:
        whole = RECORDS[corpus.name]
        made = _others(records, words, max(round(whole * scale), min(whole, LEAST)))
    else:
        made = iter(records)
    schema, count = record_schema(kind), 0
    with parquet_writer(out, schema) as writer:
        while rows := [to_row(record) for record in islice(made, BATCH)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))
            count += len(rows)
    return count


class _Forms:
    """All texts of a corpus, from which each text of a record takes its form.

    Otherwise the first sentences would have the few lengths that those of the sample have.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.texts = [text for record in records for text in _texts(record)]

    def of(self, state: int) -> str:
        """Return the form that a number draws."""
        return self.texts[state % len(self.texts)]


def _others(records: Sequence[Any], words: Words, count: int) -> Iterator[Record]:
    """Yield so many records with other words."""
    change = _CHANGES[type(records[0])]
    forms = _Forms(records)
    for number in range(count):
        record = records[number % len(records)]
        id_ = f"{record.id}-{number // len(records)}"
        state = keyed_hash(number, record.id)
        yield replace(change(record, words, state, forms), id=id_, split=_split(state))


def _split(state: int) -> Split:
    """Return the split of a document: 60, 20 and 20 in a hundred."""
    return SPLITS[max(0, state % 5 - 2)]


def _document(document: Document, words: Words, state: int, forms: _Forms) -> Document:
    topic = PLACES + state % (KINDS - PLACES)
    place = 0

    def other(_: str) -> str:
        nonlocal place
        place += 1
        form = forms.of(state + PLACES * place)
        return words.other(form, state + place, (min(place, PLACES - 1), topic))

    sections = [
        replace(s, paragraphs=[list(map(other, paragraph)) for paragraph in s.paragraphs])
        for s in document.sections
    ]
    # Not the kind of any place.
    summary = [words.other(text, state - i, (0, topic)) for i, text in enumerate(document.summary)]
    return replace(document, sections=sections, summary=summary)


def _dialogue(dialogue: Dialogue, words: Words, state: int, forms: _Forms) -> Dialogue:
    topic = PLACES + state % (KINDS - PLACES)
    conversations = [
        [
            words.other(forms.of(state + 7 * j + i), state + 1000 * i + j, (topic, topic))
            for j in range(len(turns))
        ]
        for i, turns in enumerate(dialogue.conversations)
    ]
    return replace(dialogue, conversations=conversations)


def _tree(tree: DiscourseTree, words: Words, state: int, forms: _Forms) -> DiscourseTree:
    edus = [
        words.other(forms.of(state + i), state + i, (i % PLACES,) * 2)
        for i in range(len(tree.edus))
    ]
    return replace(tree, edus=edus)


def _parsed(sentence: ParsedSentence, words: Words, state: int, _: _Forms) -> ParsedSentence:
    """Replace the forms of whole tokens, and their lemmas; what is annotated stays."""
    new, tokens, first = list(sentence.words), list(sentence.tokens), 0
    for i, token in enumerate(sentence.tokens):
        given = sentence.words[first]
        if token.words == 1 and given.upos in ("NOUN", "ADJ", "VERB") and given.form.islower():
            state, word = words.draw(state, (len(given.features) % KINDS,) * 2)
            new[first] = given._replace(form=word, lemma=word)
            tokens[i] = token._replace(form=word)
        first += token.words
    document = f"{sentence.document_id}-{state % 2**32}"
    return replace(sentence, words=tuple(new), tokens=tuple(tokens), document_id=document)


_CHANGES: dict[type, Callable[[Any, Words, int, _Forms], Any]] = {
    Document: _document,
    Dialogue: _dialogue,
    DiscourseTree: _tree,
    ParsedSentence: _parsed,
}


def _examples(
    corpus: Corpus, records: Sequence[Any], words: Words, scale: float
) -> Iterator[Example]:
    """Yield the examples of all collections, each part with all classes in turn."""
    for name, facts in corpus.facts.collections.items():
        examples: list[Example] = [record for record in records if record.collection == name]
        # With few words to replace, a text would come twice.
        examples = [
            e for e in examples if min(len(words.around(text)) for text in e.texts) > 3
        ] or examples
        labels = sorted({example.label or "" for example in examples})
        if name == "word_content":
            labels = words.drawn[:WORD_CLASSES]
        # A score belongs to its text; a class may get the form of any other one.
        forms = [examples] * len(labels)
        if facts.scale:
            forms = [[e for e in examples if (e.label or "") == label] for label in labels]
        for part, size in PARTS.get((corpus.recipe, name), facts.sizes).items():
            split: Split | None = next((known for known in SPLITS if known == part), None)
            for number in range(round((size or 0) * scale)):
                chosen = number % len(labels)
                state = keyed_hash(number, corpus.recipe, name, part)
                example = forms[chosen][state % len(forms[chosen])]
                kind = chosen if example.score is None else round(3 * example.score)
                # Real labels are seldom as plain as that.
                kind = kind if state % 3 == 0 else state >> 16
                texts = [
                    words.other(text, state + i, (kind % KINDS,) * 2)
                    for i, text in enumerate(example.texts)
                ]
                if name == "word_content":
                    texts = [f"{text[:-1]} {labels[chosen]}{text[-1]}" for text in texts]
                yield replace(
                    example,
                    id=f"{example.id}-{part}-{number}",
                    texts=tuple(texts),
                    label=labels[chosen] or None,
                    document_id=f"{example.document_id}-{part}-{number}",
                    split=split,
                )


def _ranked(
    corpus: Corpus, records: Sequence[Any], words: Words, scale: float
) -> Iterator[Example]:
    """Yield pairs of paraphrases and the texts they are ranked among, all in the latter."""
    model: Example = replace(records[0], label=None, score=None)

    def examples(name: str, texts: Iterable[tuple[str, ...]]) -> Iterator[Example]:
        for number, pair in enumerate(texts):
            id_ = f"{name}-{number}"
            yield replace(model, id=id_, collection=name, texts=pair, document_id=id_, columns={})

    def size(name: str) -> int:
        return round((corpus.facts.collections[name].sizes["all"] or 0) * scale)

    sentences = [e.texts[0] for e in records if e.collection == "background_sentences"]
    sentences = [
        words.other(sentences[i % len(sentences)], keyed_hash(i, "sentence"), (i % KINDS,) * 2)
        for i in range(size("background_sentences"))
    ]
    vocabulary = words.drawn[: size("wikipedia_words")]
    for unit, background, texts in (
        ("sentences", "background_sentences", sentences),
        ("words", "wikipedia_words", vocabulary),
    ):
        ends = size(f"positive_{unit}")
        pairs = [(texts[i % len(texts)], texts[(i * 7 + 1) % len(texts)]) for i in range(ends // 2)]
        both = [pair for a, b in pairs for pair in ((a, b), (b, a))]
        yield from examples(f"positive_{unit}", both)
        yield from examples(background, ((text,) for text in texts))
    yield from examples("basic_words", ((word,) for word in vocabulary[: size("basic_words")]))


def main(scale: str) -> None:
    """Make the records of the run in this folder from those of the run in the folder `samples`."""
    corpora = load_corpora(PARAMS)
    files = {corpus.name: Path("samples") / records_of(corpus.name) for corpus in corpora}
    words = {}
    for language in sorted({corpus.language for corpus in corpora}):
        spoken = [corpus for corpus in corpora if corpus.language == language]
        texts = (
            text
            for corpus in spoken
            for record in read_records(files[corpus.name], corpus.facts.records)
            for text in _texts(record)
        )
        words[language] = Words(texts)
    for corpus in corpora:
        file = records_of(corpus.name)
        count = make_records(corpus, files[corpus.name], file, words[corpus.language], float(scale))
        print(f"{corpus.name}: {count:,} records", flush=True)


def _texts(record: Record) -> Iterator[str]:
    """Yield the texts of a record, but for summaries and parsed sentences."""
    if isinstance(record, Document):
        yield from (text for s in record.sections for p in s.paragraphs for text in p)
    elif isinstance(record, Dialogue):
        yield from (turn for turns in record.conversations for turn in turns)
    elif isinstance(record, DiscourseTree):
        yield from record.edus
    elif isinstance(record, Example):
        yield from record.texts


if __name__ == "__main__":
    main(*sys.argv[1:])
