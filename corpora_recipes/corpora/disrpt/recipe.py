"""Reads the discourse relations of the treebanks of the DISRPT shared task.

The folder holds ``data/TREEBANK/TREEBANK_PART.rels`` of one treebank or several, and the entry's
option ``treebank`` says which is read (any: the first of the entry's language). The parts are
train, dev and test. A file is a table with tabs; each line is a relation between two units, whose
tokens are named by their numbers in the document (``1-5,9-12``) and written with blanks between
them, with ``<*>`` where something else interrupts the unit. Since 2025 there are 15 columns, with
the natural text as far as the treebank has it (``u1_raw``), the form of the relation (``rel_type``)
and 17 classes for all treebanks. Before, there are 12; the class is then looked up in the task's
``utils/mapping_disrpt25.json``, by the relation as annotated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import treebanks
from corpora_recipes.formats.tables import Row, collect_examples, natural_text, table_rows
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Source
from corpora_recipes.records import Example
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import read_whole
from corpora_recipes.text.tokens import detokenize
from corpora_recipes.validation import check_choice, validate
from corpora_recipes.yaml_files import load_yaml

# Values of the option ``relations``.
RELATION_TYPES = ("all", "explicit", "implicit")
COLUMNS = (
    *("doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt"),
    *("dir", "orig_label", "label"),
)
DIRECTIONS = ("1>2", "1<2")
MAPPING = "utils/mapping_disrpt25.json"

COLLECTION = "relations"

_TOKENS = re.compile(r"\d{1,9}(?:-\d{1,9})?(?:,\d{1,9}(?:-\d{1,9})?)*", re.ASCII)
_GAP = "<*>"
# In place of what a row does not have, such as the tokens of a unit, or a direction.
_EMPTY = "_"
_PARTED_WORDS = re.compile(r"\w_ \w")
_TURNED = str.maketrans("<>", "><")


def sources(corpus: Corpus) -> Sequence[Source]:
    """List the files of the treebanks that the entry can mean, and the table of the classes.

    A mirror may lack some of them.
    """
    special = corpus.facts.special
    base, checksums = f"{special['base_url']}/{special['commit']}", special["checksums"]
    return [
        Source(file, (f"{base}/{file}",), optional=True, **checksums.get(file, {}))
        for file in (*(source.file for source in treebanks.treebank_sources(corpus)), MAPPING)
    ]


def blocks(raw: Path, corpus: Corpus) -> Sequence[treebanks.Texts]:
    """List the files of the treebank, in one block."""
    check_choice(corpus.options["relations"], RELATION_TYPES, f"{corpus.where}.corpus.relations")
    treebank, names = treebanks.find_treebank(raw, corpus)
    published = names if corpus.options["published_parts"] else []
    splits = {
        name: treebanks.PARTS[PurePosixPath(name).stem.rpartition("_")[2]] for name in published
    }
    return treebanks.group_in_blocks(raw, treebank, names, splits)


def read_block(block: treebanks.Texts, corpus: Corpus) -> BlockResult:
    """Read the relations of a treebank into examples; those of another type are passed over.

    The texts are the two units in the order of the text. If the option ``published_parts`` is
    false, the examples have no split, so that they get folds. An example's id is the file and the
    line, such as "spa.rst.sctb_dev/17". Units whose parts were joined are counted as ``gaps``.

    Dropped examples: ``missing_unit`` (one of the units has no tokens), ``withheld_text``
    (underscores for words that may not be published), ``second_label`` (a line with another label
    of the pair of an earlier line), ``repeated`` (a line with the same label), ``empty_text``,
    ``unknown_unit``, ``unknown_label``, ``unknown_direction`` (no numbers of tokens, no class, no
    direction), ``control_character``, ``joined_words`` (a mark of words that are one in the text).
    """
    result = BlockResult()
    for name in block.names:
        labels: dict[tuple[str, ...], str] = {}
        make = partial(_example, block=block, name=name, labels=labels, corpus=corpus)
        file_result = collect_examples(_rows(block, name, corpus), make)
        examples = [record for record in file_result.records if isinstance(record, Example)]
        gaps = sum(len(example.columns["interrupted"].split()) for example in examples)
        file_result.drops.seen["gaps"] = file_result.drops.dropped["gaps", "joined"] = gaps
        result.records += file_result.records
        result.drops.add(file_result.drops)
    return result


def _rows(block: treebanks.Texts, name: str, corpus: Corpus) -> Iterator[Row]:
    """Yield the lines of a file that have a relation of the type that the option names."""
    path, relations = block.raw / name, corpus.options["relations"]
    for row in table_rows(read_whole(path), str(path), COLUMNS, header=True):
        if row.fault or relations in ("all", row.fields.get("rel_type")):
            yield row


def _example(
    row: Row, block: treebanks.Texts, name: str, labels: dict[tuple[str, ...], str], corpus: Corpus
) -> Example:
    """Return the example of a row; ``labels`` are those of the pairs above it in the file."""
    fields = row.fields
    pair = (fields["doc"], fields["unit1_toks"], fields["unit2_toks"])
    if _EMPTY in pair:
        raise Dropped("missing_unit")
    units = sorted(("1", "2"), key=lambda unit: _first_token(row, unit))
    written = [fields.get(f"u{unit}_raw") or fields[f"unit{unit}_txt"] for unit in units]
    if any(map(treebanks.is_withheld, written)):
        raise Dropped("withheld_text")
    direction, kind = fields["dir"].replace(_EMPTY, ""), fields.get("rel_type", "")
    if direction not in ("", *DIRECTIONS):
        raise Dropped("unknown_direction")
    label = _label(row, block, corpus)
    if pair in labels:
        raise Dropped("repeated" if labels[pair] == label else "second_label")
    labels[pair] = label
    tokens = corpus.facts.treebanks[block.treebank].tokenised or "u1_raw" not in fields

    def text(unit: str) -> str:
        try:
            joined = treebanks.clean_text(unit.replace(_GAP, " "), row.where)
        except RawError:
            raise Dropped("control_character") from None
        if tokens:
            joined = detokenize(joined, corpus.language, tokens=True)
            if _PARTED_WORDS.search(joined):
                raise Dropped("joined_words")
        return natural_text(joined)

    return Example(
        id=f"{PurePosixPath(name).stem}/{row.line}",
        collection=COLLECTION,
        texts=(text(written[0]), text(written[1])),
        label=label,
        document_id=fields["doc"],
        columns={
            "direction": direction if units[0] == "1" else direction.translate(_TURNED),
            "relation_type": "" if kind in ("none", _EMPTY) else kind,
            "annotated": fields["orig_label"],
            "interrupted": " ".join(
                n for n, unit in zip("12", written, strict=True) if _GAP in unit
            ),
        },
        split=block.splits.get(name),
    )


def _first_token(row: Row, unit: str) -> int:
    """Return the number of the first token of a unit in its document."""
    written = row.fields[f"unit{unit}_toks"]
    if not _TOKENS.fullmatch(written):
        raise Dropped("unknown_unit")
    return int(written.replace("-", ",").partition(",")[0])


def _label(row: Row, block: treebanks.Texts, corpus: Corpus) -> str:
    """Return the class of a relation, which older editions do not have."""
    label = row.fields["label"].strip()
    classes = corpus.facts.collections[COLLECTION].labels or {}
    path = block.raw / MAPPING
    if label not in classes and "rel_type" not in row.fields and not path.is_file():
        todo = f"put {MAPPING} of the shared task of 2025 beside its folder data"
        raise row.error("one of the 17 classes of 2025 as the label", repr(label[:60]), todo)
    if label not in classes and path.is_file():
        # The first of several relations; of a hierarchy, the last level.
        annotated = row.fields["orig_label"].partition(";")[0].strip().lower()
        names, mapping = (annotated, annotated.rpartition(".")[2], label.lower()), _mapping(path)
        label = next((mapping[name] for name in names if name in mapping), label)
    if label not in classes:
        raise Dropped("unknown_label")
    return classes[label]


@cache
def _mapping(path: Path) -> Mapping[str, str]:
    """Return relation, as annotated and in lower case, to class."""
    classes = validate(dict[str, str], load_yaml(path), path)
    return {relation.lower(): label for relation, label in classes.items()}
