"""The tasks on labelled examples: one text or a pair of texts, with a class or a score.

Spanish SentEval (Araujo et al. 2022, section 2; after Conneau and Kiela 2018).
"""

from builders.tasks.example_task import ExampleTask
from builders.tasks.groups import LPT, SC, SPC, SS
from builders.tasks.task import Text

_ONE = (Text("sentence", "tokens", "string", "natural text"),)
_TWO = (
    Text("sentence1", "tokens1", "string", "natural text of the first sentence"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
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
)
