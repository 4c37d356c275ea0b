"""Datasets as tasks of lm-evaluation-harness: what a language model is asked about their rows.

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

The tasks are a folder of YAML without any code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from builders.packaging.config import Config
from builders.plan.datasets import Dataset, ExampleDataset
from builders.plan.origins import Origin
from corpora_recipes.escaping import render
from corpora_recipes.running.yaml_text import load_yaml
from corpora_recipes.text.writing import writing_of

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
    """Return what a language model is asked about a dataset, or why it is not asked, in words."""
    task = dataset.task.name
    if dataset.task.target != "label":
        return "the answer is not a class"
    if task in ORDERS:
        between = writing_of(dataset.language).between
        return Question("", ORDERS[task].replace('join(" ")', f'join("{between}")'))
    if dataset.language not in LANGUAGES:
        return f"no questions in the language {dataset.language}"
    questions = _questions(LANGUAGES[dataset.language])
    keys = [f"{task}/{dataset.about()['records']}", task]
    if isinstance(dataset, ExampleDataset):
        keys[0] = f"{task}/{origin.corpus.recipe}/{dataset.collection}"
    question = next((questions[key] for key in keys if key in questions), None)
    if question is None:
        return f"no question for {keys[0]}"
    answers, choices = question["answers"], []
    for label in labels:
        if label in answers:
            choices.append(answers[label].format(A="A", B="B"))
        elif label.startswith("SN-") and (swapped := f"NS-{label[3:]}") in answers:
            choices.append(answers[swapped].format(A="B", B="A"))
        else:
            return f"no answer for the class {label}"
    return Question(question["text"], choices, BY_LENGTH if question.get("by_length") else BY_SUM)


@cache
def _questions(file: str) -> dict[str, dict[str, Any]]:
    questions: dict[str, dict[str, Any]] = load_yaml(Path(__file__).with_name(file))
    return questions


FOLDER = "lm_eval"
PAGE = Path(__file__).with_name("lm_eval.md.jinja")
# The prefix of all names, and the group of all tasks.
PREFIX = "probeta"
# Without the ending .yaml, so that lm-eval does not take it for a task.
COMMON = "common"
_COMMON = {
    "output_type": "multiple_choice",
    "doc_to_target": "label",
    "metric_list": [
        {"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in METRICS
    ],
}
_SPLITS = {
    "training_split": "train",
    "validation_split": "validation",
    "test_split": "test",
    "fewshot_split": "train",
}


def write_tasks(configs: Sequence[Config], folder: Path, hub: tuple[str, str] | None = None) -> int:
    """Write ``lm_eval/`` to a package: a task for each dataset that can be asked, and groups.

    The group ``probeta`` has all tasks, and a group for each benchmark; a tag such as
    ``probeta_sp`` has those of a group of tasks. README.md lists them, and the datasets that have
    no task, with the reason. Nothing is written if no dataset has one. The tasks read the data
    from the repository and the tag ``hub``, or else from the package if lm-eval runs in it.

    Returns:
        The number of tasks.
    """
    tasks: dict[str, dict[str, Any]] = {}
    groups: dict[str, list[str]] = {PREFIX: []}
    left_out: dict[str, str] = {}
    for config in configs:
        name = task_name(config.dataset.name)
        question = question_of(config.dataset, config.origins[0], config.labels)
        if isinstance(question, str):
            left_out[config.dataset.name] = question
            continue
        tasks[name] = _task(name, config, question) | _data(config, hub)
        if benchmark := config.audit["benchmark"]:
            groups.setdefault(task_name(benchmark), []).append(name)
        else:
            groups[PREFIX].append(name)
    if not tasks:
        return 0
    groups[PREFIX] += [group for group in groups if group != PREFIX]
    # The name of a dataset has no dot.
    of_groups = {f"group.{name}.yaml": _group(name, groups[name]) for name in groups}
    files = {COMMON: _COMMON, **{f"{name}.yaml": task for name, task in tasks.items()}, **of_groups}
    # A dataset may have that name.
    (folder / FOLDER).mkdir(exist_ok=True)
    for file, content in files.items():
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
        (folder / FOLDER / file).write_text(text, "utf-8")
    cited = {text for c in configs if c.dataset.name not in left_out for text in c.citations}
    page = {"tasks": tasks, "groups": groups, "left_out": left_out, "hub": hub}
    page["citations"] = sorted(cited)
    (folder / FOLDER / "README.md").write_text(render(PAGE, page), "utf-8")
    return len(tasks)


def task_name(name: str) -> str:
    """Return the name that a dataset, benchmark or group of tasks has among the harness's."""
    return f"{PREFIX}_{name}"


def _data(config: Config, hub: tuple[str, str] | None) -> dict[str, Any]:
    """Return where a task reads its data."""
    name = config.dataset.name
    if hub:
        repository, tag = hub
        place = {"dataset_path": repository, "dataset_name": name}
        return place | {"dataset_kwargs": {"revision": tag}}
    # Not ".", which `datasets` refuses.
    files = {split: f"{name}/{split}-*.parquet" for split in config.rows}
    return {"dataset_path": "parquet", "dataset_kwargs": {"data_files": files}}


def _task(name: str, config: Config, question: Question) -> dict[str, Any]:
    if config.folds:
        # Every row is tested: none is left for examples in the prompt.
        tested = "train"
        splits: Mapping[str, Any] = {"test_split": "train", "num_fewshot": 0}
    else:
        tested, splits = "test", _SPLITS
    return {
        "include": COMMON,
        "task": name,
        "tag": task_name(config.task.group.abbreviation.lower().replace("-", "_")),
        **splits,
        "doc_to_text": question.text,
        "doc_to_choice": question.choices,
        # Without a question a choice is a whole text, which begins without a blank.
        "target_delimiter": " " if question.text else "",
        "metadata": {
            "version": config.dataset.version,
            "dataset": config.dataset.name,
            "content": config.content[tested],
            "answer": question.metric,
        },
    }


def _group(name: str, members: Sequence[str]) -> dict[str, Any]:
    means = [
        {"metric": metric, "aggregation": "mean", "weight_by_size": False} for metric in METRICS
    ]
    group = {"group": name, "task": list(members), "aggregate_metric_list": means}
    return group | {"metadata": {"version": 1}}
