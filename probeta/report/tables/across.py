"""Across languages: the same task side by side.

Of probes, datasets of one task from the same recipes and collection stand side by side in several
languages. EvalRank and ParaLex have sources of their own in each language, and stand side by side
all the same. A dataset that is made in another way than the others of its row is named, and in no
average.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from builders.tasks import TASKS
from builders.tasks.groups import Group
from corpora_recipes.languages import title_of
from probeta.report import layout
from probeta.report.averages import Mean, group_sort_key, mean_score
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Table, columns_of, lay_out
from probeta.report.tables.marks import given, mean_cell, sampled, trivial_row
from probeta.report.texts import phrase, translated

# Of paradigms, the first of these ways that there is in two languages: vocabulary and casing.
WAYS = ("shared lower", "shared as_is", "own lower", "own as_is")


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task in two languages or more.

    Attributes:
        name: task, recipes and collection, in words.
        datasets: language to dataset, in the order of the languages.
        different: the languages whose dataset is made in another way than the most.
        scores: encoder to language to its score.
    """

    name: str
    group: Group
    measure: str
    datasets: Mapping[str, str]
    different: frozenset[str] = frozenset()
    scores: Mapping[str, Mapping[str, Mean]] = field(default_factory=dict)


def shared_tasks(inputs: Inputs) -> list[SharedTask]:
    """Return all tasks that the report has in two languages or more, by group.

    An edition of another dataset stands in no row, and of several datasets in one language the one
    that is made as those in the other languages, or else the first.
    """
    scores = _chosen(inputs.scores)
    facts = [inputs.audit[dataset] for dataset in scores.dataset]
    # With `loc`, as an empty list would choose columns.
    scores = scores.loc[[bool(each.get("made")) and not each.get("edition_of") for each in facts]]
    made = [inputs.audit[dataset]["made"] for dataset in scores.dataset]
    probed = scores.dataset.isin([*inputs.datasets])
    sources = [tuple(how["from"]) if known else () for how, known in zip(made, probed, strict=True)]
    scores = scores.assign(
        sources=pd.Series(sources, scores.index, object),
        making=[repr((how["from"], sorted(how["options"].items()))) for how in made],
    )
    tasks = [
        _shared(inputs, rows)
        for _, rows in scores.groupby(["task", "measure", "sources"], sort=False)
        if rows.language.nunique() > 1
    ]
    return sorted(tasks, key=lambda task: (group_sort_key(task.group), task.name))


def _chosen(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a ``long_table`` that are shown, their measures in words."""
    ranks = scores[(scores.measure == "MRR") & (scores.way == "cosine")]
    chosen = [scores[scores.way == ""], ranks.assign(measure=phrase("by_cosine"))]
    for way in WAYS:
        clusters = scores[(scores.measure == "suggestion") & (scores.way == way)]
        if clusters.language.nunique() > 1:
            vocabulary, casing = map(layout.spaced, way.split())
            shown = phrase("suggestion_of", vocabulary=vocabulary, casing=casing)
            chosen.append(clusters.assign(measure=shown))
            break
    return pd.concat(chosen)


def _shared(inputs: Inputs, rows: pd.DataFrame) -> SharedTask:
    """Return a task from the scores on all its datasets."""
    first = rows.iloc[0]
    languages = rows.groupby("making", sort=False).language.nunique()
    usual = str(languages.idxmax())
    shown = rows.assign(unusual=rows.making != usual).sort_values("unusual", kind="stable")
    chosen = shown.drop_duplicates("language")
    unusual = chosen[chosen.unusual] if languages[usual] > 1 else chosen
    scores: dict[str, dict[str, Mean]] = {}
    for row in shown[shown.dataset.isin(chosen.dataset)].to_dict("records"):
        mean = Mean(row["value"], row["interval"])
        of_encoder = scores.setdefault(row["encoder"], {})
        of_encoder[row["language"]] = mean if row["way"] else mean_score([mean])
    sources = ", ".join(map(layout.spaced, first.sources))
    return SharedTask(
        name=": ".join(filter(None, (layout.spaced(first.task), sources))),
        group=TASKS[first.task].group,
        measure=first.measure,
        datasets=dict(sorted(zip(chosen.language, chosen.dataset, strict=True))),
        # If no two are made in the same way, neither is the usual one.
        different=frozenset(unusual.language),
        scores={name: scores[name] for name in inputs.in_order(scores)},
    )


def languages_of(tasks: list[SharedTask]) -> list[str]:
    """Return the languages of some tasks: those with the most tasks first."""
    counts = Counter(language for task in tasks for language in task.datasets)
    return sorted(counts, key=lambda language: (-counts[language], language))


def averaged(tasks: list[SharedTask], inputs: Inputs) -> list[SharedTask]:
    """Return the probed tasks, made in the same way, that all languages with such tasks have."""
    large = [task for task in tasks if inputs.too_small.isdisjoint(task.datasets.values())]
    same = [task for task in large if not task.different]
    probed = [task for task in same if inputs.datasets.keys() >= {*task.datasets.values()}]
    return [task for task in probed if len(task.datasets) == len(languages_of(probed))]


def languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's mean in each language, over the tasks that all languages have."""
    tasks = averaged(shared_tasks(inputs), inputs)
    if not tasks:
        return []
    datasets = {name: [task.datasets[name] for task in tasks] for name in languages_of(tasks)}

    def mean(language: str, encoder: str) -> Cell:
        names = datasets[language]
        cell = mean_cell(inputs.mean(names, encoder), inputs.trivial(*names))
        return sampled(inputs, names, cell)

    def heading(language: str) -> Cell:
        return Cell(language, title=", ".join(datasets[language]))

    table = lay_out(
        "languages",
        inputs.names,
        [Column("encoder", layout.named), *columns_of(datasets, mean, heading)],
        kind="encoder",
        last=[trivial_row(inputs, datasets.values())],
        tasks="; ".join(task.name for task in tasks),
    )
    return [table]


def tasks_in_languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's score on each task in each language, as a heat map.

    A colour is the share of the way from the best trivial baseline to a perfect score. Intervals
    would make columns too wide for a dozen languages: the page shows them where a score is pointed
    at.
    """
    tasks = shared_tasks(inputs)
    if not tasks:
        return []

    def score(language: str, row: tuple[SharedTask, str]) -> Cell | None:
        task, encoder = row
        score = task.scores[encoder].get(language)
        if score is None:
            return None
        dataset = task.datasets[language]
        trivial = inputs.trivial(dataset) if dataset in inputs.datasets else 0.0
        below = dataset in inputs.datasets and score.interval[0] <= trivial
        marks = given({layout.NOT_SHOWN: below, layout.DIFFERENT: language in task.different})
        cell = layout.percent_cell(score.value, "", marks)
        title = f"{dataset} {layout.bracketed(score.interval)}"
        shade = (score.value - trivial) / (1 - trivial) if trivial < 1 else 0.0
        return sampled(inputs, [dataset], replace(cell, title=title, shade=shade))

    columns = [
        Column("task", lambda row: Cell(row[0].name, title=", ".join(row[0].datasets.values()))),
        Column("measure", lambda row: translated(row[0].measure)),
        Column("encoder", lambda row: row[1]),
        *columns_of(languages_of(tasks), score, lambda code: Cell(code, title=title_of(code))),
    ]
    table = lay_out(
        "tasks-in-languages",
        [(task, encoder) for task in tasks for encoder in task.scores],
        columns,
        texts=3,
        group=lambda row: row[0].group.abbreviation,
        more=() if averaged(tasks, inputs) else layout.paragraphs("languages", tasks="")[:1],
    )
    return [table]
