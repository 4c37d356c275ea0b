"""The stage `read`: blocks of raw files to records, in keyed-hash order, until the quota is full.

Every executor gives the same records, and the counts agree with the file.
"""

import gc
import json
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from textwrap import indent
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.fetching.downloads import check_complete
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import parquet_writer
from corpora_recipes.recipe import RECIPES, Block, BlockResult, Corpus, load_recipe
from corpora_recipes.records import (
    CONTENTS,
    WINDOW,
    Drops,
    Example,
    Record,
    count_contents,
    decide_split,
    record_schema,
    record_unit,
    to_row,
)
from corpora_recipes.running.cache import Cache, Key
from corpora_recipes.running.cluster import Cluster
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import (
    MAX_FAULTS,
    EncodingError,
    InputError,
    RawError,
    RawErrors,
    join_faults,
)
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.outputs import READING, as_json, whole_file, whole_outputs
from corpora_recipes.text.pdf import count_words, find_words

B = TypeVar("B", bound=Block)
T = TypeVar("T")

# The reason of what a block holds beyond the quota.
BEYOND_QUOTA = "beyond_quota"
# The reason of what a document held that the recipe dropped as a whole.
IN_DROPPED_DOCUMENT = "in_dropped_document"
# The share of the items of a block, if they are two or more, beyond which its file is another.
MAX_UNREADABLE = {RawError.reason: 0.5, EncodingError.reason: 0.1}


def read_corpus(
    blocks: Sequence[Block],
    corpus: Corpus,
    executor: Executor | None,
    max_in_flight: int,
    max_faults: int = 1,
    seen: set[int] | None = None,
    n_read_blocks: int = 0,
) -> Iterator[tuple[list[Record], Drops]]:
    """Read blocks in keyed-hash order until the corpus's quota of records is full.

    The result depends on the seed, the blocks and the quota alone: blocks that parallel workers
    read beyond the quota are thrown away, in a block records stand in keyed-hash order, and the
    last block gives as many of its first records as the quota still wants. An id that
    was met before is dropped and counted as ``duplicate_id``.

    ``executor`` is where blocks are read, None for this process, and ``max_in_flight`` how many
    are read or queued at once. After ``max_faults`` damaged blocks, or at the end, their errors are
    raised together. The first ``n_read_blocks`` were read before; ``seen`` has the hashes of their
    ids.

    Yields:
        For each block that was used, up to a damaged one, its records and its counts. Counts cover
        the whole block, so that "seen" is what was read and not only what was taken; records beyond
        the quota are counted as ``beyond_quota``, and so is what they hold.
    """
    seen = set() if seen is None else seen
    left = None if corpus.documents is None else corpus.documents - len(seen)
    order = order_blocks(blocks, corpus)[n_read_blocks:] if left != 0 else []
    faults: list[RawError] = []
    for get_result in _results(_read, order, corpus, executor, max_in_flight):
        try:
            result = get_result()
        except RawError as fault:
            faults.append(fault)
            if len(faults) == max_faults:
                break
            continue
        new_records: dict[str, Record] = {}
        for record in result.records:
            id_hash = keyed_hash(0, record.id)
            if id_hash in seen:
                _drop([record], "duplicate_id", result.drops, corpus)
            else:
                seen.add(id_hash)
                new_records[record.id] = record
        keys = {name: keyed_hash(corpus.seed, corpus.name, name, "order") for name in new_records}
        records = sorted(new_records.values(), key=lambda record: (keys[record.id], record.id))
        if left is not None:
            if len(records) > left:
                _drop(records[left:], BEYOND_QUOTA, result.drops, corpus)
                records = records[:left]
            left -= len(records)
        if not faults:
            yield records, result.drops
        if left == 0:
            break
    if faults:
        raise join_faults(faults)


def order_blocks(blocks: Iterable[B], corpus: Corpus) -> list[B]:
    """Return the blocks in keyed-hash order."""
    return sorted(
        blocks, key=lambda b: (keyed_hash(corpus.seed, corpus.name, b.key, "block"), b.key)
    )


def _read(recipe: str, block: Block, corpus: Corpus) -> BlockResult:
    # Records have no cycles, and the search for cycles would take a twentieth of the time.
    gc_enabled = gc.isenabled()
    gc.disable()
    try:
        result = load_recipe(recipe).read_block(block, corpus)
    except (FileNotFoundError, PermissionError) as error:
        where, found = f"{error.filename}, on {socket.gethostname()}", str(error.strerror)
        expected = "a raw file, which workers see under the same path as the driver"
        raise RawError(where, expected, found, "name a folder that all workers share") from None
    finally:
        if gc_enabled:
            gc.enable()
    settle_counts(result, corpus)
    unit = record_unit(corpus.facts.records)
    for reason, share in MAX_UNREADABLE.items():
        if result.drops.dropped[unit, reason] > max(1, share * result.drops.seen[unit]):
            raise join_faults(result.drops.faults(unit, reason))
    return result


def _results(
    function: Callable[[str, Any, Corpus], T],
    order: Sequence[Block],
    corpus: Corpus,
    executor: Executor | None,
    max_in_flight: int,
) -> Iterator[Callable[[], T]]:
    """Yield what returns the result of a function for each block, or raises its error."""
    if executor is None:
        yield from (partial(function, corpus.recipe, block, corpus) for block in order)
        return
    in_flight: deque[Future[T]] = deque()
    rest = iter(order)
    try:
        while True:
            for block in islice(rest, max_in_flight - len(in_flight)):
                in_flight.append(executor.submit(function, corpus.recipe, block, corpus))
            if not in_flight:
                return
            future = in_flight.popleft()
            yield (
                partial(executor.result, future) if isinstance(executor, Cluster) else future.result
            )
    finally:
        for future in in_flight:
            future.cancel()


def _count_words(
    blocks: Sequence[Block], corpus: Corpus, executor: Executor | None, max_in_flight: int
) -> Counter[str]:
    """Count the words that words cut at line ends may be, for ``Corpus.words``."""
    words, counts = set[str](), Counter[str]()
    for get_words in _results(_find_words, blocks, corpus, executor, max_in_flight):
        words |= get_words()
    if words:
        asked = replace(corpus, words=dict.fromkeys(words, 0))
        for get_counts in _results(_find_counts, blocks, asked, executor, max_in_flight):
            counts.update(get_counts())
    return counts


def _find_words(recipe: str, block: Block, corpus: Corpus) -> set[str]:
    return find_words(_texts(recipe, block, corpus))


def _find_counts(recipe: str, block: Block, corpus: Corpus) -> Counter[str]:
    return count_words(_texts(recipe, block, corpus), corpus.words)


def _texts(recipe: str, block: Block, corpus: Corpus) -> Iterator[str]:
    """Yield the texts of a block, up to a fault, which is raised when the block is read."""
    texts = load_recipe(recipe).texts
    with suppress(InputError, OSError):
        yield from texts(block, corpus) if texts is not None else ()


def settle_counts(result: BlockResult, corpus: Corpus) -> None:
    """Complete the counts of a block: what its dropped documents held is dropped too.

    Counts that contradict the records are an error: a record or a part of it was not counted, or
    something was neither kept nor dropped; so is an example of a collection, a class or a column
    that corpus.yaml does not name.
    """
    drops, unit = result.drops, record_unit(corpus.facts.records)
    counts = _count_all(result.records)
    if drops.kept(unit) != len(result.records):
        raise _contradiction(corpus, unit, drops, len(result.records))
    dropped = drops.seen[unit] > len(result.records)
    _check_examples(result.records, corpus)
    for part in _parts(corpus, drops):
        lost = drops.kept(part) - counts[part]
        if lost < 0 or (lost and not dropped):
            raise _contradiction(corpus, part, drops, counts[part])
        if lost:
            drops.dropped[part, IN_DROPPED_DOCUMENT] += lost


def _drop(records: Iterable[Record], reason: str, drops: Drops, corpus: Corpus) -> None:
    """Count records that the recipe kept, and what they hold, as dropped, in settled counts."""
    for record in records:
        drops.dropped[record_unit(corpus.facts.records), reason] += 1
        counts = count_contents(record)
        for part in _parts(corpus, drops):
            if counts.get(part):
                drops.dropped[part, reason] += counts[part]


def _count_all(records: Iterable[Record]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for record in records:
        counts.update(count_contents(record))
    return counts


def _parts(corpus: Corpus, drops: Drops) -> tuple[str, ...]:
    kind = corpus.facts.records
    # The texts of examples are counted where examples have more or fewer of them.
    return () if kind == "examples" and not drops.seen["texts"] else CONTENTS[kind]


def _check_examples(records: Iterable[Record], corpus: Corpus) -> None:
    """Check that corpus.yaml names the collection, the class and the columns of each example."""
    for example in records:
        if not isinstance(example, Example):
            continue
        key = f"collections.{example.collection}"
        facts = corpus.facts.collections.get(example.collection)
        if facts is None:
            names = corpus.facts.collections
            raise _unnamed(example, corpus, "collections", example.collection, names)
        # With {}, the classes are those of the source, in its spelling.
        if example.label is not None and facts.labels != {}:
            labels = (facts.labels or {}).values()
            if example.label not in labels:
                raise _unnamed(example, corpus, f"{key}.labels", example.label, labels)
        for name in example.columns:
            if name not in facts.columns:
                raise _unnamed(example, corpus, f"{key}.columns", name, facts.columns)


def _unnamed(
    example: Example, corpus: Corpus, key: str, name: str, names: Iterable[str]
) -> InputError:
    return InputError(
        f"{RECIPES / corpus.recipe / 'recipe.py'}: read_block, example {example.id}",
        f"one of {', '.join(names) or '(nothing)'}, which corpus.yaml names under {key}",
        repr(name),
        "name it in corpus.yaml, or correct the recipe",
    )


def _contradiction(corpus: Corpus, unit: str, drops: Drops, n_held: int) -> InputError:
    where = f"{RECIPES / corpus.recipe / 'recipe.py'}: read_block"
    expected = f"counts that agree with the records: {n_held} {unit} kept"
    found = str(drops.as_dict().get(unit, "nothing counted"))
    todo = f"count each of the {unit} once in `seen`, and once in `dropped` if it is dropped"
    return InputError(where, expected, found, todo)


# Rows per row group: small enough to read one at a time, large enough to compress well.
ROW_GROUP = 1000
# Records are kept as a shard when they have this many bytes, or took this many seconds: no more is
# lost if `read` is killed.
SHARD_BYTES = 100_000_000
SHARD_SECONDS = 60.0
_SHARD = "records.parquet"
# Below this many bytes of raw files, one process has read them before others have started.
SMALL = 1_000_000
# Below this many, they are read in seconds: to the end even after a fault, to find all faults.
SOON_READ = 50_000_000


class _Shards:
    """The records of a corpus in the cache until their file is whole, and what they were read from.

    A shard has the records of the ``n_blocks`` that follow those of the shard before. Without a
    ``key``, that of the records in the cache, nothing is kept.
    """

    def __init__(self, corpus: str, key: Key | None) -> None:
        self._cache, self._key = Cache(f"{READING}/{corpus}"), key
        self._n_shards = self.n_blocks = 0
        self._begin()

    def _begin(self) -> None:
        self.tables: list[pa.Table] = []
        self.drops, self._first, self._began = Drops(), self.n_blocks, time.monotonic()

    def _entry(self) -> tuple[str, Key, Path]:
        """Return name, key and file of the shard that begins here."""
        name = f"{self._n_shards:05}"
        return name, {**(self._key or {}), "first": self._first}, self._cache.folder(name) / _SHARD

    def words(self, count: Callable[[], Counter[str]]) -> Mapping[str, int]:
        """Return counts of words: the stored ones, or those of a function."""
        if self._key is None:
            return count()
        words: Mapping[str, int] | None = self._cache.get("words", self._key)
        if words is None:
            words = count()
            self._cache.put("words", self._key, facts=words)
        return words

    def stored(self) -> Iterator[tuple[pa.Table, Drops]]:
        """Yield the records and counts of each shard that is stored."""
        while self._key is not None:
            name, key, path = self._entry()
            if (facts := self._cache.get(name, key)) is None:
                return
            with pq.ParquetFile(path) as file:
                yield file.read(), Drops.from_facts(facts["drops"])
            self._n_shards, self.n_blocks = self._n_shards + 1, facts["n_blocks"]
            self._begin()

    def is_due(self) -> bool:
        """Return whether what was read since the last shard is to be stored."""
        is_large = sum(table.nbytes for table in self.tables) >= SHARD_BYTES
        is_late = time.monotonic() - self._began >= SHARD_SECONDS
        return is_large or is_late

    def store(self, schema: pa.Schema) -> None:
        """Store what was read since the last shard, and let it go."""
        if self._key is not None:
            name, key, path = self._entry()
            with whole_file(path) as file, parquet_writer(file, schema) as writer:
                for table in self.tables:
                    writer.write_table(table)
            facts = {"n_blocks": self.n_blocks, "drops": self.drops.facts()}
            self._cache.put(name, key, [path], facts)
            self._n_shards += 1
        self._begin()


def read(
    corpus: Corpus,
    raw: Path,
    out: Path,
    *,
    workers: int | None,
    executor: str,
    strict: bool = False,
    key: Key | None = None,
) -> Drops:
    """Read a corpus to ``out``, and write its counts to the .json file beside it, both together.

    Args:
        corpus: the corpus, with the number of documents to read.
        raw: folder in the corpus's raw layout.
        out: the Parquet file to write (``record_schema``); its bytes depend
            only on the raw files, the seed and the quota.
        workers: number of blocks read at once, see ``open_executor``; None for one in this process
            if the raw files are small.
        executor: "local" or the address of a Dask scheduler.
        strict: whether a share of drops above its limit is an error; see ``above_limits``.
        key: that of the records in the cache, under which a killed ``read`` left shards of them,
            which are not read again; None to leave none. The caller removes them (``READING``).

    Raises:
        InputError: the raw files are damaged or not all there, or hold no document, or more than
            half of the documents were dropped; if ``strict``, also if a share of drops is above its
            limit. Nothing is written then.
    """
    if not raw.is_dir():
        todo = f"run `probeta fetch --only {corpus.name}`"
        raise RawError(raw, f"the raw files of {corpus.name}", "no such folder", todo)
    check_complete(raw, corpus.name)
    # Workers on other machines have other working directories.
    recipe = load_recipe(corpus.recipe)
    blocks = recipe.blocks(raw.absolute(), corpus)
    window = recipe.window(blocks, corpus)
    size = sum(path.stat().st_size for path in raw.rglob("*") if path.is_file())
    if workers is None and executor == "local" and size < SMALL:
        workers = 1
    schema = record_schema(corpus.facts.records)
    if window is not None:
        schema = schema.with_metadata({WINDOW: json.dumps(asdict(window), ensure_ascii=False)})
    total = Drops()
    shards = _Shards(corpus.name, key)
    pending, rows = schema.empty_table(), list[dict[str, Any]]()
    with (
        open_executor(executor, workers) as pool,
        whole_outputs([out, out.with_suffix(".json")]) as (records_file, counts_file),
        parquet_writer(records_file, schema) as writer,
        progress(corpus.documents, f"read {corpus.name}", "document") as bar,
    ):

        def write(table: pa.Table) -> None:
            nonlocal pending
            pending = pa.concat_tables([pending, table])
            while pending.num_rows >= ROW_GROUP:
                writer.write_table(pending.slice(0, ROW_GROUP).combine_chunks(), ROW_GROUP)
                pending = pending.slice(ROW_GROUP)

        max_in_flight = 2 * pool.at_once if pool else 1
        max_faults = MAX_FAULTS if size < SOON_READ else 1
        if recipe.texts is not None:
            words = shards.words(partial(_count_words, blocks, corpus, pool, max_in_flight))
            corpus = replace(corpus, words=words)
        seen: set[int] = set()
        for table, drops in shards.stored():
            total.add(drops)
            seen.update(keyed_hash(0, name) for name in table["id"].to_pylist())
            write(table)
        count = len(seen)
        bar.update(count)
        for records, drops in read_corpus(
            blocks, corpus, pool, max_in_flight, max_faults, seen, shards.n_blocks
        ):
            total.add(drops)
            for record in records:
                row = to_row(record)
                # Examples without parts get folds, which depend on their labels.
                if not record.split and not isinstance(record, Example):
                    row["split"] = decide_split(corpus.seed, corpus.name, record.id)
                rows.append(row)
            count += len(records)
            bar.update(len(records))
            shards.drops.add(drops)
            shards.n_blocks += 1
            is_due = shards.is_due()
            while len(rows) >= (1 if is_due else ROW_GROUP):
                shards.tables.append(pa.Table.from_pylist(rows[:ROW_GROUP], schema))
                write(shards.tables[-1])
                del rows[:ROW_GROUP]
            if is_due:
                shards.store(schema)
        write(pa.Table.from_pylist(rows, schema))
        if pending.num_rows:
            writer.write_table(pending.combine_chunks(), ROW_GROUP)
        _check(corpus, raw, total, count, strict=strict)
        report: dict[str, Any] = total.as_dict()
        if window is not None:
            report["window"] = asdict(window)
        counts_file.write_text(as_json(report, sort_keys=True), "utf-8")
    return total


def above_limits(corpus: Corpus, drops: Drops) -> list[str]:
    """Return, in words, the shares of drops above those of ``drop_limits`` in corpus.yaml.

    The limit of what cannot be read is 0 unless it is there. The first places are named.
    """
    excess = []
    unreadable = {f"{unit}.{reason}" for unit, reason in drops.places if drops.faults(unit, reason)}
    limits = {**dict.fromkeys(sorted(unreadable), 0), **corpus.facts.drop_limits}
    for name, limit in limits.items():
        unit, reason = name.split(".")
        share = drops.dropped[unit, reason] / max(1, drops.seen[unit])
        if share <= limit:
            continue
        note = f"{share:.2%} of the {unit} dropped as {reason}, above the limit of {limit:.2%} "
        note += f"(drop_limits in {corpus.recipe}/corpus.yaml)"
        if faults := drops.faults(unit, reason):
            note += "\n" + indent(str(join_faults(faults)), "  ")
        elif places := drops.places.get((unit, reason)):
            note += f": {', '.join(str(getattr(place, 'where', place)) for place in places)}"
        excess.append(note)
    return excess


def _check(corpus: Corpus, raw: Path, drops: Drops, count: int, *, strict: bool) -> None:
    counts = json.dumps(drops.as_dict(), ensure_ascii=False)
    faults = drops.faults()[:MAX_FAULTS]
    advice = "inspect the raw files, and check that `language` fits them"
    units = {record_unit(corpus.facts.records), *CONTENTS[corpus.facts.records]}
    kinds = [drop for drop in drops.dropped if drop[0] in units and drop[1] != BEYOND_QUOTA]
    if kinds:
        unit, reason = most = max(kinds, key=lambda drop: drops.dropped[drop])
        share = f"{drops.dropped[most]:,} of {drops.seen[unit]:,} {unit}"
        advice = f"most were dropped as {reason} ({share}); {advice}: if they are right, the "
        advice += "rules of the recipe do not fit this language"
    if count == 0:
        expected = f"at least one document for {corpus.name}"
        raise RawErrors([RawError(raw, expected, f"none; counts: {counts}", advice), *faults])
    seen, dropped = _dropped_documents(corpus, drops)
    if dropped > seen / 2:
        expected = f"at least half of the documents for {corpus.name}"
        todo = f"{advice}; if so many drops are normal, raise the limit under drop_limits in "
        todo += f"{corpus.recipe}/corpus.yaml"
        found = f"{dropped:,} of {seen:,} dropped; counts: {counts}"
        raise RawErrors([RawError(raw, expected, found, todo), *faults])
    if strict and (excess := above_limits(corpus, drops)):
        found = "; ".join(note.partition("\n")[0] for note in excess) + f"; counts: {counts}"
        todo = "inspect the raw files, or read them without --strict"
        summary = RawError(raw, "no share of drops above its limit", found, todo)
        raise RawErrors([summary, *faults])


def _dropped_documents(corpus: Corpus, drops: Drops) -> tuple[int, int]:
    """Count the documents (or examples) seen, and those dropped, but not those beyond the quota."""
    unit = record_unit(corpus.facts.records)
    counts = {reason: n for (u, reason), n in drops.dropped.items() if u == unit}
    limits = {reason: corpus.facts.drop_limits.get(f"{unit}.{reason}", 0) for reason in counts}
    counts.pop(BEYOND_QUOTA, None)
    seen = drops.seen[unit]
    normal = sum(n for reason, n in counts.items() if max(0.5, n / seen) < limits[reason])
    return seen - normal, sum(counts.values()) - normal
