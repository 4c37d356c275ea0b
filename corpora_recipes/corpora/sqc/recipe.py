"""Reads the two files of SQC, one question per line: ``COARSE:fine question``.

The classes are those of Li and Roth (2002); the fine one may be missing: ``NUM: ¿ Cuantos … ?``.
Questions are tokenised, with spaces between tokens.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Example, Split
from corpora_recipes.text.tokens import detokenize

FILES: dict[str, Split] = {"train.txt": "train", "test.txt": "test"}

_LINE = re.compile(r"(?P<coarse>[^\s:]+):(?P<fine>\S*)(?: +(?P<question>.*))?")
_EXPECTED = "a class, a colon, a fine class or nothing, a space and a question"


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files that exist."""
    return existing_members(raw, FILES, corpus)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file into examples of the collection ``questions``, in natural text.

    An example's id consists of split and line number, such as "questions/train/17". Dropped
    examples: ``empty_text``.
    """
    split = FILES[block.key]

    def example(row: tables.Row) -> Example:
        key = f"questions/{split}/{row.line}"
        return Example(
            id=key,
            collection="questions",
            texts=(tables.natural_text(detokenize(row.fields["question"], corpus.language)),),
            label=tables.parse_class(row.fields["coarse"], "questions", corpus, row),
            columns={"fine_class": row.fields["fine"]},
            split=split,
        )

    return tables.collect_examples(
        tables.matched_rows(block.read(), block.where, _LINE, _EXPECTED), example
    )
