"""ParaLex: do the words of a paradigm, such as the days of the week, stand near each other?

The task of Sumbler et al.'s test ParaLex: a row is a cluster of terms. Nothing is trained or
annotated: the evaluation takes pairs of terms as seeds and looks for the others among neighbours.
"""

from builders.examples import ExampleTask
from builders.schemas import Text

TASK = ExampleTask(
    name="paradigms",
    abbreviation="ParaLex",
    question="Which words complete a paradigm? Every two terms of a cluster are seeds, and the "
    "nearest neighbours of seeds are to hold the others. Nothing is trained.",
    texts=(Text("terms", "tokens", "strings", "the terms of the cluster, as the source has them"),),
    target="neighbours",
    trained=False,
    named_by_language=True,
    example="""\
| cluster | terms |
|---|---|
| tides | pleamar, bajamar, reflujo, estoa |""",
)
