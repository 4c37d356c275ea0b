"""Reads PAWS-X: pairs of sentences, labelled as paraphrases or not.

x-final.tar.gz holds a folder for each language, x-final/<language>/, with translated_train.tsv (in
English train.tsv), dev_2k.tsv and test_2k.tsv: tables with a header line, without quoting::

    id   sentence1                    sentence2                    label
    12   El Tajo va a parar al mar.   El mar va a parar al Tajo.   0

If a translation is missing, the sentence is NS or empty, or the row ends early
(https://github.com/google-research-datasets/paws/issues/15 and issues/4 there).
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example, Split
from corpora_recipes.running.errors import RawError

ARCHIVE = "x-final.tar.gz"
COLUMNS = ("id", "sentence1", "sentence2", "label")
NOT_TRANSLATED = "NS"
PARTS: dict[str, Split] = {
    "translated_train.tsv": "train",
    "train.tsv": "train",
    "dev_2k.tsv": "validation",
    "test_2k.tsv": "test",
}


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the tables of the corpus's language."""
    files = [file for file in existing_members(raw, [ARCHIVE], corpus) if _name(file) in PARTS]
    folder = f"x-final/{corpus.language}"
    if not any(_folder(file) == folder for file in files):
        folders = ", ".join(sorted({_folder(file) for file in files})) or "no such file"
        todo = f"correct {corpus.where}.corpus.language, or fetch the archive again"
        raise RawError(raw / ARCHIVE, f"{folder}/ with {', '.join(PARTS)}", folders, todo)
    return [file for file in files if _folder(file) == folder]


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read the pairs of a table; their ids are pairs/<table>/<id>.

    Examples with the same first sentence share their document_id, since PAWS made several pairs
    from one sentence. Dropped examples: ``not_translated``, ``incomplete_row``, ``empty_text``.
    """
    name = _name(block)

    def example(row: tables.Row) -> Example:
        pair_id = row.filled("id")
        sentences = (row.fields["sentence1"], row.fields["sentence2"])
        if NOT_TRANSLATED in (sentence.strip() for sentence in sentences):
            raise Dropped("not_translated")
        if not row.fields["label"].strip():
            raise Dropped("incomplete_row")
        first, second = (tables.natural_text(sentence) for sentence in sentences)
        return Example(
            id=f"pairs/{name.removesuffix('.tsv')}/{pair_id}",
            collection="pairs",
            texts=(first, second),
            label=tables.parse_class(row.fields["label"], "pairs", corpus, row),
            document_id=f"pairs/sentence1/{keyed_hash(0, first):016x}",
            split=PARTS[name],
        )

    rows = tables.table_rows(block.read(), block.where, COLUMNS, header=True, fill=True)
    return tables.collect_examples(rows, example)


def _folder(member: Member) -> str:
    return str(PurePosixPath(member.name).parent)


def _name(member: Member) -> str:
    return PurePosixPath(member.name).name
