"""The rows of datasets that are made of passages of one corpus."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import PassageDataset
from builders.sampling.folds import MIN_FOLDS, N_FOLDS
from builders.sampling.lengths import level_lengths
from builders.sampling.passages import Passage, first_ranks, in_keyed_order
from builders.sampling.same_text import without_repeated
from builders.sampling.sharing import share_out
from builders.store.record_files import read_records
from builders.store.shards import Counts, Made, Rows
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import SPLITS, Record, Split, decide_split
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.text.writing import is_finished

# Passages held in memory per passage that rows can take, as some turn out unusable.
SPARE = 2
# A small dataset has fewer folds than ``N_FOLDS``, so that each has rows of several documents.
DOCUMENTS_A_FOLD = 10


def passage_rows(datasets: Sequence[PassageDataset], records: Path, corpus: Corpus) -> list[Made]:
    """Return the rows of each dataset; the datasets share the documents of their corpus."""
    passages, counts = _collect(datasets, read_records(records, corpus.facts.records))
    eligible: dict[str, list[str]] = {}
    for name, of_dataset in passages.items():
        for document_id in dict.fromkeys(passage.document_id for passage in of_dataset):
            eligible.setdefault(document_id, []).append(name)
    need = {d.name: sum(d.rows) * d.task.documents_a_row for d in datasets}
    owner = share_out(eligible, need, corpus.seed, corpus.name)
    rows: dict[str, Rows] = {}
    documents: dict[str, set[str]] = {}
    for d in datasets:
        if d.folds:
            _check_folds(d, passages[d.name], corpus)
        offered = _offered(d, passages[d.name], owner, datasets)
        unique, repeated = without_repeated(offered)
        levelled = unique
        if shown := d.task.level_lengths:
            levelled = level_lengths(unique, shown, d.draw)
        settled = d.task.settle(levelled) if d.task.settle else levelled
        rows[d.name], used = _one_dataset(d, settled)
        documents[d.name] = {passage.document_id for passage in used}
        finished = counts[d.name]["passages"]["found"]
        finished -= counts[d.name]["passages"]["unfinished_sentence"]
        counts[d.name]["passages"] |= {
            "not_needed": finished - len(passages[d.name]),
            "of_another_dataset": len(passages[d.name]) - len(offered),
            "repeated_sentence": repeated,
            "length_tells": len(unique) - len(levelled),
            **({"rare_class": len(levelled) - len(settled)} if d.task.settle else {}),
            "beyond_quota_or_balance": len(settled) - len(used),
            "used": len(used),
        }
        if donors := _donors(rows[d.name], used):
            counts[d.name]["donors"] = donors
            if d.options.get("donors", "random") == "random":
                del donors["without_shared_topic"]
    for name, used_here in documents.items():
        others = set().union(*(documents[other] for other in documents if other != name))
        of = counts[name]["documents"]
        of |= {
            "no_passage_used": of["read"] - of["without_passage"] - len(used_here),
            "used": len(used_here),
            "used_in_another_dataset_too": len(used_here & others),
        }
    return [Made(rows[d.name], _labels(d, rows[d.name]), counts[d.name]) for d in datasets]


def _labels(dataset: PassageDataset, rows: Rows) -> list[str]:
    """Return the classes: those of the task, or else those of the rows."""
    return list(dataset.task.labels) or sorted({r["label"] for part in rows.values() for r in part})


def _offered(
    dataset: PassageDataset,
    passages: Sequence[Passage],
    owner: dict[str, str],
    datasets: Sequence[PassageDataset],
) -> list[Passage]:
    """Return the passages that a dataset may take, in the order in which it takes them."""
    lenders = {d.name for d in datasets if d.task.lends_documents}
    owners = {dataset.name, *(lenders if dataset.name in lenders else ())}
    ordered = in_keyed_order(passages, dataset.draw, "select")
    offered = [p for p in ordered if owner[p.document_id] in owners]
    return sorted(offered, key=lambda p: owner[p.document_id] != dataset.name)


def _collect(
    datasets: Sequence[PassageDataset], records: Iterator[Record]
) -> tuple[dict[str, list[Passage]], dict[str, Counts]]:
    """Return the passages that each dataset could use, and counts of those that it could not."""
    passages: dict[str, list[Passage]] = {d.name: [] for d in datasets}
    counts = {
        d.name: {
            "documents": {"read": 0, "without_passage": 0},
            "passages": {"found": 0, "unfinished_sentence": 0},
        }
        for d in datasets
    }
    needs = {
        d.name: {s: SPARE * d.quota(s) * d.task.documents_a_row for s in SPLITS} for d in datasets
    }
    bounds = {d.name: 2 * SPARE * sum(d.rows) for d in datasets}
    for record in records:
        for d in datasets:
            offered = d.task.passages(record, d.draw)
            finished = offered
            # An unfinished sentence, whose full stop was lost, reveals its place.
            if d.options.get("unfinished") != "taken":
                finished = [
                    p
                    for p in offered
                    if all(is_finished(s, d.language, also=":") for s in p.sentences)
                ]
            count = counts[d.name]
            count["documents"]["read"] += 1
            count["documents"]["without_passage"] += not offered
            count["passages"]["found"] += len(offered)
            count["passages"]["unfinished_sentence"] += len(offered) - len(finished)
            passages[d.name] += finished
            if len(passages[d.name]) > bounds[d.name]:
                passages[d.name] = first_ranks(passages[d.name], needs[d.name])
                bounds[d.name] = 2 * max(len(passages[d.name]), SPARE * sum(d.rows))
    return {d.name: first_ranks(passages[d.name], needs[d.name]) for d in datasets}, counts


def _one_dataset(
    dataset: PassageDataset, passages: Sequence[Passage]
) -> tuple[Rows, list[Passage]]:
    """Return the rows of a dataset and the passages that they were made of."""
    by_id = {passage.id: passage for passage in passages}
    rows: Rows = {}
    used: dict[str, Passage] = {}
    for split, quota, further, offered in _parts(dataset, passages):
        of_part = dataset.task.instances(offered, dataset.draw, quota)
        for row in of_part:
            _check(row, dataset)
            source = by_id[row.pop("passage")]
            row.setdefault("id", source.id)
            row |= {"document_id": source.document_id, **further}
            for name in (source.id, row.get("donor_id")):
                if name is not None:
                    used[name] = by_id[name]
        rows.setdefault(split, []).extend(of_part)
    return rows, list(used.values())


def _parts(
    dataset: PassageDataset, passages: Sequence[Passage]
) -> list[tuple[Split, int, dict[str, int], list[Passage]]]:
    """Return the splits, or the folds, with their quotas, further columns and passages."""
    if not dataset.folds:
        return [(s, dataset.quota(s), {}, [p for p in passages if p.split == s]) for s in SPLITS]
    documents = sorted(
        {p.document_id for p in passages}, key=lambda name: dataset.draw.hash(name, "fold")
    )
    number = max(MIN_FOLDS, min(N_FOLDS, len(documents) // DOCUMENTS_A_FOLD))
    folds = {name: rank % number for rank, name in enumerate(documents)}
    quota = dataset.quota("train") // number
    return [
        ("train", quota, {"fold": fold}, [p for p in passages if folds[p.document_id] == fold])
        for fold in range(number)
    ]


def _check_folds(dataset: PassageDataset, passages: Sequence[Passage], corpus: Corpus) -> None:
    """Raise a ParamsError if documents have splits of their source: these are kept."""
    for p in passages:
        if p.split != decide_split(corpus.seed, corpus.name, p.document_id):
            where = f"{corpus.where}.datasets.{dataset.name}.folds"
            found = f"document {p.document_id}, which its source puts into {p.split}"
            todo = "remove `folds`: whoever compares scores needs the published split"
            raise ParamsError(where, "documents without a split of their source", found, todo)


def _check(row: Mapping[str, Any], dataset: PassageDataset) -> None:
    """Fail if a row that ``instances`` returned lacks what its task declares, or has more."""
    task = dataset.task
    texts = {text.natural: text.count for text in task.texts}
    lacking = {"passage", "label", *texts} - row.keys()
    unknown = row.keys() - {"passage", *dataset.columns()}
    assert not lacking, f"{task.name}: a row lacks {sorted(lacking)}"
    assert not unknown, f"{task.name}: a row has {sorted(unknown)}, not in texts or provenance"
    for name, count in texts.items():
        found = 1 if isinstance(row[name], str) else len(row[name])
        assert count in (None, found), f"{task.name}: {found} texts in {name}, expected {count}"


def _donors(rows: Rows, passages: Sequence[Passage]) -> dict[str, int]:
    """Count the donors, and those that violate the requested policy; empty without donors."""
    by_id = {passage.id: passage for passage in passages}
    pairs = [
        (by_id[row["id"]], by_id[row["donor_id"]])
        for of_split in rows.values()
        for row in of_split
        if row.get("donor_id") is not None
    ]
    if not pairs:
        return {}
    return {
        "used": len(pairs),
        "of_the_same_document": sum(a.document_id == b.document_id for a, b in pairs),
        "without_shared_topic": sum(set(a.topics).isdisjoint(b.topics) for a, b in pairs),
    }
