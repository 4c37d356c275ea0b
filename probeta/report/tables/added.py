"""What the probe adds: scores beside their controls, and beside the encoder with random weights."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import fmean

from evaluation.results.comparison import compare, measure_all
from evaluation.results.scores import Results, Score, read_predictions
from evaluation.results.stored import EncoderResults
from probeta.report.layout import Number
from probeta.report.statistics import Average, Report, once
from probeta.report.tables import number
from probeta.report.texts import phrase

UNITS = {
    "selectivity": "points",
    "compression": "ratio",
    "information": "ratio",
    "code_length": "count",
}
"""Measure of controls to its unit; ratios are shown with two decimals."""


def added(report: Report) -> Iterator[Number]:
    """Yield the scores that have controls, these, and the scores of random weights; means last."""
    twins = random_weights(report)
    for benchmark, average in report.benchmark_averages.items():
        values: dict[tuple[str, str], list[float]] = {}
        for dataset in (*average.datasets, *average.too_small):
            scores = report.inputs.datasets[dataset]
            for encoder, score in scores.items():
                if score.controls is None:
                    continue
                about = {"benchmark": benchmark, "dataset": dataset, "encoder": encoder}
                found = [number(about, score.value, score.interval, measure="score")]
                if twin := scores.get(twins.get(encoder, "")):
                    found.append(number(about, twin.value, twin.interval, measure="random_weights"))
                found += (control_number(about, score, measure) for measure in UNITS)
                for row in found:
                    if row["value"] is not None and dataset in average.datasets:
                        values.setdefault((encoder, row["measure"]), []).append(row["value"])
                yield from found
        for (encoder, measure), of in values.items():
            about = {"benchmark": benchmark, "dataset": phrase("mean_of_some", count=len(of))}
            about |= {"measure": measure, "unit": UNITS.get(measure, "")}
            yield number(about, fmean(of), encoder=encoder)


def applicable(report: Report) -> Iterator[Number]:
    """Yield ``added`` of the datasets that have a measure of controls."""
    rows = [row for row in added(report) if row["value"] is not None]
    having = {(row["dataset"], row["encoder"]) for row in rows if row["measure"] in UNITS}
    return (row for row in rows if (row["dataset"], row["encoder"]) in having)


def control_number(about: Number, score: Score, measure: str) -> Number:
    """Return the row of a measure of controls, or of the reason why a score has none."""
    assert score.controls
    reason = score.controls.not_applicable.get(measure, "")
    value, interval = score.measures.get(measure), score.controls.intervals.get(measure)
    facts = {"measure": measure, "unit": UNITS[measure], "not_applicable": reason}
    return number(about, value, interval, **facts)


@once
def random_weights(report: Report) -> dict[str, str]:
    """Return encoder to the same model with random weights, if that was probed too."""
    random = [
        each
        for each in report.inputs.encoders
        if each.encoder["options"].get("weights") == "random"
    ]
    return {
        each.name: twin.name
        for each in report.inputs.encoders
        for twin in reversed(random)
        if each not in random and _model(each) == _model(twin)
    }


def _model(results: EncoderResults) -> Number:
    options = results.encoder["options"].items()
    same = {name: value for name, value in options if name not in ("weights", "seed")}
    return {**results.encoder, "options": same, "layers": None}


@once
def above_random(report: Report) -> list[Number]:
    """Return on how many datasets encoders are clearly above their own random weights.

    By benchmark and layer, the main one first; "benchmark" is "" for all of them together. A pair
    is compared alone, as it was chosen before any score was known.
    """
    rows = []
    by_name = {results.name: results for results in report.inputs.encoders}
    for encoder, random in random_weights(report).items():
        pair, main = (by_name[encoder], by_name[random]), by_name[encoder].encoder["layer"]
        layers = dict.fromkeys([main, *pair[0].encoder["layers"]])
        for layer in filter(pair[1].encoder["layers"].__contains__, layers):
            above = _above(report, pair, layer)
            for benchmark in ("", *report.benchmark_averages):
                named = {d for d in above if benchmark in ("", report.inputs.benchmark(d))}
                if named:
                    about: Number = {"encoder": encoder, "random": random, "benchmark": benchmark}
                    about["heading"] = benchmark or phrase("all_short")
                    about |= {"layer": layer, "main": layer == main, "compared": len(named)}
                    about |= {"unit": "count", "note": phrase("of_count", count=len(named))}
                    rows.append(number(about, sum(above[name] for name in named)))
    return rows


def _above(report: Report, pair: tuple[Results, Results], layer: str) -> dict[str, bool]:
    """Return dataset to whether the first of two encoders is clearly above the other on a layer."""
    readers = [
        (
            replace(each, encoder=each.encoder | {"layer": layer}),
            partial(read_predictions, report.inputs.folders[each.name]),
        )
        for each in pair
    ]
    return {d.target: d.value > 0 and not d.tie for d in compare(measure_all(readers), {})}


def describe_added(report: Report, encoder: str, average: Average) -> str:
    """Return on how many datasets of a benchmark a probe adds something; "" without controls."""
    scores = [report.inputs.datasets[name].get(encoder) for name in average.datasets]
    controls = [score.controls for score in scores if score and score.controls]
    found = [each for each in controls if each.intervals]
    if not found:
        return ""
    words: Number = {"name": encoder, "count": len(found)}
    for measure in ("selectivity", "information"):
        intervals = [each.intervals[measure] for each in found if measure in each.intervals]
        words[measure] = phrase(
            "some_of", count=sum(low > 0 for low, _ in intervals), all=len(intervals)
        )
    text = phrase("adds", **words)
    for row in above_random(report):
        if (row["encoder"], row["benchmark"]) == (encoder, average.benchmark) and row["main"]:
            text += f" {phrase('adds_to_random', above=int(row['value']), count=row['compared'])}"
    return text
