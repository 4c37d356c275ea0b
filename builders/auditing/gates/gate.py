"""The types of a gate and its measurements, and their verdicts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from builders.audit_report import NamedRow, Verdict
from builders.auditing.target import SplitRows, Target
from builders.statistics import ERRORS, standard_error

# Rows that a miss names, and the characters shown of each.
FIRST, LONGEST = 5, 120
# A row that has a fault: its split, its number there, and what is wrong (or "").
FlaggedRow = tuple[SplitRows, int, str]


@dataclass(frozen=True, slots=True)
class Check:
    """One measurement of a gate.

    Attributes:
        gate: a key of ``builders.audit_report.GATES``.
        what: what was measured, in words.
        value: a share 0 … 1, a correlation -1 … 1, or a count.
        limit: the highest value that passes; None if the value is only stated.
        verdict: "within chance" if the value is beyond the limit by no more than ``ERRORS``
            standard errors; "inherited" is a miss that is declared, "undeclared" one of source
            data that is not.
        correlation: whether the value is a correlation.
        validation: of a baseline the accuracy that it is chosen by; None of all others.
        half_width: of a baseline's value half the width of the 95 % interval; None of all others.
        rows: of a miss the first rows concerned, at most ``FIRST``; empty if it concerns no single
            rows.
    """

    gate: str
    what: str
    value: float
    limit: float | None
    verdict: Verdict
    correlation: bool = False
    validation: float | None = None
    half_width: float | None = None
    rows: list[NamedRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Gate:
    """A property that datasets are checked for.

    Attributes:
        name: a key of ``builders.audit_report.GATES``; gates of different kinds of datasets
            share one.
        applies: whether there is anything to measure in a dataset.
        our_fault: where a miss is a fault of Probeta: in "constructed" datasets, whose labels or
            links are made here; in "every" dataset that Probeta writes; or in "none", if the text
            is the source's.
    """

    name: str
    measure: Callable[[Target], Iterator[Check]]
    applies: Callable[[Target], bool] = lambda _: True
    our_fault: Literal["constructed", "every", "none"] = "constructed"

    def fails(self, target: Target) -> bool:
        """Return whether a miss fails a run; in third-party datasets, every miss does."""
        return {
            "constructed": target.constructed or target.kind == "rankings",
            "every": True,
            "none": False,
        }[self.our_fault] or not target.corpus


def count_check(gate: str, what: str, count: int, flagged: Iterable[FlaggedRow] = ()) -> Check:
    """Return a measurement that must be 0, naming rows if it is not."""
    rows = name_rows(flagged) if count else []
    return Check(gate, what, count, 0, "miss" if count else "pass", rows=rows)


def share_check(
    gate: str,
    what: str,
    share: float,
    limit: float,
    rows: int,
    flagged: Iterable[FlaggedRow] = (),
    allowed: float = 0.0,
) -> Check:
    """Return a share of some rows, and whether it is above its limit by more than chance.

    ``rows`` is the number that it is a share of, ``flagged`` the rows concerned of a miss, and
    ``allowed`` a part of the share that may be due to chance besides the standard errors.
    """
    verdict: Verdict = "pass"
    if share > limit:
        likely = share - limit <= ERRORS * standard_error(limit, rows) + allowed
        verdict = "within chance" if likely else "miss"
    named_rows = name_rows(flagged) if verdict == "miss" else []
    return Check(gate, what, share, limit, verdict, rows=named_rows)


def name_rows(flagged: Iterable[FlaggedRow]) -> list[NamedRow]:
    """Return the first rows of a miss: their places, the beginning of their texts, their faults."""
    return [
        {
            "file": part.places[row].file,
            "unit": part.places[row].unit,
            "number": part.places[row].number,
            "id": part.places[row].id,
            "text": shorten(" | ".join(part.texts[row])),
            "why": why,
        }
        for part, row, why in islice(flagged, FIRST)
    ]


def shorten(text: str) -> str:
    """Return a text, or its beginning and an ellipsis; escapes stand for what cannot be seen."""
    line = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def stated(gate: str, what: str, value: float, *, correlation: bool = False) -> Check:
    """Return a measurement without a limit."""
    return Check(gate, what, value, None, "pass", correlation)
