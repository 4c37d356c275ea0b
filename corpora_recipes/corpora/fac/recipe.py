"""Reads the two files of FAC, subjective and objective sentences about films.

Only the form that the benchmark of 2022 published is available: fac.subjective and fac.objective,
one text per line (one sentence or a few), lower-cased, with spaces between tokens. Remains of web
pages and errors of the published preprocessing are repaired by ``natural_line``.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, existing_members
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Example
from corpora_recipes.text.cleaning import clean, find_damage, unescape
from corpora_recipes.text.tokens import detokenize

# Remains of a link's icon at the end of a text, and other tags.
_ICON = re.compile(r'(?:&nbsp ?;)?\s*<img .*?>\s*(?:</div>)?(?:\s*"\s*\.)?\s*$')
_TAG = re.compile(r"</?(?:div|br) ?/?>")
_REFERENCE = re.compile(r"&(#?\w+) ?;")
_TWO_STOPS = re.compile(r" \.(?: +\.)+(?= |$)")
# A quotation of several words was also closed after its first word: ' el ' faro rojo '. This is
# certain only if the text has no other mark.
_CLOSED_TWICE = re.compile(r"^([^']*' [^' ]+) '( [^']+'[^']*)$")


def blocks(raw: Path, corpus: Corpus) -> Sequence[Member]:
    """List the two files."""
    names = [source.file for source in corpus.facts.sources]
    for name in names:
        if not (raw / name).is_file():
            raise no_files(corpus, raw / name, "the file with the texts of one class")
    return existing_members(raw, names, corpus)


def read_block(block: Member, corpus: Corpus) -> BlockResult:
    """Read a file into examples of the collection ``texts``; the file's name is the class."""
    first_of: dict[str, str] = {}
    spelling = block.path.suffix.removeprefix(".")

    def example(row: tables.Row) -> Example:
        text = natural_line(row.fields["text"], corpus.language)
        key = f"texts/{spelling}/{row.line}"
        return Example(
            id=key,
            collection="texts",
            texts=(text,),
            label=tables.parse_class(spelling, "texts", corpus, row),
            # Repeated texts share their document_id.
            document_id=first_of.setdefault(text, key),
        )

    return tables.collect_examples(
        tables.table_rows(block.read(), block.where, ["text"], header=False), example
    )


def natural_line(line: str, language: str) -> str:
    """Return a line as natural text.

    Removes remains of tags, doubled full stops and the tokeniser's spaces; resolves character
    references (and removes invisible characters); corrects quotation marks (see ``_quotations``).
    """
    text = _TAG.sub(" ", _ICON.sub("", line))
    for _ in range(2):  # some are &amp;#8203;
        text = _REFERENCE.sub(lambda match: unescape(f"&{match[1]};"), text)
    text = _quotations(_TWO_STOPS.sub(" .", clean(text)))
    if (reason := find_damage(text)) is not None:
        raise Dropped(reason)
    return tables.natural_text(detokenize(text, language))


def _quotations(text: str) -> str:
    """Return a tokenised text with one pair of quotation marks, or without quotation marks."""
    text = _CLOSED_TWICE.sub(r"\1\2", text)
    return text if text.count("'") == 2 else " ".join(text.replace("'", " ").split())
