"""The datasets of params.yaml: their tasks, sizes and versions, checked."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.plan.collections import collection_facts
from builders.plan.origins import licence_of
from builders.sampling.draw import Draw
from builders.tasks import TASKS
from builders.tasks.example_task import ExampleTask, answer_columns, further_columns
from builders.tasks.passage_task import PassageTask
from builders.tasks.task import Column, Task
from builders.tasks.treebank_task import TreebankTask
from corpora_recipes.facts import CollectionFacts
from corpora_recipes.languages import corpora_in
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import check_language, has_rules

# Rows for train, validation and test: Araujo et al. (2022), Appendix A.
PAPER_ROWS = (10_000, 4_000, 4_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset(ABC):
    """A dataset to build or to compose; each kind of dataset is a subclass.

    Attributes:
        name: its name, the config on the Hub.
        task: its task.
        language: of its texts.
        seed: the run's seed.
        licence: of its texts.
        sample: whether its texts are those of the small sample in the project.
        version: raised when its rows change.
        edition_of: the older dataset that it is compared with in the report, or "".
        options: the values of the task's options.
    """

    name: str
    task: Task
    language: str
    seed: int
    licence: str
    sample: bool
    version: str
    edition_of: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def draw(self) -> Draw:
        """The parameters of its random choices."""
        return Draw(self.seed, self.name, self.options)

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; only a dataset with folds has ``fold``."""
        return self.task.columns()

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""

    def _about(
        self,
        corpus: str,
        records: str,
        rows: Sequence[int] = PAPER_ROWS,
        collection: str = "",
    ) -> dict[str, Any]:
        """Return the facts stored with the data: the same keys for all kinds of datasets."""
        return {
            "dataset": self.name,
            "task": self.task.name,
            "corpus": corpus,
            "records": records,
            "language": self.language,
            "seed": self.seed,
            "licence": self.licence,
            "sample": self.sample,
            "version": self.version,
            "rows": list(rows),
            "options": dict(self.options),
            "collection": collection,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageDataset(Dataset):
    """A dataset made of passages of documents or dialogues.

    Attributes:
        corpus: its corpus's entry in params.yaml.
        records: "documents" or "dialogues".
        rows: the highest number of rows of train, validation and test.
    """

    task: PassageTask
    corpus: str
    records: str
    rows: tuple[int, int, int]

    def quota(self, split: Split) -> int:
        """Return the highest number of rows of a split."""
        return self.rows[SPLITS.index(split)]

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""
        return self._about(self.corpus, self.records, rows=self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleDataset(Dataset):
    """A dataset made of the labelled examples of a collection.

    Attributes:
        corpus: its corpus's entry in params.yaml.
        collection: the collection's name in the corpus.
        facts: the collection's part of corpus.yaml.
    """

    task: ExampleTask
    corpus: str
    collection: str
    facts: CollectionFacts

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; only a dataset with folds has ``fold``."""
        return self.task.columns(answer_columns(self.facts), further_columns(self.facts))

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""
        return self._about(self.corpus, "examples", collection=self.collection)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationDataset(Dataset):
    """A dataset made of all relations of a corpus's discourse trees.

    Attributes:
        corpus: its corpus's entry in params.yaml.
    """

    corpus: str

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""
        return self._about(self.corpus, "trees")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreebankDataset(Dataset):
    """A dataset made of the sentences of a corpus's treebanks.

    Attributes:
        corpus: its corpus's entry in params.yaml.
    """

    task: TreebankTask
    corpus: str

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""
        return self._about(self.corpus, "parsed_sentences")


def datasets_of(corpus: Corpus, sources: str) -> list[Dataset]:
    """Return the datasets of a corpus, sorted by name; empty if only rankings use the corpus.

    Args:
        corpus: its entry in params.yaml.
        sources: `sources` of params.yaml, unless the entry has another; samples have their own
            licence.

    Raises:
        InputError: one has an unknown task or key, or an invalid value.
    """
    return [
        _dataset(corpus, sources, name, corpus.datasets[name]) for name in sorted(corpus.datasets)
    ]


def check_version(version: object, where: str) -> None:
    """Check the version of a dataset.

    Raises:
        InputError: it is not three numbers.
    """
    if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9}){2}", str(version)):
        raise InputError(
            f"{where}.version",
            expected="three numbers, such as 1.0.0",
            found=repr(version),
            todo="correct the version",
        )


def check_tokens(dataset: Dataset) -> None:
    """Check that `package` can split the texts of a dataset into tokens; words need no rules.

    Raises:
        InputError: neither spaCy nor a recipe knows the language, or spaCy needs a package for it.
    """
    if dataset.task.unit != "word":
        check_language(dataset.language)
        if not has_rules(dataset.language):
            corpora_in(dataset.language)


def check_inherited(inherited: Mapping[str, object], datasets: Sequence[str], path: Path) -> None:
    """Check that the names in `audit.inherited` of params.yaml are datasets.

    Args:
        inherited: its entries.
        datasets: the names of all datasets.
        path: of params.yaml, for messages.

    Raises:
        InputError: naming the first that is not.
    """
    for name in inherited:
        if name not in datasets:
            raise InputError(
                f"{path}: audit.inherited.{name}",
                expected=f"one of the datasets, {', '.join(sorted(datasets))}",
                found=f"{name}, which is not a dataset",
                todo=f"remove {name} there too if the dataset was removed from `corpora` or "
                "`rankings`; otherwise correct the name",
            )


def _dataset(corpus: Corpus, sources: str, name: str, entry: object) -> Dataset:
    where = f"{corpus.where}.datasets.{name}"
    records = corpus.facts.records
    tasks = sorted(name for name, task in TASKS.items() if records in task.records)
    if not isinstance(entry, dict) or "task" not in entry:
        raise InputError(
            where,
            expected="a task, as in {task: sentence_position}",
            found=repr(entry),
            todo="add a task",
        )
    if entry["task"] not in tasks:
        raise InputError(
            f"{where}.task",
            expected=f"one of {', '.join(tasks)} (tasks on {records})",
            found=repr(entry["task"]),
            todo="write one of these tasks",
        )
    task = TASKS[entry["task"]]
    known = ["task", "version", *_keys(task, records), "edition_of"]
    if unknown := sorted(set(map(str, entry)) - set(known)):
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)} (for the task {task.name})",
            found=", ".join(unknown),
            todo="correct or remove the key",
        )
    version = entry.get("version", "1.0.0")
    check_version(version, where)
    common: dict[str, Any] = {
        "name": name,
        "corpus": corpus.name,
        "language": corpus.language,
        "seed": corpus.seed,
        "licence": licence_of(corpus, sources),
        "sample": corpus.is_sample(sources),
        "version": version,
        "edition_of": _edition_of(entry, where),
        "options": _options(task, records, entry, where),
    }
    if isinstance(task, PassageTask):
        rows = _rows(task, entry.get("rows", list(PAPER_ROWS)), where)
        return PassageDataset(task=task, records=records, rows=rows, **common)
    if isinstance(task, ExampleTask):
        collection = _collection(task, entry.get("collection"), corpus, where)
        if task.named_by_language:
            common["language"] = collection
        facts = collection_facts(corpus, collection, common["language"])
        return ExampleDataset(task=task, collection=collection, facts=facts, **common)
    if isinstance(task, TreebankTask):
        return TreebankDataset(task=task, **common)
    return RelationDataset(task=task, **common)


def _edition_of(entry: Mapping[str, object], where: str) -> str:
    """Return the name of the older dataset; ``check_editions`` looks at whether it fits."""
    named = entry.get("edition_of", "")
    if not isinstance(named, str):
        raise InputError(
            f"{where}.edition_of",
            expected="the name of the older dataset",
            found=repr(named),
            todo="correct the name, or remove the key",
        )
    return named


def _keys(task: Task, records: str) -> list[str]:
    """Return the keys of a dataset's entry besides its task and version."""
    if isinstance(task, ExampleTask):
        return ["collection"]
    return ["rows"] * isinstance(task, PassageTask) + list(task.defaults(records))


def _rows(task: PassageTask, rows: object, where: str) -> tuple[int, int, int]:
    """Return the highest number of rows per split, which must allow two rows per class."""
    least = 2 * len(task.labels)
    if (
        isinstance(rows, list)
        and len(rows) == len(SPLITS)
        and all(type(n) is int and n >= least for n in rows)
    ):
        return (rows[0], rows[1], rows[2])
    expected = f"three integers, {least} or more: rows for train, validation and test"
    raise InputError(f"{where}.rows", expected=expected, found=repr(rows), todo="correct the entry")


def _options(task: Task, records: str, entry: Mapping[str, object], where: str) -> dict[str, str]:
    """Return the value of each option, the default if the entry does not state it."""
    options = {}
    for name, default in task.defaults(records).items():
        value, choices = entry.get(name, default), task.options[name].choices
        if value not in choices:
            raise InputError(
                f"{where}.{name}",
                expected=f"one of {', '.join(choices)}",
                found=repr(value),
                todo="write one of these",
            )
        options[name] = str(value)
    return options


def _collection(task: ExampleTask, named: object, corpus: Corpus, where: str) -> str:
    """Return the name of the collection that a dataset is made of, which must fit its task."""
    fitting = [name for name, facts in corpus.facts.collections.items() if task.fits(facts)]
    if named is None and len(fitting) == 1:
        return fitting[0]
    if named is None and task.named_by_language:
        named = corpus.language
    if not fitting:
        raise InputError(
            f"{where}.task",
            expected=f"a task that fits {corpus.recipe}: {', '.join(_fitting_tasks(corpus))}",
            found=f"{task.name}, which needs {task.needs}",
            todo="correct the task",
        )
    if str(named) not in fitting:
        raise InputError(
            f"{where}.collection",
            expected=f"one of {', '.join(fitting)}, for {task.needs}",
            found="nothing" if named is None else repr(named),
            todo="name a collection of the corpus that fits the task, or another task",
        )
    return str(named)


def _fitting_tasks(corpus: Corpus) -> list[str]:
    """Return the tasks that a collection of the corpus fits, sorted."""
    return sorted(
        task.name
        for task in TASKS.values()
        if isinstance(task, ExampleTask)
        and any(task.fits(facts) for facts in corpus.facts.collections.values())
    )
