"""The format of audit.json, and what scores and reports read of it.

Light to import: no gate, no dataset, no numpy.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict, get_args

from pydantic import ConfigDict, Field

from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.outputs import read_report
from corpora_recipes.validation import EMPTY_AS_NONE, Number, validate

FORMAT = 4
# Gate name to its title.
GATES: Mapping[str, str] = {
    "leakage": "1. No leakage between splits",
    "donors": "2. Donor sentences occur nowhere else",
    "row_order": "3. Row order is uninformative",
    "baselines": "4. Trivial baselines",
    "text": "5. Undamaged text",
    "language": "6. One language",
    "labels": "7. Balanced, consistent labels",
    "size": "8. Test size",
    "documents": "9. Documents and trees kept whole",
}

Verdict = Literal[
    "not applicable",
    "pass",
    "within chance",
    "solved by surface form",
    "inherited",
    "undeclared",
    "miss",
]
# From the best to the worst.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class NamedRow(TypedDict):
    """A row that misses a gate; ``why`` says what is wrong, "" if the measurement says it."""

    file: str
    unit: str
    number: int
    id: str
    text: str
    why: str


SURFACE_FORM: Verdict = "solved by surface form"
# The baselines that look at no text; and what gate 8 measures, see ``detectable_of``.
CHANCE, MAJORITY = "chance", "majority"
DETECTABLE = "difference of two encoders that the test detects"
# A dataset that detects only larger differences of accuracies or correlations is in no average:
# encoders that are worth comparing are seldom so far apart, so that it would add mostly noise.
DETECTABLE_AT_MOST = 0.12

# Below this many test rows a score says little: one standard error is above 1.6 points.
SMALL_TEST = 1000

# Gate to the declaration of its miss: ``at_most`` and ``because``.
Declared = Mapping[str, Mapping[str, Any]]
# Dataset to its declarations.
Inherited = Mapping[str, Declared]


class _Read:
    """Base of what is read of a report, which may come from others; it may say more."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class _Check(_Read):
    gate: str
    what: str
    value: Number
    verdict: Verdict
    limit: Number | None
    correlation: bool = False
    validation: Number | None = None
    half_width: Number | None = None


@dataclass(frozen=True, slots=True)
class _Declared(_Read):
    because: str


@dataclass(frozen=True, slots=True)
class _Made(_Read):
    options: dict[str, Any]
    sources: Annotated[list[str], Field(alias="from")]


@dataclass(frozen=True, slots=True)
class _Audited(_Read):
    rows: dict[str, int]
    inherited: dict[str, _Declared]
    checks: list[_Check]
    title: str = ""
    benchmark: str | None = None
    classes: int = 0
    chosen: str | None = None
    failures: Sequence[str] = ()
    undeclared: Sequence[str] = ()
    entry: str = ""
    made: Annotated[_Made | None, EMPTY_AS_NONE] = None


@dataclass(frozen=True, slots=True)
class _Report(_Read):
    datasets: dict[str, _Audited]
    missing: dict[str, str] | None = None
    left_out: dict[str, str] | None = None


def read_audit(path: Path) -> dict[str, Any]:
    """Read the report that ``audit`` wrote."""
    todo = "run the audit again"
    report = read_report(path, FORMAT, "the report of `probeta audit`", todo)
    try:
        validate(_Report, report, path)
    except ParamsError as error:
        raise InputError(error.where, error.expected, error.found, todo) from None
    return report


def baselines_of(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of the trivial baselines on a dataset's test, by name.

    ``facts``: of the dataset in the report. They are accuracies 0 … 1, or correlations -1 … 1.
    """
    checks = (check for check in facts["checks"] if check["gate"] == "baselines")
    return {check["what"]: check["value"] for check in checks if check["what"]}


def chosen_of(checks: Iterable[Mapping[str, Any]]) -> str:
    """Return the baseline besides majority with the best ``validation``, "" if none was fitted."""
    of = {c["what"]: c["validation"] for c in checks if c["validation"] is not None}
    return max((name for name in of if name != MAJORITY), key=of.__getitem__, default="")


def best_baseline(facts: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return name and score on test of the baseline that an encoder must beat on a dataset.

    It is the highest of chance (1 / number of classes; 0 for correlations), majority, and the
    trivial baseline that is best on validation and halves of train (``chosen``), or on test where
    there is no such choice. None if no baseline besides majority was fitted.
    """
    scores = baselines_of(facts)
    fitted = {name: score for name, score in scores.items() if name != MAJORITY}
    if not fitted:
        return None
    chosen = facts.get("chosen") or max(fitted, key=fitted.__getitem__)
    classes = facts.get("classes")
    best = {CHANCE: 1 / classes if classes else 0.0, chosen: fitted[chosen]}
    if MAJORITY in scores:
        best[MAJORITY] = scores[MAJORITY]
    name = max(best, key=best.__getitem__)
    return name, best[name]


def baseline_half_width(facts: Mapping[str, Any]) -> float:
    """Return half the width of the interval of ``best_baseline``; 0 of chance and majority."""
    name, _ = best_baseline(facts) or (CHANCE, 0.0)
    checks = (check for check in facts["checks"] if check["gate"] == "baselines")
    widths = {check["what"]: check.get("half_width") for check in checks}
    return 0.0 if name == MAJORITY else widths.get(name) or 0.0


def compare_to_baseline(
    value: float, interval: tuple[float, float], baseline: float, error: float
) -> int:
    """Return 1 if a score is shown to beat a baseline, -1 if to stay below it, else 0.

    Their difference is shown if it exceeds the root of the sum of the squared half-widths of both,
    as of independent scores; ``error``: half the width of the baseline's interval.
    """
    gain, (low, high) = value - baseline, interval
    beats = gain > math.hypot(value - low, error)
    return beats - (-gain > math.hypot(high - value, error))


def detects_little(facts: Mapping[str, Any]) -> bool:
    """Return whether the test of a dataset does not detect ``DETECTABLE_AT_MOST``."""
    return (detectable_of(facts) or 0.0) > DETECTABLE_AT_MOST


def detectable_of(facts: Mapping[str, Any]) -> float | None:
    """Return the difference that the test of a dataset detects, None if it was not measured.

    ``facts``: of the dataset in the report. See ``statistics.detectable_difference``.
    """
    return next((c["value"] for c in facts["checks"] if c["what"] == DETECTABLE), None)


def describe_detectable(detectable: float) -> str:
    """Return in words which difference of two encoders a test detects."""
    if detectable >= 1:
        return "too few to detect a difference"
    return f"detects {100 * detectable:.0f} points"


def inherited_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the gates that a dataset misses for a declared reason, with that reason."""
    occurring = {c["gate"] for c in facts["checks"] if c["verdict"] == "inherited"}
    return {gate: d["because"] for gate, d in facts["inherited"].items() if gate in occurring}


def failures_of(report: Mapping[str, Any], kind: str = "failures") -> list[str]:
    """Return the misses of a report that fail a run, each with the name of its dataset."""
    return [f"{name}, {miss}" for name, facts in report["datasets"].items() for miss in facts[kind]]


def undeclared_of(report: Mapping[str, Any]) -> list[str]:
    """Return the misses of source data that are not declared, each with its dataset."""
    return failures_of(report, "undeclared")


def entries_of(report: Mapping[str, Any]) -> str:
    """Return YAML for ``audit.inherited`` of params.yaml that declares every undeclared miss."""
    return "".join(facts["entry"] for facts in report["datasets"].values())


def verdict_of(checks: Sequence[Mapping[str, Any]], gate: str) -> Verdict:
    """Return the worst verdict of a gate's checks."""
    verdicts: list[Verdict] = [check["verdict"] for check in checks if check["gate"] == gate]
    return max(verdicts, key=VERDICTS.index, default=VERDICTS[0])


def shown_number(value: float, correlation: bool) -> str:
    """Return a measured value in the form for reports."""
    if correlation:
        return f"{value:z.3f}"
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:z.2f} %"
