"""What differs between what was stored and what is computed again."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from evaluation.data.instances import Dataset

# Another version of numpy, or another processor, may add in another order.
NEAR = 1e-9
NONE = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that is stored otherwise than it is found.

    Attributes:
        where: dataset, layer and so on.
        what: the fact, such as "value" or "interval 0".
        stored: as the results say.
        found: as it was recomputed, or as the data have it.
    """

    where: str
    what: str
    stored: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: stored {self.stored}, recomputed {self.found}"


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome for the results of an encoder.

    Attributes:
        name: of the encoder.
        kind: of the results, in words.
        scores: number of scores that were recomputed.
        differences: all that differ.
        unverified: what cannot be recomputed from what is stored, in words.
    """

    name: str
    kind: str
    scores: int
    differences: Sequence[Difference]
    unverified: Sequence[str]


@dataclass(frozen=True, slots=True)
class Data:
    """The data that results are verified on.

    Attributes:
        folder: which has them.
        datasets: by name.
        asked: the names of those to verify; None for all that results have.
    """

    folder: Path
    datasets: Mapping[str, Dataset]
    asked: Collection[str] | None = None


class OfDataset(Protocol):
    """A score, of whatever kind."""

    @property
    def dataset(self) -> str:
        """The name of its dataset."""


Scored = TypeVar("Scored", bound=OfDataset)


def verify_each(
    scores: Iterable[tuple[str, Scored]],
    data: Data,
    verify: Callable[[str, Scored, Dataset], Sequence[Difference]],
) -> tuple[int, list[Difference]]:
    """Verify scores one by one.

    Args:
        scores: where each is, for the differences, and the score.
        data: to verify on.
        verify: returns the differences of a score from what its dataset gives.

    Returns:
        The number of scores that were recomputed, and the differences; a dataset that is not in the
        data is one.
    """
    count = 0
    differences: list[Difference] = []
    for where, score in scores:
        if data.asked is not None and score.dataset not in data.asked:
            continue
        if score.dataset in data.datasets:
            differences += verify(where, score, data.datasets[score.dataset])
            count += 1
        else:
            absent = f"no such dataset in {data.folder}"
            differences.append(Difference(where, "dataset", "its score", absent))
    return count, differences


def differing(where: str, stored: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """Return the facts that differ; numbers do if they are further apart than ``NEAR``.

    Args:
        where: for the differences.
        stored: name to value: JSON values, or sequences of them.
        found: the same.
    """
    differences = []
    for name in dict.fromkeys((*stored, *found)):
        one, other = (side.get(name) for side in (stored, found))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            inner = {f"{name} {key}": value for key, value in one.items()}
            differences += differing(where, inner, {f"{name} {k}": v for k, v in other.items()})
        elif not _alike(one, other):
            differences.append(Difference(where, name, _shown(one), _shown(other)))
    return differences


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Sequence) and not isinstance(one, str):
        return (
            isinstance(other, Sequence)
            and len(one) == len(other)
            and all(_alike(*pair) for pair in zip(one, other, strict=True))
        )
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=NEAR, abs_tol=NEAR)
    return bool(one == other)


def _shown(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value)
