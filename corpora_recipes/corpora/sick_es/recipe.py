"""Reads the Spanish SICK: pairs with a score of relatedness and a class of entailment.

SICK_train.txt, SICK_trial.txt and SICK_test.txt are tables with a header line, without quoting::

    pair_ID  sentence_A           sentence_B                 relatedness_score  entailment_judgement
    12       El perro nada .      Un perro está nadando      4.8                ENTAILMENT

Only the tokenised sentences are available; they are read into natural text.
"""

from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Example, Split
from corpora_recipes.text.tokens import detokenize

COLUMNS = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgement")
PARTS: dict[str, Split] = {
    "SICK_train.txt": "train",
    "SICK_trial.txt": "validation",
    "SICK_test.txt": "test",
}


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the parts that exist."""
    return existing_members(raw, PARTS, corpus)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the pairs of a part; their ids are pairs/<part>/<pair_ID>.

    Dropped examples: ``empty_text``.
    """
    split = PARTS[block.path.name]

    def example(row: tables.Row) -> Example:
        fields = row.fields
        key = f"pairs/{split}/{row.filled('pair_ID')}"
        texts = (fields["sentence_A"], fields["sentence_B"])
        first, second = (tables.natural_text(detokenize(text, corpus.language)) for text in texts)
        return Example(
            id=key,
            collection="pairs",
            texts=(first, second),
            label=tables.parse_class(fields["entailment_judgement"], "pairs", corpus, row),
            score=tables.parse_score(fields["relatedness_score"], "pairs", corpus, row),
            split=split,
        )

    return tables.collect_examples(
        tables.table_rows(block.read(), block.where, COLUMNS, header=True), example
    )
