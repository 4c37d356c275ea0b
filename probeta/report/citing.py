"""What a line that cites a score names, verified: `probeta cite`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from operator import eq
from pathlib import Path
from typing import Any

from builders.audit_report import read_audit
from corpora_recipes.running.errors import InputError, check_names
from evaluation.datasets import AUDIT, Dataset, find_datasets
from evaluation.results.citation import Citation, cite, parse_citation
from evaluation.results.comparison import measure_all
from evaluation.results.scores import RankingResults, Results, read_predictions
from probeta.data import data_of_results
from probeta.report.inputs import AnyResults, make_score_table
from probeta.report.statistics import mean_score
from probeta.report.submissions import find_submitted
from probeta.scores import Scores, find_results
from probeta.verifying import read_any_results, verify_results

_TODO = "correct the line, or name the results that it was printed for"


@dataclass(frozen=True)
class Cited:
    """The scores of an encoder, or the one, that a line names."""

    path: Path
    results: AnyResults
    scores: Sequence[Any]

    def numbers(self) -> list[tuple[str, float, tuple[float, float] | None]]:
        """Return the measures: name, score or mean of scores, and interval."""
        facts = self.results.encoder | {"layer": self.scores[0].layer}
        changes: Any = {"scores": tuple(self.scores), "encoder": facts}
        results: AnyResults = replace(self.results, **changes)
        if isinstance(results, Results):
            reader = partial(read_predictions, self.path)
            (measured,) = measure_all([(results, reader)]).values()
            mean = mean_score(self.scores, [measured[score.dataset] for score in self.scores])
            metrics = sorted({score.metric for score in self.scores})
            return [(" or ".join(metrics), mean.value, mean.interval)]
        kinds = ([results], []) if isinstance(results, RankingResults) else ([], [results])
        table = make_score_table([], *kinds)
        return [*zip(table.measure, table.value, table.interval, strict=True)]


def find_cited(line: str, results: Iterable[Path], data: str | None) -> tuple[Citation, Cited]:
    """Return the parts of a line, and what it names in some results; both are verified.

    Args:
        line: see ``evaluation.results.citation``.
        results: folders of results, folders of these, or names.
        data: see ``locate_data``.

    Raises:
        InputError: it is no line; it differs from the results, or these from their answers.
    """
    citation = parse_citation(line)
    paths, _ = find_submitted(map(find_results, results))
    read: dict[Path, AnyResults] = {}
    for path in paths:
        # Whoever cites a line asks nothing of other results.
        with suppress(InputError):
            read[path] = read_any_results(path)
    encoder, _, _ = citation.encoder.rpartition("@")
    named = {path: each for path, each in read.items() if each.name == encoder}
    expected = "an encoder of the results"
    check_names("citation", [encoder], [each.name for each in read.values()], expected)
    folder = data_of_results(data, [*named])
    datasets = {dataset.name: dataset for dataset in find_datasets(folder)}
    lines = {}
    for path, each in named.items():
        for average, scores in _list_cited(each, folder, datasets):
            lines[cite(each, scores, average)] = Cited(path, each, scores)
    expected = "a dataset or an average of the results"
    check_names("citation", [citation.name], [line.name for line in lines], expected)
    if citation not in lines:
        alike = (line for line in lines if line.name == citation.name)
        nearest = max(alike, key=lambda line: sum(map(eq, line, citation)))
        parts = zip(Citation._fields, nearest, citation, strict=True)
        part, right, wrong = next(each for each in parts if each[1] != each[2])
        expected = f"{part}:{right}, as in {lines[nearest].path}"
        raise InputError("citation", expected, f"{part}:{wrong}", _TODO)
    cited = lines[citation]
    names = [score.dataset for score in cited.scores]
    verified = verify_results(cited.results, cited.path, folder, datasets, names)
    if verified.differences:
        expected = "scores that the stored answers give on the data"
        raise InputError(cited.path, expected, verified.differences[0], _TODO)
    return citation, cited


def _list_cited(
    results: AnyResults, folder: Path, datasets: Mapping[str, Dataset]
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield all single scores, below the name "", and all that are averaged."""
    plain = results.plain if isinstance(results, RankingResults) else results.scores
    for score in plain:
        yield "", [score]
    if isinstance(results, Results) and (folder / AUDIT).is_file():
        samples = frozenset(name for name, dataset in datasets.items() if dataset.sample)
        audited = read_audit(folder / AUDIT)["datasets"]
        yield from Scores(results, (), audited, samples, None).averages.items()
