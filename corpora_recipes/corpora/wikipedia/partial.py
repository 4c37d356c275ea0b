"""Fetches only the parts of a dump that a quota needs: its index, its header, and blocks."""

import shutil
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from tqdm import tqdm

from corpora_recipes.corpora.wikipedia.editions import blocks_after
from corpora_recipes.corpora.wikipedia.plan import DumpBlock, first_offset, list_blocks
from corpora_recipes.facts import Source
from corpora_recipes.fetching import patience
from corpora_recipes.fetching.downloads import fetch_whole
from corpora_recipes.fetching.pins import read_lock
from corpora_recipes.fetching.ranges import NoRanges, RangeFetcher, part_range, parts_folder
from corpora_recipes.fetching.session import look_at
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import NotFound
from corpora_recipes.reading.blocks import read_corpus
from corpora_recipes.recipe import Corpus

# Blocks fetched ahead of the one that is read; as many can be fetched beyond the quota. From four
# blocks (1,600 pages) on, the surplus is at most half of the blocks needed.
LOOK_AHEAD = 2

_P = ParamSpec("_P")
_T = TypeVar("_T")


def fetch(corpus: Corpus, out: Path) -> None:
    """Fetch a dump and its index into folder ``out``: whole, or the parts that the quota needs.

    If the option ``partial`` is set, only the index and the header are fetched, and then the blocks
    in the order in which ``read`` takes them. To detect when the quota is full, each block is read
    as soon as it is fetched, by the code of ``read``, in this process; ``read`` reads it again. The
    index is checked against sources.lock, and each block against the index. A larger quota
    continues where this one ends. The whole dump is fetched, and a message says why, if all
    documents are wanted, the dump has no index, or the server does not support byte ranges; if it
    is there already, it stays.
    """
    dump, index = list_sources(corpus)
    path = out / dump.file
    whole = [dump, index]
    if corpus.options["partial"]:
        why = ""
        try:
            fetch_whole([index], out)
            if corpus.documents is None:
                why = f"corpora.{corpus.name}.corpus.documents asks for all"
            elif not path.exists():
                _fetch_parts(corpus, dump, path, out / index.file)
                return
        except NotFound as error:
            if error.where != index.urls[0]:
                raise
            why = f"the server has no {index.file}"
            whole = [dump]
        except NoRanges as error:
            why = str(error)
        if why and not path.exists():
            size = look_at(dump.urls[0]).size
            known = "size unknown" if size is None else f"{size:,} bytes"
            tqdm.write(f"fetching the whole of {dump.file}, {known}: {why}", file=sys.stderr)
    fetch_whole(whole, out)
    shutil.rmtree(parts_folder(path), ignore_errors=True)


def _fetch_parts(corpus: Corpus, dump: Source, path: Path, index: Path) -> None:
    known = read_lock().get(dump.urls[0])
    with RangeFetcher(dump.urls, path, known.size if known else None) as parts:
        parts.fetch(0, first_offset(index))

        def fetch_block(block: DumpBlock) -> None:
            parts.fetch(*part_range(block.part))

        blocks = blocks_after(list_blocks(path), corpus, fetch_block)
        bar = tqdm(total=corpus.documents, desc=f"accept {corpus.name}", unit="doc", disable=None)
        with _FetchFirst(parts) as executor, bar:
            for records, _ in read_corpus(blocks, corpus, executor, ahead=1 + LOOK_AHEAD):
                bar.update(len(records))
        assert parts.manifest is not None
        size = sum(part.stat().st_size for part in parts_folder(path).glob("*-*"))
        note = f"{dump.file}: {size:,} of its {parts.manifest.size:,} bytes are present, "
        note += f"{parts.fetched:,} of them new"
        tqdm.write(note, file=sys.stderr)


class _FetchFirst(Executor):
    """Reads blocks in this process one after another; threads fetch their bytes in advance."""

    def __init__(self, parts: RangeFetcher) -> None:
        self.parts = parts
        self.fetchers = ThreadPoolExecutor(patience.CONNECTIONS)
        self.reader = ThreadPoolExecutor(1)

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Schedule the call of ``fn`` for when the block among its arguments is fetched."""
        (block,) = (argument for argument in args if isinstance(argument, DumpBlock))
        fetched = self.fetchers.submit(self.parts.fetch, *part_range(block.part))

        def read() -> _T:
            fetched.result()
            return fn(*args, **kwargs)

        return self.reader.submit(read)

    def __exit__(self, kind: object, *error: object) -> None:
        """End; without an error, after all blocks that were to be fetched in advance.

        Which of them are there would otherwise depend on who was faster, and another run would
        fetch what this one has not.
        """
        self.shutdown(cancel_futures=kind is not None)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the threads after their current tasks."""
        # The fetchers first: the reader may be waiting for one.
        self.fetchers.shutdown(wait, cancel_futures=cancel_futures)
        self.reader.shutdown(wait, cancel_futures=cancel_futures)
