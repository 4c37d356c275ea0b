"""The rankings of params.yaml and their collections, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from builders.plan.datasets import Dataset, ExampleDataset, Version, datasets_of
from builders.plan.origins import Collection, origins_of
from builders.tasks import ranking
from builders.tasks.task import Column, Unit
from corpora_recipes.checking import Checked, checked, described, one_of
from corpora_recipes.params import Section
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.errors import ParamsError

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
        for name, entry in checked(dict[str, Section], rankings, f"{path}: rankings").items()
    ]


def _ranking(
    name: str, given: Mapping[str, Any], corpora: Sequence[Corpus], sources: str, where: str
) -> RankingDataset:
    if taken := [c.name for c in corpora if name == c.name or name in c.datasets]:
        expected = "a name that differs from those of corpora and their datasets"
        raise ParamsError(where, expected, f"{name}, which corpora.{taken[0]} uses")
    tasks = {task.name: task for task in ranking.TASKS}
    task = tasks[one_of(given.get("task"), tasks, f"{where}.task")]
    kind = WordRankingEntry if task.unit == "word" else RankingEntry
    entry = checked(kind, given, where)
    language = entry.language
    finder = _Finder(corpora, language, task.unit)
    pairs = finder.collections(entry.pairs, 2, f"{where}.pairs")
    background = finder.collections(entry.background, 1, f"{where}.background")
    vocabulary = None
    if isinstance(entry, WordRankingEntry) and entry.vocabulary:
        vocabulary = finder.vocabulary(entry.vocabulary, f"{where}.vocabulary")
    used = _corpora((*pairs, *background), vocabulary)
    for corpus in used:
        if language != corpus.language:
            expected = f"{corpus.language}, the language of corpora.{corpus.name}"
            raise ParamsError(f"{where}.language", expected, repr(language))
    origins = origins_of(used, sources)
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


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the collections and corpora that the entry of a ranking names, among all corpora.

    Only those in the language of the ranking are suggested.
    """

    corpora: Sequence[Corpus]
    language: str
    unit: Unit

    def collections(self, named: Iterable[str], texts: int, where: str) -> list[Collection]:
        """Return the collections named in a list, ``where``: corpus, or corpus/collection.

        Their examples have a number of ``texts``.
        """
        pairs = f"pairs of {self.unit}s with a score, or without score and label"
        what = f", for {pairs if texts == 2 else f'single {self.unit}s'}"
        corpora = {c.name: c for c in self.corpora if self._fitting(c, texts)}
        by_path: dict[str, Collection] = {}
        for name in named:
            corpus = corpora.get(name.partition("/")[0])
            fitting = self._fitting(corpus, texts) if corpus else []
            chosen = [c for c in fitting if name in (c.corpus.name, c.path)]
            if not chosen:
                one_of(name, [c.path for c in fitting] or self._near(corpora), where, what)
            if repeated := [c.path for c in chosen if c.path in by_path]:
                found = f"{repeated[0]} twice, the second time as {name!r}"
                raise ParamsError(where, "each collection once", found, "remove one of the names")
            by_path |= {c.path: c for c in chosen}
        return list(by_path.values())

    def vocabulary(self, named: str, where: str) -> Corpus:
        """Return the corpus of running text with a name."""
        corpora = {c.name: c for c in self.corpora if c.facts.records in RUNNING_TEXT}
        if named not in corpora:
            one_of(named, self._near(corpora), where, f" (corpora of {' or '.join(RUNNING_TEXT)})")
        return corpora[named]

    def _fitting(self, corpus: Corpus, texts: int) -> list[Collection]:
        """Return the collections of a corpus that can be ranked."""
        # A label may mean "not a paraphrase".
        return [
            Collection(corpus, name)
            for name, facts in corpus.facts.collections.items()
            if facts.texts == texts
            and facts.unit == self.unit
            and (texts == 1 or facts.scale is not None or facts.labels is None)
        ]

    def _near(self, corpora: Mapping[str, Corpus]) -> list[str]:
        """Return the names of those corpora that are in the language of the ranking."""
        return [name for name, corpus in corpora.items() if corpus.language == self.language]


def _is_probed(collection: Collection, sources: str) -> bool:
    """Return whether a probe is trained on a dataset that is made of a collection."""
    return any(
        dataset.task.trained
        for dataset in datasets_of(collection.corpus, sources)
        if isinstance(dataset, ExampleDataset) and dataset.collection == collection.name
    )
