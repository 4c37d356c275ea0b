"""Reads the user's documents: texts, tables, JSON Lines, Arrow; corpus.yaml describes the keys.

Two lines of JSON Lines::

    {"id": "r1", "title": "Lentejas", "text": "Quedan bien. Hay que esperar.\\n\\nSin prisa."}
    {"id": "r2", "sections": [{"heading": "Historia", "paragraphs": ["Nació en 1900. Murió."]}]}
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from corpora_recipes.checking import checked
from corpora_recipes.corpora.documents.document import Key, document_of
from corpora_recipes.corpora.documents.rows import Columns, Part, parts_of, rows_of
from corpora_recipes.fetching.hub import download, found_on_hub
from corpora_recipes.formats.json_lines import LineRange
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Finding
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import MOST_RECORDS

# The endings of files of which each is a document, named like it.
TEXTS = (".txt", ".md")


def blocks(raw: Path, corpus: Corpus) -> Sequence[LineRange | Part]:
    """List the parts of all files in the folder and its sub-folders.

    Beside other files, texts are no documents: they explain them, as README.md or LICENSE.txt.
    """
    _columns(corpus)
    parts: list[LineRange | Part] = []
    patterns = _patterns(corpus)
    files = {p for pattern in patterns for p in raw.rglob(pattern) if p.is_file()}
    ids: dict[Path, Path] = {}
    for file in sorted([file for file in files if file.suffix not in TEXTS] or files):
        # fetch has made links; messages name the user's files.
        path = file.resolve()
        if file.suffix in TEXTS and (other := ids.setdefault(file.with_suffix(""), path)) != path:
            expected = "texts whose names differ without their ending, as they are the ids"
            raise RawError(path, expected, str(other), "rename or remove one of the two")
        parts += parts_of(path, file.relative_to(raw).as_posix())
    if not parts:
        expected = f"documents in files named {', '.join(patterns)}"
        raise no_files(corpus, raw, expected, "none, or empty files")
    return parts


def read_block(block: LineRange | Part, corpus: Corpus) -> BlockResult:
    """Read one part."""
    result = BlockResult()
    for where, row in rows_of(block, _columns(corpus)):
        if len(result.records) == MOST_RECORDS and isinstance(block, Part):
            found, todo = "more", "cut it up, or write it as .jsonl, which is read in parts"
            raise RawError(block.path, f"at most {MOST_RECORDS:,} documents", found, todo)
        with result.counting("documents"):
            document = document_of(row, where, corpus.language, result.drops)
            if not document.sections:
                raise Dropped("no_sentences")
            result.records.append(document)
    return result


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download the files of the dataset that the option ``path`` names, at one commit."""
    download(corpus.options["path"], _patterns(corpus), out)


def examine(corpus: Corpus) -> Iterator[Finding]:
    """Ask the Hub for the size of the dataset that the option ``path`` names."""
    name = corpus.options["path"]
    found = found_on_hub(name, _patterns(corpus))
    size = sum(found.files.values())
    yield Finding(name, note=f"commit {found.commit}", to_download=size)


def _patterns(corpus: Corpus) -> list[str]:
    return [source.file for source in corpus.facts.sources]


def _columns(corpus: Corpus) -> Columns:
    where = f"{corpus.where}.corpus.columns"
    return checked(dict[Key, str], corpus.options.get("columns", {}), where)
