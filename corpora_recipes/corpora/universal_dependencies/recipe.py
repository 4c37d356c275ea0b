"""Reads treebanks of Universal Dependencies into parsed sentences.

One corpus has one language and one or several of its treebanks (option ``treebanks``), each in a
folder with the name of its repository, as in the releases::

    UD_Spanish-GSD/es_gsd-ud-train.conllu  UD_Spanish-GSD/es_gsd-ud-dev.conllu  …

Splits are the parts of each treebank. If a treebank lacks some, they are carved out of another by
keyed hash of its documents, in shares of 3 : 1 : 1 for train, validation and test:

- train is there, dev is not: validation comes from train (3 : 1);
- dev is there, train is not: train comes from dev (3 : 1), and so does test if it is missing;
- train and dev are there, test is not: test comes from dev (1 : 1);
- there is one part only: all three come from it (3 : 1 : 1). But a treebank that has only a test
  part (PUD) is test as a whole if another treebank of the corpus has other parts.

Documents are those of the comments ``# newdoc`` if the first sentence of a file has one; otherwise
the beginnings of the sentences' ids ("a1" of a1-s3), if all ids have one and none has more than a
tenth of the file; otherwise each sentence is a document, as in treebanks that were shuffled.

Of sentences with the same text (case, punctuation and spaces apart) one stays: in test if it is
there, otherwise in validation. This is decided before the blocks are read, by the comments of all
files (and the words of a sentence whose text is not in a comment); workers parse the rest.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.formats.conllu import (
    Piece,
    decode_entities,
    iter_pieces,
    parse_sentence,
    read_comments,
)
from corpora_recipes.formats.treebanks import is_withheld
from corpora_recipes.hashing import keyed_uniform
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Source, no_files
from corpora_recipes.records import SPLITS, ParsedSentence, Split
from corpora_recipes.running.errors import ParamsError, RawError
from corpora_recipes.running.limits import MOST_SENTENCES
from corpora_recipes.text.cleaning import find_damage, has_markup
from corpora_recipes.text.tokens import sentence_hash
from corpora_recipes.yaml_files import load_yaml

# Beginnings of ids are no documents if one has a larger share of the file: "dev" in dev-1, dev-2 …
MAX_DOCUMENT_SHARE = 0.1
# Of the parts that are carved out of one: 60/20/20, as in Araujo et al. (2022), appendix A.
_SHARES: Mapping[Split, int] = {"train": 3, "validation": 1, "test": 1}
_PARTS: Mapping[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
_NAME = re.compile(r"(?P<treebank>[a-z]{2,3}_\w+)-ud-(?P<part>train|dev|test)\b.*\.conllu")
_IN_DOCUMENT = re.compile(r"(.*\w)[-_.:/]s?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a file before they are parsed, one item of each list a sentence.

    ``treebank`` (such as "es_gsd") and ``part`` (train, dev or test) are from the file's name.
    ``offsets`` are in bytes, with that of the file's end; ``lines`` the numbers of first lines;
    ``marks`` the hashes of texts. A sentence without a document has its id as one. ``repeated`` is
    the index of a repeated sentence to the reason why it is dropped.
    """

    path: Path
    treebank: str
    part: str
    licence: str
    offsets: "array[int]" = field(default_factory=lambda: array("Q"))
    lines: "array[int]" = field(default_factory=lambda: array("Q"))
    marks: "array[int]" = field(default_factory=lambda: array("Q"))
    ids: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    repeated: dict[int, str] = field(default_factory=dict)

    def named(self, key: str) -> str:
        """Return the id of a sentence or a document that is unique in the corpus."""
        return f"{self.treebank}/{self.part}/{key}"


# How much of a file a worker reads at once.
BLOCK_BYTES = 8 << 20
# It is large: it is read when it is needed.
_table = cache(partial(load_yaml, Path(__file__).with_name("treebanks.yaml")))
_FOLDER = re.compile(r"UD_\w+(?:-\w+)?")
_UNKNOWN = "that of the treebank, see LICENSE.txt of {}"


class Treebank(NamedTuple):
    """A treebank: the name of its folder, such as "UD_Spanish-GSD", licence and raw files."""

    repository: str
    licence: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """The id, document and split of a sentence, which are decided before it is parsed."""

    id: str
    document_id: str
    split: Split
    dropped: str  # the reason, "" if it is not


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of a file that follow each other."""

    key: str  # the path in the folder of the corpus, and the number of the first sentence
    path: Path
    treebank: str  # such as "es_gsd"
    licence: str
    offset: int  # of the first sentence, in bytes
    end: int  # of the last sentence, in bytes
    line: int  # the number of the first
    sentences: Sequence[Sentence]


def sources(corpus: Corpus) -> Sequence[Source]:
    """List the files of the treebanks; a mirror may lack some of them."""
    return [source for treebank in chosen_treebanks(corpus) for source in treebank.sources]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Block]:
    """List the sentences of all files, some megabytes to a block."""
    files: Mapping[Path, str] = {
        path: treebank.licence
        for treebank in chosen_treebanks(corpus)
        for source in treebank.sources
        for path in sorted(raw.glob(source.file))
    }
    if not files:
        names = ", ".join(source.file for source in sources(corpus))
        raise no_files(corpus, raw, f"files of treebanks in {corpus.language}: {names}")
    scanned = scan_treebanks(list(files.items()), corpus)
    return [block for file in scanned for block in _blocks(file, raw)]


def _blocks(file: Sentences, raw: Path) -> Iterator[Block]:
    start = 0
    for index in range(1, len(file.ids) + 1):
        if index < len(file.ids) and file.offsets[index] - file.offsets[start] < BLOCK_BYTES:
            continue
        sentences = [
            Sentence(
                file.named(file.ids[i]),
                file.named(file.documents[i]),
                file.splits[i],
                file.repeated.get(i, ""),
            )
            for i in range(start, index)
        ]
        yield Block(
            f"{file.path.relative_to(raw).as_posix()}, {start}",
            file.path,
            file.treebank,
            file.licence,
            file.offsets[start],
            file.offsets[index],
            file.lines[start],
            sentences,
        )
        start = index


def read_block(block: Block, corpus: Corpus) -> BlockResult:
    """Read the sentences of a block.

    A sentence's id is its treebank, part and own id, as in "es_gsd/dev/es-dev-001-s1".
    Dropped: ``duplicate`` and ``in_other_split`` (see above), ``withheld_text`` (underscores for
    words that may not be published), ``markup_left``, the reasons of ``parse_sentence`` and of
    ``find_damage``.
    """
    result = BlockResult()
    parts = iter_pieces(block.path, block.offset, block.end, block.line)
    for plan, piece in zip(block.sentences, parts, strict=True):
        with result.counting("sentences", f"{block.path}, line {piece.first}"):
            if plan.dropped:
                raise Dropped(plan.dropped)
            parsed = parse_sentence(piece, block.path)
            sentence = ParsedSentence(
                plan.id,
                block.treebank,
                plan.document_id,
                parsed.words,
                parsed.tokens,
                block.licence,
                plan.split,
            )
            if is_withheld(sentence.text):
                raise Dropped("withheld_text")
            if reason := find_damage(sentence.text):
                raise Dropped(reason)
            if has_markup(sentence.text):
                raise Dropped("markup_left")
            result.records.append(sentence)
    return result


def chosen_treebanks(corpus: Corpus) -> list[Treebank]:
    """Return the treebanks of an entry: those of its option ``treebanks``, in their order.

    A treebank is named as in the table ("gsd"), or by its folder ("UD_Spanish-GSD"), which need
    not be in the table. If none is named, they are those of the language in the table, without
    the ones that are set apart there.
    """
    listed = _listed_treebanks(corpus.language)
    named = corpus.options["treebanks"]
    if not named:
        return [_treebank(entry) for entry in listed.values() if "apart" not in entry]
    by_folder = {entry["repository"]: name for name, entry in listed.items()}
    chosen = []
    for name in map(str, named):
        key = by_folder.get(name, name)
        if key in listed:
            chosen.append(_treebank(listed[key]))
        elif _FOLDER.fullmatch(name):
            chosen.append(_unlisted_treebank(name))
        else:
            raise _treebanks_error(
                corpus, f"{', '.join(listed)}, or names of folders (UD_…)", repr(name)
            )
    if len({treebank.repository for treebank in chosen}) < len(chosen):
        raise _treebanks_error(corpus, "each treebank once", ", ".join(map(str, named)))
    return chosen


def _treebanks_error(corpus: Corpus, expected: str, found: str) -> ParamsError:
    where = f"{corpus.where}.corpus.treebanks"
    todo = "correct the list, or leave it out for the usual treebanks of the language"
    return ParamsError(where, f"treebanks in {corpus.language}: {expected}", found, todo)


def _treebank(entry: dict[str, Any]) -> Treebank:
    repository, server = entry["repository"], _table()["server"]
    sources = tuple(
        Source(
            file=f"{repository}/{file}",
            urls=(f"{server}/{repository}/{entry['revision']}/{file}",),
            optional=True,
            **pin,
        )
        for file, pin in entry["files"].items()
    )
    return Treebank(repository, entry.get("licence", _UNKNOWN.format(repository)), sources)


def _unlisted_treebank(folder: str) -> Treebank:
    """Return a treebank that is not in the table."""
    return Treebank(folder, _UNKNOWN.format(folder), (Source(file=f"{folder}/*.conllu"),))


def _listed_treebanks(language: str) -> dict[str, dict[str, Any]]:
    """Return the treebanks of a language in the table, by their short names."""
    entries = _table()["languages"].get(language.partition("-")[0], {})
    return {name: {"revision": _table()["release"]} | entry for name, entry in entries.items()}


# --- documents, splits and repetitions -----------------------------------------------------------


def scan_treebanks(files: Sequence[tuple[Path, str]], corpus: Corpus) -> list[Sentences]:
    """Find documents, splits and repetitions in the files, each with the licence of its texts."""
    scanned: list[Sentences] = []
    for path, licence in files:
        scanned.append(_scan_file(path, licence, MOST_SENTENCES - sum(len(s.ids) for s in scanned)))
    _assign_splits(scanned, corpus)
    _find_repeated(scanned)
    return scanned


def _scan_file(path: Path, licence: str, most: int) -> Sentences:
    name = _NAME.fullmatch(path.name)
    if name is None:
        expected = "a name such as es_gsd-ud-train.conllu (with train, dev or test)"
        raise RawError(path, expected, path.name, "rename the file, or move it away")
    file = Sentences(path, name["treebank"], name["part"], licence)
    document = ""
    for piece in iter_pieces(path):
        if len(file.ids) == most:
            expected = f"at most {MOST_SENTENCES:,} sentences in a corpus"
            raise RawError(path, expected, "more", "name fewer treebanks under `treebanks`")
        notes = read_comments(piece)
        file.ids.append(notes.get("sent_id") or f"@{len(file.ids) + 1}")
        for key in ("newdoc id", "newdoc_id", "newdoc"):
            if key in notes:
                document = notes[key] or file.ids[-1]
                break
        file.documents.append(document)
        file.offsets.append(piece.offset)
        file.lines.append(piece.first)
        file.marks.append(sentence_hash(decode_entities(notes.get("text") or _forms(piece))))
    file.offsets.append(path.stat().st_size)
    if file.documents and not file.documents[0]:
        file.documents[:] = _documents_of_ids(file.ids) or file.ids
    return file


def _forms(piece: Piece) -> str:
    """Return the forms of a sentence's words and ranges."""
    columns = [raw.split(b"\t", 2) for raw in piece.lines if not raw.startswith(b"#")]
    return b" ".join(c[1] for c in columns if len(c) > 1).decode(errors="replace")


def _documents_of_ids(ids: Sequence[str]) -> list[str]:
    """Return the documents that the beginnings of the sentences' ids name; empty if they do not."""
    matches = [_IN_DOCUMENT.fullmatch(key) for key in ids]
    documents = [match[1] for match in matches if match]
    if len(documents) < len(ids):
        return []
    largest = max(Counter(documents).values())
    return documents if largest <= MAX_DOCUMENT_SHARE * len(ids) else []


def _assign_splits(files: Sequence[Sentences], corpus: Corpus) -> None:
    """Decide the split of each sentence: the treebank's part, or one that is carved out of it."""
    parts: defaultdict[str, set[Split]] = defaultdict(set)
    for file in files:
        if file.ids:
            parts[file.treebank].add(_PARTS[file.part])
    only_tests = all(splits == {"test"} for splits in parts.values())
    for file in files:
        has = parts[file.treebank]
        part = _PARTS[file.part]
        splits = (part,) if has == {"test"} and not only_tests else _carve_splits(part, has)
        point_of = {
            document: keyed_uniform(corpus.seed, corpus.name, file.named(document), "split")
            for document in set(file.documents if len(splits) > 1 else ())
        }
        for document in file.documents:
            file.splits.append(_split_at(point_of.get(document, 0.0), splits))


def _carve_splits(part: Split, parts: set[Split]) -> tuple[Split, ...]:
    """Return the splits that a part of a treebank goes to, which has these ``parts``."""
    missing = [split for split in SPLITS if split not in parts]
    if len(parts) == 1:
        return SPLITS
    giving: Split = "train" if missing == ["validation"] else "validation"
    return tuple(s for s in SPLITS if s == part or (part == giving and s in missing))


def _split_at(point: float, splits: Sequence[Split]) -> Split:
    """Return the split at a point of [0, 1) that splits share as ``_SHARES`` says."""
    below = 0.0
    total = sum(_SHARES[split] for split in splits)
    for split in splits[:-1]:
        below += _SHARES[split] / total
        if point < below:
            return split
    return splits[-1]


def _find_repeated(files: Sequence[Sentences]) -> None:
    """Keep one of the sentences with the same text: one in test, else in validation, else any."""
    seen: dict[int, Split] = {}
    for split in reversed(SPLITS):
        for file in files:
            for index, text in enumerate(file.marks):
                if file.splits[index] != split:
                    continue
                if text in seen:
                    reason = "duplicate" if seen[text] == split else "in_other_split"
                    file.repeated[index] = reason
                seen.setdefault(text, split)
