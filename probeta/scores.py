"""The scores of an encoder: shown, given to programs, saved, compared."""

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from corpora_recipes.running.errors import InputError, load_packages, nearest
from corpora_recipes.running.outputs import whole_file
from evaluation.results import comparison
from evaluation.results.comparison import Difference, ReadPredictions
from evaluation.results.scores import Predictions, Results, read_predictions, read_results

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evaluation.results.scores import Score


class Shown(ABC):
    """What is printed as a table, in per cent, and given to programs as fractions.

    A score is a share (0 … 1) or a correlation (-1 … 1) in ``to_pandas``, ``to_csv``, ``to_dict``
    and all files, and 100 times this, with one decimal, wherever people read it.
    """

    _left: ClassVar[Sequence[int]]
    """The numbers of the columns of text."""

    @abstractmethod
    def to_dict(self) -> dict[str, float]:
        """Return the numbers of the main layer as one flat mapping, for loggers and JSON."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return rows for programs: column to value; None for what there is not."""

    @abstractmethod
    def _table(self) -> list[tuple[str, ...]]:
        """Return rows for people, the header first."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """Return the sentences below the table."""

    def to_pandas(self) -> "pd.DataFrame":
        """Return the columns of ``to_csv`` as a frame; what there is not, is None or NaN.

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
                cell.ljust(width) if number in self._left else cell.rjust(width)
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
            f'<{tag} style="text-align:{"left" if number in self._left else "right"}">'
            f"{escape(cell)}</{tag}>"
            for number, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"


def percent(value: float | None) -> str:
    """Return a fraction as people read it, such as "69.5"; "–" without one."""
    return "–" if value is None else f"{100 * value:.1f}"


def interval(ends: tuple[float, float]) -> str:
    """Return the ends of an interval as people read them, such as "[61.2, 76.7]"."""
    return f"[{percent(ends[0])}, {percent(ends[1])}]"


def group_of(score: "Score") -> str:
    """Return the abbreviation of the group of a score's dataset, such as "SP"."""
    from builders.tasks import TASKS
    from builders.tasks.benchmarks import groupings_of

    return groupings_of(score.dataset, TASKS[score.task].group)[0]


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Shown):
    """The scores of one encoder on some datasets; see ``probeta.score``. Printed, a table.

    ``to_csv`` and ``to_pandas`` have a row per dataset and layer, with the columns dataset, group,
    task, language, layer, main (whether it is the main layer), metric ("accuracy" or "pearson"),
    score, low and high (the ends of the 95 % interval), chance, majority, trivial (name of the best
    trivial baseline besides majority), trivial_score, n (number of rows tested), sample.

    Attributes:
        results: all numbers, and what they depend on.
        predictions: the answers behind each of ``results.scores``.
        trivial: dataset to the best trivial baseline besides majority and its score; datasets
            without an audit are not in it.
        samples: the datasets that are built from a shipped sample: their scores mean nothing.
        store: folder of the vectors; None if they were not kept.
    """

    results: "Results"
    predictions: "tuple[pa.Table, ...]"
    trivial: Mapping[str, tuple[str, float]]
    samples: frozenset[str]
    store: Path | None
    _left: ClassVar = (0, 1, 5)

    def __getitem__(self, dataset: str) -> "Score":
        """Return the score of the main layer on a dataset.

        Raises:
            KeyError: it was not scored.
        """
        scores: dict[str, Score] = {score.dataset: score for score in self.results.main}
        return scores[dataset]

    def to_dict(self) -> dict[str, float]:
        """Return "DATASET/score", "DATASET/low" and "DATASET/high" to fractions.

        One call logs it: ``wandb.log(scores.to_dict())``, ``mlflow.log_metrics(scores.to_dict())``.
        """
        return {
            f"{score.dataset}/{what}": value
            for score in self.results.main
            for what, value in zip(
                ("score", "low", "high"), (score.value, *score.interval), strict=True
            )
        }

    def _table(self) -> list[tuple[str, ...]]:
        header = ("dataset", "group", "score", "95 % interval", "chance", "best trivial", "n")
        return [header, *map(self._row, self.results.main)]

    def _notes(self) -> list[str]:
        scores, lines = self.results.main, []
        if any(score.metric == "pearson" for score in scores):
            lines.append("Accuracy in per cent; without chance, Pearson's correlation x 100.")
        samples = sorted(self.samples & {score.dataset for score in scores})
        if 0 < len(samples) < len(scores):
            lines.append(f"Built from the shipped samples, do not report: {', '.join(samples)}.")
        elif samples:
            lines.append("All built from the shipped samples: do not report these scores.")
        return lines

    def _records(self) -> list[dict[str, Any]]:
        rows = []
        for score in self.results.scores:
            trivial, trivial_score = self.trivial.get(score.dataset, (None, None))
            rows.append(
                {
                    "dataset": score.dataset,
                    "group": group_of(score),
                    "task": score.task,
                    "language": score.language,
                    "layer": score.layer,
                    "main": score.layer == self.results.encoder["layer"],
                    "metric": score.metric,
                    "score": score.value,
                    "low": score.interval[0],
                    "high": score.interval[1],
                    "chance": score.chance,
                    "majority": score.majority,
                    "trivial": trivial,
                    "trivial_score": trivial_score,
                    "n": score.asked,
                    "sample": score.dataset in self.samples,
                }
            )
        return rows

    def compare(self, other: "Scores") -> "Comparison":
        """Return these scores minus others; see ``probeta.scores.compare``."""
        from probeta.scores import compare

        return compare(self, other)

    def save(self, folder: str | Path) -> None:
        """Write what `probeta report` reads: scores.json and predictions.parquet.

        Args:
            folder: to write; another of the same name is replaced.

        Raises:
            InputError: it is a file, or a folder that holds something else.
        """
        from evaluation.results.scores import PREDICTIONS, write_results
        from evaluation.results.stored import SCORES

        folder = Path(folder)
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if folder.is_file() or not names <= {SCORES, PREDICTIONS}:
            expected = "a new folder, or one with the results of an encoder, to be replaced"
            kind = "a file" if folder.is_file() else f"a folder with {', '.join(sorted(names))}"
            raise InputError(folder, expected, kind, "name another folder")
        write_results(self.results, self.predictions, folder)

    def answers(self, dataset: str, layer: str) -> "Predictions":
        """Return what was answered on a dataset from a layer."""
        from evaluation.results.scores import predictions_of

        for score, table in zip(self.results.scores, self.predictions, strict=True):
            if (score.dataset, score.layer) == (dataset, layer):
                return predictions_of(table, Path(self.results.name))
        raise KeyError(dataset, layer)

    def _row(self, score: "Score") -> tuple[str, ...]:
        name, value = self.trivial.get(score.dataset, ("", None))
        return (
            score.dataset,
            group_of(score),
            percent(score.value),
            interval(score.interval),
            percent(score.chance),
            f"{percent(value)} {name.replace('_', ' ')}".strip(),
            f"{score.asked:,}",
        )


def check_name(name: str | None) -> None:
    """Check a name of results, if there is one."""
    if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        expected = "letters, digits, _ and -, which begin with one of the former"
        todo = "choose such a name: it is the name of a folder"
        raise InputError("name", expected, repr(name), todo)


def name_of(text: str) -> str:
    """Return a text as a name of results: other characters than letters, digits, _ become -."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-_") or "encoder"


RESULTS = Path("data/results")


class Scored(Protocol):
    """Scores of an encoder, as ``score`` returns them."""

    @property
    def results(self) -> Results:
        """All numbers."""

    def answers(self, dataset: str, layer: str) -> Predictions:
        """Return what was answered on a dataset from a layer."""


Given = Scored | str | Path
"""Scores; or a folder of results that `score` wrote, or a name under data/results."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """The differences of two encoders: scores of ``one`` minus scores of ``other``.

    ``to_csv`` and ``to_pandas`` have a row per dataset, and per group whose datasets both have,
    with the columns level ("dataset" or "group"), what (its name), difference, low and high (the
    ends of its 95 % interval), tie (whether the difference may be due to chance).
    """

    one: str
    other: str
    differences: tuple[Difference, ...]
    _left: ClassVar = (0, 1, 4)

    def to_dict(self) -> dict[str, float]:
        """Return "NAME/difference", "NAME/low" and "NAME/high" to fractions, by ``what``."""
        return {
            f"{record['what']}/{what}": record[what]
            for record in self._records()
            for what in ("difference", "low", "high")
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "level": found.level,
                "what": found.target,
                "difference": found.value,
                "low": found.interval[0],
                "high": found.interval[1],
                "tie": found.tie,
            }
            for found in self.differences
        ]

    def _table(self) -> list[tuple[str, ...]]:
        header = ("level", "what", "difference", "95 % interval", "")
        return [
            header,
            *(
                (d.level, d.target, percent(d.value), interval(d.interval), "tie" if d.tie else "")
                for d in self.differences
            ),
        ]

    def _notes(self) -> list[str]:
        return [f"{self.one} minus {self.other}, x 100. A tie may be due to chance."]


def compare(one: Given, other: Given) -> Comparison:
    """Compare two encoders, by their main layers, on the datasets that both were scored on.

    The differences are measured on the same documents for both.

    Args:
        one: scores, or where they are: see ``Given``.
        other: those of another name, on the same data, by the same protocol.

    Returns:
        ``one`` minus ``other``.

    Raises:
        InputError: there are no such results, the names are equal, the protocols or seeds differ,
            the rows of a dataset differ, or no dataset is shared.
    """
    both = [_results(one), _results(other)]
    (ours, _), (theirs, _) = both
    _check_comparable(ours, theirs)
    groups: dict[str, set[str]] = {}
    for score in (*ours.main, *theirs.main):
        groups.setdefault(group_of(score), set()).add(score.dataset)
    found = comparison.compare(
        comparison.measure_all(both), {name: sorted(groups[name]) for name in sorted(groups)}
    )
    return Comparison(ours.name, theirs.name, tuple(found))


def _results(given: Given) -> tuple[Results, ReadPredictions]:
    """Return the results that are meant, and the answers behind them."""
    if not isinstance(given, str | Path):
        return given.results, given.answers
    folder = Path(given) if Path(given).exists() else RESULTS / given
    if not folder.exists():
        names = sorted(path.name for path in RESULTS.iterdir()) if RESULTS.is_dir() else []
        like = nearest([str(given)], names)
        todo = f"did you mean {like}?" if like else "name a folder that `probeta score` wrote"
        expected = f"a folder, or a name under {RESULTS} ({', '.join(names) or 'nothing there'})"
        raise InputError(f"results {given}", expected, "neither", todo)
    return read_results(folder), partial(read_predictions, folder)


def _check_comparable(one: Results, two: Results) -> None:
    if one.name == two.name:
        todo = "score one of them again with another name (`name=`, or --name in the shell)"
        raise InputError("scores to compare", "scores of two names", f"{one.name!r} twice", todo)
    ours, theirs = ({score.dataset: score for score in each.main} for each in (one, two))
    shared = sorted(ours.keys() & theirs.keys())
    facts: list[tuple[str, Any, Any]] = [("seed", one.seed, two.seed)]
    if one.probed and two.probed:
        facts.append(("protocol", one.protocol, two.protocol))
    facts += [(f"rows of {name}", ours[name].digest, theirs[name].digest) for name in shared]
    where = f"scores of {one.name} and {two.name}"
    todo = "score both on the same data in the same way"
    for what, first, second in facts:
        if first != second:
            raise InputError(where, f"the same {what}", f"{first} and {second}", todo)
    if not shared:
        names = f"{list(ours)} and {list(theirs)}"
        raise InputError(where, "a dataset that both were scored on", names, todo)
