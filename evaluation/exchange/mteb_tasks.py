"""Tasks of mteb: its encoders, with the features, probes and intervals of this project."""

from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset as Rows
from datasets import DatasetDict
from mteb import Benchmark, TaskMetadata
from mteb.abstasks.abstask import AbsTask
from mteb.types import Licenses

from builders.exchange.leaderboard import DESCRIPTION, NAME, mteb_language, task_name
from builders.plan.origins import licence_id
from builders.store.schema import about_of
from builders.tasks import TASKS
from corpora_recipes.running.errors import ParamsError
from evaluation.data.finding import PACKAGE, find_data
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns, texts_of
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders.callable import Called, GivenEncoder
from evaluation.encoders.mteb_model import TASK_TYPES, encode_with, instruction
from evaluation.exchange.export import mteb_scores
from evaluation.probing.measuring import METRICS
from evaluation.probing.params import Probing
from evaluation.probing.probing import probe_datasets
from evaluation.probing.protocols import PROTOCOLS

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
            self.dataset = DatasetDict(
                {
                    split: Rows(pa.concat_tables([pq.ParquetFile(file).read() for file in files]))
                    for split, files in self.source.files.items()
                }
            )
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
        rows = self.dataset[split].data.table
        texts = [
            text
            for column in text_columns(self.source.task, "natural")
            for text in texts_of(rows, column)[0].to_pylist()
        ]
        lengths = [len(text) for text in texts]
        answers = rows[self.source.target].to_pylist()
        found: dict[str, Any] = {
            "num_samples": len(rows),
            "text_statistics": {
                "total_text_length": sum(lengths),
                "min_text_length": min(lengths),
                "average_text_length": sum(lengths) / len(lengths),
                "max_text_length": max(lengths),
                "unique_texts": len(set(texts)),
            },
        }
        if self.source.target == "label":
            names = self.source.labels
            found["label_statistics"] = {
                "min_labels_per_text": 1,
                "average_label_per_text": 1.0,
                "max_labels_per_text": 1,
                "unique_labels": len(set(answers)),
                "labels": {
                    name: {"count": answers.count(number)} for number, name in enumerate(names)
                },
            }
        else:
            found["score_statistics"] = {
                "min_score": min(answers),
                "avg_score": sum(answers) / len(answers),
                "max_score": max(answers),
            }
        return found


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
    tasks = [_task_of(dataset, path, probing)(seed=found.seed) for dataset in found.datasets]
    return Benchmark(name=NAME, tasks=tasks, description=DESCRIPTION)


def _task_of(dataset: Dataset, path: str, probing: Probing) -> type[ProbedDataset]:
    """Return the class of a dataset's task."""
    task = TASKS[dataset.task]
    kind = TASK_TYPES[task.group.abbreviation]
    split = dataset.tested
    about = about_of(pq.read_schema(dataset.files[split][0]))
    metadata = TaskMetadata(
        name=task_name(dataset.name),
        description=f"{task.group.title} ({dataset.corpus}). {task.question}",
        type=kind,
        prompt=instruction(kind),
        category="t2t" if dataset.target == "score" else "t2c",
        eval_splits=[split],
        eval_langs=[mteb_language(dataset.language)],
        main_score=METRICS[dataset.target],
        license=_licence(about.get("licence", "")),
        dataset={"path": path, "name": dataset.name, "revision": dataset.version},
    )
    attributes = {"metadata": metadata, "source": dataset, "probing": probing}
    return type(metadata.name, (ProbedDataset,), attributes)


def _licence(name: str) -> str | None:
    """Return a licence as mteb names it; None for one that it has no name for."""
    known = licence_id(name)
    return known if known in get_args(Licenses) else None
