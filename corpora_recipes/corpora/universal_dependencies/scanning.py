"""Looks through the files of treebanks: documents, splits, and sentences that are repeated.

Only comments are read here, and the words of a sentence whose text is not among them; workers
parse the rest.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from corpora_recipes.formats.conllu import Piece, comments, pieces
from corpora_recipes.hashing import keyed_uniform
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import MOST_SENTENCES
from corpora_recipes.text.same_text import mark

# Beginnings of ids are no documents if one has a larger share of the file: "dev" in dev-1, dev-2 …
LARGEST_DOCUMENT = 0.1
# Of the parts that are carved out of one: 60/20/20, as in Araujo et al. (2022), appendix A.
_SHARES: Mapping[Split, int] = {"train": 3, "validation": 1, "test": 1}
_PARTS: Mapping[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
_NAME = re.compile(r"(?P<treebank>[a-z]{2,3}_\w+)-ud-(?P<part>train|dev|test)\b.*\.conllu")
_IN_DOCUMENT = re.compile(r"(.*\w)[-_.:/]s?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a file, each with what is known before it is parsed.

    ``treebank`` (such as "es_gsd") and ``part`` (train, dev or test) are from the file's name.
    ``offsets`` are in bytes, with that of the file's end; ``lines`` the numbers of first lines;
    ``marks`` the hashes of texts. A sentence without a document has its id as one. ``repeated`` is
    the index of a sentence that is there again to the reason why it is dropped.
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


def look_through(files: Sequence[tuple[Path, str]], corpus: Corpus) -> list[Sentences]:
    """Look through the files of the treebanks of a corpus, each with the licence of its texts."""
    scanned: list[Sentences] = []
    for path, licence in files:
        scanned.append(_scanned(path, licence, MOST_SENTENCES - sum(len(s.ids) for s in scanned)))
    _assign_splits(scanned, corpus)
    _find_repeated(scanned)
    return scanned


def _scanned(path: Path, licence: str, most: int) -> Sentences:
    name = _NAME.fullmatch(path.name)
    if name is None:
        expected = "a name such as es_gsd-ud-train.conllu (with train, dev or test)"
        raise RawError(path, expected, path.name, "rename the file, or move it away")
    file = Sentences(path, name["treebank"], name["part"], licence)
    document = ""
    for piece in pieces(path):
        if len(file.ids) == most:
            expected = f"at most {MOST_SENTENCES:,} sentences in a corpus"
            raise RawError(path, expected, "more", "name fewer treebanks under `treebanks`")
        notes = comments(piece, path)
        file.ids.append(notes.get("sent_id") or f"@{len(file.ids) + 1}")
        for key in ("newdoc id", "newdoc_id", "newdoc"):
            if key in notes:
                document = notes[key] or file.ids[-1]
                break
        file.documents.append(document)
        file.offsets.append(piece.offset)
        file.lines.append(piece.first)
        file.marks.append(mark(notes.get("text") or _forms(piece)))
    file.offsets.append(path.stat().st_size)
    if file.documents and not file.documents[0]:
        file.documents[:] = _by_ids(file.ids) or file.ids
    return file


def _forms(piece: Piece) -> str:
    """Return the forms of a sentence's words and ranges."""
    columns = [raw.split(b"\t", 2) for raw in piece.lines if not raw.startswith(b"#")]
    return b" ".join(c[1] for c in columns if len(c) > 1).decode(errors="replace")


def _by_ids(ids: Sequence[str]) -> list[str]:
    """Return the documents that the beginnings of the sentences' ids name; none if they do not."""
    matches = [_IN_DOCUMENT.fullmatch(key) for key in ids]
    documents = [match[1] for match in matches if match]
    if len(documents) < len(ids):
        return []
    largest = max(Counter(documents).values())
    return documents if largest <= LARGEST_DOCUMENT * len(ids) else []


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
        splits = (part,) if has == {"test"} and not only_tests else _carved(part, has)
        point_of = {
            document: keyed_uniform(corpus.seed, corpus.name, file.named(document), "split")
            for document in set(file.documents if len(splits) > 1 else ())
        }
        for document in file.documents:
            file.splits.append(_at(point_of.get(document, 0.0), splits))


def _carved(part: Split, parts: set[Split]) -> tuple[Split, ...]:
    """Return the splits that a part of a treebank goes to, which has these ``parts``."""
    missing = [split for split in SPLITS if split not in parts]
    if len(parts) == 1:
        return SPLITS
    giving: Split = "train" if missing == ["validation"] else "validation"
    return tuple(s for s in SPLITS if s == part or (part == giving and s in missing))


def _at(point: float, splits: Sequence[Split]) -> Split:
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
