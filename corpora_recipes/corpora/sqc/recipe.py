"""Reads the two files of SQC, one question per line: ``COARSE:fine question``.

The classes are those of Li and Roth (2002); the fine one may be missing: ``NUM: ¿ Cuantos … ?``.
Questions are tokenised, with spaces between tokens.
"""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

from corpora_recipes.formats.archives import Member, members
from corpora_recipes.formats.examples import class_of, collect, natural
from corpora_recipes.formats.tables import Row, decoded_lines
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Example, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.detokenizing import detokenize

FILES: dict[str, Split] = {"train.txt": "train", "test.txt": "test"}

_LINE = re.compile(r"([^\s:]+):(\S*)(?: +(.*))?")


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files that exist.

    Raises:
        InputError: no file was found.
    """
    found = [block for n in FILES if (raw / n).is_file() for block in members(raw / n, raw)]
    if not found:
        raise InputError(
            raw, expected=f"the files {', '.join(FILES)}", found="none", todo="fetch them again"
        )
    return found


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file into examples of the collection ``questions``, in natural text.

    An example's id consists of split and line number, such as "questions/train/17". Dropped
    examples: ``empty_text``.

    Raises:
        InputError: a line does not begin with a class and a colon, the class is unknown, or the
            line is not in UTF-8.
    """
    split = FILES[block.key]

    def example(row: Row) -> Example:
        key = f"questions/{split}/{row.line}"
        return Example(
            id=key,
            collection="questions",
            texts=(natural(detokenize(row.fields["question"], corpus.language)),),
            label=class_of(row.fields["coarse"], "questions", corpus, row),
            score=None,
            document_id=key,
            columns={"fine_class": row.fields["fine"]},
            split=split,
        )

    return collect(_rows(block), example)


def _rows(block: Member) -> Iterator[Row]:
    for number, line in decoded_lines(BytesIO(block.read()), block.where):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise InputError(
                f"{block.where}, line {number}",
                expected="a class, a colon, a fine class or nothing, a space and a question",
                found=repr(line[:200]),
                todo="take the file as its publisher gives it",
            )
        coarse, fine, question = parts.groups(default="")
        fields = {"coarse": coarse, "fine": fine, "question": question}
        yield Row(block.where, number, fields)
