"""What a pull request to mteb needs: the datasets as its tasks, with metadata and statistics.

The tasks have mteb's own forms and measures (``mteb_forms``), so that mteb runs them without this
project. ``mteb/`` has new files in the places that mteb's repository has for them; register.patch
changes those of its files that list tasks and benchmarks.
"""

import difflib
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import mteb
from mteb import TaskMetadata
from mteb.abstasks.abstask import AbsTask

from builders.exchange.leaderboard import DESCRIPTION, NAME
from corpora_recipes.escaping import render
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.writing import writing_of
from evaluation.data.finding import data_folder
from evaluation.data.instances import Dataset, find_datasets
from evaluation.data.texts import text_columns
from evaluation.exchange import mteb_forms
from evaluation.exchange.mteb_forms import SHORTEST
from evaluation.exchange.mteb_tasks import metadata_of, read_mteb_facts, rows_of

PAGE = Path(__file__).with_name("pull_request.md.jinja")
UNPUBLISHED = "unpublished"
# Classes of pairs, the second of which makes the two texts alike.
_ALIKE = (("not_paraphrase", "paraphrase"), ("contradiction", "entailment"))
_FORMS: Mapping[str, tuple[type[AbsTask], str]] = {
    "Classification": (mteb_forms.ProbetaClassification, "accuracy"),
    "PairClassification": (mteb_forms.ProbetaPairClassification, "max_ap"),
    "Retrieval": (mteb_forms.ProbetaRetrieval, "ndcg_at_10"),
    "STS": (mteb_forms.ProbetaSTS, "cosine_spearman"),
}
_FOLDERS = {
    "Classification": "classification",
    "PairClassification": "pair_classification",
    "Retrieval": "retrieval",
    "STS": "sts",
}
_LISTED = "__all__ = ["


class _Metadata(TaskMetadata):  # type: ignore[misc]
    """Metadata whose statistics are in another folder than the installed mteb."""

    _root: Path

    @property
    def descriptive_stat_path(self) -> Path:
        """The file of the statistics."""
        return self._root / "mteb/descriptive_stats" / self.type / f"{self.name}.json"


class Export(NamedTuple):
    """What was written.

    Attributes:
        tasks: their names.
        left_out: dataset to the fields of its metadata that nobody knows.
    """

    tasks: list[str]
    left_out: dict[str, list[str]]


def export_tasks(
    data: str | Path, repo: str, revision: str | None, models: Sequence[str], out: Path
) -> Export:
    """Write the datasets of a package as tasks for mteb's repository, and their results.

    Args:
        data: the folder of the package, or its id on the Hub.
        repo: its id on the Hub, where mteb will read it.
        revision: its commit there; None if it is not published yet.
        models: names of mteb's models, which are run on all tasks for the table of results.
        out: the folder to write; another of the same name is replaced.

    Raises:
        InputError: there are no datasets, or what is known of none of them fills mteb's metadata.
    """
    folder = data_folder(data, None)
    facts, at = read_mteb_facts(folder), {"path": repo, "revision": revision or UNPUBLISHED}
    left_out: dict[str, list[str]] = {}
    tasks: dict[str, AbsTask] = {}
    modules: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    with whole_folder(out) as whole:
        for dataset in find_datasets(folder):
            kind, attributes = _form(dataset, facts.get(dataset.name, {}))
            base, main_score = _FORMS[kind]
            name = NAME + "".join(part.capitalize() for part in dataset.name.split("_"))
            metadata = metadata_of(
                dataset, facts.get(dataset.name, {}), dataset_at=at, name=name, type=kind,
                eval_splits=["test"], main_score=main_score,
            )
            if missing := [field for field in _required() if getattr(metadata, field) is None]:
                left_out[dataset.name] = missing
                continue
            here = _Metadata(**metadata.model_dump())
            here._root = whole
            task = type(name, (base,), {"metadata": here, **attributes})()
            task.dataset, task.data_loaded = rows_of(dataset), True
            # Their progress goes to stderr, column by column.
            with redirect_stderr(StringIO()):
                task.dataset_transform()
                task.calculate_descriptive_statistics(overwrite_results=True)
            tasks[name] = task
            language = metadata.languages[0]
            modules[_FOLDERS[kind], language].append(_source(name, base, metadata, attributes))
        if not tasks:
            found = "; ".join(f"{name}: no {', '.join(of)}" for name, of in left_out.items())
            todo = "write `provenance` in the corpus.yaml of their corpora, and package them again"
            raise InputError(folder, "datasets whose origin is known", found, todo)
        _write(whole, modules, [*tasks])
        results = {model: _results(model, [*tasks.values()]) for model in models}
        page = {
            "at": at, "left_out": left_out, "results": results, "tasks": tasks,
            "short": [*_short(tasks)], "version": mteb.__version__,
        }
        (whole / "README.md").write_text(render(PAGE, page), "utf-8")
    return Export([*tasks], left_out)


def _form(dataset: Dataset, facts: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the type of a dataset's task in mteb, and the attributes of its class."""
    if dataset.target == "neighbours":
        return "Retrieval", {}
    if dataset.target == "score":
        lowest, highest = facts.get("scale") or (0, 5)
        return "STS", {"min_score": lowest, "max_score": highest}
    columns = text_columns(dataset.task, "natural")
    for classes in _ALIKE:
        if columns == ("sentence1", "sentence2") and {*classes} <= {*dataset.labels}:
            return "PairClassification", {"classes": classes}
    between = writing_of(dataset.language).between
    return "Classification", {"columns": columns} | ({} if between else {"between": between})


def _required() -> list[str]:
    """Return the fields that ``TaskMetadata.is_filled`` wants."""
    optional = ("prompt", "adapted_from", "contributed_by", "superseded_by")
    return [field for field in TaskMetadata.model_fields if field not in optional]


def _source(
    name: str, base: type[AbsTask], metadata: TaskMetadata, attributes: Mapping[str, Any]
) -> str:
    """Return the code of a task's class."""
    said = metadata.model_dump(exclude_defaults=True)
    said |= {field: getattr(metadata, field) for field in ("eval_splits", "modalities")}
    lines = [f"class {name}({base.__name__}):", "    metadata = TaskMetadata("]
    lines += [f"        {field}={_literal(value)}," for field, value in said.items()]
    lines += ["    )", *(f"    {field} = {value!r}" for field, value in attributes.items())]
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    is_long = isinstance(value, str) and "\n" in value
    return f'r"""\n{value}"""' if is_long else repr(value)


def _write(whole: Path, modules: Mapping[tuple[str, str], list[str]], names: list[str]) -> None:
    """Write the modules of the tasks and the benchmark, and the patch that registers them."""
    root, patch = Path("mteb"), []
    (whole / root / "tasks").mkdir()
    shutil.copy(mteb_forms.__file__, whole / root / "tasks" / "_probeta.py")
    for (kind, language), classes in modules.items():
        module, place = f"probeta_{kind}", root / "tasks" / kind
        bases = sorted({text[text.index("(") + 1 : text.index(")")] for text in classes})
        head = (
            "from mteb.abstasks.task_metadata import TaskMetadata\n"
            f"from mteb.tasks._probeta import {', '.join(bases)}\n\n\n"
        )
        (whole / place / language).mkdir(parents=True)
        text = head + "\n\n".join(classes)
        (whole / place / language / f"{module}.py").write_text(text, "utf-8")
        found = [text[len("class ") : text.index("(")] for text in classes]
        patch += _registered(place / language / "__init__.py", module, found)
        if not (_installed() / place / language).is_dir():
            patch += _registered(place / "__init__.py", language, [])
    place = root / "benchmarks" / "benchmarks"
    (whole / place).mkdir(parents=True)
    benchmark = (
        "from mteb.benchmarks.benchmark import Benchmark\nfrom mteb.get_tasks import get_tasks\n"
        f"\n{NAME.upper()} = Benchmark(\n    name={NAME!r},\n    description={DESCRIPTION!r},\n"
        f"    tasks=get_tasks(tasks={names!r}),\n)\n"
    )
    (whole / place / "probeta_benchmarks.py").write_text(benchmark, "utf-8")
    patch += _registered(place / "__init__.py", "probeta_benchmarks", [NAME.upper()])
    (whole / "register.patch").write_text("".join(patch), "utf-8")


def _installed() -> Path:
    """Return the folder that the installed mteb is in."""
    return Path(mteb.__file__).parents[1]


def _registered(file: Path, module: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the part of the patch by which a file takes names of a module, or all."""
    here = _installed() / file
    old = here.read_text("utf-8") if here.is_file() else f"{_LISTED}]\n" if names else ""
    line = f"from .{module} import {', '.join(names) or '*'}\n"
    new = line + old
    if names:
        listed = "".join(f'\n    "{name}",' for name in names)
        new = line + old.replace(_LISTED, _LISTED + listed, 1)
    before = old.splitlines(keepends=True) if here.is_file() else []
    source = f"a/{file}" if here.is_file() else "/dev/null"
    yield from difflib.unified_diff(before, new.splitlines(keepends=True), source, f"b/{file}")


def _results(model: str, tasks: Sequence[AbsTask]) -> dict[str, float]:
    """Return task to main score of a model."""
    loaded = mteb.get_model(model)
    found = mteb.evaluate(loaded, tasks, cache=None, show_progress_bar=False)
    return {result.task_name: result.get_score() for result in found.task_results}


def _short(tasks: Mapping[str, AbsTask]) -> Iterator[str]:
    """Yield the tasks with texts that are shorter than mteb wants: those of words."""
    for name, task in tasks.items():
        statistics = task.metadata.descriptive_stats["test"]
        columns = [column for column in statistics.values() if isinstance(column, dict)]
        shortest = min(column.get("min_text_length", SHORTEST) for column in columns)
        if shortest < SHORTEST:
            yield name
