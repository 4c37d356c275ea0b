"""Figures of papers, which stand only beside scores on whole corpora and whole benchmarks."""

from collections.abc import Sequence

from evaluation.reporting.averages import OWN, Average
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import NONE, Cell, Row
from evaluation.reporting.notes import OTHERS
from evaluation.reporting.published import PUBLISHED


def published_means(inputs: Inputs, encoder: str, averages: Sequence[Average]) -> list[Row]:
    """Return a row of the paper's averages of an encoder; no row if it has none.

    The first two cells name it, and stand for its mean rank.
    """
    names = [
        average.group.abbreviation
        if average.group and not average.missing and _comparable(inputs, average.datasets)
        else None
        for average in averages
    ]
    return _row(encoder, [None, *names])


def published_scores(inputs: Inputs, encoder: str, datasets: Sequence[str]) -> list[Row]:
    """Return a row of the paper's scores of an encoder; no row if it has none."""
    return _row(encoder, [name if _comparable(inputs, [name]) else None for name in datasets])


def published_ranges(inputs: Inputs, datasets: Sequence[str]) -> list[Cell]:
    """Return the lowest and highest score of the paper's encoders; [] if it has none."""
    cells = []
    for name in datasets:
        own = PUBLISHED["ranges"].get(name) if _comparable(inputs, [name]) else None
        cells.append(
            Cell(f"{own[0]:.1f} … {own[1]:.1f}", value=own[1] / 100) if own else Cell(NONE)
        )
    return cells if any(cell.value is not None for cell in cells) else []


def _comparable(inputs: Inputs, datasets: Sequence[str]) -> bool:
    own = any(inputs.benchmark(name) == OWN for name in datasets)
    return not own and inputs.samples.isdisjoint(datasets)


def _row(encoder: str, names: Sequence[str | None]) -> list[Row]:
    own = PUBLISHED["encoders"].get(encoder, {})
    cells = [Cell(str(own[n]), value=own[n] / 100) if n in own else Cell(NONE) for n in names]
    if all(cell.text == NONE for cell in cells):
        return []
    return [Row((Cell(f"{encoder}, the paper's", marks=(OTHERS,)), *cells), "published")]
