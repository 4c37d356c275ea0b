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
there, otherwise in validation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.corpora.universal_dependencies.scanning import Sentences, look_through
from corpora_recipes.facts import Source
from corpora_recipes.formats.conllu import parse, pieces
from corpora_recipes.formats.treebanks import is_withheld
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import ParsedSentence, Split
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.yaml_text import load_yaml
from corpora_recipes.text.cleaning import damage, has_markup

# How much of a file a worker reads at once.
BLOCK_BYTES = 8 << 20
_TABLE = Path(__file__).with_name("treebanks.yaml")
_FOLDER = re.compile(r"UD_\w+(?:-\w+)?")
_UNKNOWN = "that of the treebank, see LICENSE.txt of {}"


class Treebank(NamedTuple):
    """A treebank: the name of its folder, such as "UD_Spanish-GSD", licence and raw files."""

    repository: str
    licence: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is known of a sentence before it is parsed."""

    id: str
    document_id: str
    split: Split
    dropped: str  # why, "" if it is not


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
    scanned = look_through(list(files.items()), corpus)
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
    words that may not be published), ``markup_left``, the reasons of ``parse`` and of
    ``damage``.
    """
    result = BlockResult()
    parts = pieces(block.path, block.offset, block.end, block.line)
    for known, piece in zip(block.sentences, parts, strict=True):
        with result.counting("sentences"):
            if known.dropped:
                raise Dropped(known.dropped)
            parsed = parse(piece, block.path)
            sentence = ParsedSentence(
                known.id,
                block.treebank,
                known.document_id,
                parsed.words,
                parsed.tokens,
                block.licence,
                known.split,
            )
            if is_withheld(sentence.text):
                raise Dropped("withheld_text")
            if reason := damage(sentence.text):
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
    known = _known(corpus.language)
    named = corpus.options["treebanks"]
    if not named:
        return [_treebank(entry) for entry in known.values() if "apart" not in entry]
    by_folder = {entry["repository"]: name for name, entry in known.items()}
    chosen = []
    for name in map(str, named):
        key = by_folder.get(name, name)
        if key in known:
            chosen.append(_treebank(known[key]))
        elif _FOLDER.fullmatch(name):
            chosen.append(_any_other(name))
        else:
            raise _error(corpus, f"{', '.join(known)}, or names of folders (UD_…)", repr(name))
    if len({treebank.repository for treebank in chosen}) < len(chosen):
        raise _error(corpus, "each treebank once", ", ".join(map(str, named)))
    return chosen


def _error(corpus: Corpus, expected: str, found: str) -> ParamsError:
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


def _any_other(folder: str) -> Treebank:
    """Return a treebank that is not in the table."""
    return Treebank(folder, _UNKNOWN.format(folder), (Source(file=f"{folder}/*.conllu"),))


def _known(language: str) -> dict[str, dict[str, Any]]:
    """Return the treebanks of a language in the table, by their short names."""
    entries = _table()["languages"].get(language.partition("-")[0], {})
    return {name: {"revision": _table()["release"]} | entry for name, entry in entries.items()}


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load_yaml(_TABLE)
    return table
