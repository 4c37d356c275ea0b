"""Two encoders, compared on the datasets that both were scored on."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from corpora_recipes.running.errors import InputError, nearest
from evaluation.results import comparison
from evaluation.results.comparison import Difference, ReadPredictions
from evaluation.results.scores import Predictions, Results, read_predictions, read_results
from probeta.score_table import Shown, group_of, interval, percent

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
