"""Verifies the scores of a probe, or of a language model, from the stored answers."""

from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import numpy as np

from builders.tasks import TASKS
from evaluation.data.features import ProbeRows
from evaluation.data.instances import Dataset
from evaluation.embedding.postprocessing import fitted_on
from evaluation.measures.threads import one_thread
from evaluation.probing.measuring import INTERVALS, score_answers
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.results.probes import PREDICTIONS, Predictions, Results, Score, all_predictions
from evaluation.results.stored import description_of
from probeta.verifying.check import Check


def verify_probes(check: Check, results: Results, folder: Path) -> None:
    """Compute scores again from the answers in a folder; ``check`` gets what differs."""
    kind, module = "probes", "evaluation.probing.probing"
    if not results.probed:
        kind, module = "answers of a language model", "probeta.exchange.lm_eval"
    tasks = [name for name, task in TASKS.items() if task.target != "neighbours"]
    check.begin(kind, "probe", module, tasks)
    check.compare("results", results, {"intervals": INTERVALS})
    keys = [(score.dataset, score.layer) for score in results.scores]
    names = sorted({name for name, _ in keys})
    check.list_all("scores", keys, product(names, results.encoder["layers"]))
    scores = dict(zip(keys, results.scores, strict=True))
    groups = []
    for key, answers in all_predictions(folder):
        groups.append(key)
        if key in scores and check.asks(key[0]):
            dataset = check.datasets[key[0]]
            _verify(check, ", ".join(key), scores[key], answers, dataset, results.probed)
    check.list_all(f"row groups of {PREDICTIONS}", groups, keys)


def _verify(
    check: Check, where: str, score: Score, answers: Predictions, dataset: Dataset, probed: bool
) -> None:
    facts = {"texts": "", "vectors": "", "fitted_on": ""}
    if probed:
        encoder = description_of(check.results.encoder)
        facts = {"texts": check.texts_of(dataset), "fitted_on": fitted_on(encoder, dataset)}
    check.compare(where, score, facts)
    check.recomputed += 1
    parts = {split: ProbeRows(dataset, split) for split in dataset.files}
    if other := _other_rows(parts[dataset.tested], answers):
        check.compare(where, score, {"digest": dataset.digest()})
        check.differences.append(f"{where}: {other}")
        return
    # Answers may be of any size.
    with one_thread(), np.errstate(all="ignore"):
        found = asdict(score_answers(dataset, score.layer, parts, answers.predicted)[0])
    # What needs the vectors, and what is compared above.
    of_model = ("chosen", "validation") if probed and dataset.trained else ()
    for name in (*of_model, "coverage", "texts", "vectors", "fitted_on"):
        del found[name]
    if probed and (ablation := ABLATIONS.get(dataset.task)):
        kept = {name: value for name, value in score.measures.items() if name != ablation.name}
        score = replace(score, measures=kept)
    check.compare(where, score, found)


def _other_rows(asked: ProbeRows, answers: Predictions) -> str:
    """Return the first of the rows that differ, or the numbers of rows; "" if none does."""
    if len(asked.ids) != len(answers.ids):
        return f"rows: stored {len(answers.ids):,}, in the data {len(asked.ids):,}"
    for what, stored, found in (
        ("id", answers.ids, asked.ids),
        ("document", answers.documents, asked.documents),
        ("right answer", answers.gold, asked.y),
    ):
        rows = np.flatnonzero(stored != found)
        if len(rows):
            row = rows[0]
            place = f"{what} of row {row} ({asked.ids[row]}; {len(rows):,} rows differ)"
            return f"{place}: stored {stored[row]}, in the data {found[row]}"
    return ""
