"""What params.yaml says of the ranking datasets: the corpora each is composed of, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from builders import ranking
from builders.dataset import Dataset, check_version, datasets_of, licence_of
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
        probed: whether a dataset asks a task with training of the collection. Its test part is
            left out then; a source without parts has none, and is taken whole.
    """

    corpus: Corpus
    collection: str
    probed: bool

    @property
    def name(self) -> str:
        """Corpus and collection, as params.yaml may name them."""
        return f"{self.corpus.name}/{self.collection}"

    @property
    def facts(self) -> dict[str, Any]:
        """What corpus.yaml says of the collection."""
        facts: dict[str, Any] = self.corpus.facts["collections"][self.collection]
        return facts


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
    language = entry.get("language")
    if not isinstance(language, str):
        raise InputError(
            f"{where}.language",
            expected="the language of its corpora, such as es",
            found="nothing" if language is None else repr(language),
            todo="correct the entry",
        )
    find = _Finder(corpora, sources, language, of_words=task == "word_ranking")
    pairs = find.parts(entry.get("pairs"), 2, f"{where}.pairs")
    background: list[Part] = []
    if "background" in entry:
        background = find.parts(entry["background"], 1, f"{where}.background")
    vocabulary = None
    if "vocabulary" in entry:
        vocabulary = find.vocabulary(entry["vocabulary"], f"{where}.vocabulary")
    parts = [*pairs, *background]
    for corpus in _corpora(parts, vocabulary):
        if language != corpus.language:
            raise InputError(
                f"{where}.language",
                expected=f"{corpus.language}, the language of corpora.{corpus.name}",
                found=repr(language),
                todo="correct it, or name corpora of that language",
            )
    made_of = {
        "pairs": [part.name for part in pairs],
        "background": [part.name for part in background],
        "vocabulary": vocabulary.name if vocabulary else "",
        "without_test": [part.name for part in parts if part.probed],
    }
    origins = _origins(_corpora(parts, vocabulary), sources)
    dataset = Dataset(
        name=name,
        task=task,
        corpus=name,
        records="examples",
        language=language,
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


class _Finder(NamedTuple):
    """Finds what the names of a ranking's entry stand for.

    Attributes:
        corpora: every entry of ``corpora`` in params.yaml.
        sources: what params.yaml says.
        language: of the ranking; only what is in it is suggested.
        of_words: whether words are ranked, and not sentences.
    """

    corpora: Sequence[Corpus]
    sources: str
    language: str
    of_words: bool

    def parts(self, named: object, texts: int, where: str) -> list[Part]:
        """Return the collections that a list of names, corpus or corpus/collection, stands for.

        Args:
            named: what params.yaml says.
            texts: how many texts an example of them must have.
            where: of the list.
        """
        unit = "word" if self.of_words else "sentence"
        what = {
            1: f"single {unit}s",
            2: f"pairs of {unit}s with a score or without any answer",
        }[texts]
        if not isinstance(named, list) or not named or not all(isinstance(n, str) for n in named):
            raise InputError(
                where,
                expected=f"a list of corpora with {what}, or of corpus/collection",
                found="nothing" if named is None else repr(named),
                todo="name one or more",
            )
        corpora = {c.name: c for c in self.corpora if c.facts["records"] == "examples"}
        there = {n: fitting for n, c in corpora.items() if (fitting := self._fitting(c, texts))}
        found: dict[str, Part] = {}
        for name in named:
            corpus_name, slash, collection = name.partition("/")
            fitting = there.get(corpus_name, [])
            if not fitting or (slash and collection not in fitting):
                near = [f"{corpus_name}/{own}" for own in fitting] or self._near(there)
                raise InputError(
                    where,
                    expected=f"{what}: one of {', '.join(near) or '(no corpus has any)'}",
                    found=repr(name),
                    todo="correct the name, or add the corpus",
                )
            for one in [collection] if slash else fitting:
                corpus = corpora[corpus_name]
                part = Part(corpus, one, _is_probed(corpus, one, self.sources))
                if part.name in found:
                    raise InputError(
                        where,
                        expected="each collection once",
                        found=f"{part.name} twice, the second time as {name!r}",
                        todo="remove one of the names",
                    )
                found[part.name] = part
        return list(found.values())

    def vocabulary(self, named: object, where: str) -> Corpus:
        """Return the corpus of running text that a name stands for."""
        there = {c.name: c for c in self.corpora if c.facts["records"] in KINDS}
        if not isinstance(named, str) or named not in there:
            near = ", ".join(self._near(there)) or "(there is none)"
            raise InputError(
                where,
                expected=f"a corpus of {' or '.join(KINDS)}: {near}",
                found=repr(named),
                todo="correct the name, or add the corpus",
            )
        return there[named]

    def _fitting(self, corpus: Corpus, texts: int) -> list[str]:
        """Return the collections of a corpus that can be ranked."""
        return [
            name
            for name, facts in corpus.facts["collections"].items()
            if facts["texts"] == texts
            and (facts.get("unit") == "word") == self.of_words
            and (texts == 1 or _may_mean_the_same(facts))
        ]

    def _near(self, there: Iterable[str]) -> list[str]:
        """Return those of some corpora that are in the language of the ranking."""
        own = {corpus.name for corpus in self.corpora if corpus.language == self.language}
        return [name for name in there if name in own]


def _may_mean_the_same(facts: Mapping[str, Any]) -> bool:
    """Tell whether pairs have scores, or nothing that says that some mean something else."""
    return "scale" in facts or "labels" not in facts


def _is_probed(corpus: Corpus, collection: str, sources: str) -> bool:
    """Tell whether one of the corpus's datasets asks a task with training of a collection."""
    return any(
        TASKS[dataset.task].trained
        for dataset in datasets_of(corpus, sources, composed=True)
        if dataset.collection == collection
    )
