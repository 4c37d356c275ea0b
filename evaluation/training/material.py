"""The training sentences of a corpus, which no test has, and their targets.

A target needs no labels: it is a neighbour, a position or a title of the sentence. One pass over
the records writes sentences and targets to the disk as numbers; training reads a batch at a time,
so that a corpus of any size needs bounded memory.
"""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from builders.store import read_records
from corpora_recipes.hashing import keyed_hash, sha256_of
from corpora_recipes.records import Document
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.tokens import is_telling, sentence_hash
from evaluation.arrays import Counts, Flags, Labels, Rows
from evaluation.datasets import find_datasets
from evaluation.features import text_columns, unique_in
from evaluation.params import OBJECTIVES, Objective, Training

# Classes of the nesting level; deeper sections are in the last (Chen et al., released code).
LEVELS = 7
# Classes of a position: its share of the whole, in equal parts (``quant_pos`` in their code).
BINS = 20
Tokens = npt.NDArray[np.int32]
# A text is a slice of all tokens. Of a sentence: its text, its targets, and those that are texts,
# which are -1 where one is missing.
_FIELDS = ("text", "follows", "level", "in_paragraph", "of_paragraph", "heading", "title")
_KINDS = ("<i8", "?", "u1", "u1", "u1", "<i8", "<i8")
SENTENCE = np.dtype([*zip(_FIELDS, _KINDS, strict=True)])
_FILES = ("sentences", "ends", "tokens")
# Texts that are turned into numbers together.
_CHUNK = 4096
# Batches whose sentences are sorted by length, so that those of a batch are of nearly the same;
# and how many of these pools are shuffled together, as a permutation must fit into memory.
_POOL = 32
_POOLS = 512


class HeldOut:
    """Sentences of six words or more in validation or test of some datasets.

    Of a dataset with folds these are all, since each row is tested once.
    """

    def __init__(self, instances: Path) -> None:
        """Read all datasets under a folder; memory: 100 bytes for each sentence."""
        self._marks: set[int] = set()
        self.datasets: list[str] = []
        for dataset in find_datasets(instances):
            self.datasets.append(dataset.name)
            columns = text_columns(dataset.task, "natural")
            for split in dataset.files:
                if split != "train" or dataset.folds:
                    texts = unique_in(dataset.read(split, columns), columns)
                    self._marks.update(sentence_hash(text) for text in texts if is_telling(text))

    def __contains__(self, sentence: str) -> bool:
        """Return whether a sentence is one of them, whatever its case and punctuation."""
        return sentence_hash(sentence) in self._marks and is_telling(sentence)

    def __len__(self) -> int:
        """Return their number."""
        return len(self._marks)

    def digest(self) -> str:
        """Return 16 hexadecimal digits that change with the sentences."""
        marks = b"".join(number.to_bytes(8, "big") for number in sorted(self._marks))
        return sha256(marks).hexdigest()[:16]


class Sentence(NamedTuple):
    """A sentence, and its targets.

    Attributes:
        text: natural text.
        follows: whether it comes directly after the sentence yielded before it.
        level: of its section, 0 … LEVELS - 1; 0 is the lead.
        in_paragraph: its position in its paragraph, 0 … BINS - 1.
        of_paragraph: the position of its paragraph in the document, 0 … BINS - 1.
        heading: of its section, "" if it has none.
    """

    text: str
    follows: bool
    level: int
    in_paragraph: int
    of_paragraph: int
    heading: str


def sentences_of(document: Document, is_held_out: Callable[[str], bool]) -> Iterator[Sentence]:
    """Yield the training sentences of a document.

    Sentences of two sections are no neighbours. One that is in a test is skipped, and so is no
    neighbour of others.
    """
    paragraphs = sum(len(section.paragraphs) for section in document.sections)
    number = 0
    for section in document.sections:
        follows = False
        for paragraph in section.paragraphs:
            for position, text in enumerate(paragraph):
                if is_held_out(text):
                    follows = False
                    continue
                level, in_paragraph = (
                    min(section.level, LEVELS) - 1,
                    position * BINS // len(paragraph),
                )
                of_paragraph = number * BINS // paragraphs
                yield Sentence(text, follows, level, in_paragraph, of_paragraph, section.heading)
                follows = True
            number += 1


class Texts(NamedTuple):
    """Targets that are texts: the rows of a batch that have one, and its tokens."""

    rows: list[int]
    texts: list[Tokens]


class Batch(NamedTuple):
    """Sentences and their targets, see ``Sentence``: numbers are int64 [sentences]."""

    sentences: list[Tokens]
    previous: Texts
    following: Texts
    level: Labels
    in_paragraph: Labels
    of_paragraph: Labels
    heading: Texts
    title: Texts


class Material:
    """The sentences of a corpus as numbers, and their targets; ``counts`` says what was read."""

    def __init__(self, folder: Path) -> None:
        """Open the files that ``write_material`` has written."""
        self._folder = folder
        self.counts: dict[str, int] = json.loads((folder / "counts.json").read_bytes())
        self._sentences = _open(folder / "sentences", SENTENCE)
        self._ends = _open(folder / "ends", np.dtype("<i8"))
        self._tokens = _open(folder / "tokens", np.dtype("<i4"))

    def digest(self) -> str:
        """Return 16 hexadecimal digits that change with the sentences and targets."""
        digests = [sha256_of(self._folder / name) for name in _FILES]
        return sha256("".join(digests).encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self._sentences)

    def text(self, number: int) -> Tokens:
        """Return the tokens of a text."""
        start = self._ends[number - 1] if number else 0
        tokens: Tokens = self._tokens[start : self._ends[number]]
        return tokens

    def word_counts(self, vocabulary: int) -> Counts:
        """Return how often each word occurs, int64 [vocabulary]."""
        counts = np.zeros(vocabulary, np.int64)
        for start in range(0, len(self._tokens), 1 << 22):
            counts += np.bincount(self._tokens[start : start + (1 << 22)], minlength=vocabulary)
        return counts

    def batch(self, numbers: Rows) -> Batch:
        """Return the sentences of some numbers, with all their targets."""
        rows = self._sentences[numbers]
        after = np.minimum(numbers + 1, len(self) - 1)
        followed = (after > numbers) & self._sentences["follows"][after]
        return Batch(
            [self.text(text) for text in rows["text"]],
            self._texts(rows["text"] - 1, rows["follows"]),
            self._texts(rows["text"] + 1, followed),
            rows["level"].astype(np.int64),
            rows["in_paragraph"].astype(np.int64),
            rows["of_paragraph"].astype(np.int64),
            self._texts(rows["heading"], rows["heading"] >= 0),
            self._texts(rows["title"], rows["title"] >= 0),
        )

    def _texts(self, texts: Rows, present: Flags) -> Texts:
        rows = np.flatnonzero(present).tolist()
        return Texts(rows, [self.text(texts[row]) for row in rows])

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[Rows]:
        """Yield the numbers of the sentences of each batch of an epoch, in random order.

        It depends on nothing else; memory: 16 bytes for each sentence of ``_POOLS`` pools.
        """
        large = _POOLS * _POOL * size
        starts = [*range(0, len(self), large)]
        starts.sort(key=lambda start: keyed_hash(seed, "order", f"{epoch}.{start}"))
        for start in starts:
            key = keyed_hash(seed, "shuffle", f"{epoch}.{start}")
            random = np.random.Generator(np.random.PCG64(key))
            order = start + random.permutation(min(large, len(self) - start))
            for first in range(0, len(order), _POOL * size):
                pool = order[first : first + _POOL * size]
                texts = self._sentences["text"][pool]
                lengths = self._ends[texts] - self._ends[np.maximum(texts - 1, 0)]
                pool = pool[np.argsort(lengths, kind="stable")]
                for cut in random.permutation(np.arange(0, len(pool), size)):
                    yield pool[cut : cut + size]


def write_material(
    folder: Path,
    records: Path,
    training: Training,
    is_held_out: Callable[[str], bool],
    encode: Callable[[list[str]], list[list[int]]],
) -> None:
    """Write the sentences and targets of the documents of train to a folder, replaced whole.

    ``encode`` gives the numbers of the tokens of texts. InputError if an objective has no targets.
    """
    counts = {"documents": 0, "held_out": 0, "sentences": 0, "neighbours": 0, "titles": 0}
    levels, positions = set[int](), set[tuple[int, int]]()

    def held_out(sentence: str) -> bool:
        is_tested = is_held_out(sentence)
        counts["held_out"] += is_tested
        return is_tested

    with whole_folder(folder) as temporary:
        writer = _Writer(temporary, encode)
        for document in training_documents(records):
            counts["documents"] += 1
            title = writer.text(document.title) if document.title else -1
            heading, heading_text = "", -1
            for sentence in sentences_of(document, held_out):
                if sentence.heading != heading:
                    heading = sentence.heading
                    heading_text = writer.text(heading) if heading else -1
                writer.sentence(sentence, heading_text, title)
                counts["sentences"] += 1
                counts["neighbours"] += sentence.follows
                counts["titles"] += title >= 0 or heading_text >= 0
                levels.add(sentence.level)
                positions.add((sentence.in_paragraph, sentence.of_paragraph))
            if training.sentences and counts["sentences"] >= training.sentences:
                break
        writer.close()
        counts |= {"levels": len(levels), "positions": len(positions)}
        _check(counts, training, records)
        (temporary / "counts.json").write_text(json.dumps(counts, indent=2) + "\n", "utf-8")


def training_documents(records: Path) -> Iterator[Document]:
    """Yield the documents of train of a file of records, and show how many were read."""
    with progress(None, "read", "document") as bar:
        for document in read_records(records, "documents"):
            bar.update()
            if isinstance(document, Document) and document.split == "train":
                yield document


class _Writer:
    """Appends to the files of a material."""

    def __init__(self, folder: Path, encode: Callable[[list[str]], list[list[int]]]) -> None:
        self._encode = encode
        self._files = {name: (folder / name).open("wb") for name in _FILES}
        self._texts: list[str] = []
        self._sentences: list[tuple[Any, ...]] = []
        self._written, self._end = 0, 0

    def text(self, text: str) -> int:
        """Add a text; return its number."""
        if len(self._texts) == _CHUNK:
            self._flush()
        self._texts.append(text)
        return self._written + len(self._texts) - 1

    def sentence(self, sentence: Sentence, heading: int, title: int) -> None:
        """Add a sentence, with the numbers of the texts of its titles."""
        number = self.text(sentence.text)
        self._sentences.append((number, *sentence[1:5], heading, title))

    def close(self) -> None:
        """Write the rest, and close the files."""
        self._flush()
        for file in self._files.values():
            file.close()

    def _flush(self) -> None:
        rows = self._encode(self._texts)
        ends = self._end + np.cumsum([len(row) for row in rows], dtype=np.int64)
        tokens = np.fromiter(chain.from_iterable(rows), np.int32, count=int(sum(map(len, rows))))
        self._files["tokens"].write(tokens.tobytes())
        self._files["ends"].write(ends.astype("<i8").tobytes())
        self._files["sentences"].write(np.array(self._sentences, SENTENCE).tobytes())
        self._written += len(rows)
        self._end += len(tokens)
        self._texts, self._sentences = [], []


def _open(path: Path, kind: np.dtype[Any]) -> Any:
    """Return a file of numbers as an array that is not read into memory."""
    return np.asarray(np.memmap(path, kind, "r")) if path.stat().st_size else np.zeros(0, kind)


_NEEDED_COUNTS: dict[Objective, tuple[str, int, str]] = {
    "nsp": ("neighbours", 1, "sentences with a neighbour in their section"),
    "nl": ("levels", 2, "sentences on two levels of headings or more"),
    "spp": ("positions", 2, "sentences at several positions"),
    "sdt": ("titles", 1, "documents or sections with a title"),
}


def _check(counts: dict[str, int], training: Training, records: Path) -> None:
    """Refuse an objective that has no targets in the sentences."""
    if not counts["sentences"]:
        expected = "sentences in documents of train, to learn from"
        found = f"{counts['documents']} documents, {counts['held_out']} sentences, all in tests"
        todo = "read more documents, or name another corpus"
        raise InputError(records, expected, found, todo)
    for name in training.objectives:
        key, minimum, needed = _NEEDED_COUNTS[name]
        if counts[key] < minimum:
            expected = f"{needed}, for the objective {name} ({OBJECTIVES[name]})"
            found = f"{counts[key]} {key} in {counts['sentences']} sentences of train"
            todo = f"remove {name} from `objectives`, or name another corpus"
            raise InputError(records, expected, found, todo)
