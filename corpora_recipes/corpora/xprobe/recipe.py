"""Reads the files of X-Probe, one example per line: the sentence, a tab, the label.

The folder holds ``{language}/{task}/{part}.txt``; the parts are tr, va and te. Sentences are
tokenised, with spaces between tokens. The tasks are those of Conneau et al. (2018), "What you can
cram into a single $&!#* vector: Probing sentence embeddings for linguistic properties", without top
constituents.
"""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Source, no_files
from corpora_recipes.records import Example, Split
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import whole_lines
from corpora_recipes.text.tokens import detokenize

PARTS: dict[str, Split] = {"tr": "train", "va": "validation", "te": "test"}


def sources(corpus: Corpus) -> list[Source]:
    """Return the three files of each task in the corpus's language, with checksums if known."""
    base_url, checksums = (corpus.facts.special[key] for key in ("base_url", "checksums"))
    return [
        Source(name, (f"{base_url}/{name}",), optional=True, **checksums.get(name, {}))
        for task in corpus.facts.collections
        for part in PARTS
        for name in [f"{corpus.language}/{task}/{part}.txt"]
    ]


def blocks(raw: Path, corpus: Corpus) -> Sequence[tables.LineRange]:
    """List the ranges of the files that exist."""
    names = [source.file for source in sources(corpus)]
    existing = [name for name in names if (raw / name).is_file()]
    if not existing:
        raise no_files(corpus, raw, f"files of X-Probe in its language, such as {names[0]}")
    for name in existing:
        with (raw / name).open("rb") as file:
            if all(map(_is_blank, whole_lines(file, raw / name))):
                raise RawError(raw / name, "a sentence, a tab and a label", "an empty file")
    return [block for name in existing for block in tables.line_ranges(raw / name, name)]


def read_block(block: tables.LineRange, corpus: Corpus) -> BlockResult:
    """Read a range of a file into examples of its task, in natural text.

    An example's id consists of task, part and line number, such as "bigram_shift/va/17".
    Some files quote sentences with quotation marks as CSV does, doubling them: those are read, and
    counted as marks. Dropped examples: ``empty_text``, and ``broken_quotation`` where only one end
    of such a sentence is left.
    """
    task, part = block.path.parent.name, block.path.stem
    classes_are_words = not corpus.facts.collections[task].labels

    def example(row: tables.Row) -> Example:
        key = f"{task}/{part}/{row.line}"
        sentence = row.fields["sentence"]
        if '""' in sentence:
            if (sentence := tables.unquote(sentence)) == row.fields["sentence"]:
                raise Dropped("broken_quotation")
            unquoted.append(row.line)
        text = tables.natural_text(detokenize(sentence, corpus.language))
        label = tables.parse_class(row.fields["label"], task, corpus, row)
        if classes_are_words and label.casefold() not in sentence.casefold().split():
            found = f"{label[:200]!r} for {sentence[:200]!r}"
            raise row.error("a label that is one of the sentence's tokens", found)
        return Example(id=key, collection=task, texts=(text,), label=label, split=PARTS[part])

    unquoted: list[int] = []
    result = tables.collect_examples(_rows(block), example)
    if unquoted:
        result.drops.seen["marks"] = result.drops.dropped["marks", "csv_quotes"] = len(unquoted)
    return result


def _is_blank(line: bytes) -> bool:
    return not line.removeprefix(codecs.BOM_UTF8).strip(b" \r\n")


def _rows(block: tables.LineRange) -> Iterator[tables.Row]:
    block_lines = list(tables.range_lines(block))
    if all(map(_is_blank, block_lines)):
        return  # A file must hold a line, but not each range of it.
    # Preceding lines are replaced by blank ones, which are skipped: so line numbers are the file's.
    lines = chain(repeat(b"", tables.count_lines(block.path, block.start)), block_lines)
    for row in tables.decoded_lines(lines, str(block.path)):
        line = row.fields["line"]
        fields = line.split("\t")
        if len(fields) != 2 and not row.fault:
            found = f"{len(fields) - 1} tabs in {line[:200]!r}"
            row = row.refused("a sentence, a tab and a label", found)
        yield replace(row, fields=dict(zip(("sentence", "label"), fields, strict=False)))
