"""Writes what lm-evaluation-harness 0.4.13 logs of a model that answers as a test says."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evaluation.datasets import Dataset, find_datasets

DATE = "2026-11-22T10-00-00.000001"
Answer = Callable[[dict[str, Any]], list[float]]
"""A row to the log-likelihood of each choice."""


def write_log(
    folder: Path,
    data: Path,
    answers: Mapping[str, Answer],
    *,
    date: str = DATE,
    metric: str = "acc",
    choices: list[str] | None = None,
    **config: Any,
) -> None:
    """Write the log of one run on datasets of the package ``data`` into the model's ``folder``.

    The model answers from ``choices``, or from texts of the row; ``config`` are further facts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = {dataset.name: dataset for dataset in find_datasets(data)}
    configs = {}
    for name, answer in answers.items():
        dataset = found[name]
        task = f"probeta_{name}"
        given = choices or ["así", "no"]
        configs[task] = {
            "task": task,
            "doc_to_choice": choices or "{{ [a, b] }}",
            "metadata": {"version": dataset.version, "dataset": name, "answer": metric},
        }
        lines = [_sample(number, row, answer(row), given) for number, row in _rows(dataset)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"samples_{task}_{date}.jsonl").write_text(text, "utf-8")
    results: dict[str, Any] = {
        "configs": configs,
        "n-shot": dict.fromkeys(configs, 2),
        "config": {"model": "hf", "model_args": {"pretrained": "org/Large-2B"}} | config,
    }
    results |= {"model_name": "org/Large-2B", "lm_eval_version": "0.4.13"}
    results |= {"transformers_version": "5.23.0", "chat_template_sha": None}
    (folder / f"results_{date}.json").write_text(json.dumps(results), "utf-8")


def _rows(dataset: Dataset) -> list[tuple[int, dict[str, Any]]]:
    table = dataset.read("train" if dataset.folds else "test", dataset.columns)
    return list(enumerate(table.to_pylist()))


def _sample(
    number: int, row: dict[str, Any], likelihoods: list[float], choices: list[str]
) -> dict[str, Any]:
    by_length = [value / len(choice) for value, choice in zip(likelihoods, choices, strict=True)]
    return {
        "doc_id": number,
        "doc": row,
        "target": str(row["label"]),
        "filtered_resps": [[str(value), "False"] for value in likelihoods],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "acc": float(likelihoods.index(max(likelihoods)) == row["label"]),
        "acc_norm": float(by_length.index(max(by_length)) == row["label"]),
    }
