"""Transfer: a probe that is trained on one dataset, or on all others, is tested on another one.

Datasets of one task with the same classes are a family, such as a task in several languages. The
probe is that of the protocol "standard". Its strength is chosen where it is trained: on validation,
or on the first fold of a dataset in folds, which then is not trained on. Of a dataset in folds that
is tested, all rows are asked, as its own probe is. Eichin et al. (2025, "Probing LLMs for
multilingual discourse generalization through a unified label set", ACL) do so over languages.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import numpy as np

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.memo import Memo
from evaluation.data.instances import Dataset
from evaluation.embedding.store import read_described
from evaluation.encoders.encoder import Description, Encoder, describe
from evaluation.measures.intervals import leave_out, score_interval
from evaluation.measures.metrics import measure
from evaluation.measures.threads import one_thread
from evaluation.probing.params import Probing
from evaluation.probing.probing import features_of, key_of
from evaluation.probing.protocols import standard
from evaluation.probing.protocols.problem import Problem
from evaluation.results.probes import Predictions, Results, Transfer, answers_digest
from evaluation.results.stored import typed

Side = tuple[Problem, Predictions]
"""A dataset with the class numbers of its family, and the rows of its test, without answers."""


def families_of(datasets: Iterable[Dataset], tasks: Collection[str]) -> list[list[Dataset]]:
    """Return the families of two datasets or more of some tasks, each sorted by name."""
    families: dict[tuple[str, frozenset[str]], list[Dataset]] = {}
    for dataset in sorted(datasets, key=lambda dataset: dataset.name):
        if dataset.task in tasks:
            families.setdefault((dataset.task, frozenset(dataset.labels)), []).append(dataset)
    return [family for family in families.values() if len(family) > 1]


def with_transfers(
    results: Results, encoder: Encoder, datasets: Iterable[Dataset], store: Path, probing: Probing
) -> Results:
    """Return results of an encoder with the transfers among the datasets that they score.

    What the memory answers for is not computed again. ``probing.transfer`` has the tasks.

    Raises:
        InputError: the store of vectors lacks a sentence, or a dataset is damaged.
    """
    scored = {score.dataset for score in results.scores}
    memo, known = Memo(f"transferred/{results.name}"), describe(encoder)
    transfers: dict[str, list[Transfer]] = {}
    for family in families_of((d for d in datasets if d.name in scored), probing.transfer):
        name = f"{family[0].task} {family[0].name}"
        described = [asdict(read_described(store, dataset)) for dataset in family]
        key = key_of(replace(results, code=code_digest(__name__)), described)
        if (kept := memo.kept(name, key)) is not None:
            transfers[name] = [typed(Transfer, facts) for facts in kept]
            continue
        transfers[name] = []
        for layer in known.layers:
            sides = [_side(dataset, layer, known, store, probing) for dataset in family]
            split = [([side], [other for other in sides if other is not side]) for side in sides]
            ways = split + [(others, one) for one, others in split if len(others) > 1]
            with one_thread("scipy.linalg"):
                transfers[name] += [each for way in ways for each in _carried(*way, layer)]
        memo.keep(name, key, facts=[asdict(transfer) for transfer in transfers[name]])
    memo.retain(transfers)
    return replace(results, transfers=tuple(chain.from_iterable(transfers.values())))


def _side(
    dataset: Dataset, layer: str, encoder: Description, store: Path, probing: Probing
) -> Side:
    parts, x = features_of(dataset, layer, encoder, store, probing)
    numbers = np.array([sorted(dataset.labels).index(name) for name in dataset.labels])
    rows = {split: (x[split], numbers[parts[split].y]) for split in parts}
    asked = parts[dataset.tested]
    test, gold = rows[dataset.tested]
    if dataset.folds:
        first = asked.folds == asked.folds.min()
        rows = {"train": (test[~first], gold[~first]), "validation": (test[first], gold[first])}
    train, validation = rows["train"], rows["validation"]
    problem = Problem(dataset.name, dataset.task, "accuracy", *train, validation, test)
    return problem, Predictions(asked.ids, asked.documents, gold, gold[:0])


def _carried(sources: Sequence[Side], targets: Sequence[Side], layer: str) -> Iterator[Transfer]:
    """Train on all sources together, and yield the score on each target."""
    problems = [problem for problem, _ in sources]
    held_out = [each.validation for each in problems if each.validation]
    problem = replace(
        problems[0],
        x=np.concatenate([each.x for each in problems]),
        y=np.concatenate([each.y for each in problems]),
        validation=(
            np.concatenate([x for x, _ in held_out]),
            np.concatenate([y for _, y in held_out]),
        ),
        test=np.concatenate([target.test for target, _ in targets]),
    )
    given = standard.answer(problem, 0, "numpy")
    ends = np.cumsum([len(asked.gold) for _, asked in targets])[:-1]
    parts = np.split(given.predictions, ends, axis=1)
    for (target, asked), predicted in zip(targets, parts, strict=True):
        value = measure("accuracy", asked.gold, predicted[0])
        (left_out,) = leave_out("accuracy", asked.gold, predicted, asked.documents)
        yield Transfer(
            sources=tuple(each.name for each in problems),
            target=target.name,
            layer=layer,
            value=value,
            interval=score_interval("accuracy", value, left_out, asked.documents),
            strength=given.chosen["strength"][0],
            answers=answers_digest(replace(asked, predicted=predicted)),
        )
