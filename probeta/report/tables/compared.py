"""Comparisons: of encoders in pairs, of editions of a dataset, of the same task in languages."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import pandas as pd

from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from evaluation.results.comparison import Difference
from probeta.report import layout
from probeta.report.inputs import group_sort_key
from probeta.report.layout import Number
from probeta.report.statistics import LETTERS, Mean, Report, once
from probeta.report.tables import number
from probeta.report.texts import phrase


def differences(report: Report) -> Iterator[Number]:
    """Yield the differences of encoders on averages, datasets, ranks and clusters."""
    for each in report.shown_differences:
        about = {"level": each.level, "target": each.target}
        pair = {"first": each.first, "second": each.second, "tie": each.tie}
        yield number(about | pair, each.value, each.interval)


def pairs(report: Report) -> Iterator[Number]:
    """Yield the differences of encoders on averages, and the counts on datasets."""
    shown = dict.fromkeys((each.first, each.second) for each in report.shown_differences)
    wholes_first = sorted(report.averages, key=lambda average: average.group is not None)
    for average, pair in product(wholes_first, shown):
        datasets = (*average.datasets, *average.too_small)
        about = {"benchmark": average.benchmark, "encoders": " − ".join(pair)}
        if not average.group:
            found = (report.difference(name, *pair) for name in datasets)
            if compared := [each for each in found if each]:
                counts = _count_tones(compared)
                yield number(about, None, heading=phrase("counts_of_tones"), note=counts)
        if each := report.difference(average.name, *pair):
            sample = not report.inputs.samples.isdisjoint(datasets)
            facts = {"heading": average.heading, "sample": sample}
            yield difference_number(about | facts, each)


def difference_number(about: Number, each: Difference) -> Number:
    """Return the row of a difference, in bold if it is no tie."""
    note = phrase("tie") if each.tie else ""
    facts = {"unit": "points", "note": note, "strong": not each.tie}
    return number(about, each.value, each.interval, **facts)


def _count_tones(differences: Sequence[Difference]) -> str:
    """Return on how many datasets the first encoder is better, tied, or worse."""
    clear = [each.value > 0 for each in differences if not each.tie]
    return f"{sum(clear)} / {len(differences) - len(clear)} / {len(clear) - sum(clear)}"


def editions(report: Report) -> Iterator[Number]:
    """Yield the scores on datasets that are editions of others, on these, and the differences."""
    for each in report.editions:
        about = {"new": each.new, "old": each.old, "encoder": each.encoder}
        yield number(about, each.old_score, heading=each.old)
        yield number(about, each.new_score, heading=each.new)
        further = {"new_minus_old": each.difference, "less_baseline": each.difference_to_baseline}
        for key, difference in further.items():
            if difference:
                yield difference_number(about | {"heading": phrase(key)}, difference)


# Of paradigms, the first of these settings that two languages have: vocabulary and casing.
SETTINGS = ("shared lower", "shared as_is", "own lower", "own as_is")


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task in two languages or more.

    Attributes:
        name: task, recipes and collection, in words.
        datasets: language to dataset, in the order of the languages.
        different: the languages whose dataset is made in another way than most others; such a task
            is in no average.
        scores: encoder to language to its score.
    """

    name: str
    group: Group
    measure: str
    datasets: Mapping[str, str]
    different: frozenset[str] = frozenset()
    scores: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)


@once
def shared_tasks(report: Report) -> list[SharedTask]:
    """Return all tasks that the report has in two languages or more, by group.

    Probed datasets of one task are compared if they are from the same recipes and collection;
    EvalRank and ParaLex, whose sources differ in each language, are compared all the same. Editions
    of other datasets are excluded, and of several datasets in one language all except the one that
    is made as those in the other languages, or else the first.
    """
    scores = _select_scores(report.inputs.score_table)
    audited = [report.inputs.audit[dataset] for dataset in scores.dataset]
    # With `loc`, as an empty list would choose columns.
    scores = scores.loc[[bool(a.get("made")) and not a.get("edition_of") for a in audited]]
    made = [report.inputs.audit[dataset]["made"] for dataset in scores.dataset]
    probed = scores.dataset.isin([*report.inputs.datasets])
    sources = [tuple(m["from"]) if probe else () for m, probe in zip(made, probed, strict=True)]
    scores = scores.assign(
        sources=pd.Series(sources, scores.index, object),
        making=[repr((m["from"], sorted(m["options"].items()))) for m in made],
    )
    groups = [rows for _, rows in scores.groupby(["task", "measure", "sources"], sort=False)]
    tasks = [_shared_task(report, rows) for rows in groups if rows.language.nunique() > 1]
    return sorted(tasks, key=lambda task: (group_sort_key(task.group), task.name))


def _select_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of ``Inputs.score_table`` that are compared, their measures in words."""
    ranks = scores[(scores.measure == "MRR") & (scores.setting == "cosine")]
    selected = [scores[scores.setting == ""], ranks.assign(measure=phrase("by_cosine"))]
    for setting in SETTINGS:
        clusters = scores[(scores.measure == "suggestion") & (scores.setting == setting)]
        if clusters.language.nunique() > 1:
            vocabulary, casing = map(layout.spaced, setting.split())
            measure = phrase("suggestion_of", vocabulary=vocabulary, casing=casing)
            selected.append(clusters.assign(measure=measure))
            break
    return pd.concat(selected)


def _shared_task(report: Report, rows: pd.DataFrame) -> SharedTask:
    """Return a task from the scores on all its datasets, a row each."""
    first = rows.iloc[0]
    languages = rows.groupby("making", sort=False).language.nunique()
    usual = str(languages.idxmax())
    rows = rows.assign(unusual=rows.making != usual).sort_values("unusual", kind="stable")
    datasets = rows.drop_duplicates("language")
    unusual = datasets[datasets.unusual] if languages[usual] > 1 else datasets
    scores: dict[str, dict[str, Mean]] = {}
    for row in rows[rows.dataset.isin(datasets.dataset)].to_dict("records"):
        mean = Mean(row["value"], row["interval"])
        scores.setdefault(row["encoder"], {})[row["language"]] = mean
    sources = ", ".join(map(layout.spaced, first.sources))
    return SharedTask(
        name=": ".join(filter(None, (layout.spaced(first.task), sources))),
        group=TASKS[first.task].group,
        measure=first.measure,
        datasets=dict(sorted(zip(datasets.language, datasets.dataset, strict=True))),
        # If no two are made in the same way, neither is the usual one.
        different=frozenset(unusual.language),
        scores={name: scores[name] for name in report.sort_names(scores)},
    )


def languages_of(tasks: list[SharedTask]) -> list[str]:
    """Return the languages of some tasks: those with the most tasks first."""
    counts = Counter(language for task in tasks for language in task.datasets)
    return sorted(counts, key=lambda language: (-counts[language], language))


def averaged_tasks(tasks: list[SharedTask], report: Report) -> list[SharedTask]:
    """Return the probed tasks, made in the same way, that all languages with such tasks have."""
    probed = report.inputs.datasets.keys() - report.too_small
    comparable = [t for t in tasks if not t.different and probed >= {*t.datasets.values()}]
    n_languages = len(languages_of(comparable))
    return [task for task in comparable if len(task.datasets) == n_languages]


def languages(report: Report) -> Iterator[Number]:
    """Yield each encoder's mean in each language, over the tasks that all languages have."""
    tasks = averaged_tasks(shared_tasks(report), report)
    shown = "; ".join(task.name for task in tasks)
    for language in languages_of(tasks):
        names = [task.datasets[language] for task in tasks]
        sample = not report.inputs.samples.isdisjoint(names)
        about = {"language": language, "sample": sample, "tasks": shown}
        for encoder, mean in report.means(names).items():
            mark = LETTERS[report.beats_baseline(mean, *names)]
            yield number(about, mean.value, mean.interval, encoder=encoder, mark=mark)
        about |= {"encoder": "trivial_baselines", "kind": "baseline"}
        yield number(about, report.baseline_score(*names))


def tasks_in_languages(report: Report) -> Iterator[Number]:
    """Yield each encoder's score on each task in each language."""
    tasks = shared_tasks(report)
    for task in tasks:
        for encoder, language in product(task.scores, languages_of(tasks)):
            if mean := task.scores[encoder].get(language):
                dataset = task.datasets[language]
                probed = dataset in report.inputs.datasets
                about = {
                    "task": task.name,
                    "measure": task.measure,
                    "encoder": encoder,
                    "language": language,
                    "mark": LETTERS[report.beats_baseline(mean, dataset)] if probed else "",
                    "sample": dataset in report.inputs.samples,
                    "different": language in task.different,
                }
                yield number(about, mean.value)
