"""Transfer: a probe that is trained on one dataset, or on all others, is tested on another one.

Datasets of one task with the same classes are a family, such as a task in several languages. The
probe is that of the protocol "standard". Its strength is chosen where it is trained: on validation,
or on the first fold of a dataset in folds, which then is not trained on. Of a dataset in folds that
is tested, all rows are asked, as its own probe is. Eichin et al. (2025, "Probing LLMs for
multilingual discourse generalization through a unified label set", ACL) do so over languages.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corpora_recipes.records import Split
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.memo import Memo
from evaluation.arrays import Floats, Values
from evaluation.data.features import ProbeRows
from evaluation.data.instances import Dataset
from evaluation.embedding.store import read_described
from evaluation.encoders.encoder import Description, Encoder, describe
from evaluation.measures.threads import one_thread
from evaluation.probing.measuring import score_answers
from evaluation.probing.params import Probing
from evaluation.probing.probing import features_of
from evaluation.probing.protocols import standard
from evaluation.probing.protocols.problem import Problem
from evaluation.results.parts import Part, score_parts
from evaluation.results.probes import Results, Transfer


class _Side(NamedTuple):
    """A dataset, its rows, and the features of the tested ones.

    ``learnt`` has features and classes of train, then of validation, numbered as in its family.
    """

    dataset: Dataset
    parts: dict[Split, ProbeRows]
    learnt: tuple[Floats, Values, Floats, Values]
    test: Floats


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
    known = describe(encoder)
    families = {
        f"{family[0].task} {family[0].name}": family
        for family in families_of((d for d in datasets if d.name in scored), probing.transfer)
    }
    inputs = {
        name: [asdict(read_described(store, dataset)) for dataset in family]
        for name, family in families.items()
    }

    def compute(new: Sequence[str]) -> Iterator[tuple[str, Part]]:
        for name in new:
            transfers: list[Transfer] = []
            for layer in known.layers:
                sides = [_side(dataset, layer, known, store, probing) for dataset in families[name]]
                split = [
                    ([side], [other for other in sides if other is not side]) for side in sides
                ]
                ways = split + [(others, one) for one, others in split if len(others) > 1]
                with one_thread("scipy.linalg"):
                    transfers += [each for way in ways for each in _carried(*way, layer)]
            yield name, Part(transfers)

    own = replace(results, code=code_digest(__name__))
    parts, _ = score_parts(own, inputs, Transfer, compute, Memo(f"transferred/{results.name}"))
    return replace(results, transfers=tuple(t for name in families for t in parts[name].scores))


def _side(
    dataset: Dataset, layer: str, encoder: Description, store: Path, probing: Probing
) -> _Side:
    parts, x = features_of(dataset, layer, encoder, store, probing)
    numbers = np.array([sorted(dataset.labels).index(name) for name in dataset.labels])
    rows = {split: (x[split], numbers[parts[split].y]) for split in parts}
    test, y = rows[dataset.tested]
    if dataset.folds:
        first = parts["train"].folds == parts["train"].folds.min()
        rows = {"train": (test[~first], y[~first]), "validation": (test[first], y[first])}
    return _Side(dataset, parts, (*rows["train"], *rows["validation"]), test)


def _carried(sources: Sequence[_Side], targets: Sequence[_Side], layer: str) -> Iterator[Transfer]:
    """Train on all sources together, and yield the score on each target."""
    names = tuple(source.dataset.name for source in sources)
    x, y, *held_out = map(np.concatenate, zip(*(side.learnt for side in sources), strict=True))
    tests = [target.test for target in targets]
    task, validation = sources[0].dataset.task, (held_out[0], held_out[1])
    problem = Problem("", task, "accuracy", x, y, validation, np.concatenate(tests))
    given = standard.answer(problem, 0, "numpy")
    answers = np.split(given.predictions, np.cumsum([*map(len, tests)])[:-1], axis=1)
    for (dataset, parts, *_), answered in zip(targets, answers, strict=True):
        numbers = np.array([dataset.labels.index(name) for name in sorted(dataset.labels)])
        how = given.chosen, given.validation
        score, _ = score_answers(dataset, layer, parts, numbers[answered], *how)
        yield Transfer(names, score)
