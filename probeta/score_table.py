"""Tables of scores: printed in per cent, exported to programs as fractions."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora_recipes.running.errors import load_packages
from corpora_recipes.running.outputs import whole_file

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.results.scores import Score


class ScoreTable(ABC):
    """A table of scores, which is printed in per cent and exported as fractions.

    A score is a share (0 … 1) or a correlation (-1 … 1) in ``to_pandas``, ``to_csv``, ``to_dict``
    and all files, and 100 times this, with one decimal, wherever people read it.
    """

    _text_columns: ClassVar[Sequence[int]]
    """Positions of the columns of text, which are aligned left."""

    @abstractmethod
    def to_dict(self) -> dict[str, float]:
        """Return the numbers of the main layer as one flat mapping, for loggers and JSON."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return rows for programs: column to value, None if missing."""

    @abstractmethod
    def _table(self) -> list[tuple[str, ...]]:
        """Return rows for people, the header first."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return the sentences below the table."""

    def to_pandas(self) -> "pd.DataFrame":
        """Return the columns of ``to_csv`` as a frame; missing values are None or NaN.

        Raises:
            InputError: pandas is not installed.
        """
        (pandas,) = load_packages("to_pandas", "pandas")
        frame: pd.DataFrame = pandas.DataFrame(self._records())
        return frame

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Return the rows as comma-separated values, or write them to a file (UTF-8)."""
        records, text = self._records(), io.StringIO()
        writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        if path is None:
            return text.getvalue()
        with whole_file(Path(path)) as temporary:
            temporary.write_text(text.getvalue(), "utf-8", newline="\n")
        return None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the table as lines for a terminal, in per cent."""
        rows = self._table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if number in self._text_columns else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        """Return the same table for a notebook."""
        header, *rows = self._table()
        lines = [self._html(header, "th"), *(self._html(row, "td") for row in rows)]
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table>{''.join(lines)}</table>{notes}"

    def _html(self, row: Sequence[str], tag: str) -> str:
        cells = (
            f'<{tag} style="text-align:{"left" if number in self._text_columns else "right"}">'
            f"{escape(cell)}</{tag}>"
            for number, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"


def format_percent(value: float | None) -> str:
    """Return a fraction as people read it, such as "69.5"; "–" without one."""
    return "–" if value is None else f"{100 * value:.1f}"


def format_interval(ends: tuple[float, float]) -> str:
    """Return the ends of an interval as people read them, such as "[61.2, 76.7]"."""
    return f"[{format_percent(ends[0])}, {format_percent(ends[1])}]"


def group_of(score: "Score") -> str:
    """Return the abbreviation of the group of a score's dataset, such as "SP"."""
    from builders.tasks import TASKS
    from builders.tasks.benchmarks import groupings_of

    return groupings_of(score.dataset, TASKS[score.task].group)[0]
