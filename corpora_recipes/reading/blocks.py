"""Blocks in keyed-hash order until the quota is full; every executor gives the same records."""

import gc
import socket
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import islice
from typing import TypeVar

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.reading.counts import drop, settle
from corpora_recipes.recipe import Block, BlockResult, Corpus, load_recipe
from corpora_recipes.records import Drops, Record
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import Cluster

B = TypeVar("B", bound=Block)

BEYOND_QUOTA = "beyond_quota"
"""The reason of what a block holds beyond the quota."""


def read_corpus(
    blocks: Sequence[Block], corpus: Corpus, executor: Executor | None, ahead: int
) -> Iterator[tuple[list[Record], Drops]]:
    """Read blocks in keyed-hash order until the corpus's quota of records is full.

    What comes out depends on the seed, the blocks and the quota alone: blocks that parallel
    workers read beyond the quota are thrown away, in a block records stand in keyed-hash order,
    and the last block gives as many of its first records as the quota still wants. An id that
    was met before is dropped and counted as ``duplicate_id``.

    Args:
        blocks: the recipe's blocks, in any order.
        corpus: its facts and options; ``documents`` is the quota.
        executor: where blocks are read; None for this process.
        ahead: how many blocks may be under way at once.

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
                drop([record], "duplicate_id", result.drops, corpus)
            else:
                seen.add(mark)
                fresh[record.id] = record
        records = sorted(
            fresh.values(),
            key=lambda r: (keyed_hash(corpus.seed, corpus.name, r.id, "order"), r.id),
        )
        if left is not None:
            if len(records) > left:
                drop(records[left:], BEYOND_QUOTA, result.drops, corpus)
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
        raise InputError(
            f"{error.filename}, on {socket.gethostname()}",
            expected="a raw file, which workers see under the same path as the driver",
            found=str(error.strerror),
            todo="name a folder that the driver and all workers share",
        ) from None
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
    todo = iter(order)
    try:
        while True:
            for block in islice(todo, ahead - len(waiting)):
                waiting.append(executor.submit(_read, corpus.recipe, block, corpus))
            if not waiting:
                return
            future = waiting.popleft()
            yield executor.result(future) if isinstance(executor, Cluster) else future.result()
    finally:
        for future in waiting:
            future.cancel()
