"""The encoders, their scores over layers and on other datasets; the audit of the datasets.

Of each dataset the best layer is marked, or all layers that share the best score.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from operator import itemgetter
from statistics import fmean
from typing import Any

import numpy as np

from builders.audit_report import SURFACE_FORM, VERDICTS, verdict_of
from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from evaluation.arrays import Doubles
from evaluation.results.scores import Results
from evaluation.results.stored import EncoderResults
from probeta.report import layout
from probeta.report.layout import NONE, Number
from probeta.report.statistics import LETTERS, Report, once
from probeta.report.tables import number
from probeta.report.tables.added import above_random
from probeta.report.texts import phrase, translated

# Scores that differ by less are equal: they are means over random starts.
_TOLERANCE = 1e-9


def encoders(report: Report) -> Iterator[Number]:
    """Yield the encoders with their layers and options, see also ``above_random``."""
    for each in report.inputs.encoders:
        yield {"name": each.name, **each.encoder, **_compare_to_random(report, each.name)}


def _compare_to_random(report: Report, encoder: str) -> Number:
    """Return on how many datasets an encoder is above its own random weights, if there are any."""
    for row in above_random(report):
        if row["encoder"] == encoder and row["main"] and not row["benchmark"]:
            return {
                "random": row["random"],
                "above": int(row["value"]),
                "compared": row["compared"],
            }
    return {}


def describe_encoder(report: Report, results: EncoderResults) -> str:
    """Return what an encoder is, in a line."""
    about = results.encoder
    compared = _compare_to_random(report, results.name)
    parts = [
        about["encoder"],
        *([phrase("of_revision", revision=about["revision"])] if about["revision"] else []),
        *([phrase("of_dimensions", count=about["dimension"])] if about.get("dimension") else []),
        translated(f"{about['form']} text"),
        phrase("of_layer", layer=translated(about["layer"])),
        *(layout.in_words(each) for each in about["options"].items()),
        *([phrase("above_random", **compared)] if compared else []),
    ]
    return ", ".join(parts)


def vocabulary(report: Report) -> Iterator[Number]:
    """Yield the numbers of words, and of those out of vocabulary, by dataset and encoder."""
    for dataset, by_encoder in report.inputs.datasets.items():
        for encoder, score in by_encoder.items():
            if score.coverage:
                yield {"dataset": dataset, "encoder": encoder, **score.coverage}


@dataclass(frozen=True, slots=True)
class Profile:
    """The scores of an encoder's layers on the datasets of a benchmark, or ``OWN``.

    Attributes:
        layers: the numbered layers, the lowest first.
        apart: the other vectors that were probed, such as the layers' average.
        datasets: those that every layer was probed on; ``groups``: those of each.
        values: scores, float64 [layers, then apart; datasets].
        compression: that of the code of each probe, in the form of ``values``; None if some have
            none.
        best: for each dataset the indices of the numbered layers that share the best score.
    """

    encoder: str
    benchmark: str
    layers: tuple[str, ...]
    apart: tuple[str, ...]
    datasets: tuple[str, ...]
    groups: tuple[Group, ...]
    values: Doubles
    compression: list[list[Any]] | None
    best: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows of ``values``."""
        return self.layers + self.apart

    @property
    def average_best(self) -> float:
        """The mean number of the best layer over the datasets: Chen et al. (2019), Table 3.

        Of layers that share the best score, the mean number counts.
        """
        return fmean(fmean(int(self.layers[index]) for index in best) for best in self.best)

    @property
    def best_layer(self) -> str:
        """A sentence on the average best layer."""
        first, *_, last = self.layers
        return phrase("best_layer", first=first, last=last, mean=f"{self.average_best:.1f}")


@once
def profiles(report: Report) -> list[Profile]:
    """Return the profiles of every encoder that was probed on two numbered layers or more."""
    pairs = product(report.inputs.encoders, report.benchmark_averages)
    found = (_profile(results, benchmark, report) for results, benchmark in pairs)
    return [profile for profile in found if profile]


def _profile(results: Results, benchmark: str, report: Report) -> Profile | None:
    names = results.encoder["layers"]
    layers = tuple(sorted((name for name in names if name.isdecimal()), key=int))
    if len(layers) < 2:
        return None
    apart = tuple(name for name in names if name not in layers)
    scores = {(score.layer, score.dataset): score for score in results.scores}
    datasets = tuple(
        name
        for name in report.inputs.datasets
        if report.inputs.benchmark(name) == benchmark
        and all((layer, name) in scores for layer in layers + apart)
    )
    if not datasets:
        return None
    of_layers = [[scores[layer, name] for name in datasets] for layer in layers + apart]
    values = np.array([[score.value for score in of_layer] for of_layer in of_layers])
    codes: list[list[Any]] = [
        [score.measures.get("compression") for score in each] for each in of_layers
    ]
    numbered = values[: len(layers)]
    shared = numbered > numbered.max(axis=0) - _TOLERANCE
    return Profile(
        encoder=results.name,
        benchmark=benchmark,
        layers=layers,
        apart=apart,
        datasets=datasets,
        groups=tuple(report.inputs.groups[dataset] for dataset in datasets),
        values=values,
        compression=None if None in chain(*codes) else codes,
        best=tuple(tuple(map(int, np.flatnonzero(best))) for best in shared.T),
    )


def layers(report: Report) -> Iterator[Number]:
    """Yield the scores of every layer, of encoders that were probed on several."""
    for profile in profiles(report):
        about = {"encoder": profile.encoder, "benchmark": profile.benchmark}
        for row, column in np.ndindex(profile.values.shape):
            place = {"layer": profile.rows[row], "dataset": profile.datasets[column]}
            best, value = row in profile.best[column], profile.values[row, column].item()
            compression = None if profile.compression is None else profile.compression[row][column]
            yield number(about | place, value, strong=best, compression=compression)


def best_layers(report: Report) -> Iterator[Number]:
    """Yield the average best layer of every encoder by benchmark."""
    for profile in profiles(report):
        first, *_, last = profile.layers
        layers = phrase("range", first=first, last=last)
        about = {"encoder": profile.encoder, "benchmark": profile.benchmark, "layers": layers}
        yield number(about, profile.average_best, unit="number")


ALL_OTHERS = "all others"
"""In the place of a source: probes that are trained on all other datasets of the family."""


def transfer(report: Report) -> Iterator[Number]:
    """Yield the scores of probes on datasets of a family, on each trained on one or all others.

    ``family``: a number for an encoder. ``strong``: whether the probe is the dataset's own;
    ``main``: whether the layer is the main one.
    """
    for results in report.inputs.encoders:
        probes = [(score.dataset, score) for score in results.scores]
        probes += [
            (each.sources[0] if len(each.sources) == 1 else ALL_OTHERS, each.score)
            for each in results.transfers
        ]
        for place, family in enumerate(_families(results)):
            for source, score in probes:
                if score.dataset in family:
                    about = {
                        "encoder": results.name,
                        "family": place,
                        "task": score.task,
                        "layer": score.layer,
                        "main": score.layer == results.encoder["layer"],
                        "trained_on": source,
                        "dataset": score.dataset,
                        "mark": LETTERS[report.beats_baseline(score, score.dataset)],
                    }
                    strong = source == score.dataset
                    yield number(about, score.value, score.interval, strong=strong)


def _families(results: Results) -> list[tuple[str, ...]]:
    """Return the datasets whose probes are tested on each other."""
    families: dict[str, set[str]] = {}
    for each in results.transfers:
        target = each.score.dataset
        families.setdefault(target, {target}).update(each.sources)
    return sorted({tuple(sorted(names)) for names in families.values()})


def main_transfer(report: Report) -> Iterator[Number]:
    """Yield ``transfer`` of the main layers, with the majority's accuracies."""
    for row in filter(itemgetter("main"), transfer(report)):
        yield row
        if row["strong"]:
            majority = report.inputs.any_score(row["dataset"]).majority
            keys = ("encoder", "family", "task", "dataset")
            about = {key: row[key] for key in keys} | {"kind": "baseline"}
            yield number(about, majority, trained_on="majority_row")


JUDGED = VERDICTS[1:]
"""The verdicts on gates that apply, from the best to the worst."""
FINDINGS = {
    SURFACE_FORM: ("surface", "found_surface"),
    "inherited": ("inherited", "found_inherited"),
    "undeclared": ("new_faults", "found_new_faults"),
    "miss": ("new_faults", "found_new_faults"),
}
"""Verdict that a reader must know to its kind on the page, and to its phrase."""
# A trivial baseline is near an encoder, or above chance, by this difference of accuracies.
BASELINE_MARGIN = 0.05


def verdict_on(report: Report, dataset: str, gate: str) -> str:
    """Return the worst verdict of a gate on a dataset; ``NONE`` if it does not apply."""
    checks = report.inputs.audit[dataset]["checks"]
    judged = any(check["gate"] == gate for check in checks)
    verdict: str = verdict_of(checks, gate) if judged else NONE
    if gate == "baselines" and _baseline_is_near(report, dataset):
        verdict = max(verdict, SURFACE_FORM, key=JUDGED.index)
    return verdict


def _baseline_is_near(report: Report, dataset: str) -> bool:
    """Return whether a trivial baseline beats chance and hardly less than the best encoder."""
    scores = report.inputs.datasets.get(dataset, {}).values()
    if not scores or not TASKS[(first := next(iter(scores))).task].constructed:
        return False
    if first.chance is None:
        return False
    best = max(score.value for score in scores)
    _, baseline = report.inputs.best_baseline(dataset)
    return baseline >= max(best - BASELINE_MARGIN, first.chance + BASELINE_MARGIN)
