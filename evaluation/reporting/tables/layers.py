"""The scores over the layers of an encoder.

As in Figure 8 of Chen et al. (2019) and Figure 10 of Araujo et al. (2022): the scores of each
dataset are standardised over the layers, and its best layer is marked, or all layers that share
the best score.
"""

from dataclasses import dataclass
from statistics import fmean

import numpy as np

from builders.tasks.groups import Group
from evaluation.arrays import Doubles
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    columns_of,
    lay_out,
    paragraphs,
    percent_cell,
    unused_name,
)
from evaluation.reporting.tables.scores import metric_of
from evaluation.results.probes import Results

# Scores that differ by less are equal: they are means over random starts.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Profile:
    """The scores of an encoder's layers.

    Attributes:
        encoder: its name.
        name: the same in letters, digits and hyphens, unique in a report.
        layers: the numbered layers, the lowest first.
        apart: the other vectors that were probed, such as the layers' average.
        datasets: those that every layer was probed on, group by group.
        groups: the group of each of them.
        benchmarks: the benchmark of each of them, or ``OWN``.
        values: scores, float64 [layers, then apart; datasets].
        standard: ``values`` minus the mean of the numbered layers, divided by their standard
            deviation (0 where they do not differ).
        best: for each dataset the indices of the numbered layers that share the best score.
    """

    encoder: str
    name: str
    layers: tuple[str, ...]
    apart: tuple[str, ...]
    datasets: tuple[str, ...]
    groups: tuple[Group, ...]
    benchmarks: tuple[str, ...]
    values: Doubles
    standard: Doubles
    best: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows of ``values``."""
        return self.layers + self.apart

    def average_bests(self) -> dict[str, float]:
        """Return benchmark to the mean number of the best layer over its datasets.

        Chen et al. (2019), Table 6. Of layers that share the best score, the mean number counts.
        """
        bests: dict[str, list[float]] = {}
        for benchmark, best in zip(self.benchmarks, self.best, strict=True):
            number = fmean(int(self.layers[index]) for index in best)
            bests.setdefault(benchmark, []).append(number)
        return {benchmark: fmean(numbers) for benchmark, numbers in bests.items()}


def profiles(inputs: Inputs) -> list[Profile]:
    """Return the profile of every encoder that was probed on two numbered layers or more."""
    by_name: dict[str, Profile] = {}
    for results in inputs.encoders:
        profile = _profile(results, unused_name(results.name, by_name), inputs)
        if profile:
            by_name[profile.name] = profile
    return list(by_name.values())


def _profile(results: Results, name: str, inputs: Inputs) -> Profile | None:
    names = results.encoder["layers"]
    layers = tuple(sorted((name for name in names if name.isdecimal()), key=int))
    if len(layers) < 2:
        return None
    apart = tuple(name for name in names if name not in layers)
    scores = {(score.layer, score.dataset): score.value for score in results.scores}
    datasets = tuple(
        name for name in inputs.datasets if all((layer, name) in scores for layer in layers + apart)
    )
    values = np.array([[scores[layer, name] for name in datasets] for layer in layers + apart])
    numbered = values[: len(layers)]
    spread = numbered.std(axis=0)
    spread[np.ptp(numbered, axis=0) < _SAME] = np.inf
    shared = numbered > numbered.max(axis=0) - _SAME
    return Profile(
        encoder=results.name,
        name=name,
        layers=layers,
        apart=apart,
        datasets=datasets,
        groups=tuple(map(inputs.group, datasets)),
        benchmarks=tuple(map(inputs.benchmark, datasets)),
        values=values,
        standard=(values - numbered.mean(axis=0)) / spread,
        best=tuple(tuple(map(int, np.flatnonzero(best))) for best in shared.T),
    )


MEAN_OF_LAYERS = ", the mean of all layers' vectors,"


def layers(inputs: Inputs) -> list[Table]:
    """Return a table for every encoder that was probed on several layers."""
    return [layer_table(profile) for profile in profiles(inputs)]


def layer_table(profile: Profile) -> Table:
    """Return the scores of an encoder's layers, the best layers of each dataset in bold."""

    def score(column: int, row: int) -> Cell:
        best = row in profile.best[column]
        return percent_cell(float(profile.values[row, column]), strong=best)

    columns = columns_of(
        range(len(profile.datasets)), score, lambda column: profile.datasets[column]
    )
    return lay_out(
        "layers",
        range(len(profile.rows)),
        [Column("Layer", lambda row: profile.rows[row]), *columns],
        name=f"layers-{profile.name}",
        kind="encoder",
        words=_words(profile, "In bold"),
    )


def about_layers(profile: Profile, marked: str) -> str:
    """Return an explanation of the layers' scores.

    Args:
        profile: the scores.
        marked: the mark of the best layers, such as "In bold".
    """
    return " ".join(paragraphs("layers", _words(profile, marked)))


def _words(profile: Profile, marked: str) -> dict[str, str]:
    apart = "".join(
        f" {name}{MEAN_OF_LAYERS if name == 'avg' else ''} is separate: it is not marked, even "
        "where it is better, and does not count as a layer."
        for name in profile.apart
    )
    return {
        "encoder": profile.encoder,
        "metric": metric_of(profile.groups),
        "marked": marked,
        "apart": apart,
        "best_layers": best_layers(profile),
    }


def best_layers(profile: Profile) -> str:
    """Return a sentence on the average best layer."""
    means = (f"{value:.1f} over {name}" for name, value in profile.average_bests().items())
    last = profile.layers[-1]
    return f"Average best layer, of {profile.layers[0]} to {last}: {', '.join(means)}."


def heatmaps(inputs: Inputs) -> list[Table]:
    """Return the heading of the heatmaps of layers, if an encoder was probed on several."""
    return [lay_out("by-layer", (), ())] if profiles(inputs) else []
