"""Results of others: which there are in a folder, and which can be reported together."""

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.params import load_params
from corpora_recipes.running.errors import InputError, printable
from evaluation.datasets import find_datasets
from evaluation.params import paralex_params
from evaluation.probing.protocols import probing_params
from evaluation.results.scores import PREDICTIONS, RANKS, ParadigmResults, RankingResults, Results
from evaluation.results.stored import SCORES
from probeta.report.inputs import Facts, merge_facts
from probeta.verifying import read_any_results, verify_results

# Most characters of a path or a reason.
MAX_REASON_LENGTH = 300
# Of a submission: entries in its folders, and folders in each other.
MAX_ENTRIES, MAX_DEPTH = 1000, 10
_TODO = "name the folders of results themselves"


class Submissions(NamedTuple):
    """Where the verified results of each kind are; the refused ones, and why."""

    results: list[Path]
    rankings: list[Path]
    paradigms: list[Path]
    refused: dict[str, str]


def verify_submissions(
    paths: Iterable[Path],
    instances: Path,
    expected: Facts | None = None,
    refused: Mapping[str, str] | None = None,
) -> Submissions:
    """Verify results, as ``probeta verify`` does, and that they can be reported together.

    Args:
        paths: of results, see ``find_submitted``; of two with other facts, the first one counts.
        instances: the folder of the data.
        expected: facts that all must have, see ``facts_of_params``.
        refused: what else there is, and why.
    """
    datasets = {dataset.name: dataset for dataset in find_datasets(instances)}
    kinds: dict[type, list[Path]] = {Results: [], RankingResults: [], ParadigmResults: []}
    refused, facts, names = {**(refused or {})}, expected or {}, dict[str, str]()
    for path in paths:
        try:
            check = verify_results(read_any_results(path), path, instances, datasets)
            if check.differences:
                raise InputError(path, "what the answers give", check.differences[0])
            name = check.results.name
            if (first := names.setdefault(name.lower(), name)) != name:
                raise InputError(path, f"a name less like that of {first}", name)
            facts = merge_facts(facts, check.results)
            kinds[type(check.results)].append(path)
        except InputError as error:
            refused[_shown(path)] = _reason(error)
    if not kinds[Results]:
        reasons = "; ".join(f"{path}: {why}" for path, why in refused.items())
        wanted = "results of an encoder or a language model that can be verified"
        todo = "read `probeta verify --help`; name the params.yaml that counts with --like"
        raise InputError("results", wanted, reasons or "none", todo)
    return Submissions(kinds[Results], kinds[RankingResults], kinds[ParadigmResults], refused)


def find_submitted(paths: Iterable[Path]) -> tuple[list[Path], dict[str, str]]:
    """Return the results at some paths, or in these folders; and what else there is, with why.

    Results are folders of ``score``, ``probe`` or ``rank``, and files of ``paradigms``. What others
    send may have links, and any number of files: links in a folder are refused, and an entry of
    the folder with more than ``MAX_ENTRIES``.
    """
    found: dict[Path, None] = {}
    refused: dict[str, str] = {}
    for path in paths:
        for entry in _entries(path, None) or [path]:
            try:
                found |= dict.fromkeys(_results_in(entry, refused, entry != path, count(1)))
            except InputError as error:
                refused[_shown(entry)] = _reason(error)
    return list(found), refused


def _results_in(
    path: Path, refused: dict[str, str], inside: bool, counted: Iterator[int], depth: int = 1
) -> Iterator[Path]:
    """Yield the results in a folder; or the path, if it has none inside and may be one itself."""
    files = [path, *(path / name for name in (SCORES, PREDICTIONS, RANKS))]
    if links := [file for file in files if inside and file.is_symlink()]:
        error = InputError(links[0], "a file or folder", "a symbolic link", _TODO)
        refused[_shown(links[0])] = _reason(error)
        return
    if depth > MAX_DEPTH:
        raise InputError(path, f"at most {MAX_DEPTH} folders in each other", "more", _TODO)
    entries = _entries(path, counted)
    for entry in entries:
        yield from _results_in(entry, refused, True, counted, depth + 1)
    if not entries:
        yield path


def _entries(path: Path, counted: Iterator[int] | None) -> list[Path]:
    """Return the folders and JSON files in a folder that is no results, sorted."""
    if not path.is_dir() or os.path.lexists(path / SCORES):
        return []
    entries = []
    for entry in path.iterdir():
        if counted is not None and next(counted) > MAX_ENTRIES:
            raise InputError(path, f"at most {MAX_ENTRIES:,} files and folders", "more", _TODO)
        if entry.name[0] != "." and (entry.suffix == ".json" or entry.is_dir()):
            entries.append(entry)
    return sorted(entries)


def facts_of_params(path: Path) -> Facts:
    """Return what the results of a run with some params.yaml have in common."""
    params, name = load_params(path), str(path)
    threshold = paralex_params(params, path)["coherence_threshold"]
    facts = {"seed": params["seed"], "coherence threshold": threshold}
    facts |= {"protocol": probing_params(params, path).as_protocol()}
    return {fact: (value, name) for fact, value in facts.items()}


def _shown(path: Path) -> str:
    return printable(str(path), MAX_REASON_LENGTH).replace("\n", "\\n")


def _reason(error: InputError) -> str:
    return f"expected {error.expected}; found {error.found}"[:MAX_REASON_LENGTH]
