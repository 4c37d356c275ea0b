"""What `score` and `compare` return: numbers that are printed as a table, and given to programs.

It is light to import: what reads files and computes is imported when it is called.
"""

import csv
import io
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from builders.audit_report import (
    SURFACE_FORM,
    baseline_half_width,
    best_baseline,
    compare_to_baseline,
    detects_little,
    verdict_of,
)
from corpora_recipes.running.console import plural
from corpora_recipes.running.errors import InputError, list_names, load_packages, suggest
from corpora_recipes.running.outputs import PROBED, whole_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from evaluation.results.comparison import Difference, ReadPredictions
    from evaluation.results.scores import Predictions, Results, Score


class ScoreTable(ABC):
    """A table of scores, which is printed in per cent and exported as fractions.

    A score is a share (0 … 1) or a correlation (-1 … 1) in ``to_pandas``, ``to_csv``, ``to_dict``
    and all files, and 100 times this, with one decimal, wherever people read it.
    """

    _text_columns: ClassVar[Sequence[int]]
    """Positions of the columns of text, which are aligned left."""
    _key: ClassVar[str]
    _number: ClassVar[str]
    """The columns with what a number is about, and with the number."""

    def to_dict(self) -> dict[str, float]:
        """Return the numbers of the main layer as one flat mapping, for loggers and JSON.

        "NAME/score" (of a comparison "NAME/difference"), "NAME/low" and "NAME/high" to fractions:
        ``wandb.log(scores.to_dict())``, ``mlflow.log_metrics(scores.to_dict())``.
        """
        return {
            f"{record[self._key]}/{column}": record[column]
            for record in self._records()
            for column in (self._number, "low", "high")
            if record.get("main", True)
        }

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return rows for programs: column to value, None if missing."""

    @abstractmethod
    def _table(self, *, narrow: bool = False) -> list[tuple[str, ...]]:
        """Return rows for people, the header first; ``narrow``: with fewer characters."""

    def _layer_table(self) -> list[tuple[str, ...]]:
        """Return a second table for people, with a row for each layer; empty without layers."""
        return []

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
        return self.format()

    def format(self, width: int | None = None) -> str:
        """Return the table as lines, in per cent; ``width``: of the terminal, in characters."""
        tables = ([*zip(*self._table(narrow=narrow), strict=True)] for narrow in (False, True))
        lines, narrow_lines = (align(columns, self._text_columns) for columns in tables)
        if width and max(map(len, lines)) > width:
            lines = narrow_lines
        if layers := self._layer_table():
            lines += ["", *align([*zip(*layers, strict=True)], (0,)), ""]
        for note in self._notes():
            lines += textwrap.wrap(note, width) if width else [note]
        return "\n".join(lines)


def align(columns: Sequence[Sequence[str]], left: Container[int]) -> list[str]:
    """Return a table as lines; the columns whose numbers are in ``left`` are aligned left."""
    padded = []
    for number, column in enumerate(columns):
        width = max(map(len, column))
        padded.append([f"{cell:{'<' if number in left else '>'}{width}}" for cell in column])
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def format_percent(value: float | None) -> str:
    """Return a fraction as people read it, such as "69.5"; "–" without one."""
    return "–" if value is None else f"{100 * value:z.1f}"


def format_interval(ends: tuple[float, float]) -> str:
    """Return the ends of an interval as people read them, such as "[61.2, 76.7]"."""
    return f"[{format_percent(ends[0])}, {format_percent(ends[1])}]"


def group_of(score: "Score") -> str:
    """Return the abbreviation of the group of a score's dataset, such as "SP"."""
    from builders.tasks import TASKS
    from builders.tasks.benchmarks import groupings_of

    return groupings_of(score.dataset, TASKS[score.task].group)[0]


@dataclass(frozen=True, eq=False, repr=False)
class Scores(ScoreTable):
    """The scores of one encoder on some datasets; see ``probeta.score``. Printed, a table.

    ``to_csv`` and ``to_pandas`` have a row per dataset and layer, with the columns dataset, group,
    task, language, layer, main (whether it is the main layer), metric ("accuracy" or "pearson"),
    score, low and high (the ends of the 95 % interval), chance, majority, trivial (name of the
    baseline to beat: chance, majority or the best trivial one), trivial_score, n (number of rows
    tested), validation (the metric there, to choose a layer by), sample, citation (see ``cite``);
    with controls, selectivity, code_length, compression, information.

    Attributes:
        results: all numbers, and what they depend on.
        predictions: for each of ``results.scores``, a row for each test row.
        audited: dataset to its facts in the audit; datasets without an audit are not in it.
        samples: the datasets that are built from a shipped sample: their scores mean nothing.
        store: folder of the vectors; None if they were not kept.
    """

    results: "Results"
    predictions: "tuple[pa.Table, ...]"
    audited: Mapping[str, Mapping[str, Any]]
    samples: frozenset[str]
    store: Path | None
    _text_columns: ClassVar = (0, 1, 5, 7)
    _key, _number = "dataset", "score"

    def __getitem__(self, dataset: str) -> "Score":
        """Return the score of the main layer on a dataset.

        Raises:
            KeyError: it was not scored.
        """
        scores: dict[str, Score] = {score.dataset: score for score in self.results.main}
        return scores[dataset]

    def baseline(self, dataset: str) -> tuple[str, float]:
        """Return name and score of the baseline to beat: of the audit, or chance or majority."""
        if best := best_baseline(self.audited.get(dataset, _NO_FACTS)):
            return best
        chance, majority = self[dataset].chance or 0.0, self[dataset].majority or 0.0
        return ("majority", majority) if majority > chance else ("chance", chance)

    @cached_property
    def _too_small(self) -> list[str]:
        """The datasets whose tests detect large differences only."""
        names = [score.dataset for score in self.results.main if score.dataset in self.audited]
        return [name for name in names if detects_little(self.audited[name])]

    def _mark(self, score: "Score") -> str:
        """Return the one mark of a score, "" for none; what holds for all is said once."""
        if score.dataset in self._too_small and len(self._too_small) < len(self.results.main):
            return FEW_ROWS
        error = baseline_half_width(self.audited.get(score.dataset, _NO_FACTS))
        _, baseline = self.baseline(score.dataset)
        beats = compare_to_baseline(score.value, score.interval, baseline, error)
        return "" if beats > 0 else NOT_SHOWN

    @cached_property
    def averages(self) -> "dict[str, list[Score]]":
        """The scores that are averaged: by benchmark, and group, such as "discoeval SP".

        As in the report: tests that are too small are left out, except of samples.
        """
        from builders.tasks import TASKS
        from builders.tasks.benchmarks import GROUPINGS, group_of

        excluded = {*self._too_small} - self.samples
        averages: dict[str, list[Score]] = {}
        for score in self.results.main:
            if score.dataset in self.audited.keys() - excluded:
                benchmark = self.audited[score.dataset].get("benchmark") or OWN
                group = group_of(benchmark, score.dataset, TASKS[score.task].group)
                named = [benchmark, f"{benchmark} {group.abbreviation}"]
                for grouping, benchmarks in GROUPINGS.items():
                    for abbreviation, members in benchmarks.get(benchmark, {}).items():
                        if score.dataset in members:
                            named.append(f"{benchmark} {grouping} {abbreviation}")
                for name in named:
                    averages.setdefault(name, []).append(score)
        return averages

    def _means(self) -> dict[str, float]:
        """Return each benchmark whose datasets are all scored, and the mean."""
        from builders.tasks.benchmarks import BENCHMARKS

        scored = {score.dataset for score in self.results.main if score.dataset in self.audited}
        return {
            benchmark: fmean(score.value for score in self.averages[benchmark])
            for benchmark, official in BENCHMARKS.items()
            if benchmark in self.averages and official.keys() <= scored
        }

    def cite(self, name: str) -> str:
        """Return the line to cite a score by: of a dataset, or a mean of ``averages``.

        Raises:
            KeyError: it was not scored.
        """
        from evaluation.results.citation import cite

        if name in self.averages:
            return str(cite(self.results, self.averages[name], name))
        return str(cite(self.results, [self[name]]))

    def citations(self) -> dict[str, str]:
        """Return what the shell cites: each mean that is shown, or else a few datasets."""
        names = [*self._means()] or [score.dataset for score in self.results.main[:N_CITED]]
        return {name: self.cite(name) for name in names}

    def _table(self, *, narrow: bool = False) -> list[tuple[str, ...]]:
        header = ("dataset", "group", "score", "95 % interval", "chance", "baseline", "n", "")
        rows = [header, *map(self._row, self.results.main)]
        # Chance is one of the baselines, whose names need no room.
        if narrow:
            rows = [(*row[:4], "", row[5].partition(" ")[0], *row[6:]) for row in rows]
        if not any(score.controls for score in self.results.main):
            return rows
        added = [["selectivity", "compression", "bits"], *map(_added, self.results.main)]
        return [(*row, *cells) for row, cells in zip(rows, added, strict=True)]

    def _layer_table(self) -> list[tuple[str, ...]]:
        """Return the mean score of each group by layer, with the best layer on validation."""
        layers = self.results.encoder.get("layers", ())
        columns = [("layer", *layers)]
        for group in dict.fromkeys(map(group_of, self.results.scores)) if len(layers) > 1 else ():
            scores = [score for score in self.results.scores if group_of(score) == group]
            of_layers = [[score for score in scores if score.layer == layer] for layer in layers]
            means = [fmean(score.value for score in of_layer) for of_layer in of_layers]
            validations = [
                fmean(score.validation or 0 for score in of_layer) for of_layer in of_layers
            ]
            best = validations.index(max(validations)) if any(validations) else None
            marks = [BEST_LAYER if number == best else " " for number in range(len(layers))]
            cells = (format_percent(mean) + mark for mean, mark in zip(means, marks, strict=True))
            columns.append((f"{group} ", *cells))
        return [*zip(*columns, strict=True)] if len(columns) > 1 else []

    def _notes(self) -> list[str]:
        from builders.tasks.benchmarks import GROUPS, OF_BENCHMARKS

        titles_of = {group.abbreviation: group.title.lower() for group in (*GROUPS, *OF_BENCHMARKS)}
        scores = self.results.main
        names = [score.dataset for score in scores]
        units = {"accuracy": "accuracy in per cent", "pearson": "Pearson's correlation x 100"}
        units = {metric: units[metric] for metric in sorted({score.metric for score in scores})}
        groups = dict.fromkeys(map(group_of, scores))
        titles = ", ".join(f"{group} {titles_of[group]}" for group in groups)
        marks = {self._mark(score) for score in scores}
        lines = [
            f"score: {', or without chance '.join(units.values())}; n: rows tested",
            "baseline: the best of chance, majority and trivial ones",
            f"groups: {titles}",
            "; ".join(f"{mark} {MARKS[mark]}" for mark in MARKS if mark in marks),
        ]
        if any(score.controls for score in scores):
            meaning = "selectivity: points above memorised labels; compression of the classes"
            lines.append(f"{meaning}; bits: information a row")
        if self._layer_table():
            lines.append(
                f"layers: means of the groups; {BEST_LAYER} best layer, chosen on validation"
            )
        for benchmark, mean in self._means().items():
            count = plural(len(self.averages[benchmark]), "datasets")
            lines.append(f"{benchmark}: mean of {count} {format_percent(mean)}")
        if len(self._too_small) == len(scores):
            lines.append(f"All have {MARKS[FEW_ROWS]}.")
        checks = {name: self.audited[name]["checks"] for name in names if name in self.audited}
        if solved := [n for n in checks if verdict_of(checks[n], "baselines") == SURFACE_FORM]:
            lines.append(f"Solved by surface form, without an encoder: {list_names(solved)}.")
        coverage = [score.coverage for score in scores if score.coverage]
        if tokens := sum(of["tokens"] for of in coverage):
            share = 1 - sum(of["out_of_vocabulary"] for of in coverage) / tokens
            lines.append(
                f"{format_percent(share)} % of the {tokens:,} words are in its vocabulary."
            )
        samples = sorted(self.samples.intersection(names))
        if 0 < len(samples) < len(scores):
            lines.append(f"Built from the shipped samples, do not report: {', '.join(samples)}.")
        elif samples:
            lines.append("All built from the shipped samples: do not report these scores.")
        return [line for line in lines if line]

    def _records(self) -> list[dict[str, Any]]:
        from evaluation.results.citation import cite
        from evaluation.results.scores import CONTROL_MEASURES

        controlled = any(score.controls for score in self.results.scores)
        measures, rows = CONTROL_MEASURES if controlled else (), []
        for score in self.results.scores:
            facts = self.audited.get(score.dataset, _NO_FACTS)
            trivial, trivial_score = best_baseline(facts) or (None, None)
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
                    "validation": score.validation,
                    "sample": score.dataset in self.samples,
                    "citation": str(cite(self.results, [score])),
                    **{measure: score.measures.get(measure) for measure in measures},
                }
            )
        return rows

    def compare(self, other: "Scores") -> "Comparison":
        """Return these scores minus those of ``other``; see ``probeta.compare``."""
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
        name, value = self.baseline(score.dataset)
        return (
            score.dataset,
            group_of(score),
            format_percent(score.value),
            format_interval(score.interval),
            format_percent(score.chance),
            f"{format_percent(value)} {name.replace('_', ' ')}",
            f"{score.n_rows:,}",
            self._mark(score),
        )


def _added(score: "Score") -> list[str]:
    """Return the measures of controls as people read them, see ``Controls``."""
    bits = [score.measures.get(name) for name in ("compression", "information")]
    texts = ("–" if value is None else f"{value:z.2f}" for value in bits)
    return [format_percent(score.measures.get("selectivity")), *texts]


_NO_FACTS: Mapping[str, Any] = {"checks": ()}
OWN = "own datasets"
"""In the place of a benchmark: the datasets of the user."""
# Datasets with a line to cite below a table, if there is no mean; ``to_csv`` has all.
N_CITED = 4
NOT_SHOWN, FEW_ROWS, BEST_LAYER = "†", "*", "‡"
MARKS = {
    NOT_SHOWN: "not shown to beat the baseline",
    FEW_ROWS: "too few rows to tell encoders apart",
}
"""Mark of a score to what it means."""
RESULTS = (Path("results"), PROBED)
"""Where results are by their names: those of `score`, and those of a run."""


def find_results(name: str | Path) -> Path:
    """Return the folder (or file) of results: a path, or a name under ``RESULTS``.

    What is no results, such as the encoder's own folder or file, gives way to what is.

    Raises:
        InputError: neither is there.
    """
    paths = [path for path in (Path(name), *(r / name for r in RESULTS)) if path.exists()]
    with_scores = [p for p in paths if p.suffix == ".json" or (p / "scores.json").is_file()]
    if paths:
        return [*with_scores, *paths][0]
    names = {path.name for root in RESULTS if root.is_dir() for path in root.iterdir()}
    expected = f"a path, or a name under {' or '.join(map(str, RESULTS))}"
    todo = suggest([str(name)], names) if names else "score an encoder first: `probeta score`"
    raise InputError(f"results {name}", expected, "neither", todo)


ScoresOrPath = Scores | str | Path
"""Scores; or a folder of results that `score` wrote, or a name under ``RESULTS``."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreTable):
    """The differences of two encoders: scores of ``one`` minus scores of ``other``.

    ``to_csv`` and ``to_pandas`` have a row per dataset, and per group whose datasets both have,
    with the columns level ("dataset" or "group"), what (its name), difference, low and high (the
    ends of its 95 % interval), tie (whether the difference may be due to chance).
    """

    one: str
    other: str
    differences: "tuple[Difference, ...]"
    _text_columns: ClassVar = (0, 1, 4)
    _key, _number = "what", "difference"

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

    def _table(self, *, narrow: bool = False) -> list[tuple[str, ...]]:
        header = ("level", "what", "difference", "95 % interval", "")
        return [header, *map(self._row, self.differences)]

    def _row(self, of: "Difference") -> tuple[str, ...]:
        value, interval = format_percent(of.value), format_interval(of.interval)
        return of.level, of.target, value, interval, "tie" if of.tie else ""

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
    from evaluation.results import comparison

    results = [_load_results(one), _load_results(other)]
    (first, _), (second, _) = results
    validate_comparable(first, second)
    groups: dict[str, set[str]] = {}
    for score in (*first.main, *second.main):
        groups.setdefault(group_of(score), set()).add(score.dataset)
    differences = comparison.compare(
        comparison.measure_all(results), {name: sorted(groups[name]) for name in sorted(groups)}
    )
    return Comparison(first.name, second.name, tuple(differences))


def _load_results(scores: ScoresOrPath) -> "tuple[Results, ReadPredictions]":
    """Return results, and a reader of their predictions."""
    from evaluation.results.scores import read_predictions, read_results

    if not isinstance(scores, str | Path):
        return scores.results, scores.answers
    folder = find_results(scores)
    return read_results(folder), partial(read_predictions, folder)


def validate_comparable(first: "Results", second: "Results") -> None:
    """Refuse results that differ in more than their encoder, or share no dataset: InputError."""
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
        names = f"{list_names(first_scores)}; and {list_names(second_scores)}"
        raise InputError(where, "a dataset that both were scored on", names, todo)
