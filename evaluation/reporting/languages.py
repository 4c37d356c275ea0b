"""The same task in several languages: which datasets stand side by side, and who scored what.

Of probes, these are datasets of one task from the same recipes and collection. EvalRank and ParaLex
have sources of their own in each language, and stand side by side all the same. A dataset that is
made in another way than the others of its row is named, and in no average.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from builders.tasks import TASKS
from builders.tasks.groups import Group
from evaluation.reporting.averages import Mean, mean_score, place
from evaluation.reporting.inputs import Inputs
from evaluation.results.probes import Score

# Of paradigms, the first of these ways that there is in two languages: vocabulary and casing.
WAYS = (("shared", "lower"), ("shared", "as_is"), ("own", "lower"), ("own", "as_is"))


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task in two languages or more.

    Attributes:
        name: task, recipes and collection, in words.
        group: of the task.
        measure: what the scores are: "accuracy", "pearson", "MRR, cosine" …
        datasets: language to dataset, in the order of the languages.
        different: the languages whose dataset is made in another way than the most.
        scores: encoder to language to its score, with the interval.
    """

    name: str
    group: Group
    measure: str
    datasets: Mapping[str, str]
    different: frozenset[str] = frozenset()
    scores: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Scored:
    """A dataset that may stand in a row: its task, its language and all scores."""

    dataset: str
    task: str
    language: str
    measure: str
    scores: Mapping[str, Mean]


def shared_tasks(inputs: Inputs) -> list[SharedTask]:
    """Return all tasks that the report has in two languages or more, by group.

    An edition of another dataset stands in no row, and of several datasets in one language the one
    that is made as those in the other languages, or else the first.
    """
    found: dict[tuple[str, ...], list[_Scored]] = {}
    for scored in (*_probed(inputs), *_ranked(inputs), *_clustered(inputs)):
        about = inputs.audit[scored.dataset]
        making = about.get("made")
        if making and not about.get("edition_of"):
            probed = scored.dataset in inputs.datasets
            key = (scored.task, scored.measure, *(making["from"] if probed else ()))
            found.setdefault(key, []).append(scored)
    rows = [_row(inputs, key, own) for key, own in found.items()]
    return sorted(
        (row for row in rows if len(row.datasets) > 1), key=lambda row: (place(row.group), row.name)
    )


def languages_of(tasks: list[SharedTask]) -> list[str]:
    """Return the languages of some tasks: those with the most tasks first."""
    counts = Counter(language for task in tasks for language in task.datasets)
    return sorted(counts, key=lambda language: (-counts[language], language))


def averaged(tasks: list[SharedTask], inputs: Inputs) -> list[SharedTask]:
    """Return the probed tasks, made in the same way, that all languages with such tasks have."""
    probed = [
        task
        for task in tasks
        if not task.different and inputs.datasets.keys() >= {*task.datasets.values()}
    ]
    return [task for task in probed if len(task.datasets) == len(languages_of(probed))]


def mean_over(tasks: list[SharedTask], inputs: Inputs, encoder: str, language: str) -> Mean | None:
    """Return the mean score of an encoder in a language; None if it lacks one of the tasks."""
    scores: list[Score] = []
    for task in tasks:
        score = inputs.datasets[task.datasets[language]].get(encoder)
        if score is None:
            return None
        scores.append(score)
    return mean_score(scores) if scores else None


def _row(inputs: Inputs, key: tuple[str, ...], candidates: list[_Scored]) -> SharedTask:
    ways = {
        own.dataset: repr(_sorted_making(inputs.audit[own.dataset]["made"])) for own in candidates
    }
    languages: dict[str, set[str]] = {}
    for own in candidates:
        languages.setdefault(ways[own.dataset], set()).add(own.language)
    usual = max(languages, key=lambda way: len(languages[way]))
    chosen: dict[str, _Scored] = {}
    for own in sorted(candidates, key=lambda one: ways[one.dataset] != usual):
        chosen.setdefault(own.language, own)
    different = {language for language, own in chosen.items() if ways[own.dataset] != usual}
    encoders = dict.fromkeys(name for own in chosen.values() for name in own.scores)
    task, measure, *sources = key
    words = ", ".join(sources).replace("_", " ")
    return SharedTask(
        name=task.replace("_", " ") + (f": {words}" if words else ""),
        group=TASKS[task].group,
        measure=measure,
        datasets={language: chosen[language].dataset for language in sorted(chosen)},
        # If no two are made in the same way, neither is the usual one.
        different=frozenset(different if len(languages[usual]) > 1 else chosen),
        scores={
            name: {
                language: own.scores[name] for language, own in chosen.items() if name in own.scores
            }
            for name in inputs.in_order(encoders)
        },
    )


def _sorted_making(made: Mapping[str, object]) -> list[tuple[str, object]]:
    """Return how a dataset is made, in one order."""
    options = made["options"]
    assert isinstance(options, Mapping)
    return [("from", made["from"]), *sorted(options.items())]


def _probed(inputs: Inputs) -> Iterator[_Scored]:
    for name, own in inputs.datasets.items():
        score = inputs.any_score(name)
        scores = {encoder: mean_score([its]) for encoder, its in own.items()}
        yield _Scored(name, score.task, score.language, score.metric, scores)


def _ranked(inputs: Inputs) -> Iterator[_Scored]:
    own = [
        (results.name, score)
        for results in inputs.rankings
        for score in results.plain
        if score.similarity == "cosine"
    ]
    for name in dict.fromkeys(score.dataset for _, score in own):
        its = [(encoder, score) for encoder, score in own if score.dataset == name]
        scores = {encoder: Mean(score.mrr, score.interval) for encoder, score in its}
        yield _Scored(name, its[0][1].task, its[0][1].language, "MRR, cosine", scores)


def _clustered(inputs: Inputs) -> Iterator[_Scored]:
    own = [(results.name, score) for results in inputs.paradigms for score in results.main]
    for vocabulary, casing in WAYS:
        its = [
            (name, score)
            for name, score in own
            if (score.vocabulary, score.casing) == (vocabulary, casing)
        ]
        if len({score.language for _, score in its}) < 2:
            continue
        how = f"suggestion, {vocabulary} words, {casing.replace('_', ' ')}"
        for dataset in dict.fromkeys(score.dataset for _, score in its):
            scores = {
                name: Mean(score.suggestion, score.suggestion_interval)
                for name, score in its
                if score.dataset == dataset
            }
            language = next(score.language for _, score in its if score.dataset == dataset)
            yield _Scored(dataset, "paradigms", language, how, scores)
        return
