"""ParaLex: do the words of a paradigm, such as the days of the week, lie near each other?

The task of Sumbler et al.'s test ParaLex: a row is a cluster of terms. Nothing is trained or
annotated: the evaluation takes pairs of terms as seeds and looks for the others among their
neighbours.
"""

from builders.tasks.example_task import ExampleTask
from builders.tasks.groups import PARALEX
from builders.tasks.task import Text

# Two terms are seeds, at least one is looked for.
FEWEST_TERMS = 3

TASK = ExampleTask(
    name="paradigms",
    group=PARALEX,
    question="Which words complete a paradigm? Every two terms of a cluster are seeds, and the "
    "other words are looked for among the nearest neighbours of the seeds. Nothing is trained.",
    texts=(Text("terms", "tokens", "strings", "the terms of the cluster, as in the source", None),),
    needs="a cluster of texts, of any number",
    target="neighbours",
    unit="word",
    trained=False,
    named_by_language=True,
    example="""\
| cluster | terms |
|---|---|
| tides | pleamar, bajamar, reflujo, estoa |""",
)
