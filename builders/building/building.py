"""The stage `build`: makes the instances of a corpus's datasets from its records."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.building.annotated import example_rows, relation_rows
from builders.building.parsed_sentences import treebank_rows
from builders.building.passages import passage_rows
from builders.plan.datasets import (
    Dataset,
    ExampleDataset,
    PassageDataset,
    TreebankDataset,
    check_tokens,
    datasets_of,
)
from builders.sampling.folds import MIN_FOLDS
from builders.store.record_files import window_of
from builders.store.shards import Made, describe, write_dataset, write_report
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder

# Kind of dataset to the function that makes the rows from the records of the corpus.
MAKERS: dict[type[Dataset], Callable[[Sequence[Any], Path, Corpus], Iterable[Made]]] = {
    PassageDataset: passage_rows,
    ExampleDataset: example_rows,
    Dataset: relation_rows,
    TreebankDataset: treebank_rows,
}
# Why a document or passage is in no row, as build.json counts it, in words.
LOST = {
    "without_passage": "documents are too short for the task",
    "unfinished_sentence": "passages have an unfinished sentence",
    "of_another_dataset": "passages are of documents that went to another dataset",
    "repeated_sentence": "passages have a sentence that another document has too",
    "rare_class": "passages are of a class with too few of them",
    "length_tells": "passages would give the answer away by the length of a sentence",
    "beyond_quota_or_balance": "passages are too many for equal classes, or for a split",
}


def build(
    corpus: Corpus,
    records: Path,
    out: Path,
    sources: str,
    faults: dict[str, InputError] | None = None,
) -> dict[str, Any]:
    """Build every dataset of a corpus.

    Writes ``out/<dataset>/<split>-0000i-of-0000n.parquet`` and ``out/build.json``: for each
    dataset the rows and labels per split, and the numbers of documents and passages used or left
    out, by reason; and the window of the documents' dates, if there is one. The rows depend only on
    the records, the seed and the parameters.

    Args:
        corpus: its entry in params.yaml.
        records: the file that `probeta read` wrote.
        out: folder to write; what it held before is replaced as a whole.
        sources: `sources` of params.yaml; the rows of a sample have the licence of the sample.
        faults: gets the datasets that lack rows or a feature, which are left out; None to raise the
            first.

    Returns:
        The content of ``build.json``.

    Raises:
        InputError: the records are missing or of another kind, a parameter is invalid, or a split
            has too few documents. Nothing is written then.
    """
    datasets = datasets_of(corpus, sources)
    for dataset in datasets:
        check_tokens(dataset)
    # All datasets of a corpus are of one kind, as its records are.
    made = MAKERS[type(datasets[0])](datasets, records, corpus) if datasets else ()
    with whole_folder(out) as folder:
        report = {}
        for dataset, result in zip(datasets, made, strict=True):
            _leave_out_unlearnt(dataset, result)
            try:
                _check_sizes(dataset, result)
                _check_donors(dataset, result)
            except InputError as error:
                if faults is None:
                    raise
                faults[dataset.name] = error
                continue
            written = write_dataset(dataset, result.rows, result.labels, folder)
            report[dataset.name] = written | result.counts
            if window := window_of(records):
                report[dataset.name]["window"] = window
        write_report(report, folder)
    return report


def _leave_out_unlearnt(dataset: Dataset, made: Made) -> None:
    """Leave out tested documents with a class that no row has which a probe learns from."""
    if dataset.task.target != "label" or not dataset.task.trained:
        return
    train = made.rows.get("train", [])
    tested: Split = "train" if any("fold" in row for row in train) else "test"
    where: dict[Any, set[int]] = {}
    for row in train:
        where.setdefault(row["label"], set()).add(row.get("fold", 0))
    least = 2 if tested == "train" else 1
    rows = made.rows.get(tested, [])
    lost = {row["document_id"] for row in rows if len(where.get(row["label"], ())) < least}
    if lost:
        made.rows[tested] = [row for row in rows if row["document_id"] not in lost]
        made.counts["tested_documents"] = {"class_never_learnt": len(lost)}


def _check_sizes(dataset: Dataset, made: Made) -> None:
    """Raise an InputError unless every split or fold has enough rows for a probe."""
    if made.fault:
        raise made.fault
    # Two classes need two rows; each cluster is scored alone.
    least = 1 if dataset.task.target == "neighbours" else 2
    sizes = Counter({str(split): len(rows) for split, rows in made.rows.items()})
    parts, part = 1, "split"
    if sizes.keys() == {"train"}:
        sizes = Counter(f"fold {row['fold']}" for row in made.rows["train"])
        parts, part = MIN_FOLDS, f"of {MIN_FOLDS} folds or more"
    if len(sizes) >= parts and min(sizes.values()) >= least:
        return
    found = ", ".join(f"{name} {size} rows" for name, size in sorted(sizes.items())) or "none"
    todo = "add the source's files that are missing"
    if isinstance(dataset, PassageDataset):
        todo = "take more or longer documents, or give the corpus fewer datasets: they share them"
    expected = f"{least} rows or more in each {part}; a row needs {dataset.task.needs}"
    raise InputError(dataset.in_words, expected, f"{found}; {describe(made.counts)}", todo)


def _check_donors(dataset: Dataset, made: Made) -> None:
    """Raise an InputError if most donors are of their row's document, as with few documents."""
    donors = made.counts.get("donors", {})
    same, used = donors.get("of_the_same_document", 0), donors.get("used", 0)
    if dataset.sample or 2 * same <= used:
        return
    expected = "at least half of the donors from another document than their row"
    found = f"{used - same:,} of {used:,}; {made.counts['documents']['used']:,} documents are used"
    todo = "read more documents: each split needs several"
    raise InputError(dataset.in_words, expected, found, todo)


def limit_of(dataset: PassageDataset, report: Mapping[str, Any]) -> str:
    """Return what limits the rows of a dataset, given its part of build.json."""
    rows = report["rows"]
    # Classes are equally frequent in each split, or in each fold.
    folds = max(1, report["folds"])
    if all(dataset.quota(s) - rows[s] < len(report["labels"][s]) * folds for s in rows):
        return "all rows that were asked for"
    read = report["documents"]["read"]
    counts = report["documents"] | report["passages"]
    reason = max(LOST, key=lambda name: counts.get(name, 0))
    if not counts.get(reason):
        return f"limited by the number of documents, {read:,}"
    most = f"{counts[reason]:,} {LOST[reason]}"
    return f"limited by documents ({read:,} read); most left out: {most}"
