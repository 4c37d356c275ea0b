"""The random choices of a dataset: keyed hashes, not a random generator."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from corpora_recipes.hashing import keyed_choice, keyed_hash, keyed_uniform


class Draw(NamedTuple):
    """The parameters of a dataset's random choices, besides the subject of each choice.

    Attributes:
        seed: the run's seed.
        name: of the dataset.
        options: the values of the task's options (see ``builders.tasks.task.Option``).
    """

    seed: int
    name: str
    options: Mapping[str, str] = MappingProxyType({})

    def hash(self, *about: str) -> int:
        """Return an integer, uniform over 0 … 2**64 - 1.

        Args:
            about: the subject of the choice: a stable id and the purpose.
        """
        return keyed_hash(self.seed, self.name, *about)

    def choice(self, count: int, *about: str) -> int:
        """Return an integer, uniform over 0 … count - 1."""
        return keyed_choice(count, self.seed, self.name, *about)

    def uniform(self, *about: str) -> float:
        """Return a number, uniform over [0, 1)."""
        return keyed_uniform(self.seed, self.name, *about)
