"""Groups of tasks, benchmarks, and how datasets differ from the published ones."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.yaml_files import load_yaml


class Group(NamedTuple):
    """Tasks that ask for the same kind of knowledge: "SP" in the papers, "Sentence position"."""

    abbreviation: str
    title: str


# Araujo et al. (2022), Table 2, after Conneau and Kiela (2018) and Chen, Chu and Gimpel (2019); the
# last two of those with a probe after Koto, Lau and Baldwin (2021).
GROUPS = (
    SC := Group("SC", "Sentence classification"),
    SPC := Group("SPC", "Sentence pair classification"),
    SS := Group("SS", "Semantic similarity"),
    LPT := Group("LPT", "Linguistic probing"),
    SP := Group("SP", "Sentence position"),
    BSO := Group("BSO", "Binary sentence ordering"),
    DC := Group("DC", "Discourse coherence"),
    SSP := Group("SSP", "Section prediction"),
    DR := Group("DR", "Discourse relations"),
    PDTB_E := Group("PDTB-E", "Explicit discourse relations"),
    PDTB_I := Group("PDTB-I", "Implicit discourse relations"),
    NUC := Group("NUC", "Nuclearity"),
    CONN := Group("CONN", "Connectives"),
    # Nothing is trained for these.
    EVALRANK := Group("EvalRank", "Ranks of paraphrases"),
    PARALEX := Group("ParaLex", "Paradigms of words"),
    AN := Group("AN", "Analogies of words"),
    CAT := Group("CAT", "Categories of words"),
)

# Of benchmarks that average some datasets in other groups than those of their tasks: Chen, Chu and
# Gimpel (2019), section 5.1 (SSS has an entailment task too), and Wang, Kuo and Li (2022), Table 3.
OF_BENCHMARKS = (
    CI := Group("CI", "Citation intent"),
    USS := Group("USS", "Unsupervised semantic similarity"),
    SSS := Group("SSS", "Supervised semantic similarity"),
    PROBING := Group("Probing", "Linguistic probing"),
    WS := Group("WS", "Word similarity"),
)


@cache
def differences() -> Mapping[str, Mapping[str, str]]:
    """Return kind (benchmarks, tasks, datasets or protocols) to name to what differs."""
    return load_yaml(Path(__file__).with_name("differences.yaml"))  # type: ignore[no-any-return]


def differences_of(dataset: str, task: str, benchmark: str) -> list[str]:
    """Return what differs of a dataset, the most special last; ``benchmark``: "" if it has none."""
    keys = {"benchmarks": benchmark, "tasks": task, "datasets": dataset if benchmark else ""}
    texts = differences()
    return [texts[kind][key] for kind, key in keys.items() if key in texts[kind]]


Entries = dict[str, dict[str, dict[str, Any]]]
"""Benchmark to dataset to what it is built from."""
_ALL: Entries = load_yaml(Path(__file__).with_name("benchmarks.yaml"))
GROUP_NAMED = {group.abbreviation: group for group in (*GROUPS, *OF_BENCHMARKS)}
_AVERAGED = {
    (benchmark, name): GROUP_NAMED[entry.pop("group")]
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


GROUPINGS: dict[str, Mapping[str, Mapping[str, list[str]]]] = load_yaml(
    Path(__file__).with_name("groupings.yaml")
)
"""groupings.yaml: name to benchmark to group, by its abbreviation, to its datasets."""


def group_of(benchmark: str, dataset: str, of_task: Group) -> Group:
    """Return the group that a benchmark averages a dataset in: mostly that of its task."""
    return _AVERAGED.get((benchmark, dataset), of_task)


def groupings_of(dataset: str, of_task: Group) -> list[str]:
    """Return the abbreviation of the group of a dataset, its benchmarks, and its groupings."""
    names = [benchmark for benchmark, entries in BENCHMARKS.items() if dataset in entries]
    groupings = [
        grouping
        for grouping, benchmarks in GROUPINGS.items()
        if any(dataset in chain(*groups.values()) for groups in benchmarks.values())
    ]
    group = group_of(names[0] if names else "", dataset, of_task)
    return [group.abbreviation, *names, *groupings]
