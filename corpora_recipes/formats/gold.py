"""Pairs of sentences in one file, and their scores in another, line by line: SemEval's STS."""

from collections.abc import Iterator

from corpora_recipes.formats.archives import Member
from corpora_recipes.formats.tables import Row, every_line
from corpora_recipes.recipe import Dropped
from corpora_recipes.running.errors import RawError


def scored_pairs(pairs: Member, gold: Member) -> Iterator[Row]:
    """Yield sentence_1, sentence_2 and score of each line; a row names the gold file."""
    texts, scores = (every_line(file.read(), file.where) for file in (pairs, gold))
    if len(texts) != len(scores):
        expected = f"{len(texts)} lines, one for each line of {pairs.where}"
        todo = "use both files of the same release; a pair without a score has an empty line"
        raise RawError(gold.where, expected, str(len(scores)), todo)
    for number, (pair, score) in enumerate(zip(texts, scores, strict=True), 1):
        sentences = pair.split("\t")
        if len(sentences) != 2:
            where = f"{pairs.where}, line {number}"
            raise RawError(where, "two sentences and a tab between them", repr(pair[:200]))
        first, second = sentences
        fields = {"sentence_1": first, "sentence_2": second, "score": score}
        yield Row(gold.where, number, fields)


def scored(row: Row) -> str:
    """Return the score of a row, as written."""
    if not row.fields["score"].strip():
        raise Dropped("no_score")
    return row.fields["score"]
