"""Scores a language model by what lm-evaluation-harness has logged: its answers to rows of tasks.

`lm-eval run … --log_samples --output_path FOLDER` writes to a folder of the model, for each run:

    results_DATE.json            the model, its arguments, and the configuration of each task
    samples_TASK_DATE.jsonl      a line for each row: the row itself (``doc``), the choices that the
                                 model was given (``arguments``), and for each of them its
                                 log-likelihood (``filtered_resps``)
"""

import json
import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from builders.packaging.harnesses import BY_LENGTH, METRICS
from corpora_recipes.formats.tables import Line, locate_lines
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import whole_lines
from corpora_recipes.running.outputs import load_json
from evaluation.arrays import Labels
from evaluation.datasets import Dataset, find_data
from evaluation.features import ProbeRows, text_columns
from evaluation.measures import one_thread
from evaluation.probing.probing import INTERVALS, score_predictions
from evaluation.results.scores import LM_EVAL_PROTOCOL, PROBES_FORMAT, Results, predictions_table
from evaluation.results.stored import library_versions
from probeta.data import locate_data
from probeta.scores import Scores
from probeta.scoring import name_of, validate_name

_RUN_ADVICE = (
    "run lm-eval with the tasks of a package (its folder lm_eval), --log_samples and "
    "--output_path, and name the folder of the model there"
)
_RERUN_ADVICE = "run the task again, on all rows of this data: without --limit and --samples"
# What else of a run decides how the model answers, if it is there.
_OTHER_SETTINGS = ("system_instruction", "chat_template_sha", "fewshot_as_multiturn")
# A model gives no vectors: its answers are the only layer.
LAYER = "answers"


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """A task that a model has answered.

    Attributes:
        dataset: the dataset that is asked about.
        version: of the dataset.
        metric: one of ``METRICS``, that of the score.
        lengths: numbers of characters of the choices, or None if they differ from row to row.
        samples: the file of the answers.
    """

    dataset: str
    version: str
    metric: str
    lengths: tuple[int, ...] | None
    samples: Path


@dataclass(frozen=True, slots=True)
class Log:
    """All that was logged of a model.

    Attributes:
        model: its name, such as an id of the Hub.
        revision: its commit or revision, if it was logged.
        options: the model, the harness's backend with its further arguments, the type of numbers,
            the number of examples in the prompt, and what else decides the answers.
        versions: of lm_eval and transformers.
        tasks: dataset to its task.
    """

    model: str
    revision: str
    options: dict[str, Any]
    versions: dict[str, str]
    tasks: dict[str, LoggedTask]


def score_language_model(
    folder: str | Path,
    data: str | Path | None = None,
    *,
    datasets: Collection[str] | None = None,
    groups: Collection[str] | None = None,
    name: str | None = None,
) -> Scores:
    """Score a language model on the rows that it was asked about, as encoders are scored.

    Args:
        folder: what `lm-eval run --log_samples --output_path` wrote for the model.
        data: as of ``score``.
        datasets: names; without names or groups, all that the model was asked about.
        groups: abbreviations of groups.
        name: of the results; without it, derived from the model's name.

    Returns:
        The scores, with intervals and predictions.

    Raises:
        InputError: see ``read_log``, ``find_data`` and ``read_choices``; or the model was not asked
            about a dataset.
    """
    validate_name(name)
    log = read_log(Path(folder))
    datasets = datasets or (None if groups else [*log.tasks])
    selected = find_data(locate_data(data, datasets, groups), datasets, groups)
    for dataset in selected.datasets:
        if dataset.name not in log.tasks:
            todo = f"run the task probeta_{dataset.name} too, or name other datasets"
            logged = f"those about {', '.join(log.tasks)}"
            raise InputError(folder, f"answers about {dataset.name}", logged, todo)
    scored = []
    for dataset in selected.datasets:
        parts = {split: ProbeRows(dataset, split) for split in dataset.files}
        answers = read_choices(log.tasks[dataset.name], dataset)
        with one_thread():
            scored.append(score_predictions(dataset, LAYER, parts, answers[None]))
    results = Results(
        format=PROBES_FORMAT,
        name=name or name_of(log.model.rpartition("/")[2]),
        # As that of an encoder, without a dimension.
        encoder={
            "encoder": "lm-eval",
            "revision": log.revision,
            "form": "natural",
            "layers": [LAYER],
            "layer": LAYER,
            "options": log.options,
        },
        protocol={"name": LM_EVAL_PROTOCOL, "version": 1},
        intervals=dict(INTERVALS),
        seed=selected.seed,
        versions=library_versions("probe") | log.versions,
        code=code_digest(__name__),
        scores=tuple(score for score, _ in scored),
    )
    tables = tuple(predictions_table(score.dataset, LAYER, answers) for score, answers in scored)
    return Scores(results, tables, selected.audited, selected.samples, None)


def read_log(folder: Path) -> Log:
    """Read what is said of a model and its tasks; of several runs, all tasks.

    Args:
        folder: of the model, with results_….json; or the one above, if it has no other model.
    """
    files = sorted(folder.glob("results_*.json")) or sorted(folder.glob("*/results_*.json"))
    if not files:
        found = "no such file" if folder.is_dir() else "no such folder"
        raise InputError(folder, "results_….json of lm-eval", found, _RUN_ADVICE)
    logs = [_read_results(file) for file in files]
    first, tasks = logs[0], dict(logs[0].tasks)
    for file, log in zip(files[1:], logs[1:], strict=True):
        for fact in ("model", "revision", "options"):
            value, first_value = getattr(log, fact), getattr(first, fact)
            if value != first_value:
                expected = f"the {fact} of {files[0].name}, {first_value}"
                todo = "score one model at a time, asked in one way: keep other files elsewhere"
                raise InputError(file, expected, str(value), todo)
        for dataset, task in log.tasks.items():
            if dataset in tasks:
                expected = f"the answers about {dataset} once"
                todo = "keep the files of one of the two runs in another folder"
                raise InputError(
                    task.samples, expected, f"others in {tasks[dataset].samples.name}", todo
                )
            tasks[dataset] = task
    if not tasks:
        raise InputError(files[0], "tasks of a package of Probeta", "others", _RUN_ADVICE)
    return Log(first.model, first.revision, first.options, first.versions, tasks)


def read_choices(task: LoggedTask, dataset: Dataset) -> Labels:
    """Read the answers to the rows of a dataset: the likeliest choice of each.

    Returns:
        Class numbers, int64, in the order of the rows of test, or of train if there are folds.
    """
    n_classes = len(dataset.labels)
    if task.lengths is not None and len(task.lengths) != n_classes:
        found = f"one of {len(task.lengths)} choices"
        raise InputError(task.samples, f"a task of {n_classes} choices", found, _RERUN_ADVICE)
    columns = [dataset.target, *text_columns(dataset.task, "natural")]
    table = dataset.read(dataset.tested, ["id", *columns])
    rows = {row["id"]: (position, row) for position, row in enumerate(table.to_pylist())}
    choices = np.full(len(rows), -1)
    line_numbers: dict[str, int] = {}
    with task.samples.open("rb") as file:
        for line, data in locate_lines(whole_lines(file, task.samples), task.samples):
            sample = line.parse(data)
            logged = _logged_row(line, sample)
            name = str(logged["id"])
            if name in line_numbers:
                duplicate = f"{name}, which is in line {line_numbers[name]} too"
                raise line.error(
                    "each row once", duplicate, "keep the answers of one run in a file"
                )
            line_numbers[name] = line.number
            if name not in rows:
                raise _unexpected_row(line, task, dataset, f"the id {name}")
            position, row = rows[name]
            for column in columns:
                if logged.get(column) != row[column]:
                    found = f"{name} with the {column} {str(logged.get(column))[:80]!r}"
                    raise _unexpected_row(line, task, dataset, found)
            choices[position] = _likeliest_choice(
                line, sample, task, n_classes, row[dataset.target]
            )
    missing = [name for name in rows if name not in line_numbers]
    if missing:
        expected = f"an answer to each of the {len(rows):,} rows of {dataset.name}"
        found_rows = f"{len(line_numbers):,}; {missing[0]} is missing"
        raise InputError(task.samples, expected, found_rows, _RERUN_ADVICE)
    return choices


def _read_results(file: Path) -> Log:
    """Read the results of a run."""
    try:
        content = load_json(file)
        config = content["config"]
        arguments = config["model_args"] or {}
        if not isinstance(arguments, dict):
            arguments = {"model_args": str(arguments)}
        tasks, examples = {}, 0
        date = file.stem.removeprefix("results_")
        for name, task_config in content["configs"].items():
            # Other tasks than those of a package have no such facts.
            facts = task_config.get("metadata") or {}
            if facts.get("answer") in METRICS:
                tasks[str(facts["dataset"])] = _task(
                    task_config, facts, file.with_name(f"samples_{name}_{date}.jsonl")
                )
                examples = max(examples, content["n-shot"][name])
        model = str(content["model_name"] or config["model"])
        log = Log(
            model=model,
            revision=str(config.get("model_sha") or config.get("model_revision") or ""),
            options={"model": model, "backend": config["model"]}
            | {key: value for key, value in arguments.items() if value != model}
            | ({"dtype": config["model_dtype"]} if config.get("model_dtype") else {})
            | {"examples": examples}
            | {key: content[key] for key in _OTHER_SETTINGS if content.get(key)},
            versions={
                name: str(content[f"{name}_version"]) for name in ("lm_eval", "transformers")
            },
            tasks=tasks,
        )
        # What could not be written to the results.
        json.dumps(asdict(log), allow_nan=False, default=str)
        return log
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise InputError(
            file, "the results of lm-eval 0.4.13 or later", fault, _RUN_ADVICE
        ) from None


def _task(config: dict[str, Any], facts: dict[str, Any], samples: Path) -> LoggedTask:
    if not samples.is_file():
        expected = f"the answers to the rows of {facts['dataset']}"
        raise InputError(samples, expected, "no such file", "run lm-eval with --log_samples")
    choices = config["doc_to_choice"]
    if not all(choices):
        raise ValueError(f"an empty choice among {choices}")
    lengths = tuple(map(len, choices)) if isinstance(choices, list) else None
    dataset, version, metric = (str(facts[name]) for name in ("dataset", "version", "answer"))
    return LoggedTask(dataset, version, metric, lengths, samples)


def _logged_row(line: Line, sample: Any) -> dict[str, Any]:
    """Return the row that a line is about."""
    doc = sample.get("doc") if isinstance(sample, dict) else None
    if not isinstance(doc, dict) or "id" not in doc:
        raise line.error("a row of a dataset with its id under `doc`", "none", _RUN_ADVICE)
    return doc


def _unexpected_row(line: Line, task: LoggedTask, dataset: Dataset, found: str) -> InputError:
    return line.error(
        f"a row of {dataset.name}, version {dataset.version}, as {dataset.folder} has it",
        f"{found}, asked as version {task.version}",
        "name the data that the model was asked about with --data, or ask it again about this data",
    )


def _likeliest_choice(
    line: Line, sample: dict[str, Any], task: LoggedTask, n_classes: int, gold: int
) -> int:
    """Return the likeliest choice, as the harness finds it."""
    try:
        likelihoods = [float(choice[0]) for choice in sample["filtered_resps"]]
        stated = float(sample[task.metric])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        expected = f"log-likelihoods under `filtered_resps`, and {task.metric}"
        raise line.error(expected, f"{type(error).__name__}: {error}", _RERUN_ADVICE) from None
    # NaN is not below infinity either.
    if len(likelihoods) != n_classes or not all(value < math.inf for value in likelihoods):
        raise line.error(f"{n_classes} log-likelihoods", str(likelihoods)[:80], _RERUN_ADVICE)
    weighted = np.array(likelihoods)
    if task.metric == BY_LENGTH and task.lengths is not None:
        weighted = weighted / np.array(task.lengths, float)
    choice = int(weighted.argmax())
    if (choice == gold) != bool(stated):
        expected = f"a choice that is {'right' if stated else 'wrong'}, as {task.metric} says"
        likeliest = f"choice {choice} as the likeliest, where {gold} is right"
        todo = "take the file as lm-eval wrote it, or run the task again"
        raise line.error(expected, likeliest, todo)
    return choice
