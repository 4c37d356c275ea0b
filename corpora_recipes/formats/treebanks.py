"""Shared by recipes of treebanks: which of several is read, and which split a text belongs to."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from corpora_recipes.facts import ANY_TREEBANK, Source, TreebankFacts
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Split
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import read_whole
from corpora_recipes.text.cleaning import nfc

FILES_A_BLOCK = 32

# As GUM and DISRPT name splits. GUM has a "test2" too, of further genres, which is not used.
PARTS: Mapping[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
_HEADING = re.compile(r"#+\s*(.*?)\s*")
_ITEM = re.compile(r"\s*[*-]\s+(\S+)\s*")


class IrregularError(RawError):
    """The parts of a node are neither nuclei of one relation nor one nucleus with satellites."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A block: some annotated texts of a treebank."""

    key: str  # the first of the names
    raw: Path
    treebank: str  # its name in corpus.yaml
    names: tuple[str, ...]  # paths of the annotations in ``raw``
    splits: Mapping[str, Split]  # by name; a text without one is not used


def possible_treebanks(corpus: Corpus) -> dict[str, TreebankFacts]:
    """Return the treebanks that an entry can mean: the one it names, or all of its language."""
    named, language = corpus.options["treebank"], corpus.language.partition("-")[0]
    return {
        name: facts
        for name, facts in corpus.facts.treebanks.items()
        if named == name or (named == ANY_TREEBANK and facts.language == language)
    }


def treebank_sources(corpus: Corpus) -> list[Source]:
    """Return the raw files of the treebanks that an entry can mean; none of several is needed."""
    possible = possible_treebanks(corpus)
    listed = [source for facts in possible.values() for source in facts.sources]
    return [replace(s, optional=True) for s in listed] if len(possible) > 1 else listed


def find_treebank(raw: Path, corpus: Corpus) -> tuple[str, list[str]]:
    """Find the first treebank that an entry can mean and that is in a folder.

    Returns:
        Its name, and the paths in the folder of the files that match its patterns, sorted within
        each pattern; or of all its files, if it has no patterns.
    """
    possible = possible_treebanks(corpus)
    for name, facts in possible.items():
        exact = [source.file for source in facts.sources]
        patterns = [source.file for source in facts.sources if source.is_pattern] or exact
        found = [sorted(path.relative_to(raw).as_posix() for path in raw.glob(p)) for p in patterns]
        if any(found):
            return name, list(chain.from_iterable(found))
    files = {
        name: ", ".join(source.file for source in facts.sources) for name, facts in possible.items()
    }
    expected = "; or ".join(f"{name}: {names}" for name, names in files.items())
    raise no_files(corpus, raw, expected or f"a treebank in {corpus.language}")


def in_blocks(
    raw: Path, treebank: str, names: Sequence[str], splits: Mapping[str, Split]
) -> list[Texts]:
    """Return texts as blocks of ``FILES_A_BLOCK``, each with the splits of its texts."""
    chunks = (tuple(names[i : i + FILES_A_BLOCK]) for i in range(0, len(names), FILES_A_BLOCK))
    return [
        Texts(some[0], raw, treebank, some, {name: splits[name] for name in some if name in splits})
        for some in chunks
    ]


def held_out(keys: Collection[str], number: int, corpus: Corpus, part: str) -> frozenset[str]:
    """Choose ``number`` texts for a part by keyed hash; one text less changes one at most."""
    order = sorted(keys, key=lambda key: keyed_hash(corpus.seed, corpus.name, key, part))
    return frozenset(order[:number])


def carved(keys: Collection[str], corpus: Corpus) -> dict[str, Split]:
    """Return key to split for texts without official splits: a fifth, one or more, for each test.

    Validation and test have a fifth of the texts each (60/20/20, as Araujo et al. 2022, appendix
    A), chosen by keyed hash, so that even a few texts give three splits.
    """
    number = max(1, round(len(keys) / 5))
    test = held_out(keys, number, corpus, "test")
    validation = held_out(set(keys) - test, number, corpus, "validation")
    return {
        key: "test" if key in test else "validation" if key in validation else "train"
        for key in keys
    }


def listed_splits(path: Path) -> dict[str, Split]:
    """Return the split of each text in a list in Markdown, as GUM has it (splits.md).

    It has the headings ``## train``, ``## dev`` and ``## test``, each with a list of names below;
    texts below other headings belong to no split.
    """
    splits = dict(_items(path))
    if missing := [name for name, split in PARTS.items() if split not in splits.values()]:
        expected = f"a list of texts below each of ## {', ## '.join(PARTS)}"
        raise RawError(path, expected, f"none below {', '.join(missing)}")
    return splits


def _items(path: Path) -> Iterator[tuple[str, Split]]:
    split: Split | None = None
    for line in read_text(path).removeprefix("\ufeff").splitlines():
        if heading := _HEADING.fullmatch(line):
            split = PARTS.get(heading[1].lower())
        elif split and (item := _ITEM.fullmatch(line)):
            yield item[1], split


def read_text(path: Path) -> str:
    """Return a text in UTF-8, or if it is not UTF-8 in windows-1252, each line end as a line feed.

    A byte order mark stays: TED-MDB counts it as a character.
    """
    data = read_whole(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError as error:
            found = f"byte 0x{data[error.start]:02X} at offset {error.start}"
            raise RawError(path, "text in UTF-8 or windows-1252", found) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def clean_text(text: str, where: Path | str) -> str:
    """Return a text in NFC and with single spaces; ``where`` is its place, for messages.

    C1 control characters are replaced by the windows-1252 characters of the same code: they come
    from windows-1252 text that was decoded as ISO-8859-1.
    """
    # Before splitting: U+0085 is a line break for Python and an ellipsis in windows-1252.
    try:
        repaired = re.sub("[\x80-\x9f]", lambda c: c[0].encode("latin-1").decode("cp1252"), text)
    except UnicodeDecodeError as error:
        found = f"U+{error.object[error.start]:04X}, which windows-1252 has not either"
        raise RawError(where, "text without control characters", found) from None
    return nfc(" ".join(repaired.split()))


def is_withheld(text: str) -> bool:
    """Return whether a text is underscores that stand for words which may not be published."""
    return "_" in text and not any(map(str.isalnum, text))
