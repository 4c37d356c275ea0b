"""Verifies results of any kind: of probes or language models, rankings, paradigms."""

from collections.abc import Collection, Mapping
from pathlib import Path

from corpora_recipes.running.errors import InputError
from evaluation.data.instances import Dataset
from evaluation.results.paradigms import read_paradigms
from evaluation.results.probes import read_results
from evaluation.results.rankings import RANKS, read_rankings
from probeta.verifying.check import Check
from probeta.verifying.neighbours import verify_paradigms, verify_rankings
from probeta.verifying.probes import verify_probes


def verify_results(
    path: Path, folder: Path, datasets: Mapping[str, Dataset], asked: Collection[str] | None = None
) -> Check:
    """Return the results of a folder or file, and what differs in them; see ``Check``."""
    if path.is_file():
        paradigms = read_paradigms(path)
        check = Check(paradigms, folder, datasets, asked)
        verify_paradigms(check, paradigms)
    elif (path / RANKS).is_file():
        rankings = read_rankings(path)
        check = Check(rankings, folder, datasets, asked)
        verify_rankings(check, rankings, path)
    else:
        results = read_results(path)
        check = Check(results, folder, datasets, asked)
        verify_probes(check, results, path)
    if not check.recomputed and not check.differences:
        expected = f"scores on {', '.join(asked or datasets)}"
        raise InputError(path, expected, "none", "name datasets that the results have")
    return check
