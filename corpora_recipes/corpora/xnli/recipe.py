"""Reads XNLI and esXNLI: pairs of a premise and a hypothesis with an entailment class.

XNLI-1.0.zip holds xnli.dev.tsv and xnli.test.tsv (and the same data as JSON lines), with the rows
of all languages in one file; esxnli.tsv has the same columns, some of them empty. They are tables
with a header line, without quoting; these of the nineteen columns are read::

    language  gold_label  sentence1               sentence2            pairID  genre
    es        entailment  Llueve y hace viento.   Está lloviendo.      4       telephone

A premise (sentence1) has one row for each of its hypotheses (sentence2). The gold label "-" means
that no majority of the annotators agreed.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Example, Split
from corpora_recipes.running.errors import RawError

COLUMNS = ("language", "gold_label", "sentence1", "sentence2", "pairID", "genre")
NO_CONSENSUS = "-"
# The published mapping, and the one for languages that esXNLI does not have.
PARTS: dict[str, Split] = {
    "xnli.test.tsv": "train",
    "xnli.dev.tsv": "validation",
    "esxnli.tsv": "test",
}
PARTS_WITHOUT_ESXNLI: dict[str, Split] = {"xnli.dev.tsv": "train", "xnli.test.tsv": "test"}


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the files with the corpus's language."""
    names = [source.file for source in corpus.facts.sources]
    parts = _parts(corpus)
    files = [member for member in existing_members(raw, names, corpus) if _name(member) in parts]
    if not files:
        raise no_files(corpus, raw, f"{' or '.join(names)} with {', '.join(parts)}")
    return files


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the rows of a table in the corpus's language; rows in other languages are ignored.

    The ids are pairs/<table>/<pairID>. Examples with the same premise share their document_id.
    Dropped examples: ``no_gold_label``, ``empty_text``.
    """
    name = _name(block)
    split = _parts(corpus)[name]

    def example(row: tables.Row) -> Example:
        pair_id = row.filled("pairID")
        if row.fields["gold_label"].strip() == NO_CONSENSUS:
            raise Dropped("no_gold_label")
        premise = tables.natural_text(row.fields["sentence1"])
        return Example(
            id=f"pairs/{name.removesuffix('.tsv')}/{pair_id}",
            collection="pairs",
            texts=(premise, tables.natural_text(row.fields["sentence2"])),
            label=tables.parse_class(row.fields["gold_label"], "pairs", corpus, row),
            # By its text, since a premise may occur with two promptIDs.
            document_id=f"pairs/premise/{keyed_hash(0, premise):016x}",
            columns={"genre": row.fields["genre"].strip()},
            split=split,
        )

    rows = tables.table_rows(block.read(), block.where, COLUMNS, header=True)
    in_language = (
        row
        for row in rows
        if row.fields.get("language", corpus.language).strip() == corpus.language
    )
    result = tables.collect_examples(in_language, example)
    if not result.drops.seen["examples"]:
        raise RawError(block.where, f"rows in the language {corpus.language}", "none")
    return result


def _parts(corpus: Corpus) -> dict[str, Split]:
    has_esxnli = corpus.language in corpus.facts.special["esxnli_languages"]
    return PARTS if has_esxnli else PARTS_WITHOUT_ESXNLI


def _name(member: Member) -> str:
    return PurePosixPath(member.key).name
