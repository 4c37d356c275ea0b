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
from corpora_recipes.running.errors import InputError
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

    Attributes:
        path: the file.
        treebank: such as "es_gsd", from its name.
        part: the treebank's own, from its name: train, dev or test.
        licence: of the texts.
        offsets: of each sentence, in bytes; then that of the end of the file.
        lines: number of the first line of each sentence.
        marks: the hash of each sentence's text.
        ids: of the sentences, in the file.
        documents: of each sentence, in the file; its own id if it is a document of its own.
        splits: of each sentence.
        repeated: index of a sentence that is there again to the reason why it is dropped.
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

    def named(self, own: str) -> str:
        """Return the id of a sentence or a document that is unique in the corpus."""
        return f"{self.treebank}/{self.part}/{own}"


def look_through(files: Sequence[tuple[Path, str]], corpus: Corpus) -> list[Sentences]:
    """Look through the files of the treebanks of a corpus.

    Args:
        files: each with the licence of its texts.
        corpus: the entry.

    Raises:
        InputError: a file has another name than in Universal Dependencies, or comments that are
            not in UTF-8; or there are too many sentences.
    """
    found: list[Sentences] = []
    for path, licence in files:
        found.append(_scanned(path, licence, MOST_SENTENCES - sum(len(f.ids) for f in found)))
    _assign_splits(found, corpus)
    _find_repeated(found)
    return found


def _scanned(path: Path, licence: str, most: int) -> Sentences:
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise InputError(
            path,
            expected="a name such as es_gsd-ud-train.conllu (with train, dev or test)",
            found=path.name,
            todo="rename the file, or move it away",
        )
    found = Sentences(path, name["treebank"], name["part"], licence)
    document = ""
    for piece in pieces(path):
        if len(found.ids) == most:
            raise InputError(
                path,
                expected=f"at most {MOST_SENTENCES:,} sentences in a corpus",
                found="more",
                todo="name fewer treebanks under `treebanks`",
            )
        said = comments(piece, path)
        found.ids.append(said.get("sent_id") or f"@{len(found.ids) + 1}")
        for key in ("newdoc id", "newdoc_id", "newdoc"):
            if key in said:
                document = said[key] or found.ids[-1]
                break
        found.documents.append(document)
        found.offsets.append(piece.offset)
        found.lines.append(piece.first)
        found.marks.append(mark(said.get("text") or _forms(piece)))
    found.offsets.append(path.stat().st_size)
    if found.documents and not found.documents[0]:
        found.documents[:] = _by_ids(found.ids) or found.ids
    return found


def _forms(piece: Piece) -> str:
    """Return the forms of a sentence's words and ranges."""
    columns = [raw.split(b"\t", 2) for raw in piece.lines if not raw.startswith(b"#")]
    return b" ".join(c[1] for c in columns if len(c) > 1).decode(errors="replace")


def _by_ids(ids: Sequence[str]) -> list[str]:
    """Return the documents that the beginnings of the sentences' ids name; none if they do not."""
    matches = [_IN_DOCUMENT.fullmatch(own) for own in ids]
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
    only_tests = all(own == {"test"} for own in parts.values())
    for file in files:
        own = parts[file.treebank]
        part = _PARTS[file.part]
        splits = (part,) if own == {"test"} and not only_tests else _carved(part, own)
        point_of = {
            document: keyed_uniform(corpus.seed, corpus.name, file.named(document), "split")
            for document in set(file.documents if len(splits) > 1 else ())
        }
        for document in file.documents:
            file.splits.append(_at(point_of.get(document, 0.0), splits))


def _carved(part: Split, parts: set[Split]) -> tuple[Split, ...]:
    """Return the splits that a part of a treebank goes to.

    Args:
        part: the part.
        parts: all that the treebank has.
    """
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
            for index, (own, text) in enumerate(zip(file.splits, file.marks, strict=True)):
                if own != split:
                    continue
                if text in seen:
                    reason = "duplicate" if seen[text] == split else "in_other_split"
                    file.repeated[index] = reason
                seen.setdefault(text, split)
