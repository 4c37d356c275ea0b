"""Results of an earlier run that a new one takes over: of datasets whose key is unchanged.

An encoder's results, in the folder or file that a stage is about to replace, say all that they
depend on: format, encoder, options, seed, versions, and ``code`` (see
``corpora_recipes.running.code.code_digest``). If one of these differs, nothing is kept; if none
does, the scores of a dataset whose ``digest`` is unchanged are. A stage does this:

    results = Results(..., code=code_digest(__name__), scores=())
    before = unchanged(read_results, out, results)
    kept = [score for score in before.scores if score.digest == digests.get(score.dataset)]
    ... measures the other datasets, and writes all of them
    print(said_kept(len(datasets), kept))
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Stored = TypeVar("Stored", bound="DataclassInstance")


def unchanged(
    read: Callable[[Path], Stored],
    path: Path,
    now: Stored,
    entries: Sequence[str] = ("scores",),
) -> Stored:
    """Return earlier results if they depend on all that those of this run do.

    Args:
        read: reads results; raises InputError if they are missing, or not in the present layout.
        path: their folder or file.
        now: the results of this run, without entries.
        entries: the fields that are found out dataset by dataset.

    Returns:
        The earlier results if they fit, else ``now``.
    """
    try:
        before = read(path)
    except InputError:
        return now
    empty: dict[str, Any] = {name: getattr(now, name) for name in entries}
    return before if replace(before, **empty) == now else now
