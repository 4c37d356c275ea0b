"""The same task in several languages side by side, for each encoder."""

from dataclasses import replace
from statistics import fmean

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.languages import (
    SharedTask,
    averaged,
    languages_of,
    mean_over,
    shared_tasks,
)
from evaluation.reporting.layout import (
    COVERED,
    NONE,
    Cell,
    Row,
    Table,
    bracketed,
    headings,
    named,
    percent_cell,
)
from evaluation.reporting.notes import DIFFERENT, NOT_SHOWN
from evaluation.reporting.tables.marks import sampled

ABOUT = (
    "The same task in several languages: datasets of one task from the same recipes, with the same "
    "options. Texts differ from language to language, and so may their difficulty: compare a "
    f"difference between languages with that of other encoders. In brackets the {COVERED} interval."
)


def languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's mean in each language, over the tasks that all languages have."""
    tasks = shared_tasks(inputs)
    means = averaged(tasks, inputs)
    if not means:
        return []
    columns = languages_of(means)
    datasets = {language: [task.datasets[language] for task in means] for language in columns}
    rows = [
        Row((named(encoder), *(_mean(inputs, means, encoder, one) for one in columns)), "encoder")
        for encoder in inputs.names
    ]
    trivial = (percent_cell(fmean(map(inputs.trivial, datasets[one]))) for one in columns)
    rows.append(Row((Cell("trivial baselines"), *trivial)))
    about = (
        ABOUT,
        "Means over the tasks that all these languages have, made in the same way: "
        f"{'; '.join(task.name for task in means)}. Trivial baselines: the means of Majority or "
        "Best trivial, whichever is higher.",
    )
    header = (Cell("Encoder"), *(Cell(one, title=", ".join(datasets[one])) for one in columns))
    return [Table("languages", "Across languages", header, tuple(rows), about)]


def tasks_in_languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's score on each task in each language."""
    tasks = shared_tasks(inputs)
    if not tasks:
        return []
    columns = languages_of(tasks)
    rows = [
        Row(
            (
                Cell(task.name, title=", ".join(task.datasets.values())),
                Cell(task.measure),
                Cell(encoder),
                *(_score(inputs, task, encoder, one) for one in columns),
            ),
            group=task.group.abbreviation,
        )
        for task in tasks
        for encoder in task.scores
    ]
    header = headings("Task", "Measure", "Encoder", *columns)
    about = () if averaged(tasks, inputs) else (ABOUT,)
    title = "Tasks across languages"
    return [Table("tasks-in-languages", title, header, tuple(rows), about, texts=3)]


def _mean(inputs: Inputs, tasks: list[SharedTask], encoder: str, language: str) -> Cell:
    mean = mean_over(tasks, inputs, encoder, language)
    if mean is None:
        return Cell(NONE)
    datasets = [task.datasets[language] for task in tasks]
    marks = () if mean.interval[0] > fmean(map(inputs.trivial, datasets)) else (NOT_SHOWN,)
    return sampled(inputs, datasets, percent_cell(mean.value, bracketed(mean.interval), marks))


def _score(inputs: Inputs, task: SharedTask, encoder: str, language: str) -> Cell:
    score = task.scores[encoder].get(language)
    if score is None:
        return Cell(NONE)
    dataset = task.datasets[language]
    probed = dataset in inputs.datasets
    marks = {
        NOT_SHOWN: probed and score.interval[0] <= inputs.trivial(dataset),
        DIFFERENT: language in task.different,
    }
    given = tuple(mark for mark, is_given in marks.items() if is_given)
    cell = percent_cell(score.value, bracketed(score.interval), given)
    return sampled(inputs, [dataset], replace(cell, title=dataset))
