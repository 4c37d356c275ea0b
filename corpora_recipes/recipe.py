"""The interface of recipes: their functions, their argument ``Corpus``, and their folders.

A recipe is a folder here with ``corpus.yaml`` (facts), ``recipe.py`` (code) and ``sample/`` (a
small corpus in the raw format). To add a corpus format, add such a folder.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from corpora_recipes.facts import CorpusFacts, Source, read_facts
from corpora_recipes.records import Drops, Record, Window
from corpora_recipes.running.errors import InputError

RECIPES = Path(__file__).with_name("corpora")
# The keys of `corpus` in every entry of params.yaml, besides the options of its recipe.
COMMON_KEYS = ("recipe", "language", "sources", "documents")


@dataclass(frozen=True, slots=True)
class Corpus:
    """One entry of ``corpora`` in params.yaml, checked, joined with its recipe's facts.

    Attributes:
        name: the key of the entry.
        recipe: name of the recipe's folder.
        language: BCP 47 code of the texts, e.g. "es".
        documents: the number of accepted documents to take; None for all.
        seed: the run's seed.
        options: the recipe's options, with defaults.
        datasets: dataset name to its parameters, for the builders.
        facts: the recipe's corpus.yaml.
        sources: the origin of this corpus's raw files; None for `sources` of params.yaml.
        params: the file that has the entry, for messages.
    """

    name: str
    recipe: str
    language: str
    documents: int | None
    seed: int
    options: Mapping[str, Any]
    datasets: dict[str, dict[str, Any]]
    facts: CorpusFacts
    sources: str | None = None
    params: str = "params.yaml"

    @property
    def asked(self) -> dict[str, Any]:
        """What params.yaml asks for that decides the records of the corpus; JSON."""
        keys = ("name", "recipe", "language", "documents", "seed", "options", "sources")
        return {key: getattr(self, key) for key in keys}

    @property
    def where(self) -> str:
        """The place of the entry, for messages."""
        return f"{self.params}: corpora.{self.name}"

    def is_sample(self, sources: str) -> bool:
        """Return whether its texts are only a sample, if params.yaml has these ``sources``."""
        if self.options.get("path") is not None or self.is_shipped:
            return False
        return (self.sources or sources) == "sample"

    @property
    def is_shipped(self) -> bool:
        """Whether the project contains the corpus itself, not a sample."""
        return self.facts.shipped and self.options.get("path") is None


class Block(Protocol):
    """A part of a corpus that a worker can read independently; small and picklable."""

    @property
    def key(self) -> str:
        """A stable name, unique in the corpus, and the same on every machine and in every run."""


@dataclass(slots=True)
class BlockResult:
    """The result of reading one block.

    Attributes:
        records: in any order.
        drops: counts of the documents (or examples) of the block, and of what documents hold
            (``records.contents``): each once as seen, and once as dropped if it is not in a record
            for a reason of its own. What a dropped document holds need not be dropped as well:
            ``read`` does that, and refuses counts that contradict the records.
    """

    records: list[Record] = field(default_factory=list)
    drops: Drops = field(default_factory=Drops)

    @contextmanager
    def counting(self, unit: str) -> Iterator[None]:
        """Count one item of a unit as seen; and as dropped if Dropped is raised within."""
        self.drops.seen[unit] += 1
        try:
            yield
        except Dropped as dropped:
            self.drops.dropped[unit, dropped.reason] += 1


class Dropped(Exception):
    """Raised and caught by a recipe if a document cannot be used, with the ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Finding:
    """What `probeta doctor` has found out about a file or a server."""

    what: str
    fault: str = ""  # why nothing can be fetched
    note: str = ""  # what else is good to know
    to_download: int | None = None  # bytes that are not there yet; None if unknown


@dataclass(frozen=True, slots=True)
class Recipe:
    """The functions of a ``recipe.py``; only the first two are required.

    Attributes:
        blocks: ``blocks(raw, corpus)`` lists the blocks of the corpus in the folder ``raw``, and
            raises InputError if the recipe can read nothing in it.
        read_block: ``read_block(block, corpus)`` reads one block. It runs in a worker, depends
            only on its arguments, and raises InputError if the block is damaged.
        sources: ``sources(corpus)`` lists the raw files, if ``{option}`` in corpus.yaml cannot
            express how they depend on the options. Default: those of corpus.yaml.
        settled: ``settled(corpus)`` asks the servers what the options leave open, such as the date
            of the latest dump, and returns the corpus with it. Default: as it is.
        fetch_upstream: ``fetch_upstream(corpus, out)`` downloads the raw files into a folder.
            Default, None: each source is downloaded from its URL.
        verify: ``verify(raw, corpus)`` compares raw files from a mirror with checksums that lie
            among them. Default: no check.
        window: ``window(blocks, corpus)`` says between which days the documents were made, if the
            options ask for certain ones. Default: None.
        examine: ``examine(corpus)`` asks the servers for more than the files of ``sources``, for
            `probeta doctor`, and yields what they say. Default, None: nothing more is asked.
        boilerplate: ``boilerplate(corpus)`` returns the patterns that the recipe removes, and that
            must not occur in a text of the corpus. Default: no patterns.
    """

    blocks: Callable[[Path, Corpus], Sequence[Block]]
    read_block: Callable[[Any, Corpus], BlockResult]
    sources: Callable[[Corpus], Sequence[Source]] = lambda corpus: corpus.facts.sources
    settled: Callable[[Corpus], Corpus] = lambda corpus: corpus
    fetch_upstream: Callable[[Corpus, Path], None] | None = None
    verify: Callable[[Path, Corpus], None] = lambda raw, corpus: None
    window: Callable[[Sequence[Any], Corpus], Window | None] = lambda blocks, corpus: None
    examine: Callable[[Corpus], Iterable[Finding]] | None = None
    boilerplate: Callable[[Corpus], list[re.Pattern[str]]] = lambda corpus: []


def recipe_names() -> list[str]:
    """Return the names of all recipes, sorted."""
    return sorted(path.parent.name for path in RECIPES.glob("*/corpus.yaml"))


def load_recipe(name: str) -> Recipe:
    """Return the recipe's code; the name is one of ``recipe_names()``."""
    path, module = RECIPES / name / "recipe.py", {}
    if path.is_file():
        module = vars(importlib.import_module(f"corpora_recipes.corpora.{name}.recipe"))
    if missing := [needed for needed in ("blocks", "read_block") if needed not in module]:
        expected = "the functions blocks(raw, corpus) and read_block(block, corpus)"
        found = f"no {' and no '.join(missing)}" if module else "no such file"
        raise InputError(path, expected, found, "write them as in corpora_recipes/recipe.py")
    return Recipe(**{f.name: module[f.name] for f in fields(Recipe) if f.name in module})


def load_facts(name: str) -> CorpusFacts:
    """Return the recipe's corpus.yaml; the name is one of ``recipe_names()``."""
    return read_facts(RECIPES / name / "corpus.yaml")
