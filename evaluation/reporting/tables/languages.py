"""The same task in several languages side by side, for each encoder."""

from dataclasses import replace

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.languages import SharedTask, averaged, languages_of, shared_tasks
from evaluation.reporting.layout import (
    COVERED,
    Cell,
    Column,
    Row,
    Table,
    bracketed,
    columns_of,
    lay_out,
    named,
    percent_cell,
)
from evaluation.reporting.notes import DIFFERENT, NOT_SHOWN
from evaluation.reporting.tables.marks import given, mean_cell, sampled

ABOUT = (
    "The same task in several languages: datasets of one task from the same recipes, with the same "
    "options. Texts differ from language to language, and so may their difficulty: compare a "
    f"difference between languages with that of other encoders. In brackets the {COVERED} interval."
)


def languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's mean in each language, over the tasks that all languages have."""
    tasks = averaged(shared_tasks(inputs), inputs)
    if not tasks:
        return []
    datasets = {
        language: [task.datasets[language] for task in tasks] for language in languages_of(tasks)
    }

    def mean(language: str, encoder: str) -> Cell:
        names = datasets[language]
        cell = mean_cell(inputs.mean(names, encoder), inputs.mean_trivial(names))
        return sampled(inputs, names, cell)

    table = lay_out(
        "languages",
        inputs.names,
        [
            Column("Encoder", named),
            *columns_of(
                datasets,
                mean,
                lambda language: Cell(language, title=", ".join(datasets[language])),
            ),
        ],
        kind="encoder",
        words={"same_task": ABOUT, "tasks": "; ".join(task.name for task in tasks)},
    )
    trivial = (percent_cell(inputs.mean_trivial(names)) for names in datasets.values())
    return [replace(table, rows=(*table.rows, Row((Cell("trivial baselines"), *trivial))))]


def tasks_in_languages(inputs: Inputs) -> list[Table]:
    """Return each encoder's score on each task in each language."""
    tasks = shared_tasks(inputs)
    if not tasks:
        return []

    def score(language: str, row: tuple[SharedTask, str]) -> Cell | None:
        task, encoder = row
        score = task.scores[encoder].get(language)
        if score is None:
            return None
        dataset = task.datasets[language]
        below = dataset in inputs.datasets and score.interval[0] <= inputs.trivial(dataset)
        marks = given({NOT_SHOWN: below, DIFFERENT: language in task.different})
        cell = percent_cell(score.value, bracketed(score.interval), marks)
        return sampled(inputs, [dataset], replace(cell, title=dataset))

    columns = [
        Column("Task", lambda row: Cell(row[0].name, title=", ".join(row[0].datasets.values()))),
        Column("Measure", lambda row: row[0].measure),
        Column("Encoder", lambda row: row[1]),
        *columns_of(languages_of(tasks), score),
    ]
    table = lay_out(
        "tasks-in-languages",
        [(task, encoder) for task in tasks for encoder in task.scores],
        columns,
        group=lambda row: row[0].group.abbreviation,
        words={"same_task": "" if averaged(tasks, inputs) else ABOUT},
    )
    return [table]
