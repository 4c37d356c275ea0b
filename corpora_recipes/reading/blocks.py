"""Blocks in keyed-hash order until the quota is full, and the counts of what they hold.

Every executor gives the same records. What is counted as kept is what will be in the file.
"""

import gc
import socket
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import islice
from typing import TypeVar

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import RECIPES, Block, BlockResult, Corpus, load_recipe
from corpora_recipes.records import CONTENTS, Drops, Example, Record, contents, record_unit
from corpora_recipes.running.cluster import Cluster
from corpora_recipes.running.errors import InputError, RawError

B = TypeVar("B", bound=Block)

BEYOND_QUOTA = "beyond_quota"
"""The reason of what a block holds beyond the quota."""
IN_DROPPED_DOCUMENT = "in_dropped_document"
"""The reason of what a document held that the recipe dropped as a whole."""


def read_corpus(
    blocks: Sequence[Block], corpus: Corpus, executor: Executor | None, ahead: int
) -> Iterator[tuple[list[Record], Drops]]:
    """Read blocks in keyed-hash order until the corpus's quota of records is full.

    What comes out depends on the seed, the blocks and the quota alone: blocks that parallel
    workers read beyond the quota are thrown away, in a block records stand in keyed-hash order,
    and the last block gives as many of its first records as the quota still wants. An id that
    was met before is dropped and counted as ``duplicate_id``.

    ``executor`` is where blocks are read, None for this process, and ``ahead`` how many may be
    under way at once.

    Yields:
        For each block that was used its records and its counts. Counts cover the whole block,
        so that "seen" is what was read and not only what was taken; records beyond the quota are
        counted as ``beyond_quota``, and so is what they hold.
    """
    order = in_order(blocks, corpus)
    left = corpus.documents
    seen: set[int] = set()
    for result in _results(order, corpus, executor, ahead):
        fresh: dict[str, Record] = {}
        for record in result.records:
            mark = keyed_hash(0, record.id)
            if mark in seen:
                _drop([record], "duplicate_id", result.drops, corpus)
            else:
                seen.add(mark)
                fresh[record.id] = record
        marks = {name: keyed_hash(corpus.seed, corpus.name, name, "order") for name in fresh}
        records = sorted(fresh.values(), key=lambda record: (marks[record.id], record.id))
        if left is not None:
            if len(records) > left:
                _drop(records[left:], BEYOND_QUOTA, result.drops, corpus)
                records = records[:left]
            left -= len(records)
        yield records, result.drops
        if left == 0:
            return


def in_order(blocks: Iterable[B], corpus: Corpus) -> list[B]:
    """Return the blocks in keyed-hash order."""
    return sorted(
        blocks, key=lambda b: (keyed_hash(corpus.seed, corpus.name, b.key, "block"), b.key)
    )


def _read(recipe: str, block: Block, corpus: Corpus) -> BlockResult:
    # Records have no cycles, and the search for cycles would take a twentieth of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        result = load_recipe(recipe).read_block(block, corpus)
    except (FileNotFoundError, PermissionError) as error:
        where, found = f"{error.filename}, on {socket.gethostname()}", str(error.strerror)
        expected = "a raw file, which workers see under the same path as the driver"
        raise RawError(where, expected, found, "name a folder that all workers share") from None
    finally:
        if collecting:
            gc.enable()
    settle(result, corpus)
    return result


def _results(
    order: Sequence[Block], corpus: Corpus, executor: Executor | None, ahead: int
) -> Iterator[BlockResult]:
    if executor is None:
        for block in order:
            yield _read(corpus.recipe, block, corpus)
        return
    waiting: deque[Future[BlockResult]] = deque()
    rest = iter(order)
    try:
        while True:
            for block in islice(rest, ahead - len(waiting)):
                waiting.append(executor.submit(_read, corpus.recipe, block, corpus))
            if not waiting:
                return
            future = waiting.popleft()
            yield executor.result(future) if isinstance(executor, Cluster) else future.result()
    finally:
        for future in waiting:
            future.cancel()


def settle(result: BlockResult, corpus: Corpus) -> None:
    """Complete the counts of a block: what its dropped documents held is dropped too.

    Counts that contradict the records are an error: a record or a part of it was not counted, or
    something was neither kept nor dropped; so is an example of a collection, a class or a column
    that corpus.yaml does not name.
    """
    drops, unit = result.drops, record_unit(corpus.facts.records)
    held = _held(result.records)
    if drops.kept(unit) != len(result.records):
        raise _contradiction(corpus, unit, drops, len(result.records))
    dropped = drops.seen[unit] > len(result.records)
    _check_examples(result.records, corpus)
    for part in _parts(corpus, drops):
        lost = drops.kept(part) - held[part]
        if lost < 0 or (lost and not dropped):
            raise _contradiction(corpus, part, drops, held[part])
        if lost:
            drops.dropped[part, IN_DROPPED_DOCUMENT] += lost


def _drop(records: Iterable[Record], reason: str, drops: Drops, corpus: Corpus) -> None:
    """Count records that the recipe kept, and what they hold, as dropped, in settled counts."""
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


def _check_examples(records: Iterable[Record], corpus: Corpus) -> None:
    """Check that corpus.yaml names the collection, the class and the columns of each example."""
    for example in records:
        if not isinstance(example, Example):
            continue
        place = f"collections.{example.collection}"
        facts = corpus.facts.collections.get(example.collection)
        if facts is None:
            known = corpus.facts.collections
            raise _unnamed(example, corpus, "collections", example.collection, known)
        # With {}, the classes are those of the source, in its spelling.
        if example.label is not None and facts.labels != {}:
            names = (facts.labels or {}).values()
            if example.label not in names:
                raise _unnamed(example, corpus, f"{place}.labels", example.label, names)
        for name in example.columns:
            if name not in facts.columns:
                raise _unnamed(example, corpus, f"{place}.columns", name, facts.columns)


def _unnamed(
    example: Example, corpus: Corpus, place: str, found: str, known: Iterable[str]
) -> InputError:
    return InputError(
        f"{RECIPES / corpus.recipe / 'recipe.py'}: read_block, example {example.id}",
        f"one of {', '.join(known) or '(nothing)'}, which corpus.yaml names under {place}",
        repr(found),
        "name it in corpus.yaml, or correct the recipe",
    )


def _contradiction(corpus: Corpus, unit: str, drops: Drops, held: int) -> InputError:
    where = f"{RECIPES / corpus.recipe / 'recipe.py'}: read_block"
    expected = f"counts that agree with the records: {held} {unit} kept"
    found = str(drops.as_dict().get(unit, "nothing counted"))
    todo = f"count each of the {unit} once in `seen`, and once in `dropped` if it is dropped"
    return InputError(where, expected, found, todo)
