"""What benchmarks, groups of tasks, languages and datasets are called, in the report's language."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from builders.tasks.benchmarks import Group
from probeta.report.inputs import Inputs
from probeta.report.layout import spaced
from probeta.report.texts import all_texts, translated
from probeta.scores import OWN


class DatasetName(NamedTuple):
    """What a dataset is called.

    Attributes:
        short: where its group is known: "Wikipedia".
        whole: where it is not: "Sentence position: Wikipedia".

    Both are unique in its benchmark, or in its group there.
    """

    short: str
    whole: str


def group_name(group: Group) -> str:
    """Return what a group of tasks is called; the papers' codes are its abbreviation."""
    return str(all_texts()["groups"].get(group.abbreviation) or translated(group.title))


def language_name(code: str) -> str:
    """Return what a language is called; the code if no name is known."""
    return str(all_texts()["language_names"].get(code.partition("-")[0], code))


def benchmark_name(benchmark: str, inputs: Inputs) -> str:
    """Return what a benchmark is called, a name of ``BENCHMARKS`` or ``OWN``.

    The user's own datasets have the name in params.yaml if there are no others, else that of their
    corpus if it is one.
    """
    if benchmark != OWN:
        return str(all_texts()["benchmarks"][benchmark]["name"])
    users = [entry for entry in inputs.audit.values() if not entry.get("benchmark")]
    titles = {str(entry.get("title", OWN)) for entry in users}
    name = inputs.audit_report.get("name") if len(users) == len(inputs.audit) else ""
    return name or (titles.pop() if len(titles) == 1 else translated(OWN))


def class_names(labels: Sequence[str]) -> list[str]:
    """Return what the classes of a dataset are called.

    Where a class has no name, all stay as they are, with spaces: they may be words of the texts.
    """
    names = all_texts()["classes"]
    if not all(label in names for label in labels):
        return [label.replace("_", " ") for label in labels]
    return [str(names[label]) for label in labels]


def baseline_name(baseline: str) -> str:
    """Return what the page calls a trivial baseline."""
    return str(all_texts()["trivial"].get(baseline) or spaced(baseline))


def benchmark_question(benchmark: str) -> str:
    """Return what a benchmark asks, in one sentence; "" of the user's own datasets."""
    return str(all_texts()["benchmarks"].get(benchmark, {}).get("question", ""))


def dataset_names(inputs: Inputs) -> dict[str, DatasetName]:
    """Return dataset to what it is called, for all that the report has.

    Where a benchmark has several languages, the name ends with its own; where two datasets of one
    group would have the same name, with its task, or if they share it, the name in params.yaml.
    """
    groups = {name: group_name(group) for name, group in inputs.groups.items()}
    benchmarks = {name: inputs.benchmark(name) for name in inputs.audit}
    languages: dict[str, set[str]] = {benchmark: set() for benchmark in benchmarks.values()}
    for name, entry in inputs.audit.items():
        languages[benchmarks[name]] |= {entry["language"]} if "language" in entry else set()
    labels = {}
    for name, entry in inputs.audit.items():
        label = translated(str(entry.get("label") or entry.get("title") or name))
        several = len(languages[benchmarks[name]]) > 1 and "language" in entry
        labels[name] = f"{label} ({language_name(entry['language'])})" if several else label
    tasks = {name: spaced(str(entry.get("task", ""))) for name, entry in inputs.audit.items()}
    names = labels
    for addition in (tasks, {name: name for name in labels}):
        places = {name: (benchmarks[name], groups[name], names[name]) for name in names}
        times = Counter(places.values())
        with_addition = {name: f"{labels[name]} ({addition[name]})" for name in names}
        names = {n: with_addition[n] if times[places[n]] > 1 else names[n] for n in names}
    return {name: DatasetName(short, f"{groups[name]}: {short}") for name, short in names.items()}
