"""The scores of one encoder, as a table, as pandas, compared, and saved."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evaluation.results.probes import Predictions, Results, Score


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """The scores of one encoder on some datasets; see ``probeta.score``. Printed, a table.

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

    def __getitem__(self, dataset: str) -> "Score":
        """Return the score of the main layer on a dataset.

        Raises:
            KeyError: it was not scored.
        """
        return {score.dataset: score for score in self.results.main}[dataset]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the scores of the main layer as lines for a terminal; all but n times 100."""
        header = ("dataset", "group", "score", "95 % interval", "chance", "best trivial", "n")
        scores = self.results.main
        lines = _aligned([header, *map(self._row, scores)], left=(0, 1, 5))
        if any(score.metric == "pearson" for score in scores):
            lines.append("Accuracy in per cent; without chance, Pearson's correlation x 100.")
        samples = sorted(self.samples & {score.dataset for score in scores})
        if 0 < len(samples) < len(scores):
            lines.append(f"Built from the shipped samples, do not report: {', '.join(samples)}.")
        elif samples:
            lines.append("All built from the shipped samples: do not report these scores.")
        return "\n".join(lines)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row per dataset and layer.

        Returns:
            Columns dataset, group, task, language, layer, main (whether it is the main layer),
            metric ("accuracy" or "pearson"), score, low and high (the ends of the 95 % interval),
            chance, majority, trivial (name of the best trivial baseline besides majority),
            trivial_score, n (number of rows tested), sample. Scores are shares (0 … 1) or
            correlations (-1 … 1); what there is not, is None or NaN.
        """
        import pandas as pd

        rows = []
        for score in self.results.scores:
            trivial, trivial_score = self.trivial.get(score.dataset, (None, None))
            rows.append(
                {
                    "dataset": score.dataset,
                    "group": _group(score),
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
        return pd.DataFrame(rows)

    def compare(self, other: "Scores") -> "pd.DataFrame":
        """Compare two encoders, by their main layers, on the datasets that both were scored on.

        The differences are measured on the same documents for both.

        Args:
            other: scores on the same data, by the same protocol, of another name.

        Returns:
            A row per dataset, and per group whose datasets both have: columns level ("dataset" or
            "group"), what (its name), difference (this score minus the other), low and high (the
            ends of its 95 % interval), tie (whether the difference may be due to chance).

        Raises:
            InputError: the names are equal, the protocols or seeds differ, the rows of a dataset
                differ, or no dataset is shared.
        """
        import pandas as pd

        from evaluation.results.comparison import compare, measure_all

        self._check_comparable(other)
        groups: dict[str, list[str]] = {}
        for name, score in sorted(
            {s.dataset: s for s in (*self.results.main, *other.results.main)}.items()
        ):
            groups.setdefault(_group(score), []).append(name)
        measured = measure_all([(scores.results, scores._answers) for scores in (self, other)])
        differences = compare(measured, {name: sorted(groups[name]) for name in sorted(groups)})
        return pd.DataFrame(
            {
                "level": difference.level,
                "what": difference.what,
                "difference": difference.value,
                "low": difference.interval[0],
                "high": difference.interval[1],
                "tie": difference.tie,
            }
            for difference in differences
        )

    def save(self, folder: str | Path) -> None:
        """Write what `probeta report` reads: scores.json and predictions.parquet.

        Args:
            folder: to write; another of the same name is replaced.

        Raises:
            InputError: it is a file, or a folder that holds something else.
        """
        from evaluation.results.probes import PREDICTIONS, write_results
        from evaluation.results.stored import SCORES

        folder = Path(folder)
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if folder.is_file() or not names <= {SCORES, PREDICTIONS}:
            expected = "a new folder, or one with the results of an encoder, to be replaced"
            kind = "a file" if folder.is_file() else f"a folder with {', '.join(sorted(names))}"
            raise InputError(folder, expected, kind, "name another folder")
        write_results(self.results, self.predictions, folder)

    def _answers(self, dataset: str, layer: str) -> "Predictions":
        """Return what was answered on a dataset from a layer."""
        from evaluation.results.probes import predictions_of

        for score, table in zip(self.results.scores, self.predictions, strict=True):
            if (score.dataset, score.layer) == (dataset, layer):
                return predictions_of(table, Path(self.results.name))
        raise KeyError(dataset, layer)

    def _row(self, score: "Score") -> tuple[str, ...]:
        name, value = self.trivial.get(score.dataset, ("", None))
        return (
            score.dataset,
            _group(score),
            _percent(score.value),
            f"[{_percent(score.interval[0])}, {_percent(score.interval[1])}]",
            _percent(score.chance),
            f"{_percent(value)} {name.replace('_', ' ')}".strip(),
            f"{score.asked:,}",
        )

    def _check_comparable(self, other: "Scores") -> None:
        one, two = self.results, other.results
        if one.name == two.name:
            todo = "score one of them again with another `name=`"
            raise InputError(
                "scores to compare", "scores of two names", f"{one.name!r} twice", todo
            )
        shared = {score.dataset for score in one.main} & {score.dataset for score in two.main}
        facts: list[tuple[str, Any, Any]] = [("seed", one.seed, two.seed)]
        if one.probed and two.probed:
            facts.append(("protocol", one.protocol, two.protocol))
        facts += [(f"rows of {name}", self[name].digest, other[name].digest) for name in shared]
        where = f"scores of {one.name} and {two.name}"
        todo = "score both on the same data in the same way"
        for what, ours, theirs in facts:
            if ours != theirs:
                raise InputError(where, f"the same {what}", f"{ours} and {theirs}", todo)
        if not shared:
            names = " and ".join(str([s.dataset for s in results.main]) for results in (one, two))
            raise InputError(where, "a dataset that both were scored on", names, todo)


def check_name(name: str | None) -> None:
    """Check a name of results, if there is one.

    Raises:
        InputError: it cannot be the name of a folder.
    """
    if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        expected = "letters, digits, _ and -, which begin with one of the former"
        todo = "choose such a name: it is the name of a folder"
        raise InputError("name", expected, repr(name), todo)


def name_of(text: str) -> str:
    """Return a text as a name of results: other characters than letters, digits, _ become -."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-_") or "encoder"


def _group(score: "Score") -> str:
    from builders.tasks import TASKS

    return TASKS[score.task].group.abbreviation


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _aligned(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Return rows of cells as lines; the columns ``left`` begin together, the others end so."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
