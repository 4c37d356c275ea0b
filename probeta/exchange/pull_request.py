"""What a pull request to mteb needs: the datasets as its tasks, with metadata and statistics.

The tasks have mteb's own forms and measures (``mteb_forms``): mteb runs them without this project.
``mteb/`` has new files, where mteb's repository has such; register.patch makes mteb find them.
"""

import difflib
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import mteb
from jinja2 import Template
from mteb import TaskMetadata
from mteb.abstasks.abstask import AbsTask

from builders.packaging.leaderboard import DESCRIPTION, NAME
from corpora_recipes.escaping import render
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.writing import writing_of
from evaluation.data.finding import data_folder
from evaluation.data.instances import Dataset, find_datasets
from evaluation.data.texts import text_columns
from probeta.exchange import mteb_forms
from probeta.exchange.mteb_tasks import metadata_of, read_mteb_facts, rows_of

UNPUBLISHED = "unpublished"
_HERE = Path(__file__).parent
_MTEB = Path(mteb.__file__).parent
# Of a type: the folder of its tasks in mteb, the class, and the main score.
_FORMS: Mapping[str, tuple[str, type[AbsTask], str]] = {
    "Classification": ("classification", mteb_forms.ProbetaClassification, "accuracy"),
    "PairClassification": ("pair_classification", mteb_forms.ProbetaPairClassification, "max_ap"),
    "Retrieval": ("retrieval", mteb_forms.ProbetaRetrieval, "ndcg_at_10"),
    "STS": ("sts", mteb_forms.ProbetaSTS, "cosine_spearman"),
}
# Classes of pairs, the second of which makes the two texts alike.
_ALIKE = (("not_paraphrase", "paraphrase"), ("contradiction", "entailment"))
_OPTIONAL = ("adapted_from", "contributed_by", "superseded_by")


class _Metadata(TaskMetadata):  # type: ignore[misc]
    """Metadata whose statistics are in another folder than the installed mteb."""

    _root: Path

    @property
    def descriptive_stat_path(self) -> Path:
        """The file of the statistics."""
        return self._root / "descriptive_stats" / str(self.type) / f"{self.name}.json"


def export_tasks(
    data: str | Path, repo: str, revision: str | None, models: Sequence[str], out: Path
) -> tuple[list[str], dict[str, list[str]]]:
    """Write the datasets of a package as tasks for mteb's repository.

    Args:
        data: the folder of the package, or its id on the Hub.
        repo: its id on the Hub, where mteb will read it.
        revision: its commit there; None if it is not published yet.
        models: names of mteb's models, which answer all tasks for the table of results.
        out: the folder to write; another of the same name is replaced.

    Returns:
        The names of the tasks; dataset without one to the fields of metadata that nobody knows.
    """
    folder = data_folder(data, None)
    facts, at = read_mteb_facts(folder), {"path": repo, "revision": revision or UNPUBLISHED}
    left_out: dict[str, list[str]] = {}
    modules: defaultdict[tuple[str, str], list[AbsTask]] = defaultdict(list)
    short = []
    with whole_folder(out) as whole:
        for dataset in find_datasets(folder):
            said = facts.get(dataset.name, {})
            kind, attributes = _form(dataset, said)
            place, base, score = _FORMS[kind]
            name = NAME + "".join(part.capitalize() for part in dataset.name.split("_"))
            given = {"name": name, "type": kind, "eval_splits": ["test"], "main_score": score}
            metadata = _Metadata(**metadata_of(dataset, said, at, **given).model_dump())
            if unknown := [key for key, of in metadata if of is None and key not in _OPTIONAL]:
                left_out[dataset.name] = unknown
                continue
            metadata._root = whole / "mteb"
            task = type(name, (base,), {"metadata": metadata, **attributes})()
            task.dataset, task.data_loaded = rows_of(dataset), True
            # Their progress goes to stderr, column by column.
            with redirect_stderr(StringIO()):
                task.dataset_transform()
                statistics = task.calculate_descriptive_statistics(overwrite_results=True)
            modules[place, metadata.languages[0]].append(task)
            short += [name] if _has_short_texts(statistics.values()) else []
        tasks = {task.metadata.name: task for of in modules.values() for task in of}
        if not tasks:
            found = "; ".join(f"{name}: no {', '.join(of)}" for name, of in left_out.items())
            todo = "state `provenance` in the corpus.yaml of their corpora, and package them again"
            raise InputError(folder, "datasets whose origin is known", found, todo)
        _write(whole, modules, [*tasks])
        scores = {}
        for model in models:
            results = mteb.evaluate(
                mteb.get_model(model),
                [*tasks.values()],
                cache=None,
                encode_kwargs={"show_progress_bar": False},
                show_progress_bar=False,
            ).task_results
            scores[model] = {result.task_name: result.get_score() for result in results}
        page = {"at": at, "left_out": left_out, "scores": scores, "tasks": tasks, "short": short}
        text = render(_HERE / "pull_request.md.jinja", page | {"version": mteb.__version__})
        (whole / "README.md").write_text(text, "utf-8")
    return [*tasks], left_out


def _has_short_texts(splits: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether mteb's test of quality finds the texts of a task too short."""
    columns = [column for split in splits for column in split.values() if isinstance(column, dict)]
    shortest = mteb_forms.SHORTEST
    return any(column.get("min_text_length", shortest) < shortest for column in columns)


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
    return "Classification", {"columns": columns, "between": writing_of(dataset.language).between}


def _write(whole: Path, modules: Mapping[tuple[str, str], list[AbsTask]], names: list[str]) -> None:
    """Write the modules of tasks and benchmark, and the patch that registers them."""
    patch: list[str] = []

    def add(place: Path, module: str, classes: Sequence[str], template: str, **facts: Any) -> None:
        code = Template((_HERE / template).read_text("utf-8"), trim_blocks=True).render(facts)
        (whole / "mteb" / place).mkdir(parents=True, exist_ok=True)
        (whole / "mteb" / place / f"{module}.py").write_text(code, "utf-8")
        patch.extend(_registered(place / "__init__.py", module, classes))

    for (kind, language), tasks in modules.items():
        place = Path("tasks") / kind
        if not (_MTEB / place / language).is_dir():
            patch.extend(_registered(place / "__init__.py", language, []))
        found = [task.metadata.name for task in tasks]
        add(place / language, f"probeta_{kind}", found, "mteb_tasks.py.jinja", tasks=tasks)
    shutil.copy(mteb_forms.__file__, whole / "mteb" / "tasks" / "_probeta.py")
    facts = {"name": NAME, "description": DESCRIPTION, "tasks": names}
    place = Path("benchmarks/benchmarks")
    add(place, "probeta_benchmarks", ["PROBETA"], "mteb_benchmark.py.jinja", **facts)
    (whole / "register.patch").write_text("".join(patch), "utf-8")


def _registered(file: Path, module: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the part of the patch by which a file takes names of a module, or all that it lists."""
    known, start = (_MTEB / file).is_file(), "__all__ = ["
    old = (_MTEB / file).read_text("utf-8") if known else ""
    listed = start + "".join(f'\n    "{name}",' for name in names)
    new = (old or f"{start}\n]\n").replace(start, listed, 1)
    new = f"from .{module} import {', '.join(names) or '*'}\n{new}"
    source, target = f"a/mteb/{file}" if known else "/dev/null", f"b/mteb/{file}"
    yield from difflib.unified_diff(old.splitlines(True), new.splitlines(True), source, target)
