"""The encoders, their scores over layers and on other datasets; the audit of the datasets.

Of each dataset the best layer is marked, or all layers that share the best score.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from operator import itemgetter
from statistics import fmean

import numpy as np

from builders.audit_report import GATES, SURFACE_FORM, VERDICTS, inherited_of, verdict_of
from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from evaluation.arrays import Doubles
from evaluation.results.scores import Results
from evaluation.results.stored import EncoderResults
from probeta.report import layout
from probeta.report.layout import NONE, Number
from probeta.report.statistics import LETTERS, Report
from probeta.report.tables import number
from probeta.report.texts import phrase, translated

# Scores that differ by less are equal: they are means over random starts.
_TOLERANCE = 1e-9


def encoders(report: Report) -> Iterator[Number]:
    """Yield the encoders with their layers and options, see also ``compare_to_random``."""
    for each in report.inputs.encoders:
        yield {"name": each.name, **each.encoder, **compare_to_random(report, each)}


def compare_to_random(report: Report, results: EncoderResults) -> Number:
    """Compare an encoder with the same model with random weights; empty if that was not probed.

    Returns:
        "random": its name; "above": the number of datasets on which the encoder is shown to be
        better; "compared": that of all datasets of both.
    """
    twins = [
        each.name
        for each in report.inputs.encoders
        if each.encoder["options"].get("weights") == "random" and _model(each) == _model(results)
    ]
    if not twins or results.encoder["options"].get("weights") == "random":
        return {}
    pairs = (report.difference(name, results.name, twins[0]) for name in report.inputs.datasets)
    compared = [pair for pair in pairs if pair]
    above = sum(pair.value > 0 and not pair.tie for pair in compared)
    return {"random": twins[0], "above": above, "compared": len(compared)}


def _model(results: EncoderResults) -> Number:
    options = results.encoder["options"].items()
    same = {name: value for name, value in options if name not in ("weights", "seed")}
    return {**results.encoder, "options": same, "layers": None}


def describe_encoder(report: Report, results: EncoderResults) -> str:
    """Return what an encoder is, in a line."""
    about = results.encoder
    compared = compare_to_random(report, results)
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


def refused(report: Report) -> Iterator[Number]:
    """Yield the third-party results that were refused, and why."""
    for path, reason in (report.inputs.refused or {}).items():
        yield {"results": path, "reason": reason}


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
        best: for each dataset the indices of the numbered layers that share the best score.
    """

    encoder: str
    benchmark: str
    layers: tuple[str, ...]
    apart: tuple[str, ...]
    datasets: tuple[str, ...]
    groups: tuple[Group, ...]
    values: Doubles
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
    scores = {(score.layer, score.dataset): score.value for score in results.scores}
    datasets = tuple(
        name
        for name in report.inputs.datasets
        if report.inputs.benchmark(name) == benchmark
        and all((layer, name) in scores for layer in layers + apart)
    )
    if not datasets:
        return None
    values = np.array([[scores[layer, name] for name in datasets] for layer in layers + apart])
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
        best=tuple(tuple(map(int, np.flatnonzero(best))) for best in shared.T),
    )


def layers(report: Report) -> Iterator[Number]:
    """Yield the scores of every layer, of encoders that were probed on several."""
    for profile in profiles(report):
        about = {"encoder": profile.encoder, "benchmark": profile.benchmark}
        for row, column in np.ndindex(profile.values.shape):
            place = {"layer": profile.rows[row], "dataset": profile.datasets[column]}
            best = row in profile.best[column]
            yield number(about | place, profile.values[row, column].item(), strong=best)


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


def verdicts(report: Report) -> Iterator[Number]:
    """Yield the verdict on every dataset and gate that applies, with the reason of the source."""
    for dataset, gate in product(report.inputs.groups, GATES):
        verdict = verdict_on(report, dataset, gate)
        if verdict in JUDGED:
            reason = inherited_of(report.inputs.audit[dataset]).get(gate)
            yield {"dataset": dataset, "gate": gate, "verdict": verdict, "inherited": reason}


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
