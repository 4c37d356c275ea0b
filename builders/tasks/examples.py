"""The tasks on labelled examples: one text or a pair of texts, with a class or a score.

Spanish SentEval (Araujo et al. 2022, section 2; after Conneau and Kiela 2018), the tasks on the
Penn Discourse Treebank of DiscoEval (Chen, Chu and Gimpel 2019, section 3.1), the relations of the
DISRPT shared task of 2025 (task 3), and the paradigms of
Sumbler et al.'s test ParaLex, such as the days of the week: a row is a cluster of terms, nothing is
trained or annotated.
"""

from dataclasses import replace

from builders.tasks.groups import DR, LPT, PARALEX, PDTB_E, PDTB_I, SC, SPC, SS, Group
from builders.tasks.task import ExampleTask, Text

# Of a paradigm: two terms are seeds, at least one is looked for.
FEWEST_TERMS = 3

_ONE = (Text("sentence", "tokens", "string", "natural text"),)
_TWO = (
    Text("sentence1", "tokens1", "string", "natural text of the first sentence"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
)
_ARGUMENTS = (
    Text("sentence1", "tokens1", "string", "natural text of the first argument"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
)
_TERMS = Text("terms", "tokens", "strings", "the terms of the cluster, as in the source", None)


_UNITS = (
    Text("sentence1", "tokens1", "string", "natural text of the unit that comes first in the text"),
    Text("sentence2", "tokens2", "string", "natural text of the other"),
)


def _relation_task(name: str, group: Group, question: str, example: str) -> ExampleTask:
    """Return a task on the arguments of discourse relations; rare classes are left out."""
    return ExampleTask(
        name=name,
        group=group,
        question=question,
        texts=_ARGUMENTS,
        needs="the two arguments of a discourse relation, with its sense",
        once=True,
        # Chen, Chu and Gimpel 2019, section 3.1.
        least_in_class=10,
        example=f"| sentence1 | sentence2 | class |\n|---|---|---|\n{example}",
    )


TASKS = (
    ExampleTask(
        name="sentence_classification",
        group=SC,
        question="Which class does the text belong to: what does it say, ask for or feel?",
        texts=_ONE,
        needs="one text with a label",
        example="""\
| sentence | class |
|---|---|
| Tres horas de película y se me hicieron cortas. | **positive** |""",
    ),
    ExampleTask(
        name="pair_classification",
        group=SPC,
        question="How do the two sentences relate: does one follow from the other, do they say "
        "the same?",
        texts=_TWO,
        needs="a pair of texts with a label",
        example="""\
| sentence1 | sentence2 | class |
|---|---|---|
| El barco zarpó con la marea de la tarde. | El barco sigue amarrado. | **contradiction** |""",
    ),
    ExampleTask(
        name="relatedness",
        group=SS,
        question="How closely are the meanings of the two sentences related? A probe is trained "
        "to answer.",
        texts=_TWO,
        needs="a pair of texts with a score",
        target="score",
        example="""\
| sentence1 | sentence2 | score |
|---|---|---|
| Una niña patina en la plaza. | Una niña corre por la plaza. | **3.4** |""",
    ),
    ExampleTask(
        name="similarity",
        group=SS,
        question="How similar are the meanings of the two sentences? Nothing is trained: the "
        "answer is the cosine of their embeddings.",
        texts=_TWO,
        needs="a pair of texts with a score",
        target="score",
        trained=False,
        example="""\
| sentence1 | sentence2 | score |
|---|---|---|
| El tren llegó con retraso. | El tren no llegó a su hora. | **4.2** |""",
    ),
    ExampleTask(
        name="linguistic_probing",
        group=LPT,
        question="Which formal property does the sentence have: its length, a word in it, the "
        "depth of its tree, a shifted bigram, its tense, the number of its subject or object, a "
        "replaced word, swapped clauses?",
        texts=_ONE,
        needs="one text with a label",
        example="""\
| sentence | class |
|---|---|
| La marea bajo dejó el puente la arena seca. | **inverted** (bigram shift) |""",
    ),
    _relation_task(
        "explicit_relations",
        PDTB_E,
        "Which discourse relation holds between the two arguments of a connective, which is taken "
        "out?",
        "| they kept the shop open | hardly anybody came | **Comparison.Concession** (though) |",
    ),
    _relation_task(
        "implicit_relations",
        PDTB_I,
        "Which discourse relation holds between two arguments that no connective joins?",
        "| The bridge was closed | A crack had been found in a cable | **Contingency.Cause** |",
    ),
    # A probe of 17 classes is costly, and with ten folds there are four times as many.
    replace(
        _relation_task(
            "unit_relations",
            DR,
            "Which discourse relation holds between two units of a text, with their connective if "
            "they have one?",
            "| Se dragó la bocana | para que entraran los barcos. | **purpose** |",
        ),
        texts=_UNITS,
        folds=5,
    ),
    ExampleTask(
        name="paradigms",
        group=PARALEX,
        question="Which words complete a paradigm? Every two terms of a cluster are seeds, and the "
        "other words are looked for among the nearest neighbours of the seeds. Nothing is trained.",
        texts=(_TERMS,),
        needs="a cluster of texts, of any number",
        target="neighbours",
        unit="word",
        trained=False,
        named_by_language=True,
        example="""\
| cluster | terms |
|---|---|
| tides | pleamar, bajamar, reflujo, estoa |""",
    ),
)
