"""The user's documents as a params.yaml: the datasets that they give, each with its rows."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builders.building.building import build
from builders.store.record_files import record_batches
from builders.tasks import TASKS
from builders.tasks.task import PassageTask
from corpora_recipes.checking import checked
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.languages import corpora_in
from corpora_recipes.params import Params, corpus_of
from corpora_recipes.reading.reading import read
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.errors import InputError
from probeta.cli.offers import in_language


def documents_text(path: str, language: str, name: str) -> str:
    """Return a params.yaml for documents, which are read and built to see what they give.

    Args:
        path: the file, folder or dataset of the Hub, as the recipe `documents` takes it.
        language: of the documents, a BCP 47 code.
        name: of the corpus.
    """
    corpora_in(language)
    entry = {"recipe": "documents", "language": language, "path": path}
    params = vars(checked(Params, {"corpora": {name: {"corpus": entry}}}, PARAMS))
    corpus = corpus_of(params, PARAMS, name)
    with TemporaryDirectory() as folder:
        raw, records = Path(folder, "raw"), Path(folder, "records.parquet")
        fetch(corpus, params["sources"], raw)
        counts = read(corpus, raw, records, workers=None, executor="local")
        asked = {
            f"{task.group.abbreviation.lower()}_{name}": {"task": task.name} for task in _tasks()
        }
        if _share_topics(records):
            asked[f"dc_{name}"]["donors"] = "same_topic"
        rows, faults = _rows(replace(corpus, datasets=asked), records, Path(folder, "built"))
    if not rows:
        raise [*faults.values()][-1]
    return in_language(
        "documents.yaml.jinja",
        language,
        path=path,
        name=name,
        entry=entry,
        documents=counts.kept("documents"),
        datasets=[(dataset, asked[dataset], of) for dataset, of in rows.items()],
        left_out=[(dataset, TASKS[asked[dataset]["task"]].needs) for dataset in faults],
    )


def _tasks() -> list[PassageTask]:
    """Return the tasks on documents, that which needs most of them last."""
    tasks = [task for task in TASKS.values() if isinstance(task, PassageTask)]
    fitting = [task for task in tasks if "documents" in task.records]
    return sorted(fitting, key=lambda task: (task.documents_a_row, task.group))


def _share_topics(records: Path) -> bool:
    """Return whether most documents have a topic that another one has too."""
    topics = [
        topics
        for batch in record_batches(records, "documents", ["topics"])
        for topics in batch["topics"].to_pylist()
    ]
    known = Counter(topic for of_one in topics for topic in of_one)
    return sum(any(known[t] > 1 for t in of_one) for of_one in topics) > len(topics) / 2


def _rows(
    corpus: Corpus, records: Path, out: Path
) -> tuple[dict[str, Mapping[str, Any]], dict[str, InputError]]:
    """Return the rows of each split of the datasets that can be built, and why others cannot."""
    left_out: dict[str, InputError] = {}
    while True:
        faults: dict[str, InputError] = {}
        report = build(corpus, records, out, "sample", faults)
        if not faults:
            return {dataset: report[dataset]["rows"] for dataset in report}, left_out
        last = [dataset for dataset in corpus.datasets if dataset in faults][-1]
        left_out[last] = faults[last]
        datasets = {key: entry for key, entry in corpus.datasets.items() if key != last}
        corpus = replace(corpus, datasets=datasets)
