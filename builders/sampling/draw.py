"""The random choices of a dataset: keyed hashes, not a random generator."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from corpora_recipes.hashing import keyed_choice, keyed_hash, keyed_uniform


class Draw(NamedTuple):
    """The parameters of a dataset's random choices, besides the subject of each choice.

    A subject (``about``) is a stable id and a purpose; ``options`` are those of the task, and
    ``language`` is that of the texts.
    """

    seed: int
    name: str
    options: Mapping[str, str] = MappingProxyType({})
    language: str = ""

    def hash(self, *about: str) -> int:
        """Return an integer, uniform over 0 … 2**64 - 1."""
        return keyed_hash(self.seed, self.name, *about)

    def choice(self, count: int, *about: str) -> int:
        """Return an integer, uniform over 0 … count - 1."""
        return keyed_choice(count, self.seed, self.name, *about)

    def uniform(self, *about: str) -> float:
        """Return a number, uniform over [0, 1)."""
        return keyed_uniform(self.seed, self.name, *about)

    def classes(self, count: int, ids: Sequence[str]) -> list[int]:
        """Draw a class, 0 … count - 1, for each id, with every class exactly equally often.

        Each gets the class of its keyed draw while that class has room; the few whose class is full
        fill the remaining places, in order. So leaving one out changes the class of a few others at
        most; drawing without replacement would change all.

        Args:
            count: the number of classes.
            ids: in keyed order; their number is a multiple of ``count``.
        """
        assert len(ids) % count == 0, f"{len(ids)} over {count} classes"
        room = [len(ids) // count] * count
        drawn: list[int | None] = []
        for name in ids:
            choice = self.hash(name, "class") % count
            drawn.append(choice if room[choice] else None)
            room[choice] -= room[choice] > 0
        left = iter([number for number in range(count) for _ in range(room[number])])
        return [next(left) if choice is None else choice for choice in drawn]
