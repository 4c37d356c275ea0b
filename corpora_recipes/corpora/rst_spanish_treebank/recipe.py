"""Reads the .rs3 files of the RST Spanish Treebank into discourse trees.

The folder holds ``train/*.rs3`` and ``test/annotator-a/*.rs3``. The second annotation of the test
texts, ``test/annotator-b``, is never read: the published benchmark used it for validation, so that
its validation and test were the same texts. Here validation texts come from ``train``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpora_recipes.formats.rs3 import CrossingError, read_rs3_and_titles
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError

FILES_A_BLOCK = 32
VALIDATION_SHARE = 1 / 6

_LOST_CHARACTER = re.compile(r"[^\W\d_]\?[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Files:
    """A block: some files of the treebank.

    Attributes:
        key: the first of the names.
        raw: the folder of the raw corpus.
        names: paths in that folder, such as "train/as00001.rs3".
        validation: the names of the validation texts.
    """

    key: str
    raw: Path
    names: tuple[str, ...]
    validation: frozenset[str]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Files]:
    """List the files of the sources that corpus.yaml names, a few to a block.

    Raises:
        InputError: no file of one of the sources was found.
    """
    found: list[Files] = []
    for source in corpus.facts.sources:
        names = sorted(path.relative_to(raw).as_posix() for path in raw.glob(source.file))
        if not names:
            raise InputError(
                raw / source.file,
                expected="RSTTool files of the RST Spanish Treebank",
                found="none",
                todo=" ".join(corpus.facts.manual.split()),
            )
        validation = _validation(names, corpus)
        chunks = (names[i : i + FILES_A_BLOCK] for i in range(0, len(names), FILES_A_BLOCK))
        found += [
            Files(chunk[0], raw, tuple(chunk), validation.intersection(chunk)) for chunk in chunks
        ]
    return found


def _validation(names: Sequence[str], corpus: Corpus) -> frozenset[str]:
    """Choose the validation texts by keyed hash: a sixth of the training texts, at least one."""
    train = [name for name in names if name.startswith("train/")]
    train.sort(
        key=lambda n: keyed_hash(corpus.seed, corpus.name, n.removesuffix(".rs3"), "validation")
    )
    return frozenset(train[: max(1, round(VALIDATION_SHARE * len(train)))])


def read_block(block: Files, corpus: Corpus) -> BlockResult:
    """Read the files of a block.

    A tree's id is the file's path without its suffix, such as "train/as00001". The trees of
    ``test`` are the test split; a sixth of the others, by keyed hash, is for validation.
    Dropped documents: ``crossing`` (see ``read_rs3``), ``single_edu`` (nothing to relate),
    ``lost_character`` (a question mark inside a word replaces a character that could not be
    encoded). Dropped EDUs: ``unrelated_title``.

    Raises:
        InputError: a file is damaged.
    """
    result = BlockResult()
    for name in block.names:
        result.drops.seen["documents"] += 1
        try:
            tree, titles = read_rs3_and_titles(block.raw / name)
        except CrossingError:
            result.drops.dropped["documents", "crossing"] += 1
            continue
        result.drops.seen["edus"] += len(tree.edus) + titles
        result.drops.dropped["edus", "unrelated_title"] += titles
        if len(tree.edus) == 1:
            result.drops.dropped["documents", "single_edu"] += 1
            continue
        if any(_LOST_CHARACTER.search(edu) for edu in tree.edus):
            result.drops.dropped["documents", "lost_character"] += 1
            continue
        key = name.removesuffix(".rs3")
        split: Split = "validation" if name in block.validation else "train"
        if name.startswith("test/"):
            split = "test"
        result.records.append(replace(tree, id=key, split=split))
    return result
