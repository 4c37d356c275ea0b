"""Scores of an encoder (`Scores`): printed as a table, exported to programs, saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora_recipes.running.errors import InputError
from probeta.score_table import ScoreTable, format_interval, format_percent, group_of

if TYPE_CHECKING:
    import pyarrow as pa

    from evaluation.results.scores import Predictions, Results, Score
    from probeta.comparing import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class Scores(ScoreTable):
    """The scores of one encoder on some datasets; see ``probeta.score``. Printed, a table.

    ``to_csv`` and ``to_pandas`` have a row per dataset and layer, with the columns dataset, group,
    task, language, layer, main (whether it is the main layer), metric ("accuracy" or "pearson"),
    score, low and high (the ends of the 95 % interval), chance, majority, trivial (name of the best
    trivial baseline besides majority), trivial_score, n (number of rows tested), sample.

    Attributes:
        results: all numbers, and what they depend on.
        predictions: for each of ``results.scores``, a row for each test row.
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
    _text_columns: ClassVar = (0, 1, 5)

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
            f"{score.dataset}/{key}": value
            for score in self.results.main
            for key, value in zip(
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
                    "n": score.n_rows,
                    "sample": score.dataset in self.samples,
                }
            )
        return rows

    def compare(self, other: "Scores") -> "Comparison":
        """Return these scores minus those of ``other``; see ``probeta.compare``."""
        from probeta.comparing import compare

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
        """Return the predictions on a dataset from a layer; KeyError if it was not scored."""
        from evaluation.results.scores import parse_predictions

        for score, table in zip(self.results.scores, self.predictions, strict=True):
            if (score.dataset, score.layer) == (dataset, layer):
                return parse_predictions(table, Path(self.results.name))
        raise KeyError(dataset, layer)

    def _row(self, score: "Score") -> tuple[str, ...]:
        name, value = self.trivial.get(score.dataset, ("", None))
        return (
            score.dataset,
            group_of(score),
            format_percent(score.value),
            format_interval(score.interval),
            format_percent(score.chance),
            f"{format_percent(value)} {name.replace('_', ' ')}".strip(),
            f"{score.n_rows:,}",
        )
