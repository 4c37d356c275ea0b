"""What a language model is asked about the rows of a dataset.

A model answers with the likeliest of some texts. Of sentence ordering and sentence position, these
are the sentences themselves in every order that is possible: no question is needed, all choices
have the same words, and models without instructions can do it, in any language. All else is a
question with an answer for each class, from the file of the language beside this module:

    TASK, TASK/RECORDS or TASK/RECIPE/COLLECTION:   the more precise one applies
      text       a Jinja template of the columns of a row
      answers    class to answer; {A} and {B} are A and B in classes of relations. A class SN-… that
                 is not listed is NS-… with A and B exchanged: the second part is the nucleus
      by_length  whether the answers are of very different lengths, so that log-likelihoods are
                 divided by the number of characters
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from builders.plan.datasets import Dataset, ExampleDataset
from builders.plan.origins import Origin
from corpora_recipes.running.yaml_text import load_yaml

LANGUAGES = {"es": "lm_eval_es.yaml", "en": "lm_eval_en.yaml"}
# The harness's metrics: the share of rows whose right choice has the highest log-likelihood, and
# that with log-likelihoods divided by the number of characters.
BY_SUM, BY_LENGTH = METRICS = ("acc", "acc_norm")

_SWAPPED = 'sentences[::-1] | join(" ")'
_PLACES = ", ".join(
    f'(sentences[1:{place + 1}] + sentences[:1] + sentences[{place + 1}:]) | join(" ")'
    for place in range(5)
)
# Of each class the text as it would have been; the right one is that of the row's class.
ORDERS = {
    "sentence_ordering": f'{{{{ [{_SWAPPED}, sentences | join(" ")] }}}}',
    "sentence_position": f"{{{{ [{_PLACES}] }}}}",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What a language model is asked.

    Attributes:
        text: a Jinja template of the columns of a row; "" where the choices say all.
        choices: the answers, in the order of the classes; or a template that gives their list.
        metric: one of ``METRICS``, that of the score.
    """

    text: str
    choices: list[str] | str
    metric: str = BY_SUM


def question_of(dataset: Dataset, origin: Origin, labels: Sequence[str]) -> Question | str:
    """Return what a language model is asked about a dataset, or why it is not asked, in words.

    Args:
        dataset: its entry in params.yaml.
        origin: the corpus of its texts.
        labels: the names of its classes.
    """
    task = dataset.task.name
    if dataset.task.target != "label":
        return "the answer is not a class"
    if task in ORDERS:
        return Question("", ORDERS[task])
    if dataset.language not in LANGUAGES:
        return f"no questions in the language {dataset.language}"
    asked = _questions(LANGUAGES[dataset.language])
    keys = [f"{task}/{dataset.about()['records']}", task]
    if isinstance(dataset, ExampleDataset):
        keys[0] = f"{task}/{origin.corpus.recipe}/{dataset.collection}"
    found = next((asked[key] for key in keys if key in asked), None)
    if found is None:
        return f"no question for {keys[0]}"
    answers = {label: _answer(found["answers"], label) for label in labels}
    without = [label for label, answer in answers.items() if answer is None]
    if without:
        return f"no answer for the class {without[0]}"
    choices = [answer for answer in answers.values() if answer is not None]
    metric = BY_LENGTH if found.get("by_length") else BY_SUM
    return Question(found["text"], choices, metric)


def _answer(answers: Mapping[str, str], label: str) -> str | None:
    names = {"A": "A", "B": "B"}
    if label not in answers and label.startswith("SN-"):
        label, names = "NS-" + label.removeprefix("SN-"), {"A": "B", "B": "A"}
    return answers[label].format(**names) if label in answers else None


@cache
def _questions(file: str) -> dict[str, dict[str, Any]]:
    questions: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name(file))
    return questions
