"""Transfer: a probe is trained on one or several datasets and tested on another.

Datasets of one task with the same classes form a family, such as a task in several languages. In a
family, a probe is trained on each dataset and tested on each other one, and trained on all others
together and tested on each. It is the probe of the protocol "standard"; its regularisation is
chosen on the validation rows of the training datasets, of a dataset in folds on its first fold,
which is then not trained on. Of a test dataset in folds all rows are tested, as by its own probe.
Eichin et al. (2025, "Probing LLMs for multilingual discourse generalization through a unified label
set", ACL) transfer over languages in this way.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpora_recipes.records import Split
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.code import code_digest
from evaluation.arrays import Floats, Values
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import encode_when_needed
from evaluation.embedding.store import vector_facts
from evaluation.encoders.encoder import Description, Encoder, describe
from evaluation.features import ProbeRows
from evaluation.measures import one_thread
from evaluation.probing.probing import read_features, score_predictions
from evaluation.probing.protocols import Probing, standard
from evaluation.probing.protocols.problem import Problem
from evaluation.results.scores import Results, Transfer
from evaluation.results.stored import Part, score_parts


class _Member(NamedTuple):
    """A dataset of a family; its classes (y) are numbered in the order of the sorted labels."""

    dataset: Dataset
    rows: dict[Split, ProbeRows]
    train: tuple[Floats, Values]
    validation: tuple[Floats, Values]
    x_test: Floats


def find_families(datasets: Iterable[Dataset], tasks: Collection[str]) -> list[list[Dataset]]:
    """Return the families of two or more datasets of these tasks, each sorted by name."""
    families: dict[tuple[str, frozenset[str]], list[Dataset]] = {}
    for dataset in sorted(datasets, key=lambda dataset: dataset.name):
        if dataset.task in tasks:
            families.setdefault((dataset.task, frozenset(dataset.labels)), []).append(dataset)
    return [family for family in families.values() if len(family) > 1]


def add_transfers(
    results: Results,
    encoder: Encoder,
    datasets: Iterable[Dataset],
    store: Path,
    probing: Probing,
    workers: int | None = 1,
    executor: str = "local",
) -> Results:
    """Return the results with the transfers among the datasets that they score.

    Cached transfers are reused. The tasks are those of ``probing.transfer``. ``workers`` and
    ``executor`` encode, if vectors are not kept: those of a family are then in the store together.
    """
    scored = {score.dataset for score in results.scores}
    description = describe(encoder)
    families = {
        f"{family[0].task} {family[0].name}": family
        for family in find_families((d for d in datasets if d.name in scored), probing.transfer)
    }
    inputs = {
        entry: [vector_facts(store, description, dataset) for dataset in family]
        for entry, family in families.items()
    }

    def compute(entries: list[str]) -> Iterator[tuple[str, Part]]:
        for entry in entries:
            yield entry, Part(_compute_transfers(families[entry], description, store, probing))

    facts = replace(results, code=code_digest(__name__))
    cache = Cache(f"transferred/{results.name}")
    compute_encoded = encode_when_needed(encoder, store, families, compute, workers, executor)
    parts, _ = score_parts(facts, inputs, Transfer, compute_encoded, cache)
    transfers = chain.from_iterable(parts[entry].scores for entry in families)
    return replace(results, transfers=tuple(transfers))


def _compute_transfers(
    family: Sequence[Dataset], encoder: Description, store: Path, probing: Probing
) -> list[Transfer]:
    """Return, layer by layer, the transfers from one dataset, then those from all others."""
    transfers: list[Transfer] = []
    for layer in encoder.layers:
        members = [_load_member(dataset, layer, encoder, store, probing) for dataset in family]
        others = [[other for other in members if other is not member] for member in members]
        with one_thread("scipy.linalg"):
            for source, targets in zip(members, others, strict=True):
                transfers += _transfer([source], targets, layer)
            for target, sources in zip(members, others, strict=True):
                if len(sources) > 1:
                    transfers += _transfer(sources, [target], layer)
    return transfers


def _load_member(
    dataset: Dataset, layer: str, encoder: Description, store: Path, probing: Probing
) -> _Member:
    rows, x = read_features(dataset, layer, encoder, store, probing)
    to_family = np.array([sorted(dataset.labels).index(label) for label in dataset.labels])
    splits = {split: (x[split], to_family[rows[split].y]) for split in rows}
    if dataset.folds:
        x_all, y_all = splits["train"]
        first = rows["train"].folds == rows["train"].folds.min()
        splits = {
            "train": (x_all[~first], y_all[~first]),
            "validation": (x_all[first], y_all[first]),
        }
    return _Member(dataset, rows, splits["train"], splits["validation"], x[dataset.tested])


def _transfer(
    sources: Sequence[_Member], targets: Sequence[_Member], layer: str
) -> Iterator[Transfer]:
    """Train one probe on all sources together, and yield its score on each target."""
    x, y = _concatenate([source.train for source in sources])
    validation = _concatenate([source.validation for source in sources])
    x_test = np.concatenate([target.x_test for target in targets])
    problem = Problem("", sources[0].dataset.task, "accuracy", x, y, validation, x_test)
    output = standard.fit_predict(problem, 0, "numpy")
    ends = np.cumsum([len(target.x_test) for target in targets])
    predictions = np.split(output.predictions, ends[:-1], axis=1)
    names = tuple(source.dataset.name for source in sources)
    for target, predicted in zip(targets, predictions, strict=True):
        dataset, rows = target.dataset, target.rows
        to_dataset = np.array([dataset.labels.index(label) for label in sorted(dataset.labels)])
        score, _ = score_predictions(
            dataset, layer, rows, to_dataset[predicted], output.chosen, output.validation
        )
        yield Transfer(names, score)


def _concatenate(parts: Sequence[tuple[Floats, Values]]) -> tuple[Floats, Values]:
    """Return the features and the classes of all parts, one after the other."""
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
