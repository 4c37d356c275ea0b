"""Tasks of mteb: its encoders, with the features, probes and intervals of this project."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset as Rows
from datasets import DatasetDict
from mteb import Benchmark, TaskMetadata
from mteb.abstasks._statistics_calculation import (
    calculate_label_statistics,
    calculate_score_statistics,
    calculate_text_statistics,
)
from mteb.abstasks.abstask import AbsTask
from mteb.types import Licenses

from builders.packaging.leaderboard import DESCRIPTION, FACTS, NAME, mteb_language, task_name
from builders.plan.origins import licence_id
from builders.store.schema import about_of
from builders.tasks import TASKS
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.limits import read_whole
from evaluation.data.finding import PACKAGE, find_data
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders.callable import Called, GivenEncoder
from evaluation.encoders.mteb_model import TASK_TYPES, encode_with, instruction
from evaluation.probing.measuring import METRICS
from evaluation.probing.params import Probing
from evaluation.probing.probing import probe_datasets
from evaluation.probing.protocols import PROTOCOLS
from probeta.exchange.export import mteb_scores

if TYPE_CHECKING:
    from evaluation.arrays import Floats


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

        encoder = GivenEncoder("mteb", given=Called(encode, f"encoder of {self.metadata.name}"))
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
        found: dict[str, Any] = {"num_samples": len(rows)}
        for column in text_columns(self.source.task, "natural"):
            texts = [cell if isinstance(cell, str) else " ".join(cell) for cell in rows[column]]
            found[f"{column}_statistics"] = calculate_text_statistics(texts)
        answers = [*rows[self.source.target]]
        if self.source.target == "label":
            return found | {"label_statistics": calculate_label_statistics(answers)}
        return found | {"score_statistics": calculate_score_statistics(answers)}


def make_benchmark(
    data: str | Path | None,
    datasets: Collection[str] | None,
    groups: Collection[str] | None,
    protocol: str,
) -> Benchmark:
    """Return ``evaluation.benchmark``; mteb is installed."""
    if protocol not in PROTOCOLS:
        raise ParamsError("protocol", f"one of {', '.join(PROTOCOLS)}", repr(protocol))
    found = find_data(data, datasets, groups)
    probing = Probing(protocol, engine=PROTOCOLS[protocol].engines[0])
    path = str(PACKAGE if data is None else data)
    facts = read_mteb_facts(found.folder)
    tasks = []
    for dataset in found.datasets:
        metadata = metadata_of(
            dataset,
            facts.get(dataset.name, {}),
            {"path": path, "revision": dataset.version},
            name=task_name(dataset.name),
            type=TASK_TYPES[TASKS[dataset.task].group.abbreviation],
            eval_splits=[dataset.tested],
            main_score=METRICS[dataset.target],
        )
        attributes = {"metadata": metadata, "source": dataset, "probing": probing}
        tasks.append(type(metadata.name, (ProbedDataset,), attributes)(seed=found.seed))
    return Benchmark(name=NAME, tasks=tasks, description=DESCRIPTION)


def read_mteb_facts(folder: Path) -> dict[str, dict[str, Any]]:
    """Return dataset to what its package states for mteb; of older packages, nothing is known."""
    file = folder / FACTS
    facts: dict[str, dict[str, Any]] = json.loads(read_whole(file)) if file.is_file() else {}
    return facts


def rows_of(dataset: Dataset) -> DatasetDict:
    """Return all rows of a dataset, from where they are, by split."""
    return DatasetDict(
        {
            split: Rows(pa.concat_tables([pq.ParquetFile(file).read() for file in files]))
            for split, files in dataset.files.items()
        }
    )


def metadata_of(
    dataset: Dataset, facts: Mapping[str, Any], at: Mapping[str, str], **given: Any
) -> TaskMetadata:
    """Return what mteb is told of a dataset.

    Args:
        facts: of it, from ``read_mteb_facts``.
        at: the path and the revision of the data.
        given: what depends on the form of the task: its name, type, splits and main score.
    """
    task, (file, *_) = TASKS[dataset.task], dataset.files[dataset.tested]
    about = about_of(pq.read_schema(file))
    return TaskMetadata(
        description=f"{task.group.title} ({dataset.corpus}). {task.question}",
        prompt=instruction(given["type"]),
        category="t2c" if given["type"] == "Classification" else "t2t",
        eval_langs=[mteb_language(dataset.language)],
        license=_licence(about.get("licence", ""), facts),
        dataset={"name": dataset.name, **at},
        **{name: fact for name, fact in facts.items() if name in TaskMetadata.model_fields},
        **given,
    )


def _licence(said: str, facts: Mapping[str, Any]) -> str | None:
    """Return a licence as mteb names it, or its address."""
    if (known := licence_id(said)) in get_args(Licenses):
        return known
    return facts.get("license_url") or ("not specified" if facts else None)
