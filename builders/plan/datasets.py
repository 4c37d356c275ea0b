"""The datasets and rankings that params.yaml asks for, and the corpora that they are built from."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import StrictInt

from builders.sampling.passages import Draw
from builders.tasks import TASKS, examples
from builders.tasks.task import (
    FOLD,
    Column,
    ExampleTask,
    PassageTask,
    Task,
    TreebankTask,
    Unit,
    answer_columns,
    further_columns,
)
from corpora_recipes.languages import corpora_in
from corpora_recipes.params import Section
from corpora_recipes.recipe import CollectionFacts, Corpus
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.text.tokens import check_language, has_tokenizer_rules
from corpora_recipes.validation import Checked, check_choice, described, validate

SAMPLE_LICENCE = "Apache-2.0"
# The least share of a part's official count, as some rows are dropped with a reason.
MIN_COMPLETE_SHARE = 0.95


class Origin(NamedTuple):
    """A corpus whose texts a dataset holds; its licence, or that of the sample if it is that."""

    corpus: Corpus
    licence: str
    sample: bool

    @property
    def title(self) -> str:
        """The corpus's name, for readers."""
        return f"{self.corpus.facts.name}{' (sample)' if self.sample else ''}"

    @property
    def label(self) -> str:
        """What datasets of the corpus are called: its label, or its name without additions."""
        facts = self.corpus.facts
        return facts.label or re.split(r",| \(", facts.name)[0]


def origins_of(corpora: Iterable[Corpus], sources: str) -> list[Origin]:
    """Return the origins of the texts of some corpora; ``sources`` is that of params.yaml."""
    return [Origin(c, licence_of(c, sources), c.is_sample(sources)) for c in corpora]


def licence_of(corpus: Corpus, sources: str) -> str:
    """Return the licence of a corpus's texts; samples have their own licence."""
    return SAMPLE_LICENCE if corpus.is_sample(sources) else corpus.facts.licence


def licence_id(licence: str) -> str:
    """Return a licence's name in the form of the identifiers of the Hub: cc-by-4.0."""
    return licence.lower().replace(" ", "-")


class Collection(NamedTuple):
    """A collection that a ranking takes texts from, by its name in the corpus."""

    corpus: Corpus
    name: str

    @property
    def path(self) -> str:
        """Its name in params.yaml: corpus/collection."""
        return f"{self.corpus.name}/{self.name}"

    @property
    def facts(self) -> CollectionFacts:
        """The collection's part of corpus.yaml."""
        return self.corpus.facts.collections[self.name]


def collection_facts(corpus: Corpus, collection: str, language: str) -> CollectionFacts:
    """Return a collection's part of corpus.yaml; counts only for the language that they are of."""
    facts = corpus.facts.collections[collection]
    if language in (collection, corpus.facts.language):
        return facts
    return replace(facts, published="", sizes={})


def missing_parts(facts: CollectionFacts, counts: Mapping[str, int]) -> list[str]:
    """Return the parts with far fewer examples (``counts``) than a collection officially has."""
    return [
        part
        for part, size in facts.sizes.items()
        if size is not None and counts.get(part, 0) < MIN_COMPLETE_SHARE * size
    ]


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
        if not has_tokenizer_rules(dataset.language):
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


def _dataset(corpus: Corpus, sources: str, name: str, entry_value: Any) -> Dataset:
    where = f"{corpus.where}.datasets.{name}"
    records = corpus.facts.records
    tasks = sorted(name for name, task in TASKS.items() if records in task.records)
    task_name = entry_value.get("task") if isinstance(entry_value, dict) else None
    task = TASKS[check_choice(task_name, tasks, f"{where}.task", f" (tasks on {records})")]
    entry = validate(entry_of(task, records), entry_value, where)
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


def _collection(task: ExampleTask, name: object, corpus: Corpus, where: str) -> str:
    """Return the name of the collection that a dataset is made of, which must fit its task."""
    collections = corpus.facts.collections
    fitting_names = [name for name, facts in collections.items() if task.fits(facts)]
    if name is None and len(fitting_names) == 1:
        return fitting_names[0]
    if not fitting_names:
        examples = [task for task in TASKS.values() if isinstance(task, ExampleTask)]
        fitting_tasks = [t.name for t in examples if any(map(t.fits, collections.values()))]
        what = f", as {task.name} needs {task.needs}"
        todo = (
            f"name a task that fits, or describe in {corpus.recipe}/corpus.yaml what it needs: "
            "the texts of a collection, and its labels or scale"
        )
        check_choice(task.name, sorted(fitting_tasks), f"{where}.task", what, todo)
    if name is None and task.named_by_language:
        name = corpus.language
    what, todo = f", for {task.needs}", "name a collection that fits the task, or another task"
    collection = None if name is None else str(name)
    return str(check_choice(collection, fitting_names, f"{where}.collection", what, todo))


# The kinds of records whose words can be counted.
RUNNING_TEXT = ("documents", "dialogues")
Names = Annotated[
    tuple[str, ...], described("a list of corpora, or of corpus/collection", min_length=1)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingEntry(Checked):
    """An entry of `rankings`: names of collections, see ``RankingDataset``."""

    task: str
    language: Annotated[str, described("the language of its corpora, such as es")]
    version: Version = "1.0.0"
    pairs: Names
    background: Names = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRankingEntry(RankingEntry):
    """An entry of `rankings` that ranks words."""

    vocabulary: Annotated[str, described("the name of a corpus", min_length=1)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingDataset(Dataset):
    """A dataset composed of collections of one or more corpora.

    Attributes:
        pairs: the collections with the paraphrases.
        background: the collections with the texts to rank; if empty, those of the pairs.
        vocabulary: the corpus whose most frequent words are ranked too, if any.
        probed: paths of the collections that a probe is trained on. The test part of such a
            collection is left out; a collection without parts is used whole.
    """

    pairs: Sequence[Collection]
    background: Sequence[Collection]
    vocabulary: Corpus | None
    probed: Sequence[str]

    @property
    def corpora(self) -> list[Corpus]:
        """Its corpora, each once."""
        return _corpora((*self.pairs, *self.background), self.vocabulary)

    @property
    def parts(self) -> dict[str, Any]:
        """The names of its collections and corpora."""
        return {
            "pairs": [collection.path for collection in self.pairs],
            "background": [collection.path for collection in self.background],
            "vocabulary": self.vocabulary.name if self.vocabulary else "",
            "without_test": list(self.probed),
        }

    def columns(self) -> dict[str, Column]:
        """Return the columns of its instances, none of them an answer."""
        return self.task.columns({})

    def about(self) -> dict[str, Any]:
        """Return the facts stored with the data."""
        return Dataset.about(self) | {"parts": self.parts}


def rankings_of(
    rankings: Mapping[str, Any], corpora: Sequence[Corpus], sources: str, path: Path = PARAMS
) -> list[RankingDataset]:
    """Return the rankings of params.yaml, in its order, given its ``corpora`` and ``sources``."""
    return [
        _ranking(name, entry, corpora, sources, f"{path}: rankings.{name}")
        for name, entry in validate(dict[str, Section], rankings, f"{path}: rankings").items()
    ]


def _ranking(
    name: str, entry_value: Mapping[str, Any], corpora: Sequence[Corpus], sources: str, where: str
) -> RankingDataset:
    if same_name := [c.name for c in corpora if name == c.name or name in c.datasets]:
        expected = "a name that differs from those of corpora and their datasets"
        raise ParamsError(where, expected, f"{name}, which corpora.{same_name[0]} uses")
    tasks = {task.name: task for task in examples.RANKING_TASKS}
    task = tasks[check_choice(entry_value.get("task"), tasks, f"{where}.task")]
    kind = WordRankingEntry if task.unit == "word" else RankingEntry
    entry = validate(kind, entry_value, where)
    language, in_language = entry.language, f" in {entry.language}"
    corpora = [corpus for corpus in corpora if corpus.language == language]
    what = f", for pairs of {task.unit}s with a score, or without score and label,{in_language}"
    pairs = _select(entry.pairs, _rankable(corpora, task.unit, 2), f"{where}.pairs", what)
    singles, what = _rankable(corpora, task.unit, 1), f", for single {task.unit}s{in_language}"
    background = _select(entry.background, singles, f"{where}.background", what)
    vocabulary = None
    if isinstance(entry, WordRankingEntry) and entry.vocabulary:
        texts = {corpus.name: corpus for corpus in corpora if corpus.facts.records in RUNNING_TEXT}
        what = f" (corpora of {' or '.join(RUNNING_TEXT)}{in_language})"
        vocabulary = texts[check_choice(entry.vocabulary, texts, f"{where}.vocabulary", what)]
    origins = origins_of(_corpora((*pairs, *background), vocabulary), sources)
    return RankingDataset(
        name=name,
        task=task,
        corpus=name,
        records="examples",
        language=language,
        seed=pairs[0].corpus.seed,
        licence="; ".join(dict.fromkeys(origin.licence for origin in origins)),
        sample=any(origin.sample for origin in origins),
        version=entry.version,
        pairs=pairs,
        background=background,
        vocabulary=vocabulary,
        probed=[c.path for c in (*pairs, *background) if _is_probed(c, sources)],
    )


def _corpora(collections: Iterable[Collection], vocabulary: Corpus | None) -> list[Corpus]:
    """Return the corpora of some collections and of the vocabulary, each once."""
    by_name = {collection.corpus.name: collection.corpus for collection in collections}
    if vocabulary is not None:
        by_name.setdefault(vocabulary.name, vocabulary)
    return list(by_name.values())


def _rankable(corpora: Iterable[Corpus], unit: Unit, texts: int) -> list[Collection]:
    """Return the collections that can be ranked: of a unit, whose examples have so many texts."""
    # A label may mean "not a paraphrase".
    return [
        Collection(corpus, name)
        for corpus in corpora
        for name, facts in corpus.facts.collections.items()
        if (facts.texts, facts.unit) == (texts, unit)
        and (texts == 1 or facts.scale is not None or facts.labels is None)
    ]


def _select(
    names: Iterable[str], collections: Sequence[Collection], where: str, what: str
) -> list[Collection]:
    """Return the collections that a list names: by corpus, or by corpus/collection."""
    choices = dict.fromkeys([*(c.corpus.name for c in collections), *(c.path for c in collections)])
    selected: list[Collection] = []
    for name in names:
        check_choice(name, choices, where, what)
        matching = [c for c in collections if name in (c.corpus.name, c.path)]
        if repeated := [c.path for c in matching if c in selected]:
            found = f"{repeated[0]} twice, the second time as {name!r}"
            raise ParamsError(where, "each collection once", found, "remove one of the names")
        selected += matching
    return selected


def _is_probed(collection: Collection, sources: str) -> bool:
    """Return whether a probe is trained on a dataset that is made of a collection."""
    return any(
        dataset.task.trained
        for dataset in datasets_of(collection.corpus, sources)
        if isinstance(dataset, ExampleDataset) and dataset.collection == collection.name
    )
