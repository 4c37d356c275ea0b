"""Datasets as tasks of mteb: scored here by our probes, or written for a pull request to mteb.

Tasks of the pull request have mteb's own forms and measures (``mteb_forms``): mteb runs them
without this project. ``mteb/`` has new files, in the folders of mteb's repository; register.patch
makes mteb find them.
"""

import difflib
import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import mteb
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset as Rows
from datasets import DatasetDict
from jinja2 import Template
from mteb import Benchmark, TaskMetadata
from mteb.abstasks._statistics_calculation import (
    calculate_label_statistics,
    calculate_score_statistics,
    calculate_text_statistics,
)
from mteb.abstasks.abstask import AbsTask
from mteb.types import Licenses

from builders.packaging.harnesses import DESCRIPTION, NAME, mteb_language, mteb_task_name
from builders.plan.datasets import licence_id
from builders.store import MTEB_FACTS, about_of
from builders.tasks import TASKS
from corpora_recipes.escaping import render
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.limits import read_whole
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.language import writing_of
from evaluation.datasets import Dataset, data_folder, find_data, find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders.callable import CheckedFunction, InMemoryEncoder
from evaluation.encoders.mteb_model import TASK_TYPES, encode_with, instruction
from evaluation.features import text_columns
from evaluation.probing.probing import METRICS, probe_datasets
from evaluation.probing.protocols import PROTOCOLS, Probing
from evaluation.probing.words import WORD_TASKS
from probeta.data import locate_data
from probeta.exchange import mteb_forms
from probeta.exchange.export import mteb_scores

if TYPE_CHECKING:
    from evaluation.arrays import Floats


UNPUBLISHED = "unpublished"
_TEMPLATES = Path(__file__).parent
_INSTALLED = Path(mteb.__file__).parent
# Of a type: the folder of its tasks in mteb, the class, and the main score.
_TASK_FORMS: Mapping[str, tuple[str, type[AbsTask], str]] = {
    "Classification": ("classification", mteb_forms.ProbetaClassification, "accuracy"),
    "PairClassification": ("pair_classification", mteb_forms.ProbetaPairClassification, "max_ap"),
    "Retrieval": ("retrieval", mteb_forms.ProbetaRetrieval, "ndcg_at_10"),
    "STS": ("sts", mteb_forms.ProbetaSTS, "cosine_spearman"),
}
# Classes of pairs, the second of which makes the two texts alike.
_SIMILAR_CLASSES = (("not_paraphrase", "paraphrase"), ("contradiction", "entailment"))
_OPTIONAL_FIELDS = ("adapted_from", "contributed_by", "superseded_by")


class ProbedDataset(AbsTask):  # type: ignore[misc]
    """A dataset as a task of mteb. mteb finds metadata in the class: each dataset has its own.

    Attributes:
        metadata: of the dataset.
        source: the dataset on disk.
        probing: how it is probed.
    """

    metadata: TaskMetadata
    data_loaded: bool = False
    source: Dataset
    probing: Probing

    def load_data(self, *_: Any, **__: Any) -> None:
        """Read the rows of all splits, from where they are."""
        if not self.data_loaded:
            self.dataset = rows_of(self.source)
            self.data_loaded = True

    def _evaluate_subset(
        self,
        model: Any,
        data_split: Any,
        *,
        hf_split: str,
        hf_subset: str,
        encode_kwargs: Any,
        prediction_folder: Path | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """Encode every text once, and probe; see the method of ``AbsTask``."""

        def encode(texts: list[str]) -> "Floats":
            return encode_with(model, texts, self.metadata, hf_split, **encode_kwargs)

        encoder = InMemoryEncoder(
            "mteb", in_memory=CheckedFunction(encode, f"encoder of {self.metadata.name}")
        )
        with TemporaryDirectory() as folder:
            embed_datasets(Path(folder), encoder, [self.source])
            results, (predictions,), _new = probe_datasets(
                "mteb", encoder, [self.source], Path(folder), seed=self.seed, probing=self.probing
            )
        if prediction_folder:
            columns = predictions.select(["id", "document_id", "gold", "predicted"])
            self._save_task_predictions(
                columns.to_pydict(), model, prediction_folder, hf_split, hf_subset
            )
        return mteb_scores(results.scores[0])

    def _calculate_descriptive_statistics_from_split(self, split: str, **_: Any) -> dict[str, Any]:
        """Return the number of rows of a split, the lengths of its texts, and its answers."""
        self.load_data()
        rows = self.dataset[split]
        statistics: dict[str, Any] = {"num_samples": len(rows)}
        for column in text_columns(self.source.task, "natural"):
            texts = [cell if isinstance(cell, str) else " ".join(cell) for cell in rows[column]]
            statistics[f"{column}_statistics"] = calculate_text_statistics(texts)
        if self.source.target == "word":
            return statistics
        targets = [*rows[self.source.target]]
        if self.source.target == "label":
            return statistics | {"label_statistics": calculate_label_statistics(targets)}
        return statistics | {"score_statistics": calculate_score_statistics(targets)}


def make_benchmark(
    data: str | Path | None,
    datasets: Collection[str] | None,
    groups: Collection[str] | None,
    protocol: str,
) -> Benchmark:
    """Return ``probeta.benchmark``; mteb is installed."""
    if protocol not in PROTOCOLS:
        raise ParamsError("protocol", f"one of {', '.join(PROTOCOLS)}", repr(protocol))
    data = locate_data(data, datasets, groups)
    selected = find_data(data, datasets, groups)
    probing = Probing(protocol, engine=PROTOCOLS[protocol].engines[0])
    facts = read_mteb_facts(selected.folder)
    tasks = []
    for dataset in selected.datasets:
        metadata = metadata_of(
            dataset,
            facts.get(dataset.name, {}),
            {"path": str(data), "revision": dataset.version},
            name=mteb_task_name(dataset.name),
            type=TASK_TYPES[TASKS[dataset.task].group.abbreviation],
            eval_splits=[dataset.tested],
            main_score=METRICS[dataset.target],
        )
        attributes = {"metadata": metadata, "source": dataset, "probing": probing}
        tasks.append(type(metadata.name, (ProbedDataset,), attributes)(seed=selected.seed))
    return Benchmark(name=NAME, tasks=tasks, description=DESCRIPTION)


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
    facts, source = read_mteb_facts(folder), {"path": repo, "revision": revision or UNPUBLISHED}
    unknown_fields: dict[str, list[str]] = {}
    modules: defaultdict[tuple[str, str], list[AbsTask]] = defaultdict(list)
    short_tasks = []
    with whole_folder(out) as temporary:
        for dataset in find_datasets(folder):
            dataset_facts = facts.get(dataset.name, {})
            if dataset.task in WORD_TASKS:
                unknown_fields[dataset.name] = ["form in mteb"]
                continue
            kind, attributes = _task_form(dataset, dataset_facts)
            folder_name, base, score = _TASK_FORMS[kind]
            name = NAME + "".join(part.capitalize() for part in dataset.name.split("_"))
            task_fields = {"name": name, "type": kind, "eval_splits": ["test"], "main_score": score}
            metadata = _Metadata(
                **metadata_of(dataset, dataset_facts, source, **task_fields).model_dump()
            )
            if missing := [
                key for key, of in metadata if of is None and key not in _OPTIONAL_FIELDS
            ]:
                unknown_fields[dataset.name] = missing
                continue
            metadata._root = temporary / "mteb"
            task = type(name, (base,), {"metadata": metadata, **attributes})()
            task.dataset, task.data_loaded = rows_of(dataset), True
            # Their progress goes to stderr, column by column.
            with redirect_stderr(StringIO()):
                task.dataset_transform()
                statistics = task.calculate_descriptive_statistics(overwrite_results=True)
            modules[folder_name, metadata.languages[0]].append(task)
            short_tasks += [name] if _has_short_texts(statistics.values()) else []
        tasks = {task.metadata.name: task for of in modules.values() for task in of}
        if not tasks:
            found = "; ".join(f"{name}: no {', '.join(of)}" for name, of in unknown_fields.items())
            todo = "state `provenance` in the corpus.yaml of their corpora, and package them again"
            raise InputError(folder, "datasets whose origin is known", found, todo)
        _write_modules(temporary, modules, [*tasks])
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
        page = {
            "at": source,
            "left_out": unknown_fields,
            "scores": scores,
            "tasks": tasks,
            "short": short_tasks,
        }
        text = render(_TEMPLATES / "pull_request.md.jinja", page | {"version": mteb.__version__})
        (temporary / "README.md").write_text(text, "utf-8")
    return [*tasks], unknown_fields


def _has_short_texts(splits: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether mteb's test of quality finds the texts of a task too short."""
    columns = [column for split in splits for column in split.values() if isinstance(column, dict)]
    shortest = mteb_forms.SHORTEST
    return any(column.get("min_text_length", shortest) < shortest for column in columns)


def _task_form(dataset: Dataset, facts: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the type of a dataset's task in mteb, and the attributes of its class."""
    if dataset.target == "neighbours":
        return "Retrieval", {}
    if dataset.target == "score":
        lowest, highest = facts.get("scale") or (0, 5)
        return "STS", {"min_score": lowest, "max_score": highest}
    columns = text_columns(dataset.task, "natural")
    for classes in _SIMILAR_CLASSES:
        if columns == ("sentence1", "sentence2") and {*classes} <= {*dataset.labels}:
            return "PairClassification", {"classes": classes}
    return "Classification", {"columns": columns, "between": writing_of(dataset.language).separator}


def _write_modules(
    folder: Path, modules: Mapping[tuple[str, str], list[AbsTask]], names: list[str]
) -> None:
    """Write the modules of tasks and benchmark, and the patch that registers them."""
    patch: list[str] = []

    def add(
        subfolder: Path, module: str, classes: Sequence[str], template: str, **values: Any
    ) -> None:
        code = Template((_TEMPLATES / template).read_text("utf-8"), trim_blocks=True).render(values)
        (folder / "mteb" / subfolder).mkdir(parents=True, exist_ok=True)
        (folder / "mteb" / subfolder / f"{module}.py").write_text(code, "utf-8")
        patch.extend(_registration_patch(subfolder / "__init__.py", module, classes))

    for (kind, language), tasks in modules.items():
        subfolder = Path("tasks") / kind
        if not (_INSTALLED / subfolder / language).is_dir():
            patch.extend(_registration_patch(subfolder / "__init__.py", language, []))
        names_of_tasks = [task.metadata.name for task in tasks]
        add(
            subfolder / language,
            f"probeta_{kind}",
            names_of_tasks,
            "mteb_tasks.py.jinja",
            tasks=tasks,
        )
    shutil.copy(mteb_forms.__file__, folder / "mteb" / "tasks" / "_probeta.py")
    values = {"name": NAME, "description": DESCRIPTION, "tasks": names}
    subfolder = Path("benchmarks/benchmarks")
    add(subfolder, "probeta_benchmarks", ["PROBETA"], "mteb_benchmark.py.jinja", **values)
    (folder / "register.patch").write_text("".join(patch), "utf-8")


def _registration_patch(file: Path, module: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the part of the patch by which a file takes names of a module, or all that it lists."""
    exists, start = (_INSTALLED / file).is_file(), "__all__ = ["
    old = (_INSTALLED / file).read_text("utf-8") if exists else ""
    with_names = start + "".join(f'\n    "{name}",' for name in names)
    new = (old or f"{start}\n]\n").replace(start, with_names, 1)
    new = f"from .{module} import {', '.join(names) or '*'}\n{new}"
    source, target = f"a/mteb/{file}" if exists else "/dev/null", f"b/mteb/{file}"
    yield from difflib.unified_diff(old.splitlines(True), new.splitlines(True), source, target)


def rows_of(dataset: Dataset) -> DatasetDict:
    """Return all rows of a dataset, from where they are, by split."""
    return DatasetDict(
        {
            split: Rows(pa.concat_tables([pq.ParquetFile(file).read() for file in files]))
            for split, files in dataset.files.items()
        }
    )


def metadata_of(
    dataset: Dataset, facts: Mapping[str, Any], source: Mapping[str, str], **task_fields: Any
) -> TaskMetadata:
    """Return the metadata of a dataset for mteb.

    Args:
        facts: of it, from ``read_mteb_facts``.
        source: the path and the revision of the data.
        task_fields: what depends on the form of the task: its name, type, splits and main score.
    """
    task, (file, *_) = TASKS[dataset.task], dataset.files[dataset.tested]
    stated = about_of(pq.read_schema(file))
    return TaskMetadata(
        description=f"{task.group.title} ({dataset.corpus}). {task.question}",
        prompt=instruction(task_fields["type"]),
        category="t2c" if task_fields["type"] == "Classification" else "t2t",
        eval_langs=[mteb_language(dataset.language)],
        license=_licence(stated.get("licence", ""), facts),
        dataset={"name": dataset.name, **source},
        **{name: fact for name, fact in facts.items() if name in TaskMetadata.model_fields},
        **task_fields,
    )


def _licence(licence: str, facts: Mapping[str, Any]) -> str | None:
    """Return a licence as mteb names it, or its address."""
    if (identifier := licence_id(licence)) in get_args(Licenses):
        return identifier
    return facts.get("license_url") or ("not specified" if facts else None)


def read_mteb_facts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return dataset to what its package states for mteb; of older packages, nothing is known."""
    file = folder / MTEB_FACTS
    facts: dict[str, dict[str, Any]] = json.loads(read_whole(file)) if file.is_file() else {}
    return facts
