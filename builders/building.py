"""The `build` command: a corpus's records become the instances of its datasets."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
    document_schema,
    tree_from_row,
    tree_schema,
)

if TYPE_CHECKING:
    import pyarrow as pa

# The tasks that make an instance of some neighbouring sentences of a document.
PASSAGE_TASKS: dict[str, ModuleType] = {
    "sentence_position": sentence_position,
    "sentence_ordering": sentence_ordering,
    "discourse_coherence": discourse_coherence,
}

Rows = dict[Split, list[dict[str, Any]]]


def build(corpus: Corpus, records: Path, out: Path) -> dict[str, Any]:
    """Build every dataset of a corpus.

    Writes ``out/<dataset>/<split>-0000i-of-0000n.parquet`` and ``out/build.json``: for each
    dataset the rows and labels of each split, and the documents dropped, by reason. The rows
    depend on the records, the seed and the parameters alone.

    Args:
        corpus: its entry in params.yaml.
        records: what `python -m corpora_recipes read` wrote.
        out: folder to write; what it held before is replaced as a whole.

    Returns:
        What stands in ``build.json``.

    Raises:
        InputError: the records are missing or of another kind, a parameter does not fit, or a
            split has too few documents. Nothing is written then.
    """
    datasets = datasets_of(corpus)
    counts: dict[str, dict[str, int]]
    if corpus.facts["records"] == "trees":
        trees = [tree_from_row(row) for row in _rows(records, tree_schema())]
        built = {d.name: _relation_rows(trees, corpus) for d in datasets}
        counts = {d.name: {"read": len(trees), "used": len(trees)} for d in datasets}
    else:
        built, counts = _passage_rows(datasets, _rows(records, document_schema()), corpus)
    with whole_folder(out) as folder:
        report = {}
        for dataset in datasets:
            splits = built[dataset.name]
            labels = LABELS.get(dataset.task) or corpus.facts["labels"]
            _check_sizes(dataset, splits, counts[dataset.name])
            report[dataset.name] = _write(dataset, splits, labels, folder)
            report[dataset.name]["documents"] = counts[dataset.name]
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (folder / "build.json").write_text(text + "\n", "utf-8")
    return report


def _rows(records: Path, schema: "pa.Schema") -> Iterator[dict[str, Any]]:
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
    if file.schema_arrow.names != schema.names:
        raise InputError(
            records,
            expected=f"records with the columns {', '.join(schema.names)}",
            found=", ".join(file.schema_arrow.names),
            todo="name the records of the corpus that is built",
        )
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
    offered = {d.name: _offered(d, passages[d.name], owner, datasets) for d in datasets}
    built = {d.name: _one_dataset(d, offered[d.name]) for d in datasets}
    rows = {name: found for name, (found, _) in built.items()}
    used = {name: _documents(found) for name, found in rows.items()}
    for d in datasets:
        others = set().union(*(used[name] for name in used if name != d.name))
        repeated = built[d.name][1]
        counts[d.name] |= {
            "in_another_dataset": len(passages[d.name]) - len(offered[d.name]),
            "repeated_sentence": repeated,
            "beyond_quota_or_balance": len(offered[d.name]) - repeated - len(used[d.name]),
            "used": len(used[d.name]),
            "used_in_another_dataset_too": len(used[d.name] & others),
        }
        if d.donors == "same_topic":
            unrelated = _unrelated(rows[d.name], passages[d.name])
            counts[d.name]["donors_without_shared_topic"] = unrelated
    return rows, counts


def _offered(
    dataset: Dataset,
    passages: Sequence[Passage],
    owner: dict[str, str],
    datasets: Sequence[Dataset],
) -> list[Passage]:
    """Return the passages that a dataset may take, in the order in which it takes them.

    Its own documents come first. Those of other datasets follow, if both tasks lend theirs: a
    corpus that is large enough fills every dataset before, and its documents stay disjoint.
    """
    lends = {d.name: PASSAGE_TASKS[d.task].LENDS_DOCUMENTS for d in datasets}
    ordered = in_keyed_order(passages, dataset.seed, dataset.name, "select")
    own = [p for p in ordered if owner[p.document_id] == dataset.name]
    if not lends[dataset.name]:
        return own
    others = [p for p in ordered if owner[p.document_id] != dataset.name]
    return own + [p for p in others if lends[owner[p.document_id]]]


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


def _one_dataset(dataset: Dataset, passages: Sequence[Passage]) -> tuple[Rows, int]:
    kept, repeated = without_repeated(passages)
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


def _check_sizes(dataset: Dataset, splits: Rows, counts: dict[str, int]) -> None:
    # With one row there is no second class to tell it from.
    if all(len(rows) > 1 for rows in splits.values()):
        return
    needs = "two relations"
    if dataset.task in PASSAGE_TASKS:
        needs = PASSAGE_TASKS[dataset.task].NEEDS
    raise InputError(
        f"dataset {dataset.name} ({dataset.task.replace('_', ' ')})",
        expected=f"two rows or more in each split; a row needs {needs}",
        found=", ".join(f"{split} {len(rows)} rows" for split, rows in splits.items())
        + "; documents: "
        + ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in counts.items()),
        todo="take more documents, or longer ones, if most were dropped for one reason",
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
