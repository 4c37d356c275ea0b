"""What a recipe is, what it is told about its corpus, and where recipes are found.

A recipe is a folder here with ``corpus.yaml`` (facts), ``recipe.py`` (code) and ``sample/`` (a
small corpus in the raw format). Adding a corpus format is adding such a folder.
"""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import yaml

from corpora_recipes.records import Drops, Record

RECIPES = Path(__file__).parent
# What every entry of ``corpora`` in params.yaml may say; a recipe's own options come on top.
COMMON_KEYS = ("recipe", "language", "sources", "documents", "datasets")


@dataclass(frozen=True, slots=True)
class Corpus:
    """One entry of ``corpora`` in params.yaml, checked, joined with its recipe's facts.

    Attributes:
        name: the key of the entry.
        recipe: name of the recipe's folder.
        language: BCP 47 code of the texts, e.g. "es".
        documents: how many accepted documents to take; None for all.
        seed: the run's seed.
        options: the recipe's own options, defaults filled in.
        datasets: dataset name to its parameters, for the builders.
        facts: the recipe's corpus.yaml.
        sources: where this corpus's raw files come from, if not from where the others' do.
    """

    name: str
    recipe: str
    language: str
    documents: int | None
    seed: int
    options: dict[str, Any]
    datasets: dict[str, dict[str, Any]]
    facts: dict[str, Any]
    sources: str | None = None

    def is_sample(self, sources: str) -> bool:
        """Tell whether its texts are but a sample.

        Args:
            sources: what params.yaml says, unless the entry says another.
        """
        if self.options.get("path") is not None or self.is_shipped:
            return False
        return (self.sources or sources) == "sample"

    @property
    def is_shipped(self) -> bool:
        """Whether what the project ships is the corpus itself, and no sample of it."""
        return bool(self.facts.get("shipped")) and self.options.get("path") is None


class Block(Protocol):
    """A part of a corpus that a worker can read without the others; small, and picklable."""

    @property
    def key(self) -> str:
        """A stable name, unique in the corpus: the same on every machine and for every run."""


@dataclass(slots=True)
class BlockResult:
    """What reading one block gives: its records, in any order, and its counts."""

    records: list[Record] = field(default_factory=list)
    drops: Drops = field(default_factory=Drops)


class Dropped(Exception):
    """A recipe raises and catches it where a document cannot be used; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Recipe(Protocol):
    """The functions of a ``recipe.py``."""

    def blocks(self, raw: Path, corpus: Corpus) -> Sequence[Block]:
        """List the blocks of the corpus in folder ``raw``.

        Raises:
            InputError: the folder holds nothing that this recipe can read.
        """

    def read_block(self, block: Any, corpus: Corpus) -> BlockResult:
        """Read one block. Runs in a worker, and depends on the arguments alone.

        Raises:
            InputError: the block is damaged.
        """


def recipe_names() -> list[str]:
    """Return the names of the recipes there are, sorted."""
    return sorted(path.parent.name for path in RECIPES.glob("*/corpus.yaml"))


def load_recipe(name: str) -> Recipe:
    """Return the recipe's code; the name is one of ``recipe_names()``."""
    return cast("Recipe", importlib.import_module(f"corpora_recipes.{name}.recipe"))


def boilerplate_of(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns of what no text of the corpus may hold.

    A recipe that cuts such text has a function ``boilerplate(corpus)``, which returns them.
    """
    own = getattr(load_recipe(corpus.recipe), "boilerplate", None)
    return own(corpus) if own else []


def load_facts(name: str) -> dict[str, Any]:
    """Return the recipe's corpus.yaml: sources, licence, citation, options and their defaults."""
    text = (RECIPES / name / "corpus.yaml").read_text("utf-8")
    return cast("dict[str, Any]", yaml.safe_load(text))
