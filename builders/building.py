"""The `build` command: a corpus's records become the instances of its datasets."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from builders import discourse_relations
from builders.dataset import Dataset, datasets_of
from builders.examples import FOLDS, ExampleTask, rows_of
from builders.passage_task import PassageTask
from builders.passages import is_finished, without_repeated
from builders.record_files import no_examples, read_examples, read_records
from builders.sampling import (
    Passage,
    first_ranks,
    in_keyed_order,
    level_lengths,
    share_out,
)
from builders.shards import write_split
from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_folder
from corpora_recipes.recipes import Corpus
from corpora_recipes.records import (
    SPLITS,
    DiscourseTree,
    Record,
    Split,
)

# How many times as many passages are held as rows can take; some turn out unusable.
SPARE = 2

Rows = dict[Split, list[dict[str, Any]]]
# Unit ("documents" …) to what became of them to how many.
Counts = dict[str, dict[str, int]]


def build(
    corpus: Corpus, records: Path, out: Path, sources: str, *, composed: bool = False
) -> dict[str, Any]:
    """Build every dataset of a corpus.

    Writes ``out/<dataset>/<split>-0000i-of-0000n.parquet`` and ``out/build.json``: for each
    dataset the rows and labels of each split, and what became of its documents and passages, by
    reason. The rows depend on the records, the seed and the parameters alone.

    Args:
        corpus: its entry in params.yaml.
        records: what `python -m corpora_recipes read` wrote.
        out: folder to write; what it held before is replaced as a whole.
        sources: what params.yaml says; the rows of a sample have the licence of the sample.
        composed: whether a ranking is made of the corpus, which then may have no datasets.

    Returns:
        What stands in ``build.json``.

    Raises:
        InputError: the records are missing or of another kind, a parameter does not fit, or a
            split has too few documents. Nothing is written then.
    """
    datasets = datasets_of(corpus, sources, composed=composed)
    kind = corpus.facts["records"]
    made: Iterator[tuple[Rows, Counts]]
    if not datasets:
        made = iter(())
    elif kind == "examples":
        # A corpus of examples may be large: one dataset after the other is in memory.
        made = (_example_rows(dataset, records) for dataset in datasets)
    elif kind == "trees":
        made = iter(_relation_rows(datasets, read_records(records, kind), corpus))
    else:
        made = iter(_passage_rows(datasets, read_records(records, kind), corpus))
    with whole_folder(out) as folder:
        report = {}
        for dataset, (splits, counts) in zip(datasets, made, strict=True):
            labels = _labels(dataset, splits, corpus)
            _check_sizes(dataset, splits, counts)
            report[dataset.name] = write_dataset(dataset, splits, labels, folder) | counts
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (folder / "build.json").write_text(text + "\n", "utf-8")
    return report


def _labels(dataset: Dataset, splits: Rows, corpus: Corpus) -> list[str]:
    """Return the names of a dataset's classes in the order of their numbers; none for scores."""
    if named := TASKS[dataset.task].labels:
        return list(named)
    if not dataset.collection:
        return list(corpus.facts["labels"])
    if dataset.facts.get("labels"):
        return list(dict.fromkeys(dataset.facts["labels"].values()))
    return sorted({row["label"] for rows in splits.values() for row in rows if "label" in row})


def _example_rows(dataset: Dataset, records: Path) -> tuple[Rows, Counts]:
    """Return the rows of a dataset of examples, and what became of them."""
    task = TASKS[dataset.task]
    assert isinstance(task, ExampleTask)
    examples = read_examples(records, dataset.collection)
    if not examples:
        raise no_examples(records, [dataset.collection])
    # Not by the dataset's name: all datasets of a collection share its splits.
    rows = rows_of(examples, task, dataset.seed, f"{dataset.corpus}/{dataset.collection}")
    made = [row for own in rows.values() for row in own]
    counts = {
        "read": len(examples),
        "used": len(made),
        "also_in_another_split": sum(bool(row["also_in"]) for row in made),
    }
    # What the card compares with the official counts.
    parts = Counter(row["source_split"] or "all" for row in made)
    in_order = {part: parts[part] for part in (*SPLITS, "all") if parts[part]}
    return rows, {"examples": counts, "source_parts": in_order}


def _passage_rows(
    datasets: Sequence[Dataset], records: Iterator[Record], corpus: Corpus
) -> list[tuple[Rows, Counts]]:
    """Return each dataset's rows, and what became of its documents and passages."""
    passages, counts = _collect(datasets, records)
    eligible: dict[str, list[str]] = {}
    for name, found in passages.items():
        for document_id in dict.fromkeys(passage.document_id for passage in found):
            eligible.setdefault(document_id, []).append(name)
    need = {d.name: sum(d.rows) * _task(d).documents_a_row for d in datasets}
    owner = share_out(eligible, need, corpus.seed, corpus.name)
    rows: dict[str, Rows] = {}
    documents: dict[str, set[str]] = {}
    for d in datasets:
        offered = _offered(d, passages[d.name], owner, datasets)
        unique, repeated = without_repeated(offered)
        levelled = unique
        if shown := _task(d).level_lengths:
            levelled = level_lengths(unique, shown, d.seed, d.name)
        rows[d.name], used = _one_dataset(d, levelled)
        documents[d.name] = {passage.document_id for passage in used}
        finished = counts[d.name]["passages"]["found"]
        finished -= counts[d.name]["passages"]["unfinished_sentence"]
        counts[d.name]["passages"] |= {
            "not_needed": finished - len(passages[d.name]),
            "of_another_dataset": len(passages[d.name]) - len(offered),
            "repeated_sentence": repeated,
            "length_tells": len(unique) - len(levelled),
            "beyond_quota_or_balance": len(levelled) - len(used),
            "used": len(used),
        }
        if donors := _donors(rows[d.name], used):
            counts[d.name]["donors"] = donors
            if d.donors != "same_topic":
                del donors["without_shared_topic"]
    for name, own in documents.items():
        others = set().union(*(documents[other] for other in documents if other != name))
        counts[name]["documents"] |= {
            "used": len(own),
            "used_in_another_dataset_too": len(own & others),
        }
    return [(rows[d.name], counts[d.name]) for d in datasets]


def _task(dataset: Dataset) -> PassageTask:
    task = TASKS[dataset.task]
    assert isinstance(task, PassageTask)  # the others are made of trees
    return task


def _offered(
    dataset: Dataset,
    passages: Sequence[Passage],
    owner: dict[str, str],
    datasets: Sequence[Dataset],
) -> list[Passage]:
    """Return the passages that a dataset may take, in the order in which it takes them.

    Those of its own documents come first. Those of other datasets follow, if both tasks lend
    theirs: a corpus that is large enough fills every dataset before, and its documents stay
    disjoint.
    """
    lends = {d.name: _task(d).lends_documents for d in datasets}
    ordered = in_keyed_order(passages, dataset.seed, dataset.name, "select")
    own = [p for p in ordered if owner[p.document_id] == dataset.name]
    if not lends[dataset.name]:
        return own
    others = [p for p in ordered if owner[p.document_id] != dataset.name]
    return own + [p for p in others if lends[owner[p.document_id]]]


def _collect(
    datasets: Sequence[Dataset], records: Iterator[Record]
) -> tuple[dict[str, list[Passage]], dict[str, Counts]]:
    """Return the passages that each dataset could use, and what gave it none."""
    passages: dict[str, list[Passage]] = {d.name: [] for d in datasets}
    counts = {
        d.name: {
            "documents": {"read": 0, "without_passage": 0},
            "passages": {"found": 0, "unfinished_sentence": 0},
        }
        for d in datasets
    }
    needs = {
        d.name: {s: SPARE * d.quota(s) * _task(d).documents_a_row for s in SPLITS} for d in datasets
    }
    bounds = {d.name: 2 * SPARE * sum(d.rows) for d in datasets}
    for record in records:
        for d in datasets:
            found = _task(d).passages(record, d)
            finished = [p for p in found if all(map(is_finished, p.sentences))]
            count = counts[d.name]
            count["documents"]["read"] += 1
            count["documents"]["without_passage"] += not found
            count["passages"]["found"] += len(found)
            count["passages"]["unfinished_sentence"] += len(found) - len(finished)
            passages[d.name] += finished
            if len(passages[d.name]) > bounds[d.name]:
                passages[d.name] = first_ranks(passages[d.name], needs[d.name])
                bounds[d.name] = 2 * max(len(passages[d.name]), SPARE * sum(d.rows))
    return {d.name: first_ranks(passages[d.name], needs[d.name]) for d in datasets}, counts


def _one_dataset(dataset: Dataset, passages: Sequence[Passage]) -> tuple[Rows, list[Passage]]:
    """Return the rows of a dataset and the passages that they were made of."""
    by_id = {passage.id: passage for passage in passages}
    rows: Rows = {}
    used: dict[str, Passage] = {}
    for split in SPLITS:
        own = [p for p in passages if p.split == split]
        rows[split] = _task(dataset).instances(own, dataset, dataset.quota(split))
        for row in rows[split]:
            source = by_id[row.pop("passage")]
            row.setdefault("id", source.id)
            row["document_id"] = source.document_id
            for name in (source.id, row.get("donor_id")):
                if name is not None:
                    used[name] = by_id[name]
    return rows, list(used.values())


def _donors(rows: Rows, passages: Sequence[Passage]) -> dict[str, int]:
    """Count the donors, and those that are not as they are wished for; empty if there are none."""
    by_id = {passage.id: passage for passage in passages}
    pairs = [
        (by_id[row["id"]], by_id[row["donor_id"]])
        for split in SPLITS
        for row in rows[split]
        if row.get("donor_id") is not None
    ]
    if not pairs:
        return {}
    return {
        "used": len(pairs),
        "of_the_same_document": sum(a.document_id == b.document_id for a, b in pairs),
        "without_shared_topic": sum(set(a.topics).isdisjoint(b.topics) for a, b in pairs),
    }


def _relation_rows(
    datasets: Sequence[Dataset], records: Iterator[Record], corpus: Corpus
) -> list[tuple[Rows, Counts]]:
    """Return the same rows for each dataset, as trees are neither chosen nor shared out."""
    trees = [record for record in records if isinstance(record, DiscourseTree)]
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
    return [(rows, {"texts": {"read": len(trees), "used": len(trees)}}) for _ in datasets]


def _check_sizes(dataset: Dataset, splits: Rows, counts: Counts) -> None:
    task = TASKS[dataset.task]
    # With one row there is no second class to tell it from; a cluster is asked alone.
    least = 1 if task.target == "neighbours" else 2
    if isinstance(task, ExampleTask):
        needs = task.wants()
        if splits.keys() == {"train"}:
            least = 2 * FOLDS
    else:
        needs = task.needs if isinstance(task, PassageTask) else "a relation"
    if splits and all(len(rows) >= least for rows in splits.values()):
        return
    rows_needed = {1: "one row", 2: "two rows"}.get(least, f"{least} rows")
    raise InputError(
        f"dataset {dataset.name} ({dataset.task.replace('_', ' ')})",
        expected=f"{rows_needed} or more in each split; a row needs {needs}",
        found=(", ".join(f"{split} {len(rows)} rows" for split, rows in splits.items()) or "none")
        + "; "
        + describe(counts),
        todo="add the source's files that are missing"
        if dataset.collection
        else "take more documents (or longer ones, if most had no passage), or give the corpus "
        "fewer datasets, which share its documents out",
    )


def describe(counts: Counts) -> str:
    """Say in words what stands in a report's counts: "documents: read 9, …; passages: …"."""

    def spaced(name: str) -> str:
        return name.replace("_", " ")

    return "; ".join(
        f"{spaced(unit)}: " + ", ".join(f"{spaced(reason)} {n:,}" for reason, n in of.items())
        for unit, of in counts.items()
    )


def write_dataset(
    dataset: Dataset, splits: Rows, labels: list[str], folder: Path
) -> dict[str, Any]:
    """Write the rows of a dataset to ``folder/<dataset>``.

    Returns:
        ``rows``, split to their number, and ``labels``, split to class to the number of rows.
    """
    report: dict[str, Any] = {"rows": {}, "labels": {}}
    todo = sum(map(len, splits.values()))
    with tqdm(total=todo, desc=f"build {dataset.name}", unit="row", disable=None) as bar:
        for split, rows in splits.items():
            written = write_split(rows, dataset, split, labels, folder / dataset.name, bar.update)
            report["rows"][split] = len(written)
            names = Counter(labels[row["label"]] for row in written if "label" in row)
            report["labels"][split] = dict(sorted(names.items()))
    return report
