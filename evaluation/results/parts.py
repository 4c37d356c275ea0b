"""The scores of an encoder, part by part: cached parts are reused, the others are computed.

A part is what is computed together, such as a dataset in a layer. Its scores, and the rows behind
them, are cached as soon as it is done, so that an interrupted run loses the parts in flight alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpora_recipes.running.memo import Cache, Key
from evaluation.results.stored import EncoderResults, parsed

_ROWS = "rows.parquet"


@dataclass(frozen=True, slots=True)
class Part:
    """The scores of a part, and for each of them that has rows the table of its rows."""

    scores: Sequence[Any]
    tables: Sequence[pa.Table] = ()


def score_parts(
    results: EncoderResults,
    inputs: Mapping[str, Any],
    kind: Any,
    compute: Callable[[list[str]], Iterable[tuple[str, Part]]],
    cache: Cache | None,
) -> tuple[dict[str, Part], list[str]]:
    """Return the parts of some results by name, and the names of those that were computed now.

    Args:
        results: without scores; their other fields, and the ``inputs`` of a part, decide it.
        inputs: name of a part to what it is made from; JSON.
        kind: the type of a score.
        compute: yields the parts of some names, in any order.
        cache: what remembers parts; None to compute all.
    """
    facts = asdict(replace(results, scores=()))
    code, versions = facts.pop("code"), facts.pop("versions")
    keys: dict[str, Key] = {
        part: {"inputs": of_part, "parameters": facts, "code": code, "versions": versions}
        for part, of_part in inputs.items()
    }
    parts = {}
    if cache is not None:
        cache.prune(keys)
        parts = {name: part for name in keys if (part := _read_part(cache, name, keys[name], kind))}
    new = [name for name in keys if name not in parts]
    for name, part in compute(new):
        parts[name] = part
        if cache is not None:
            _write_part(cache, name, keys[name], part)
    return parts, new


def _read_part(cache: Cache, name: str, key: Key, kind: Any) -> Part | None:
    if (facts := cache.get(name, key)) is None:
        return None
    scores = [parsed(kind, score) for score in facts]
    path = cache.folder(name) / _ROWS
    if not path.exists():
        return Part(scores)
    with pq.ParquetFile(path) as file:
        return Part(scores, [file.read_row_group(n) for n in range(file.num_row_groups)])


def _write_part(cache: Cache, name: str, key: Key, part: Part) -> None:
    path: Path = cache.folder(name) / _ROWS
    cache.delete(name)
    if part.tables:
        path.parent.mkdir(parents=True)
        with pq.ParquetWriter(path, part.tables[0].schema) as writer:
            for table in part.tables:
                writer.write_table(table, row_group_size=max(1, len(table)))
    outputs = [path] if part.tables else []
    cache.put(name, key, outputs, [asdict(score) for score in part.scores])
