"""The encoders, the scores over their layers; rows of datasets that stand out; the audit.

Layers are shown as in Figure 8 of Chen et al. (2019): the scores of each dataset are standardised
over the layers, and its best layer is marked, or all layers that share the best score.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from builders.audit_report import (
    GATES,
    SURFACE_FORM,
    VERDICTS,
    inherited_of,
    shown_number,
    verdict_of,
)
from builders.tasks import TASKS
from builders.tasks.benchmarks import Group
from evaluation.arrays import Doubles
from evaluation.results.scores import Results
from evaluation.results.stored import EncoderResults
from probeta.report import layout
from probeta.report.layout import NONE, Cell, Column, Table, columns_of, lay_out
from probeta.report.statistics import Report
from probeta.report.tables import by_dataset
from probeta.report.tables.scores import metric_of
from probeta.report.texts import phrase, translated

# Scores that differ by less are equal: they are means over random starts.
_TOLERANCE = 1e-9


def encoders(report: Report) -> list[Table]:
    """Return the encoders with their layers and options."""
    columns = [
        Column("name", lambda results: layout.name_cell(results.name)),
        Column("encoder", lambda results: results.encoder["encoder"]),
        Column("revision", lambda results: results.encoder["revision"] or layout.NONE),
        Column("layer", _layers),
        Column("text", lambda results: translated(results.encoder["form"])),
        Column("options", _options),
        Column("dimensions", _dimension),
    ]
    return [lay_out("encoders", report.inputs.encoders, columns, texts=6, kind="encoder")]


def describe_encoder(results: EncoderResults) -> str:
    """Return what an encoder is, in a line."""
    about = results.encoder
    parts = [
        about["encoder"],
        *([phrase("of_revision", revision=about["revision"])] if about["revision"] else []),
        *([phrase("of_dimensions", count=about["dimension"])] if about.get("dimension") else []),
        translated(f"{about['form']} text"),
        phrase("of_layer", layer=translated(about["layer"])),
        *(layout.in_words(each) for each in about["options"].items()),
    ]
    return ", ".join(parts)


def verified(report: Report) -> list[Table]:
    """Return the third-party results that were refused, and why, if some were verified."""
    if report.inputs.refused is None:
        return []
    columns = [Column("results", lambda item: item[0]), Column("reason", lambda item: item[1])]
    return [lay_out("verified", report.inputs.refused.items(), columns, texts=2)]


def _layers(results: Results) -> str:
    main, layers = str(results.encoder["layer"]), results.encoder["layers"]
    several = len(layers) > 1
    return phrase("probed_layers", layer=main, layers=", ".join(layers)) if several else main


def _options(results: Results) -> str:
    options = results.encoder["options"].items()
    return ", ".join(f"{layout.spaced(key)} {value}" for key, value in options) or layout.NONE


def _dimension(results: Results) -> Cell | None:
    dimension = results.encoder.get("dimension")  # a language model has none
    return None if dimension is None else layout.count_cell(dimension)


def vocabulary(report: Report) -> list[Table]:
    """Return the share of out-of-vocabulary words by dataset and encoder with a vocabulary."""

    def unknown(encoder: str, dataset: str) -> Cell | None:
        score = report.inputs.datasets[dataset].get(encoder)
        if score is None or not score.coverage:
            return None
        words, tokens = score.coverage["out_of_vocabulary"], score.coverage["tokens"]
        detail = phrase("counted_of", count=words, all=tokens)
        return layout.percent_cell(words / max(1, tokens), f"({detail})")

    encoders = report.inputs.encoders
    names = [results.name for results in encoders if any(s.coverage for s in results.main)]
    rows = report.inputs.datasets if names else ()
    return by_dataset(report, "vocabulary", columns_of(names, unknown), rows)


@dataclass(frozen=True, slots=True)
class Profile:
    """The scores of an encoder's layers on the datasets of a benchmark, or ``OWN``.

    Attributes:
        name: the encoder's in letters, digits and hyphens, unique in a report.
        layers: the numbered layers, the lowest first.
        apart: the other vectors that were probed, such as the layers' average.
        datasets: those that every layer was probed on; ``groups``: those of each.
        metric: what their scores measure.
        values: scores, float64 [layers, then apart; datasets].
        standard: ``values`` minus the mean of the numbered layers, divided by their standard
            deviation (0 where they do not differ).
        best: for each dataset the indices of the numbered layers that share the best score.
    """

    encoder: str
    benchmark: str
    name: str
    layers: tuple[str, ...]
    apart: tuple[str, ...]
    datasets: tuple[str, ...]
    groups: tuple[Group, ...]
    metric: str
    values: Doubles
    standard: Doubles
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

    def words(self, marked: str) -> dict[str, Any]:
        """Return the words of the explanation of the layers; ``marked``: how the best ones are."""
        mean = {"avg": phrase("mean_of_layers")}
        return {
            "encoder": self.encoder,
            "benchmark": translated(self.benchmark),
            "metric": self.metric,
            "marked": marked,
            "apart": "".join(
                phrase("of_averages", name=name, mean=mean.get(name, "")) for name in self.apart
            ),
            "best_layer": self.best_layer,
        }


def profiles(report: Report) -> list[Profile]:
    """Return the profiles of every encoder that was probed on two numbered layers or more."""
    by_name: dict[str, Profile] = {}
    for results, benchmark in product(report.inputs.encoders, report.benchmark_averages):
        name = layout.unused_name(results.name, by_name)
        if profile := _profile(results, benchmark, name, report):
            by_name[name] = profile
    return list(by_name.values())


def _profile(results: Results, benchmark: str, name: str, report: Report) -> Profile | None:
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
    spread = numbered.std(axis=0)
    spread[np.ptp(numbered, axis=0) < _TOLERANCE] = np.inf
    shared = numbered > numbered.max(axis=0) - _TOLERANCE
    return Profile(
        encoder=results.name,
        benchmark=benchmark,
        name=name,
        layers=layers,
        apart=apart,
        datasets=datasets,
        groups=tuple(report.inputs.groups[dataset] for dataset in datasets),
        metric=metric_of(report, datasets),
        values=values,
        standard=(values - numbered.mean(axis=0)) / spread,
        best=tuple(tuple(map(int, np.flatnonzero(best))) for best in shared.T),
    )


def best_layers(report: Report) -> list[Table]:
    """Return the average best layer of every encoder by benchmark."""
    by_encoder: dict[str, dict[str, Profile]] = {}
    for profile in profiles(report):
        by_encoder.setdefault(profile.encoder, {})[profile.benchmark] = profile

    def best(benchmark: str, encoder: str) -> Cell | None:
        if (profile := by_encoder[encoder].get(benchmark)) is None:
            return None
        return Cell(f"{profile.average_best:.1f}", value=profile.average_best)

    def numbers(encoder: str) -> str:
        first, *_, last = next(iter(by_encoder[encoder].values())).layers
        return phrase("range", first=first, last=last)

    probed = set(chain.from_iterable(by_encoder.values()))
    benchmarks = [name for name in report.benchmark_averages if name in probed]
    first = [Column("encoder", layout.name_cell), Column("layers", numbers)]
    columns = [*first, *columns_of(benchmarks, best, translated)]
    table = lay_out("best-layers", by_encoder, columns, texts=2, kind="encoder")
    return [table] if benchmarks else []


def layers(report: Report) -> list[Table]:
    """Return a table for every encoder that was probed on several layers."""
    return [layer_table(profile) for profile in profiles(report)]


def layer_table(profile: Profile) -> Table:
    """Return the scores of an encoder's layers, the best layers of each dataset in bold."""

    def score(column: int, row: int) -> Cell:
        return layout.percent_cell(
            float(profile.values[row, column]), strong=row in profile.best[column]
        )

    columns = columns_of(range(len(profile.datasets)), score, profile.datasets.__getitem__)
    return lay_out(
        "layers",
        range(len(profile.rows)),
        [Column("layer", profile.rows.__getitem__), *columns],
        name=f"layers-{profile.name}",
        kind="encoder",
        **profile.words(phrase("bold_marks")),
    )


def items(report: Report) -> list[Table]:
    """Return how many rows of each dataset stand out."""
    tables = dict(iter(report.items.groupby("dataset")))
    if not tables:
        return [lay_out("few-items", name="items")]
    columns = [
        Column("encoders", lambda name: layout.count_cell(tables[name].encoders.iloc[0])),
        Column("rows", lambda name: layout.count_cell(len(tables[name]))),
        Column("nobody_column", lambda name: _share(tables[name].hits == 0)),
        Column("everybody", lambda name: _share(tables[name].hits == tables[name].encoders)),
        Column("negative", lambda name: _share(tables[name].discrimination < 0)),
    ]
    names = [name for name in report.inputs.datasets if name in tables]
    return by_dataset(report, "items", columns, names)


def _share(rows: "pd.Series[bool]") -> Cell:
    return layout.percent_cell(float(rows.mean()), f"({rows.sum():,})")


def examples(report: Report) -> list[Table]:
    """Return the first rows of each dataset with negative discrimination."""
    columns = [
        Column("row", lambda item: item.row),
        Column("hits", lambda item: _hits_cell(item.hits, item.encoders)),
        Column("discrimination", lambda item: item.discrimination),
    ]
    rows = report.examples.itertuples(index=False)
    return by_dataset(report, "examples", columns, rows, texts=2)


def _hits_cell(hits: int, encoders: int) -> Cell:
    return Cell(phrase("counted_of", count=hits, all=encoders), value=hits)


JUDGED = VERDICTS[1:]
"""The verdicts that a table shows, from the best to the worst."""
FINDINGS = {
    SURFACE_FORM: ("surface", "found_surface"),
    "inherited": ("inherited", "found_inherited"),
    "undeclared": ("new_faults", "found_new_faults"),
    "miss": ("new_faults", "found_new_faults"),
}
"""Verdict that a reader must know to its kind on the page, and to its phrase."""
# A trivial baseline is near an encoder, or above chance, by this difference of accuracies.
BASELINE_MARGIN = 0.05


def verdicts(report: Report) -> list[Table]:
    """Return the audit's verdict on every dataset and gate."""

    def verdict(gate: str, dataset: str) -> Cell:
        return _verdict(verdict_on(report, dataset, gate))

    columns = columns_of(GATES, verdict, lambda gate: translated(GATES[gate]))
    return by_dataset(report, "verdicts", columns, report.inputs.groups, texts=1 + len(GATES))


def verdict_on(report: Report, dataset: str, gate: str) -> str:
    """Return the worst verdict of a gate on a dataset; ``NONE`` if it does not apply."""
    checks = report.inputs.audit[dataset]["checks"]
    judged = any(check["gate"] == gate for check in checks)
    verdict: str = verdict_of(checks, gate) if judged else NONE
    if gate == "baselines" and _baseline_is_near(report, dataset):
        verdict = max(verdict, SURFACE_FORM, key=JUDGED.index)
    return verdict


def _verdict(verdict: str) -> Cell:
    return Cell(translated(verdict)) if verdict in JUDGED else Cell(NONE)


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


def inherited(report: Report) -> list[Table]:
    """Return the declared reasons for the gates that datasets miss because of their source."""
    rows = [
        (dataset, translated(GATES[gate]), why)
        for dataset, facts in report.inputs.audit.items()
        for gate, why in inherited_of(facts).items()
    ]
    columns = [Column("gate", lambda row: row[1]), Column("reason", lambda row: row[2])]
    return by_dataset(report, "inherited", columns, rows, texts=3)


def published(report: Report) -> list[Table]:
    """Return remarks on the rows that the sources publish: faults, differences from ours."""
    remarks = {dataset: facts.get("published") for dataset, facts in report.inputs.audit.items()}
    rows = filter(remarks.get, remarks)
    columns = [Column("published_rows", lambda name: str(remarks[name]))]
    return by_dataset(report, "published", columns, rows, texts=2)


def measurements(report: Report) -> list[Table]:
    """Return everything that the audit measured."""
    rows = [
        (dataset, check)
        for dataset, facts in report.inputs.audit.items()
        for check in facts["checks"]
        if check["verdict"] != "not applicable"
    ]
    columns = [
        Column("dataset", lambda row: row[0]),
        Column("gate", lambda row: translated(GATES[row[1]["gate"]])),
        Column("measured", lambda row: layout.spaced(row[1]["what"])),
        Column("verdict", lambda row: _judged(row[1])),
        Column("value", lambda row: _measured(row[1], "value")),
        Column("limit", lambda row: _measured(row[1], "limit")),
    ]
    return [lay_out("measurements", rows, columns, texts=4)]


def _judged(check: Mapping[str, Any]) -> Cell | None:
    """Return the cell of a measurement's verdict; None if it has no limit."""
    return None if check["limit"] is None else _verdict(check["verdict"])


def _measured(check: Mapping[str, Any], key: str) -> Cell | None:
    """Return the cell of a measurement's "value" or "limit"."""
    value = check[key]
    if value is None:
        return None
    return Cell(shown_number(value, check["correlation"]), value=value)
