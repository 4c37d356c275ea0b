"""Reads the .rs3 files of the RST Spanish Treebank into discourse trees.

The folder holds ``train/*.rs3`` and ``test/annotator-a/*.rs3``. The second annotation of the test
texts, ``test/annotator-b``, is never read: the published benchmark used it for validation, so that
its validation and test were the same texts. Here validation texts come from ``train``.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from corpora_recipes.formats import treebanks
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Split

VALIDATION_SHARE = 1 / 6

_LOST_CHARACTER = re.compile(r"[^\W\d_]\?[^\W\d_]")


def blocks(raw: Path, corpus: Corpus) -> Sequence[treebanks.Texts]:
    """List the files of the sources that corpus.yaml names, a few to a block."""
    texts: list[treebanks.Texts] = []
    for source in corpus.facts.sources:
        names = sorted(path.relative_to(raw).as_posix() for path in raw.glob(source.file))
        if not names:
            raise no_files(corpus, raw / source.file, "RSTTool files of the RST Spanish Treebank")
        texts += treebanks.group_in_blocks(raw, corpus.recipe, names, _splits(raw, names, corpus))
    return texts


def _splits(raw: Path, names: Sequence[str], corpus: Corpus) -> dict[str, Split]:
    """Return the splits: a sixth of the training texts, at least one, is for validation."""
    train = [name.removesuffix(".rs3") for name in names if name.startswith("train/")]
    edus = {key: treebanks.read_edus(raw / f"{key}.rs3") for key in train}
    number = max(1, round(VALIDATION_SHARE * len(train)))
    validation = treebanks.choose_held_out(train, number, corpus, "validation", edus)
    return {
        name: "test"
        if name.startswith("test/")
        else "validation"
        if name.removesuffix(".rs3") in validation
        else "train"
        for name in names
    }


def read_block(block: treebanks.Texts, corpus: Corpus) -> BlockResult:
    """Read the files of a block.

    A tree's id is the file's path without its suffix, such as "train/as00001". The trees of
    ``test`` are the test split; a sixth of the others, by keyed hash, is for validation.
    Dropped documents: ``crossing`` and ``irregular`` (see ``read_rs3``), ``single_edu`` (nothing
    to relate), ``lost_character`` (a question mark inside a word replaces a character that could
    not be encoded). Dropped EDUs: ``unrelated_title``.
    """
    result = BlockResult()
    for name in block.names:
        with result.counting("documents", str(block.raw / name)):
            tree, titles = treebanks.read_rs3(block.raw / name)
            result.drops.seen["edus"] += len(tree.edus) + titles
            result.drops.dropped["edus", "unrelated_title"] += titles
            if len(tree.edus) == 1:
                raise Dropped("single_edu")
            if any(map(_LOST_CHARACTER.search, tree.edus)):
                raise Dropped("lost_character")
            key = name.removesuffix(".rs3")
            result.records.append(replace(tree, id=key, split=block.splits[name]))
    return result
