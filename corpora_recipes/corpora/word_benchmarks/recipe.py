"""Reads word benchmarks: analogies, and words by category.

Each file is a CSV and one collection, named in corpus.yaml; its first column numbers the rows::

    google-analogies.csv    ,type,word1,word2,word3,target
                            0,family,boy,girl,brother,sister
    bless.csv               ,category,word
                            0,tree,oak

The word of a category may have several parts. Files of categories have a row without a word at the
end of a category, which is no item of the benchmark.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.formats.tables import Row, collect_examples, csv_rows, natural_text
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import TWO_DOCUMENTS, Example
from corpora_recipes.running.errors import RawError

ANALOGY = ("word1", "word2", "word3", "target")


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files that exist."""
    return existing_members(raw, [f.file for f in corpus.facts.collections.values()], corpus)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file; ids are <collection>/<line number>.

    The documents of an analogy are its two pairs, in their type; that of a word is the word.

    Dropped examples: ``empty_text``.
    """
    (name,) = (n for n, f in corpus.facts.collections.items() if f.file == block.key)
    classed = corpus.facts.collections[name].labels is not None
    columns = ("category", "word") if classed else ("type", *ANALOGY)

    def header(found: Sequence[str], where: str) -> list[str]:
        if tuple(each.strip() for each in found[1:]) != columns:
            expected = f"a column of row numbers, and the columns {', '.join(columns)}"
            raise RawError(where, expected, ", ".join(found)[:200] or "none")
        return ["", *columns]

    def example(row: Row) -> Example:
        kind = row.filled(columns[0])
        words = tuple(natural_text(row.fields[column]) for column in columns[1:])
        documents = [f"{name}/{kind}/{':'.join(words[n : n + 2])}" for n in (0, 2)]
        return Example(
            id=f"{name}/{row.line}",
            collection=name,
            texts=words,
            label=kind.replace(" ", "_") if classed else None,
            score=None,
            document_id=f"{name}/{words[0]}" if classed else TWO_DOCUMENTS.join(documents),
            columns={} if classed else {"type": kind},
        )

    return collect_examples(csv_rows(BytesIO(block.read()), block.where, header), example)
