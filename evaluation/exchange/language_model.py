"""Scores a language model by what it answered in lm-evaluation-harness."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from evaluation.data.finding import find_data
from evaluation.data.instances import Dataset
from evaluation.data.rows import ProbeRows
from evaluation.exchange.logged import Log, LoggedTask, read_answers, read_log
from evaluation.measures.threads import one_thread
from evaluation.probing.measuring import INTERVALS, score_answers
from evaluation.results.probes import (
    ASKED,
    FORMAT,
    Predictions,
    Results,
    Score,
    predictions_table,
)
from evaluation.results.scores import Scores, check_name, name_of
from evaluation.results.versions import library_versions

# A model gives no vectors: its answers are the only layer.
LAYER = "answers"


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
        InputError: see ``read_log``, ``find_data`` and ``read_answers``; or the model was not asked
            about a dataset.
    """
    check_name(name)
    log = read_log(Path(folder))
    found = find_data(data, datasets or (None if groups else [*log.tasks]), groups)
    for dataset in found.datasets:
        if dataset.name not in log.tasks:
            raise InputError(
                folder,
                f"answers about {dataset.name}",
                f"those about {', '.join(log.tasks)}",
                f"run the task probeta_{dataset.name} too, or name other datasets",
            )
    scored = [_score(dataset, log.tasks[dataset.name]) for dataset in found.datasets]
    results = Results(
        format=FORMAT,
        name=name or name_of(log.model.rpartition("/")[2]),
        encoder=_facts(log),
        protocol={"name": ASKED, "version": 1},
        intervals=dict(INTERVALS),
        seed=found.seed,
        versions=library_versions("probe") | log.versions,
        code=code_digest(__name__),
        scores=tuple(score for score, _ in scored),
    )
    tables = tuple(
        predictions_table(score.dataset, LAYER, predictions) for score, predictions in scored
    )
    return Scores(results, tables, found.trivial, found.samples, None)


def _score(dataset: Dataset, task: LoggedTask) -> tuple[Score, Predictions]:
    parts = {split: ProbeRows(dataset, split) for split in dataset.files}
    with one_thread():
        return score_answers(dataset, LAYER, parts, read_answers(task, dataset)[None])


def _facts(log: Log) -> dict[str, Any]:
    """Return a model's description for results: as that of an encoder, without a dimension."""
    return {
        "encoder": "lm-eval",
        "revision": log.revision,
        "form": "natural",
        "layers": [LAYER],
        "layer": LAYER,
        "options": log.options,
    }
