"""The `build` command: a corpus's records become the instances of its datasets."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from tqdm import tqdm

from builders import (
    discourse_coherence,
    discourse_relations,
    sentence_ordering,
    sentence_position,
)
from builders.dataset import Dataset, datasets_of
from builders.passages import is_finished, without_repeated
from builders.sampling import Passage, in_keyed_order, share_out
from builders.schemas import LABELS
from builders.shards import write_split
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_folder
from corpora_recipes.recipes import Corpus
from corpora_recipes.records import (
    SPLITS,
    DiscourseTree,
    Document,
    Split,
    document_from_row,
    tree_from_row,
)

# The tasks that make an instance of some neighbouring sentences of a document.
PASSAGE_TASKS: dict[str, ModuleType] = {
    "sentence_position": sentence_position,
    "sentence_ordering": sentence_ordering,
    "discourse_coherence": discourse_coherence,
}

Rows = dict[Split, list[dict[str, Any]]]


def build(corpus: Corpus, records: Path, out: Path) -> None:
    """Build every dataset of a corpus.

    Writes ``out/<dataset>/<split>-0000i-of-0000n.parquet`` and ``out/build.json``: for each
    dataset the rows and labels of each split, and the documents dropped, by reason. The rows
    depend on the records, the seed and the parameters alone.

    Args:
        corpus: its entry in params.yaml.
        records: what `python -m corpora_recipes read` wrote.
        out: folder to write; what it held before is replaced as a whole.

    Raises:
        InputError: the records are missing or of another kind, a parameter does not fit, or a
            split has too few documents. Nothing is written then.
    """
    datasets = datasets_of(corpus)
    if corpus.facts["records"] == "trees":
        trees = [tree_from_row(row) for row in _rows(records)]
        built = {d.name: _relation_rows(trees, corpus) for d in datasets}
        counts: dict[str, dict[str, int]] = {d.name: {} for d in datasets}
    else:
        built, counts = _passage_rows(datasets, _rows(records), corpus)
    with whole_folder(out) as folder:
        report = {}
        for dataset in datasets:
            splits = built[dataset.name]
            labels = LABELS.get(dataset.task) or corpus.facts["labels"]
            _check_sizes(dataset, splits, labels, counts[dataset.name])
            report[dataset.name] = _write(dataset, splits, labels, folder)
            report[dataset.name]["documents"] = counts[dataset.name]
        text = json.dumps(report, ensure_ascii=False, indent=2, sort_keys=True)
        (folder / "build.json").write_text(text + "\n", "utf-8")


def _rows(records: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(records)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            records,
            expected="the records of the corpus, as Parquet",
            found=str(error),
            todo="make them with `python -m corpora_recipes read`",
        ) from None
    with file:
        for batch in file.iter_batches(batch_size=500):
            yield from batch.to_pylist()


def _passage_rows(
    datasets: Sequence[Dataset], documents: Iterator[dict[str, Any]], corpus: Corpus
) -> tuple[dict[str, Rows], dict[str, dict[str, int]]]:
    """Return the rows of each dataset, and its documents by what became of them."""
    passages, counts = _collect(datasets, documents)
    eligible: dict[str, list[str]] = {}
    for name, found in passages.items():
        for passage in found:
            eligible.setdefault(passage.document_id, []).append(name)
    need = {d.name: sum(d.rows) * PASSAGE_TASKS[d.task].DOCUMENTS_A_ROW for d in datasets}
    owner = share_out(eligible, need, corpus.seed, corpus.name)
    # Disjoint documents keep one task from giving away another's labels. A corpus that is too
    # small to fill all its datasets that way serves them all with all its documents instead.
    own = {name: [p for p in passages[name] if owner[p.document_id] == name] for name in passages}
    built = {d.name: _one_dataset(d, own[d.name]) for d in datasets}
    if any(len(built[d.name][0][split]) < _full(d, split) for d in datasets for split in SPLITS):
        own = passages
        built = {d.name: _one_dataset(d, own[d.name]) for d in datasets}
    rows = {name: found for name, (found, _) in built.items()}
    used = {name: _documents(found) for name, found in rows.items()}
    for d in datasets:
        others = set().union(*(used[name] for name in used if name != d.name))
        repeated = built[d.name][1]
        counts[d.name] |= {
            "in_another_dataset": len(passages[d.name]) - len(own[d.name]),
            "repeated_sentence": repeated,
            "beyond_quota_or_balance": len(own[d.name]) - repeated - len(used[d.name]),
            "used": len(used[d.name]),
            "used_in_another_dataset_too": len(used[d.name] & others),
        }
        if d.donors == "same_topic":
            unrelated = _unrelated(rows[d.name], passages[d.name])
            counts[d.name]["donors_without_shared_topic"] = unrelated
    return rows, counts


def _collect(
    datasets: Sequence[Dataset], documents: Iterator[dict[str, Any]]
) -> tuple[dict[str, list[Passage]], dict[str, dict[str, int]]]:
    """Return the passages that each dataset could use, and how many documents give it none."""
    passages: dict[str, list[Passage]] = {d.name: [] for d in datasets}
    drops = {
        d.name: {"read": 0, "too_few_sentences": 0, "unfinished_sentence": 0} for d in datasets
    }
    for row in documents:
        document = document_from_row(row)
        for d in datasets:
            found = PASSAGE_TASKS[d.task].passage(document, d)
            drops[d.name]["read"] += 1
            if found is None:
                drops[d.name]["too_few_sentences"] += 1
            elif not all(map(is_finished, found)):
                drops[d.name]["unfinished_sentence"] += 1
            else:
                passages[d.name].append(_passage(document, found))
    return passages, drops


def _documents(rows: Rows) -> set[str]:
    return {
        row[key]
        for split in SPLITS
        for row in rows[split]
        for key in ("document_id", "donor_id")
        if row.get(key)
    }


def _passage(document: Document, sentences: tuple[str, ...]) -> Passage:
    if document.split not in SPLITS:
        raise InputError(
            f"document {document.id}",
            expected=f"a split, one of {', '.join(SPLITS)}",
            found=repr(document.split),
            todo="make the records again with `python -m corpora_recipes read`",
        )
    return Passage(document.id, document.split, tuple(document.topics), sentences)


def _one_dataset(dataset: Dataset, passages: list[Passage]) -> tuple[Rows, int]:
    ordered = in_keyed_order(passages, dataset.seed, dataset.name, "select")
    kept, repeated = without_repeated(ordered)
    task = PASSAGE_TASKS[dataset.task]
    rows: Rows = {
        split: task.instances([p for p in kept if p.split == split], dataset, dataset.quota(split))
        for split in SPLITS
    }
    return rows, repeated


def _unrelated(rows: Rows, passages: Sequence[Passage]) -> int:
    topics = {p.document_id: set(p.topics) for p in passages}
    pairs = [
        (row["document_id"], row["donor_id"])
        for split in SPLITS
        for row in rows[split]
        if row.get("donor_id")
    ]
    return sum(topics[source].isdisjoint(topics[donor]) for source, donor in pairs)


def _full(dataset: Dataset, split: Split) -> int:
    classes = len(LABELS[dataset.task])
    return dataset.quota(split) // classes * classes


def _relation_rows(trees: Sequence[DiscourseTree], corpus: Corpus) -> Rows:
    rows: Rows = {split: [] for split in SPLITS}
    known = set(corpus.facts["labels"])
    for tree in trees:
        assert tree.split is not None  # `read` decides every split
        for number, instance in enumerate(discourse_relations.instances(tree)):
            if instance.label not in known:
                raise InputError(
                    f"text {tree.id}",
                    expected=f"relations that give one of {', '.join(corpus.facts['labels'])}",
                    found=instance.label,
                    todo=f"correct the text, or `labels` in {corpus.recipe}/corpus.yaml",
                )
            row = {"id": f"{tree.id}#{number}", "document_id": tree.id}
            rows[tree.split].append(asdict(instance) | row)
    return rows


def _check_sizes(
    dataset: Dataset, splits: Rows, labels: Sequence[str], counts: dict[str, int]
) -> None:
    short = {split: len(rows) for split, rows in splits.items() if len(rows) < 2}
    if short:
        raise InputError(
            f"dataset {dataset.name}",
            expected=f"rows for each of {len(labels)} classes in train, validation and test",
            found=f"rows: {short}; documents: {counts}",
            todo="read more documents, or find out above why they were dropped",
        )


def _write(dataset: Dataset, splits: Rows, labels: list[str], folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = {"rows": {}, "labels": {}}
    todo = sum(map(len, splits.values()))
    with tqdm(total=todo, desc=f"build {dataset.name}", unit="row", disable=None) as bar:
        for split in SPLITS:
            written = write_split(
                splits[split], dataset, split, labels, folder / dataset.name, bar.update
            )
            report["rows"][split] = len(written)
            names = Counter(labels[row["label"]] for row in written)
            report["labels"][split] = dict(sorted(names.items()))
    return report
