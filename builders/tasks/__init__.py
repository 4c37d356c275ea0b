"""All tasks, by name."""

from builders.tasks import (
    connective,
    discourse_coherence,
    discourse_relations,
    examples,
    section_prediction,
    sentence_ordering,
    sentence_position,
    treebank,
)
from builders.tasks.task import Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        *examples.TASKS,
        sentence_position.TASK,
        sentence_ordering.TASK,
        discourse_coherence.TASK,
        section_prediction.TASK,
        connective.TASK,
        *discourse_relations.TASKS,
        *treebank.TASKS,
        *examples.RANKING_TASKS,
    )
}
