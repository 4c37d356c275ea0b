"""Results that others made: found in folders, and verified before they are reported."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.running.errors import InputError
from evaluation.data.instances import find_datasets
from evaluation.results.paradigms import ParadigmResults
from evaluation.results.probes import Results
from evaluation.results.rankings import RankingResults
from evaluation.results.stored import SCORES
from probeta.report.inputs import AnyResults, Facts, agreeing
from probeta.verifying.results import verify_results

# Most characters of a reason.
LONGEST = 300


class Submissions(NamedTuple):
    """Where the verified results of each kind are; the refused ones, and why."""

    results: list[Path]
    rankings: list[Path]
    paradigms: list[Path]
    refused: dict[str, str]


def verified(paths: Sequence[Path], instances: Path) -> Submissions:
    """Verify results, as ``probeta verify`` does, and that they can be reported together.

    Where two have another seed or protocol, those that most of their kind have count. Results are
    folders of ``score``, ``probe`` or ``rank``, files of ``paradigms``, or in folders of these.
    """
    datasets = {dataset.name: dataset for dataset in find_datasets(instances)}
    found: dict[Path, AnyResults] = {}
    refused: dict[str, str] = {}
    for path in dict.fromkeys(each for given in paths for each in _results_in(given)):
        try:
            check = verify_results(path, instances, datasets)
            if check.differences:
                raise InputError(path, "what the answers give", check.differences[0])
            found[path] = check.results
        except InputError as error:
            refused[str(path)] = _why(error)
    usual = Counter(map(_way, found.values()))
    kinds: dict[type, list[Path]] = {Results: [], RankingResults: [], ParadigmResults: []}
    facts: Facts = {}
    for path, results in sorted(found.items(), key=lambda item: -usual[_way(item[1])]):
        try:
            facts = agreeing(facts, results)
            kinds[type(results)].append(path)
        except InputError as error:
            refused[str(path)] = _why(error)
    if not kinds[Results]:
        reasons = "; ".join(f"{path}: {why}" for path, why in refused.items())
        expected = "results of an encoder or a language model that can be verified"
        raise InputError(paths[0], expected, reasons or "none", "read `probeta verify --help`")
    return Submissions(kinds[Results], kinds[RankingResults], kinds[ParadigmResults], refused)


def _results_in(path: Path) -> Iterator[Path]:
    """Yield the results in a folder; or the path, if it has none inside and may be one itself."""
    inside = [] if not path.is_dir() or (path / SCORES).exists() else sorted(path.iterdir())
    inside = [p for p in inside if (p.is_dir() or p.suffix == ".json") and p.name[0] != "."]
    for each in inside:
        yield from _results_in(each)
    if not inside:
        yield path


def _way(results: AnyResults) -> tuple[str, int, str]:
    protocol = results.protocol if isinstance(results, Results) and results.probed else ""
    return type(results).__name__, results.seed, repr(protocol)


def _why(error: InputError) -> str:
    return f"expected {error.expected}; found {error.found}"[:LONGEST]
