"""What params.yaml says of the ranking datasets: the corpora each is composed of, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from builders import ranking
from builders.dataset import Dataset, check_version, datasets_of, licence_of
from builders.examples import ExampleTask
from builders.tasks import TASKS
from builders.vocabulary import KINDS
from corpora_recipes.errors import InputError
from corpora_recipes.recipes import Corpus

_TASKS = tuple(task.name for task in ranking.TASKS)
_KEYS = ("task", "language", "version", "pairs", "background")


class Part(NamedTuple):
    """A collection that a ranking takes texts of.

    Attributes:
        corpus: its entry in params.yaml.
        collection: the collection's name in the corpus.
        probe: a task with training that a dataset asks of the collection, whose test part is left
            out then (a source without parts has none, and is taken whole); None if there is none.
    """

    corpus: Corpus
    collection: str
    probe: ExampleTask | None

    @property
    def name(self) -> str:
        """Corpus and collection, as params.yaml may name them."""
        return f"{self.corpus.name}/{self.collection}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """A dataset to compose.

    Attributes:
        dataset: its name, task, language, licence …
        pairs: where the texts that mean the same are taken from.
        background: what the texts that are ranked are taken from; if there are none, all texts of
            the pairs' collections.
        vocabulary: the corpus whose most frequent words are ranked too, if any.
    """

    dataset: Dataset
    pairs: tuple[Part, ...]
    background: tuple[Part, ...]
    vocabulary: Corpus | None

    @property
    def corpora(self) -> list[Corpus]:
        """The corpora that it is made of, each once."""
        return _corpora((*self.pairs, *self.background), self.vocabulary)


class Origin(NamedTuple):
    """A corpus whose texts a dataset holds.

    Attributes:
        corpus: its entry in params.yaml.
        licence: of its texts.
        sample: whether they are those of the small sample that stands in for it.
    """

    corpus: Corpus
    licence: str
    sample: bool

    @property
    def title(self) -> str:
        """The corpus's name, for readers."""
        return f"{self.corpus.facts['name']}{' (sample)' if self.sample else ''}"


class Group(NamedTuple):
    """Datasets that are built together, into one folder.

    Attributes:
        name: of the corpus or the ranking, and of the folder.
        datasets: those built; none of a corpus that only rankings use.
        origins: the corpora whose texts they hold.
    """

    name: str
    datasets: list[Dataset]
    origins: list[Origin]

    @property
    def redistributable(self) -> bool:
        """Whether every corpus allows that its texts are passed on."""
        return all(origin.corpus.facts["redistributable"] for origin in self.origins)


def groups_of(
    corpora: Sequence[Corpus], rankings: Mapping[str, Mapping[str, Any]], sources: str
) -> list[Group]:
    """Return everything that is built: the datasets of each corpus, then each ranking.

    Args:
        corpora: every entry of ``corpora`` in params.yaml.
        rankings: what params.yaml says of ``rankings``.
        sources: what params.yaml says.

    Raises:
        InputError: see ``datasets_of`` and ``rankings_of``.
    """
    composed = rankings_of(rankings, corpora, sources)
    used = {corpus.name for own in composed for corpus in own.corpora}
    groups = [
        Group(c.name, datasets_of(c, sources, composed=c.name in used), _origins([c], sources))
        for c in corpora
    ]
    return groups + [
        Group(own.dataset.name, [own.dataset], _origins(own.corpora, sources)) for own in composed
    ]


def _origins(corpora: Sequence[Corpus], sources: str) -> list[Origin]:
    return [Origin(c, licence_of(c, sources), c.is_sample(sources)) for c in corpora]


def rankings_of(
    rankings: Mapping[str, Mapping[str, Any]], corpora: Sequence[Corpus], sources: str
) -> list[Ranking]:
    """Return the rankings of params.yaml, in its order.

    Args:
        rankings: what it says of ``rankings``.
        corpora: every entry of ``corpora``.
        sources: what it says; texts of samples have a licence of their own.

    Raises:
        InputError: an entry has an unknown key, task, corpus or collection, another language than
            its corpora, no pairs, or the name of a corpus or of another dataset.
    """
    return [_ranking(name, entry, corpora, sources) for name, entry in rankings.items()]


def _ranking(
    name: str, entry: Mapping[str, Any], corpora: Sequence[Corpus], sources: str
) -> Ranking:
    where = f"params.yaml: rankings.{name}"
    if taken := [c.name for c in corpora if name == c.name or name in c.datasets]:
        raise InputError(
            where,
            expected="a name that no corpus and no dataset of one has",
            found=f"{name}, which corpora.{taken[0]} uses",
            todo="rename it: it is a folder and a config of the package",
        )
    task = entry.get("task")
    if task not in _TASKS:
        raise InputError(
            f"{where}.task",
            expected=f"one of {', '.join(_TASKS)}",
            found="nothing" if task is None else repr(task),
            todo="correct the entry",
        )
    known = [*_KEYS, "vocabulary"] if task == "word_ranking" else _KEYS
    if unknown := sorted(set(map(str, entry)) - set(known)):
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)} (for the task {task})",
            found=", ".join(unknown),
            todo="correct the entry",
        )
    version = entry.get("version", "1.0.0")
    check_version(version, where)
    pairs = _parts(entry.get("pairs"), 2, f"{where}.pairs", corpora, sources)
    background: list[Part] = []
    if "background" in entry:
        background = _parts(entry["background"], 1, f"{where}.background", corpora, sources)
    vocabulary = None
    if "vocabulary" in entry:
        vocabulary = _vocabulary(entry["vocabulary"], f"{where}.vocabulary", corpora)
    language = entry.get("language")
    parts = [*pairs, *background]
    for corpus in _corpora(parts, vocabulary):
        if language != corpus.language:
            raise InputError(
                f"{where}.language",
                expected=f"{corpus.language}, the language of corpora.{corpus.name}",
                found="nothing" if language is None else repr(language),
                todo="correct it, or name corpora of that language",
            )
    made_of = {
        "pairs": [part.name for part in pairs],
        "background": [part.name for part in background],
        "vocabulary": vocabulary.name if vocabulary else "",
        "without_test": [part.name for part in parts if part.probe],
    }
    origins = _origins(_corpora(parts, vocabulary), sources)
    dataset = Dataset(
        name=name,
        task=task,
        corpus=name,
        records="examples",
        language=pairs[0].corpus.language,
        seed=pairs[0].corpus.seed,
        licence="; ".join(dict.fromkeys(origin.licence for origin in origins)),
        sample=any(origin.sample for origin in origins),
        version=version,
        parts=made_of,
    )
    return Ranking(dataset, tuple(pairs), tuple(background), vocabulary)


def _corpora(parts: Iterable[Part], vocabulary: Corpus | None) -> list[Corpus]:
    """Return the corpora of some parts and of the vocabulary, each once."""
    found = {part.corpus.name: part.corpus for part in parts}
    if vocabulary is not None:
        found.setdefault(vocabulary.name, vocabulary)
    return list(found.values())


def _parts(
    named: object, texts: int, where: str, corpora: Sequence[Corpus], sources: str
) -> list[Part]:
    """Return the collections that a list of names, corpus or corpus/collection, stands for.

    Args:
        named: what params.yaml says.
        texts: how many texts an example of them must have.
        where: of the list.
        corpora: every entry of ``corpora``.
        sources: what params.yaml says.
    """
    what = {1: "single texts", 2: "pairs of texts with a score or without any answer"}[texts]
    if not isinstance(named, list) or not named or not all(isinstance(n, str) for n in named):
        raise InputError(
            where,
            expected=f"a list of corpora with {what}, or of corpus/collection",
            found="nothing" if named is None else repr(named),
            todo="name one or more",
        )
    there = {
        corpus.name: {
            name: corpus
            for name, facts in corpus.facts["collections"].items()
            if facts["texts"] == texts and (texts == 1 or _may_mean_the_same(facts))
        }
        for corpus in corpora
        if corpus.facts["records"] == "examples"
    }
    found: dict[str, Part] = {}
    for name in named:
        corpus_name, _, collection = name.partition("/")
        collections = there.get(corpus_name, {})
        chosen = [collection] if collection else list(collections)
        if not collections or not collections.keys() >= set(chosen):
            fitting = [name for name, own in there.items() if own]
            if collections:
                fitting = [f"{corpus_name}/{own}" for own in collections]
            raise InputError(
                where,
                expected=f"{what}: one of {', '.join(fitting) or '(no corpus has any)'}",
                found=repr(name),
                todo="correct the name, or add the corpus",
            )
        for one in chosen:
            corpus = collections[one]
            part = Part(corpus, one, _probe(corpus, one, sources))
            found[part.name] = part
    return list(found.values())


def _may_mean_the_same(facts: Mapping[str, Any]) -> bool:
    """Tell whether pairs have scores, or nothing that says that some mean something else."""
    return "scale" in facts or "labels" not in facts


def _probe(corpus: Corpus, collection: str, sources: str) -> ExampleTask | None:
    """Return a task with training that one of the corpus's datasets asks of a collection."""
    for dataset in datasets_of(corpus, sources, composed=True):
        task = TASKS[dataset.task]
        if isinstance(task, ExampleTask) and task.trained and dataset.collection == collection:
            return task
    return None


def _vocabulary(named: object, where: str, corpora: Sequence[Corpus]) -> Corpus:
    there = {corpus.name: corpus for corpus in corpora if corpus.facts["records"] in KINDS}
    if not isinstance(named, str) or named not in there:
        raise InputError(
            where,
            expected=f"a corpus of {' or '.join(KINDS)}: {', '.join(there) or '(there is none)'}",
            found=repr(named),
            todo="correct the name, or add the corpus",
        )
    return there[named]
