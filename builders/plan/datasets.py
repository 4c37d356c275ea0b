"""The datasets of params.yaml: their tasks, sizes and versions, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import StrictInt

from builders.plan.origins import collection_facts, licence_of
from builders.sampling.draw import Draw
from builders.tasks import TASKS
from builders.tasks.task import (
    FOLD,
    Column,
    ExampleTask,
    PassageTask,
    Task,
    TreebankTask,
    answer_columns,
    further_columns,
)
from corpora_recipes.checking import Checked, checked, described, one_of
from corpora_recipes.facts import CollectionFacts
from corpora_recipes.languages import corpora_in
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.text.tokens import check_language, has_rules

# Rows for train, validation and test: Araujo et al. (2022), Appendix A.
PAPER_ROWS = (10_000, 4_000, 4_000)
# No more digits than a reader of versions takes.
Version = Annotated[
    str, described("three numbers, such as 1.0.0", pattern=r"^[0-9]{1,9}(\.[0-9]{1,9}){2}$")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset to build or to compose, of any kind.

    Attributes:
        name: its name, the config on the Hub.
        corpus: its corpus's entry in params.yaml.
        records: the kind of records that it is made of.
        language: of its texts.
        sample: whether its texts are those of the small sample in the project.
        version: raised when its rows change.
        rows: the highest number of rows of train, validation and test, if it is made of passages.
        options: the values of the task's options.
        collection: the collection of the corpus that it is made of, or "".
        edition_of: the older dataset that it is compared with in the report, or "".
    """

    name: str
    task: Task
    corpus: str
    records: str
    language: str
    seed: int
    licence: str
    sample: bool
    version: str
    rows: tuple[int, int, int] = PAPER_ROWS
    options: Mapping[str, str] = field(default_factory=dict)
    collection: str = ""
    edition_of: str = ""

    @property
    def in_words(self) -> str:
        """Its name and its task, for messages."""
        return f"dataset {self.name} ({self.task.name.replace('_', ' ')})"

    @property
    def draw(self) -> Draw:
        """The parameters of its random choices."""
        return Draw(self.seed, self.name, self.options, self.language)

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; only a dataset with folds has ``fold``."""
        return self.task.columns()

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data: the same keys for all kinds of datasets."""
        names = ("corpus", "records", "language", "seed", "licence", "sample", "version")
        return {
            **{"dataset": self.name, "task": self.task.name},
            **{name: getattr(self, name) for name in names},
            **{"rows": list(self.rows), "options": dict(self.options)},
            "collection": self.collection,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageDataset(Dataset):
    """A dataset made of passages of documents or dialogues.

    Attributes:
        folds: whether its documents are in folds, all of them tested, and not in splits.
    """

    task: PassageTask
    folds: bool = False

    def quota(self, split: Split) -> int:
        """Return the highest number of rows of a split; with folds, all are of train."""
        return sum(self.rows) if self.folds else self.rows[SPLITS.index(split)]

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; only a dataset with folds has ``fold``."""
        return self.task.columns(further=FOLD if self.folds else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleDataset(Dataset):
    """A dataset made of the labelled examples of a collection, whose part of corpus.yaml it has."""

    task: ExampleTask
    facts: CollectionFacts

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; only a dataset with folds has ``fold``."""
        return self.task.columns(answer_columns(self.facts), further_columns(self.facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TreebankDataset(Dataset):
    """A dataset made of the sentences of a corpus's treebanks."""

    task: TreebankTask


def datasets_of(corpus: Corpus, sources: str) -> list[Dataset]:
    """Return the datasets of a corpus, sorted by name; empty if only rankings use the corpus."""
    return [
        _dataset(corpus, sources, name, corpus.datasets[name]) for name in sorted(corpus.datasets)
    ]


def check_tokens(dataset: Dataset) -> None:
    """Raise an InputError unless `package` can split the texts of a dataset into tokens.

    Words need no rules; of a language, spaCy or a recipe must have them.
    """
    if dataset.task.unit != "word":
        check_language(dataset.language)
        if not has_rules(dataset.language):
            corpora_in(dataset.language)


def entry_of(task: Task, records: str) -> type[Any]:
    """Return the type of the entry of a dataset in params.yaml: its fields are the known keys.

    ``records`` is the kind of records that it is made of.
    """
    options = tuple((name, task.options[name].choices) for name in task.defaults(records))
    # Two rows per class, of which there are two or more.
    least = 2 * max(len(task.labels), 2) if isinstance(task, PassageTask) else None
    return _entry(isinstance(task, ExampleTask), least, options)


# Many tasks have the same keys.
@cache
def _entry(of_examples: bool, least: int | None, options: tuple[tuple[str, Any], ...]) -> type[Any]:
    expected = f"three integers, {least} or more: rows for train, validation and test"
    row = Annotated[StrictInt, described(expected, ge=least)]
    rows: Any = Annotated[GenericAlias(tuple, (row,) * len(SPLITS)), described(expected)]
    fields: list[Any] = [
        ("task", str),
        ("version", Version, "1.0.0"),
        *([("collection", Any, None)] if of_examples else []),
        *([("rows", rows, PAPER_ROWS), ("folds", bool, False)] if least is not None else []),
        *((name, Literal[choices], choices[0]) for name, choices in options),
        ("edition_of", Annotated[str, described("the name of the older dataset")], ""),
    ]
    return make_dataclass("Entry", fields, bases=(Checked,))


def _dataset(corpus: Corpus, sources: str, name: str, given: Any) -> Dataset:
    where = f"{corpus.where}.datasets.{name}"
    records = corpus.facts.records
    tasks = sorted(name for name, task in TASKS.items() if records in task.records)
    written = given.get("task") if isinstance(given, dict) else None
    task = TASKS[one_of(written, tasks, f"{where}.task", f" (tasks on {records})")]
    entry = checked(entry_of(task, records), given, where)
    common: dict[str, Any] = {
        "name": name,
        "corpus": corpus.name,
        "records": records,
        "language": corpus.language,
        "seed": corpus.seed,
        "licence": licence_of(corpus, sources),
        "sample": corpus.is_sample(sources),
        "version": entry.version,
        "options": {key: getattr(entry, key) for key in task.defaults(records)},
        "edition_of": entry.edition_of,
    }
    if isinstance(task, PassageTask):
        return PassageDataset(task=task, rows=entry.rows, folds=entry.folds, **common)
    if isinstance(task, TreebankTask):
        return TreebankDataset(task=task, **common)
    if not isinstance(task, ExampleTask):
        return Dataset(task=task, **common)
    collection = _collection(task, entry.collection, corpus, where)
    if task.named_by_language:
        common["language"] = collection
    facts = collection_facts(corpus, collection, common["language"])
    return ExampleDataset(task=task, collection=collection, facts=facts, **common)


def _collection(task: ExampleTask, named: object, corpus: Corpus, where: str) -> str:
    """Return the name of the collection that a dataset is made of, which must fit its task."""
    collections = corpus.facts.collections
    fitting = [name for name, facts in collections.items() if task.fits(facts)]
    if named is None and len(fitting) == 1:
        return fitting[0]
    if not fitting:
        examples = [task for task in TASKS.values() if isinstance(task, ExampleTask)]
        suited = [t.name for t in examples if any(map(t.fits, collections.values()))]
        what = f", as {task.name} needs {task.needs}"
        todo = (
            f"name a task that fits, or describe in {corpus.recipe}/corpus.yaml what it needs: "
            "the texts of a collection, and its labels or scale"
        )
        one_of(task.name, sorted(suited), f"{where}.task", what, todo)
    if named is None and task.named_by_language:
        named = corpus.language
    what, todo = f", for {task.needs}", "name a collection that fits the task, or another task"
    collection = None if named is None else str(named)
    return str(one_of(collection, fitting, f"{where}.collection", what, todo))
