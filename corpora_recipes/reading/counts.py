"""Makes the counts of a recipe those of its records: what is kept is what will be in the file."""

from collections import Counter
from collections.abc import Iterable

from corpora_recipes.recipe import RECIPES, BlockResult, Corpus
from corpora_recipes.records import CONTENTS, Drops, Record, contents, record_unit
from corpora_recipes.running.errors import InputError

IN_DROPPED_DOCUMENT = "in_dropped_document"
"""The reason of what a document held that the recipe dropped as a whole."""


def settle(result: BlockResult, corpus: Corpus) -> None:
    """Complete the counts of a block: what its dropped documents held is dropped too.

    Args:
        result: what the recipe made of the block; its counts are changed.
        corpus: the corpus.

    Raises:
        InputError: the recipe's counts contradict its records: a record or a part of it was not
            counted, or something was neither kept nor dropped.
    """
    drops, unit = result.drops, record_unit(corpus.facts.records)
    held = _held(result.records)
    if drops.kept(unit) != len(result.records):
        raise _contradiction(corpus, unit, drops, len(result.records))
    dropped = drops.seen[unit] > len(result.records)
    for part in _parts(corpus, drops):
        lost = drops.kept(part) - held[part]
        if lost < 0 or (lost and not dropped):
            raise _contradiction(corpus, part, drops, held[part])
        if lost:
            drops.dropped[part, IN_DROPPED_DOCUMENT] += lost


def drop(records: Iterable[Record], reason: str, drops: Drops, corpus: Corpus) -> None:
    """Count records that the recipe kept, and what they hold, as dropped.

    Args:
        records: those that are not taken.
        reason: why.
        drops: the settled counts of their block; changed.
        corpus: the corpus.
    """
    for record in records:
        drops.dropped[record_unit(corpus.facts.records), reason] += 1
        held = _held([record])
        for part in _parts(corpus, drops):
            if held[part]:
                drops.dropped[part, reason] += held[part]


def _held(records: Iterable[Record]) -> Counter[str]:
    held: Counter[str] = Counter()
    for record in records:
        held.update(contents(record))
    return held


def _parts(corpus: Corpus, drops: Drops) -> tuple[str, ...]:
    kind = corpus.facts.records
    # The texts of examples are counted where examples have more or fewer of them.
    return () if kind == "examples" and not drops.seen["texts"] else CONTENTS[kind]


def _contradiction(corpus: Corpus, unit: str, drops: Drops, held: int) -> InputError:
    return InputError(
        f"{RECIPES / corpus.recipe / 'recipe.py'}: read_block",
        expected=f"counts that agree with the records: {held} {unit} kept",
        found=f"{drops.as_dict().get(unit, 'nothing counted')}",
        todo=f"count each of the {unit} once in `seen`, and once in `dropped` if it is dropped",
    )
