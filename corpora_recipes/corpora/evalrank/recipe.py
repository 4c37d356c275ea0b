"""Reads the English data of EvalRank: texts, pairs of texts and pairs of words with a score.

Each file is one collection, without a header, one item a line, and corpus.yaml says which. In
sent_evalrank and word_evalrank a text, or two with a tab between them; in word_similarity two words
and a score between tabs or blanks::

    pos_pair.txt             a cat sleeps .<TAB>a cat is sleeping .
    background_sent.txt      a cat sleeps .
    EN-MEN-TR-3k.txt         sun sunlight 50.0

Most sentences stand in lower case and with blanks around punctuation, others are natural; they are
let be, because the evaluation is defined on them.
"""

from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.archives import Member, members
from corpora_recipes.errors import InputError
from corpora_recipes.examples import collect, natural, score_of
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.tables import Row, decoded_lines


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files that are there.

    Raises:
        InputError: there is none.
    """
    names = [facts["file"] for facts in corpus.facts["collections"].values()]
    found = [member for n in names if (raw / n).is_file() for member in members(raw / n, raw)]
    if not found:
        raise InputError(
            raw,
            expected=f"at least one of {', '.join(names)}",
            found="none of them",
            todo="fetch them, or put them there under these names",
        )
    return found


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file; ids are <collection>/<number of the line>.

    Dropped examples: ``same_text``, a pair that should mean the same and is one text twice;
    ``empty_text``.

    Raises:
        InputError: a line has another number of texts than those of the collection, or a score that
            is not on its scale.
    """
    (name,) = (n for n, f in corpus.facts["collections"].items() if f["file"] == block.key)
    facts = corpus.facts["collections"][name]
    has_score, texts = "scale" in facts, facts["texts"]
    count = texts + has_score

    def example(row: Row) -> Example:
        line = row.fields["line"]
        fields = line.split() if has_score else line.split("\t")
        if len(fields) != count:
            what = "two words and a score" if has_score else "two texts and a tab between them"
            raise row.error(what if count > 1 else "one text and no tab", repr(line[:200]))
        pair = tuple(map(natural, fields[:texts]))
        # Of a scored pair equal words are an item like any other: tiger and tiger, 10.
        if not has_score and len(set(pair)) < texts:
            raise Dropped("same_text")
        key = f"{name}/{row.where.rpartition(' ')[2]}"
        return Example(
            id=key,
            collection=name,
            texts=pair,
            label=None,
            score=score_of(fields[-1], name, corpus, row) if has_score else None,
            document_id=key,
        )

    lines = decoded_lines(block.read().split(b"\n"), block.where)
    return collect((Row(where, {"line": line}) for where, line in lines), example)
