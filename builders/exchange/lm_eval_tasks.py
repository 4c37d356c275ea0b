"""Writes the tasks of a package for lm-evaluation-harness: a folder of YAML without any code."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from builders.exchange.config import Config
from builders.exchange.lm_eval import METRICS, Question, question_of
from corpora_recipes.escaping import render

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
    no task, with the reason. Nothing is written if no dataset has one.

    Args:
        configs: the datasets of the package.
        folder: of the package. The tasks read the data from there if lm-eval runs in it.
        hub: the repository and the tag that the tasks read the data from instead.

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
    own = folder / FOLDER
    # A dataset may have that name.
    own.mkdir(exist_ok=True)
    _write(own / COMMON, _COMMON)
    for name, task in tasks.items():
        _write(own / f"{name}.yaml", task)
    for group, members in groups.items():
        # The name of a dataset has no dot.
        _write(own / f"group.{group}.yaml", _group(group, members))
    page = {"tasks": tasks, "groups": groups, "left_out": left_out, "hub": hub}
    (own / "README.md").write_text(render(PAGE, page), "utf-8")
    return len(tasks)


def task_name(name: str) -> str:
    """Return the name that a dataset, benchmark or group of tasks has among the harness's."""
    return f"{PREFIX}_{name}"


def _data(config: Config, hub: tuple[str, str] | None) -> dict[str, Any]:
    """Return where a task reads its data."""
    name = config.dataset.name
    if hub:
        repository, tag = hub
        return {
            "dataset_path": repository,
            "dataset_name": name,
            "dataset_kwargs": {"revision": tag},
        }
    # Not ".", which `datasets` refuses.
    files = {split: f"{name}/{split}-*.parquet" for split in config.rows}
    return {"dataset_path": "parquet", "dataset_kwargs": {"data_files": files}}


def _task(name: str, config: Config, question: Question) -> dict[str, Any]:
    if "fold" in config.columns:
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
    return {
        "group": name,
        "task": list(members),
        "aggregate_metric_list": means,
        "metadata": {"version": 1},
    }


def _write(path: Path, content: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
    path.write_text(text, "utf-8")
