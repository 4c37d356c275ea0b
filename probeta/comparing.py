"""Compare two encoders on the datasets that both were scored on (`compare`)."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from corpora_recipes.running.errors import InputError, nearest
from evaluation.results import comparison
from evaluation.results.comparison import Difference, ReadPredictions
from evaluation.results.scores import Predictions, Results, read_predictions, read_results
from probeta.score_table import ScoreTable, format_interval, format_percent, group_of

RESULTS = Path("data/results")


class ScoredEncoder(Protocol):
    """Scores of an encoder, as ``score`` returns them."""

    @property
    def results(self) -> Results:
        """All numbers."""

    def answers(self, dataset: str, layer: str) -> Predictions:
        """Return the predictions on a dataset from a layer."""


ScoresOrPath = ScoredEncoder | str | Path
"""Scores; or a folder of results that `score` wrote, or a name under data/results."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreTable):
    """The differences of two encoders: scores of ``one`` minus scores of ``other``.

    ``to_csv`` and ``to_pandas`` have a row per dataset, and per group whose datasets both have,
    with the columns level ("dataset" or "group"), what (its name), difference, low and high (the
    ends of its 95 % interval), tie (whether the difference may be due to chance).
    """

    one: str
    other: str
    differences: tuple[Difference, ...]
    _text_columns: ClassVar = (0, 1, 4)

    def to_dict(self) -> dict[str, float]:
        """Return "NAME/difference", "NAME/low" and "NAME/high" to fractions, by ``what``."""
        return {
            f"{record['what']}/{key}": record[key]
            for record in self._records()
            for key in ("difference", "low", "high")
        }

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "level": difference.level,
                "what": difference.target,
                "difference": difference.value,
                "low": difference.interval[0],
                "high": difference.interval[1],
                "tie": difference.tie,
            }
            for difference in self.differences
        ]

    def _table(self) -> list[tuple[str, ...]]:
        header = ("level", "what", "difference", "95 % interval", "")
        return [
            header,
            *(
                (
                    difference.level,
                    difference.target,
                    format_percent(difference.value),
                    format_interval(difference.interval),
                    "tie" if difference.tie else "",
                )
                for difference in self.differences
            ),
        ]

    def _notes(self) -> list[str]:
        return [f"{self.one} minus {self.other}, x 100. A tie may be due to chance."]


def compare(one: ScoresOrPath, other: ScoresOrPath) -> Comparison:
    """Compare two encoders, by their main layers, on the datasets that both were scored on.

    The differences are measured on the same documents for both.

    Args:
        one: scores, or where they are: see ``ScoresOrPath``.
        other: those of another name, on the same data, by the same protocol.

    Returns:
        ``one`` minus ``other``.

    Raises:
        InputError: there are no such results, the names are equal, the protocols or seeds differ,
            the rows of a dataset differ, or no dataset is shared.
    """
    results = [_load_results(one), _load_results(other)]
    (first, _), (second, _) = results
    _validate_comparable(first, second)
    groups: dict[str, set[str]] = {}
    for score in (*first.main, *second.main):
        groups.setdefault(group_of(score), set()).add(score.dataset)
    differences = comparison.compare(
        comparison.measure_all(results), {name: sorted(groups[name]) for name in sorted(groups)}
    )
    return Comparison(first.name, second.name, tuple(differences))


def _load_results(scores: ScoresOrPath) -> tuple[Results, ReadPredictions]:
    """Return results, and a reader of their predictions."""
    if not isinstance(scores, str | Path):
        return scores.results, scores.answers
    folder = Path(scores) if Path(scores).exists() else RESULTS / scores
    if not folder.exists():
        names = sorted(path.name for path in RESULTS.iterdir()) if RESULTS.is_dir() else []
        like = nearest([str(scores)], names)
        todo = f"did you mean {like}?" if like else "name a folder that `probeta score` wrote"
        expected = f"a folder, or a name under {RESULTS} ({', '.join(names) or 'nothing there'})"
        raise InputError(f"results {scores}", expected, "neither", todo)
    return read_results(folder), partial(read_predictions, folder)


def _validate_comparable(first: Results, second: Results) -> None:
    """Refuse results that differ in more than their encoder, or share no dataset."""
    if first.name == second.name:
        todo = "score one of them again with another name (`name=`, or --name in the shell)"
        found = f"{first.name!r} twice"
        raise InputError("scores to compare", "scores of two names", found, todo)
    first_scores = {score.dataset: score for score in first.main}
    second_scores = {score.dataset: score for score in second.main}
    shared = sorted(first_scores.keys() & second_scores.keys())
    facts: list[tuple[str, Any, Any]] = [("seed", first.seed, second.seed)]
    if first.probed and second.probed:
        facts.append(("protocol", first.protocol, second.protocol))
    for name in shared:
        digests = first_scores[name].digest, second_scores[name].digest
        facts.append((f"rows of {name}", *digests))
    where = f"scores of {first.name} and {second.name}"
    todo = "score both on the same data in the same way"
    for fact, first_value, second_value in facts:
        if first_value != second_value:
            raise InputError(where, f"the same {fact}", f"{first_value} and {second_value}", todo)
    if not shared:
        names = f"{list(first_scores)} and {list(second_scores)}"
        raise InputError(where, "a dataset that both were scored on", names, todo)
