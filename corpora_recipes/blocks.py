"""Blocks in keyed-hash order until the quota is full; every executor gives the same records."""

import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process

from corpora_recipes.errors import InputError
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipes import Block, BlockResult, Corpus, load_recipe
from corpora_recipes.records import Drops, Record

# How long to wait for a Dask scheduler to answer.
PATIENCE = "20s"


@contextmanager
def open_executor(address: str, workers: int) -> Iterator[Executor | None]:
    """Open the executor that reads the blocks.

    Args:
        address: "local" for processes of this machine, or the ``tcp://host:port`` of a Dask
            scheduler.
        workers: number of local processes; with 1 the driver reads the blocks itself.

    Yields:
        An executor, or None for reading in this process.

    Raises:
        InputError: the address is neither, ``distributed`` is missing, or no scheduler answers.
    """
    if address == "local":
        if workers == 1:
            yield None
            return
        # "spawn" gives a worker that holds nothing of the driver, on every platform.
        with ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=_end_with_driver
        ) as pool:
            try:
                yield pool
            except BrokenProcessPool:
                raise InputError(
                    f"--workers {workers}",
                    expected="workers that live until they are done",
                    found="one was killed, most likely for want of memory",
                    todo="run it again with fewer workers",
                ) from None
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return
    if not address.startswith(("tcp://", "tls://", "ws://", "wss://", "inproc://")):
        raise InputError(
            f"--executor {address}",
            expected="local, or the address of a Dask scheduler such as tcp://host:8786",
            found=repr(address),
            todo="start one with `dask scheduler` and pass the address it prints",
        )
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            f"--executor {address}",
            expected="the package distributed",
            found="it is not installed",
            todo="pip install 'probeta[cluster]'",
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"--executor {address}",
            expected="a Dask scheduler that answers",
            found=str(error),
            todo="check the address, and that the scheduler runs",
        ) from None
    with client:
        yield client.get_executor(pure=False)


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
        counted as ``beyond_quota``.
    """
    order = sorted(
        blocks, key=lambda b: (keyed_hash(corpus.seed, corpus.name, b.key, "block"), b.key)
    )
    left = corpus.documents
    unit = "examples" if corpus.facts["records"] == "examples" else "documents"
    seen: set[int] = set()
    for result in _results(order, corpus, executor, ahead):
        fresh: dict[str, Record] = {}
        for record in result.records:
            mark = keyed_hash(0, record.id)
            if mark in seen:
                result.drops.dropped[unit, "duplicate_id"] += 1
            else:
                seen.add(mark)
                fresh[record.id] = record
        records = sorted(
            fresh.values(),
            key=lambda r: (keyed_hash(corpus.seed, corpus.name, r.id, "order"), r.id),
        )
        if left is not None:
            if len(records) > left:
                result.drops.dropped[unit, "beyond_quota"] += len(records) - left
                records = records[:left]
            left -= len(records)
        yield records, result.drops
        if left == 0:
            return


def _end_with_driver() -> None:
    """Make this worker end when the driver is killed; it would wait for work for ever."""
    driver = parent_process()
    assert driver is not None

    def wait() -> None:
        driver.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _read(recipe: str, block: Block, corpus: Corpus) -> BlockResult:
    return load_recipe(recipe).read_block(block, corpus)


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
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
