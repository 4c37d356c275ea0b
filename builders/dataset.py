"""What params.yaml says about one dataset: its task, sizes and version, checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from builders.examples import ExampleTask, answer_columns, further_columns
from builders.schemas import Column
from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from corpora_recipes.recipes import Corpus
from corpora_recipes.records import SPLITS, Split

# Rows for train, validation and test: Araujo et al. (2022), Appendix A.
PAPER_ROWS = (10_000, 4_000, 4_000)
SAMPLE_LICENCE = "Apache-2.0"
DONORS = ("random", "same_topic")


@dataclass(frozen=True, slots=True)
class Dataset:
    """One dataset to build.

    Attributes:
        name: its name, the config on the Hub.
        task: e.g. "sentence_position".
        corpus: the entry of ``corpora`` it comes from.
        records: the kind of that corpus's records.
        language: of its texts.
        seed: the run's seed.
        licence: of its texts.
        sample: whether its texts are those of the small sample that the project ships.
        version: raised when its rows change.
        rows: the most rows a split may have.
        donors: where the replacing sentences of discourse coherence come from: documents taken
            at random, or documents that share a topic.
        collection: the collection of examples that its rows are, "" if they are made of others.
        facts: what the corpus's corpus.yaml says of that collection.
        parts: what it was composed of, if it is a ranking: see ``builders.rankings``.
    """

    name: str
    task: str
    corpus: str
    records: str
    language: str
    seed: int
    licence: str
    sample: bool
    version: str = "1.0.0"
    rows: tuple[int, int, int] = PAPER_ROWS
    donors: str = "random"
    collection: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Any] = field(default_factory=dict)

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances; ``fold`` is in those without parts only."""
        task = TASKS[self.task]
        if isinstance(task, ExampleTask):
            return task.columns(answer_columns(self.facts), further_columns(self.facts))
        return task.columns() if task.target == "label" else task.columns({})

    def quota(self, split: Split) -> int:
        """Return the most rows that the split may have."""
        return self.rows[SPLITS.index(split)]

    def about(self) -> dict[str, Any]:
        """Return what is stored with the data."""
        return {
            "dataset": self.name,
            "task": self.task,
            "corpus": self.corpus,
            "records": self.records,
            "language": self.language,
            "seed": self.seed,
            "licence": self.licence,
            "sample": self.sample,
            "version": self.version,
            "rows": list(self.rows),
            "donors": self.donors,
            "collection": self.collection,
            **({"parts": dict(self.parts)} if self.parts else {}),
        }


def datasets_of(corpus: Corpus, sources: str, *, composed: bool = False) -> list[Dataset]:
    """Return the datasets of a corpus, sorted by name.

    Args:
        corpus: its entry in params.yaml.
        sources: what params.yaml says, unless the entry says another; the texts of samples have a
            licence of their own.
        composed: whether a ranking is made of the corpus, which then may have no datasets.

    Raises:
        InputError: there are none, or one has an unknown task or key or a value that does not fit.
    """
    if not corpus.datasets and not composed:
        raise InputError(
            f"params.yaml: corpora.{corpus.name}.datasets",
            expected="at least one dataset, or a ranking that is made of it",
            found="none",
            todo="add one here, such as sp_mine: {task: sentence_position}, or name the corpus in "
            "an entry of `rankings`",
        )
    return [
        _dataset(corpus, sources, name, corpus.datasets[name])
        for name in sorted(corpus.datasets, key=str)
    ]


def licence_of(corpus: Corpus, sources: str) -> str:
    """Return the licence of a corpus's texts; samples have one of their own."""
    return SAMPLE_LICENCE if corpus.is_sample(sources) else str(corpus.facts["licence"])


def collection_facts(corpus: Corpus, collection: str, language: str) -> dict[str, Any]:
    """Return what corpus.yaml says of a collection; counts only in the language they are of.

    Args:
        corpus: its entry in params.yaml.
        collection: its name; "" for none, of which nothing is said.
        language: of the texts.
    """
    if not collection:
        return {}
    facts: dict[str, Any] = corpus.facts["collections"][collection]
    if language in (collection, corpus.facts["language"]):
        return facts
    return {key: value for key, value in facts.items() if key != "published"} | {"sizes": {}}


def check_version(version: object, where: str) -> None:
    """Check the version of a dataset.

    Raises:
        InputError: it is not three numbers.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(version)):
        raise InputError(
            f"{where}.version",
            expected="three numbers, such as 1.0.0",
            found=repr(version),
            todo="correct the entry",
        )


def check_inherited(inherited: Mapping[str, object], datasets: Sequence[str]) -> None:
    """Check that what params.yaml declares as inherited is declared of datasets that there are.

    Raises:
        InputError: naming the first that is not.
    """
    for name in inherited:
        if name not in datasets:
            raise InputError(
                f"params.yaml: audit.inherited.{name}",
                expected=f"one of the datasets, {', '.join(sorted(datasets))}",
                found=f"{name}, which is none of them",
                todo=f"remove {name} there too, if the dataset was taken out of `corpora` or "
                "`rankings`; else correct the name",
            )


def _dataset(corpus: Corpus, sources: str, name: object, entry: object) -> Dataset:
    where = f"params.yaml: corpora.{corpus.name}.datasets.{name}"
    tasks = sorted(name for name, task in TASKS.items() if corpus.facts["records"] in task.records)
    known = ["task", "version"]
    todo = "correct the entry"
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9_]+", name):
        expected = "lower-case letters, digits and _: it is a folder and a config on the Hub"
        raise InputError(where, expected=expected, found=repr(name), todo="rename it")
    if not isinstance(entry, dict) or "task" not in entry:
        raise InputError(
            where, expected="a task, as in {task: sentence_position}", found=repr(entry), todo=todo
        )
    if entry["task"] not in tasks:
        raise InputError(
            f"{where}.task",
            expected=f"one of {', '.join(tasks)} (what {corpus.facts['records']} can give)",
            found=repr(entry["task"]),
            todo=todo,
        )
    task = TASKS[entry["task"]]
    known += ["rows"] * (corpus.facts["records"] in ("documents", "dialogues"))
    known += ["collection"] * (corpus.facts["records"] == "examples")
    # The dialogues of films and books have no topics to choose donors by.
    known += ["donors"] * (
        entry["task"] == "discourse_coherence" and corpus.facts["records"] == "documents"
    )
    if unknown := sorted(set(map(str, entry)) - set(known)):
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)} (for the task {entry['task']})",
            found=", ".join(unknown),
            todo=todo,
        )
    version = entry.get("version", "1.0.0")
    check_version(version, where)
    rows = entry.get("rows", list(PAPER_ROWS))
    if not (
        isinstance(rows, list)
        and len(rows) == len(SPLITS)
        and all(type(n) is int and n >= 2 * len(TASKS[entry["task"]].labels) for n in rows)
    ):
        least = 2 * len(TASKS[entry["task"]].labels)
        expected = f"three integers from {least}: rows for train, validation and test"
        raise InputError(f"{where}.rows", expected=expected, found=repr(rows), todo=todo)
    donors = entry.get("donors", DONORS[0])
    if donors not in DONORS:
        expected = f"one of {', '.join(DONORS)}"
        raise InputError(f"{where}.donors", expected=expected, found=repr(donors), todo=todo)
    collection, language = "", corpus.language
    if isinstance(task, ExampleTask):
        collection = _collection(task, entry.get("collection"), corpus, where)
        language = collection if task.named_by_language else language
    return Dataset(
        name=name,
        task=entry["task"],
        corpus=corpus.name,
        records=corpus.facts["records"],
        language=language,
        seed=corpus.seed,
        licence=licence_of(corpus, sources),
        sample=corpus.is_sample(sources),
        version=version,
        rows=(rows[0], rows[1], rows[2]),
        donors=donors,
        collection=collection,
        facts=collection_facts(corpus, collection, language),
    )


def _collection(task: ExampleTask, named: object, corpus: Corpus, where: str) -> str:
    """Return the name of the collection that a dataset is made of, which must fit its task."""
    collections: dict[str, dict[str, Any]] = corpus.facts["collections"]
    fitting = [name for name, facts in collections.items() if task.fits(facts)]
    if named is None and len(fitting) == 1:
        return fitting[0]
    if named is None and task.named_by_language:
        named = corpus.language
    if not fitting:
        raise InputError(
            f"{where}.task",
            expected=f"a task for what {corpus.recipe} has: {', '.join(_fitting_tasks(corpus))}",
            found=f"{task.name}, which needs {task.wants()}",
            todo="correct the task",
        )
    if str(named) not in fitting:
        raise InputError(
            f"{where}.collection",
            expected=f"one of {', '.join(fitting)}, for {task.wants()}",
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
        and any(task.fits(facts) for facts in corpus.facts["collections"].values())
    )
