"""Results that others made: found in folders, and verified before they are reported."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.running.errors import InputError
from evaluation.data.instances import find_datasets
from evaluation.reporting.inputs import AnyResults, agreeing
from evaluation.results.paradigms import ParadigmResults
from evaluation.results.probes import Results
from evaluation.results.rankings import RankingResults
from evaluation.results.stored import SCORES
from evaluation.verifying.results import verify_results

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

    Where two have another seed or protocol, those that most of their kind have count.

    Args:
        paths: folders that ``score``, ``probe`` or ``rank`` wrote, files that ``paradigms`` wrote,
            and folders of these.
        instances: the folder of their datasets.

    Raises:
        InputError: the datasets cannot be read, or no results of a probe are left.
    """
    datasets = {dataset.name: dataset for dataset in find_datasets(instances)}
    found: dict[Path, AnyResults] = {}
    refused: dict[str, str] = {}
    for path in dict.fromkeys(each for given in paths for each in _results_in(given)):
        try:
            check = verify_results(path, instances, datasets)
        except InputError as error:
            refused[str(path)] = _why(error)
            continue
        if check.differences:
            count = len(check.differences)
            refused[str(path)] = f"{count:,} differ: {check.differences[0]}"[:LONGEST]
        else:
            found[path] = check.results
    usual = Counter(repr(_way(results)) for results in found.values())
    kinds: dict[type, list[Path]] = {Results: [], RankingResults: [], ParadigmResults: []}
    facts: dict[str, tuple[Any, str]] = {}
    for path in sorted(found, key=lambda path: -usual[repr(_way(found[path]))]):
        try:
            facts = agreeing(facts, found[path])
        except InputError as error:
            refused[str(path)] = _why(error)
        else:
            kinds[type(found[path])].append(path)
    if not kinds[Results]:
        reasons = "; ".join(f"{path}: {why}" for path, why in refused.items())
        expected = "results of an encoder or a language model that can be verified"
        raise InputError(paths[0], expected, reasons or "none", "read `probeta verify --help`")
    return Submissions(kinds[Results], kinds[RankingResults], kinds[ParadigmResults], refused)


def _results_in(path: Path) -> Iterator[Path]:
    """Yield the results in a folder; or the path, if it has none inside and may be one itself."""
    inside = [] if not path.is_dir() or (path / SCORES).exists() else sorted(path.iterdir())
    inside = [each for each in inside if each.is_dir() or each.suffix == ".json"]
    inside = [each for each in inside if not each.name.startswith(".")]
    for each in inside:
        yield from _results_in(each)
    if not inside:
        yield path


def _way(results: AnyResults) -> tuple[Any, ...]:
    """Return how results were made, which must be the same in all of a kind."""
    protocol = results.protocol if isinstance(results, Results) and results.probed else None
    return type(results).__name__, results.seed, protocol


def _why(error: InputError) -> str:
    return f"expected {error.expected}; found {error.found}"[:LONGEST]
