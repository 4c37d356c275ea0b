"""Reads the English data of EvalRank: texts, pairs of texts and pairs of words with a score.

Each file is one collection, named in corpus.yaml, without a header, with one item per line: in
sent_evalrank and word_evalrank one text, or two separated by a tab; in word_similarity two words
and a score separated by tabs or spaces::

    pos_pair.txt             a cat sleeps .<TAB>a cat is sleeping .
    background_sent.txt      a cat sleeps .
    EN-MEN-TR-3k.txt         sun sunlight 50.0

Most sentences are in lower case with spaces around punctuation, others are natural text; they are
not changed, because the evaluation is defined on them.
"""

from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.formats.tables import (
    Row,
    collect_examples,
    decoded_lines,
    natural_text,
    parse_score,
)
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files that exist."""
    return existing_members(
        raw, [facts.file for facts in corpus.facts.collections.values()], corpus
    )


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file; ids are <collection>/<line number>.

    Dropped examples: ``same_text``, a positive pair of two equal texts; ``empty_text``.
    """
    (name,) = (n for n, f in corpus.facts.collections.items() if f.file == block.key)
    facts = corpus.facts.collections[name]
    has_score, texts = facts.scale is not None, facts.texts or 0
    count = texts + has_score

    def example(row: Row) -> Example:
        line = row.fields["line"]
        fields = line.split() if has_score else line.split("\t")
        if len(fields) != count:
            item = "two words and a score" if has_score else "two texts and a tab between them"
            raise row.error(item if count > 1 else "one text and no tab", repr(line[:200]))
        pair = tuple(map(natural_text, fields[:texts]))
        # A scored pair may have equal words: tiger and tiger, 10.
        if not has_score and len(set(pair)) < texts:
            raise Dropped("same_text")
        key = f"{name}/{row.line}"
        return Example(
            id=key,
            collection=name,
            texts=pair,
            score=parse_score(fields[-1], name, corpus, row) if has_score else None,
        )

    return collect_examples(decoded_lines(block.read(), block.where), example)
