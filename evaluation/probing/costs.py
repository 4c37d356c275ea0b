"""What probes cost, before they start: a protocol's time for a feature of a row, times all."""

from collections.abc import Iterable
from dataclasses import replace

from builders.plan.datasets import Dataset, ExampleDataset
from evaluation.probing.params import Probing
from evaluation.probing.protocols import PROTOCOLS, effort

_DIMENSION = 768


def costs_listing(datasets: Iterable[Dataset], probing: Probing) -> str:
    """Return what probing a layer takes by each protocol, for `probeta list`.

    Counted are the rows that params.yaml asks for, or that corpus.yaml says the source has.
    """
    trained = [dataset for dataset in datasets if dataset.task.trained]
    told = []
    for name in PROTOCOLS if trained else ():
        seconds = {d.name: _seconds(d, replace(probing, protocol=name)) for d in trained}
        dearest = max(seconds, key=seconds.__getitem__)
        most = f"{dearest} alone {_in_words(seconds[dearest])}"
        told.append(f"{_in_words(sum(seconds.values()))} by {name} ({most})")
    about = f"One CPU probes a layer of {_DIMENSION} dimensions, on all rows, in roughly "
    return about + ", ".join(told) if told else ""


def _seconds(dataset: Dataset, probing: Probing) -> float:
    rows, classes, folds = sum(dataset.rows), len(dataset.task.labels), False
    if isinstance(dataset, ExampleDataset):
        sizes = dataset.facts.sizes
        rows, folds = sum(filter(None, sizes.values())), "train" not in sizes
        classes = len(dataset.facts.labels or ())
    nanoseconds = effort(
        dataset.task.name, rows, classes, _DIMENSION, probing.protocol, probing.pair_features, folds
    )
    return nanoseconds / 1e9


def _in_words(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{max(1, seconds / 60):.0f} min"
