"""The shipped benchmarks: which datasets belong to them, and what these are built from."""

from pathlib import Path
from typing import Any

from builders.tasks.groups import GROUPS, OF_BENCHMARKS, Group
from corpora_recipes.running.yaml_text import load_yaml

Entries = dict[str, dict[str, dict[str, Any]]]
"""Benchmark to dataset to what it is built from."""
_ALL: Entries = load_yaml(Path(__file__).with_name("benchmarks.yaml"))
_GROUPS = {group.abbreviation: group for group in (*GROUPS, *OF_BENCHMARKS)}
_AVERAGED = {
    (benchmark, name): _GROUPS[entry.pop("group")]
    for benchmark, entries in _ALL.items()
    for name, entry in entries.items()
    if "group" in entry
}


def _entries(*, withdrawn: bool) -> Entries:
    return {
        benchmark: {name: e for name, e in entries.items() if ("withdrawn" in e) is withdrawn}
        for benchmark, entries in _ALL.items()
    }


BENCHMARKS, WITHDRAWN = _entries(withdrawn=False), _entries(withdrawn=True)
"""benchmarks.yaml, without what is withdrawn, and only that, with the reason in ``withdrawn``."""


def group_of(benchmark: str, dataset: str, of_task: Group) -> Group:
    """Return the group that a benchmark averages a dataset in: mostly that of its task."""
    return _AVERAGED.get((benchmark, dataset), of_task)


def groupings_of(dataset: str, of_task: Group) -> list[str]:
    """Return the abbreviation of the group of a dataset, and the benchmarks with that name."""
    names = [benchmark for benchmark, entries in BENCHMARKS.items() if dataset in entries]
    return [group_of(names[0] if names else "", dataset, of_task).abbreviation, *names]
