"""The stage `build`: records of a corpus to the instances of its datasets."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import (
    SAMPLE_LICENCE,
    Dataset,
    ExampleDataset,
    PassageDataset,
    TreebankDataset,
    check_tokens,
    datasets_of,
)
from builders.sampling.candidates import (
    MIN_FOLDS,
    N_FOLDS,
    Candidate,
    TextKey,
    Tree,
    WordCounts,
    assign_splits,
    balance_classes,
    choose_classes,
    deal_to_folds,
    draw_classes,
    filter_examples,
    limit_folds,
    source_test_split,
    text_key,
)
from builders.sampling.passages import (
    Passage,
    allocate_documents,
    first_ranks,
    in_keyed_order,
    level_lengths,
    without_repeated,
)
from builders.store import (
    BuiltRows,
    Counts,
    Rows,
    describe,
    no_examples,
    read_examples,
    read_records,
    window_of,
    write_dataset,
    write_report,
)
from builders.tasks import discourse_relations
from builders.tasks.task import ExampleTask, TreebankTask
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import (
    SPLITS,
    DiscourseTree,
    Example,
    ParsedSentence,
    Record,
    Split,
    decide_split,
)
from corpora_recipes.running.errors import InputError, ParamsError, RawError, SmallSample
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.text.language import is_finished


def example_rows(
    datasets: Sequence[ExampleDataset], records: Path, corpus: Corpus
) -> Iterator[BuiltRows]:
    """Yield the rows of each dataset; only one dataset is in memory at a time."""
    for dataset in datasets:
        examples = read_examples(records, dataset.collection)
        if not examples:
            fault = no_examples(records, [dataset.collection], sample=dataset.sample)
            yield BuiltRows({}, [], {}, fault)
            continue
        # Not by the dataset's name: all datasets of a collection share its splits.
        name = f"{corpus.name}/{dataset.collection}"
        # An untrained task needs no train rows: of a source with parts, only its test is used.
        test_split = None if dataset.task.trained else source_test_split(examples)
        used_examples = [example for example in examples if test_split in (None, example.split)]
        remaining, dropped = filter_examples(
            used_examples, dataset.task.deduplicate, dataset.task.min_class_size
        )
        if test_split:
            dropped["not_test"] = len(examples) - len(used_examples)
        splits = split_examples(remaining, dataset.task, dataset.seed, name)
        rows = [row for part in splits.values() for row in part]
        n_parted = len(remaining) - len(rows)
        counts = {
            "read": len(examples),
            "used": len(rows),
            **dropped,
            **({"sentence_of_another_part": n_parted} if n_parted else {}),
            "also_in_another_split": sum(bool(row["also_in"]) for row in rows),
        }
        # The card compares these with the official counts.
        part_sizes: Counter[str] = Counter(example.split or "all" for example in examples)
        in_order = {part: part_sizes[part] for part in (*SPLITS, "all") if part_sizes[part]}
        report = {"examples": counts, "source_parts": in_order}
        labels = list(dict.fromkeys((dataset.facts.labels or {}).values()))
        # Those that only its rows name are sorted.
        yield BuiltRows(
            splits, labels or sorted({r["label"] for r in rows if "label" in r}), report
        )


def split_examples(
    examples: Sequence[Example], task: ExampleTask, seed: int, name: str
) -> dict[Split, list[dict[str, Any]]]:
    """Return the rows of a dataset by split; splits without rows are skipped."""
    splits, of_fold = assign_splits(examples, seed, name, trained=task.trained, n_folds=task.folds)
    examples = [example for example in examples if example.id in splits]
    splits_with_text: dict[TextKey, set[Split]] = {}
    texts = [text_key(example) for example in examples]
    for example, text in zip(examples, texts, strict=True):
        splits_with_text.setdefault(text, set()).add(splits[example.id])
    rows: dict[Split, list[dict[str, Any]]] = {}
    for example, text in zip(examples, texts, strict=True):
        split = splits[example.id]
        others = splits_with_text[text]
        row: dict[str, Any] = {
            "id": example.id,
            **_texts(example, task),
            "document_id": example.document_id,
            **example.columns,
            "source_split": example.split or "",
            "also_in": [name for name in SPLITS if name in others and name != split],
        }
        if example.label is not None:
            row["label"] = example.label
        if example.score is not None:
            row["score"] = example.score
        if of_fold:
            row["fold"] = of_fold[example.id]
        rows.setdefault(split, []).append(row)
    return {split: rows[split] for split in SPLITS if split in rows}


def _texts(example: Example, task: ExampleTask) -> dict[str, Any]:
    """Return the text columns of a row: one with all texts of a cluster, or one for each text."""
    if task.target == "neighbours":
        return {task.texts[0].natural: list(example.texts)}
    return dict(zip((column.natural for column in task.texts), example.texts, strict=True))


def relation_rows(datasets: Sequence[Dataset], records: Path, corpus: Corpus) -> list[BuiltRows]:
    """Return the rows of each dataset: every relation of every tree."""
    read = read_records(records, corpus.facts.records)
    trees = [record for record in read if isinstance(record, DiscourseTree)]
    counts = {"texts": {"read": len(trees), "used": len(trees)}}
    made = []
    for dataset in datasets:
        label = dataset.options.get("label", discourse_relations.NUCLEARITY)
        listed = corpus.facts.labels if label == discourse_relations.NUCLEUS_FIRST else ()
        expected_labels = dataset.task.labels or listed
        rows = _relation_splits(trees, label, expected_labels, corpus)
        labels = {row["label"] for part in rows.values() for row in part}
        made.append(BuiltRows(rows, list(expected_labels) or sorted(labels), counts))
    return made


def _relation_splits(
    trees: Sequence[DiscourseTree], label: str, expected_labels: Sequence[str], corpus: Corpus
) -> Rows:
    """Return the rows by split; their classes are among the expected ones, if there are any."""
    rows: Rows = {split: [] for split in SPLITS}
    for tree in trees:
        assert tree.split is not None  # `read` decides every split
        for number, instance in enumerate(discourse_relations.instances(tree, label)):
            if expected_labels and instance["label"] not in expected_labels:
                expected = f"relations whose label is one of {', '.join(expected_labels)}"
                todo = f"correct the text, or `labels` in {corpus.recipe}/corpus.yaml"
                raise RawError(f"text {tree.id}", expected, instance["label"], todo)
            row = {"id": f"{tree.id}#{number}", "document_id": tree.id}
            rows[tree.split].append(instance | row)
    return rows


# The share of words with the feature below which a treebank is taken to lack it.
MIN_FEATURE_SHARE = 0.5
_ADDRESS = re.compile(r"https?:|www\.|\S@\S")


class _TreebankCandidates:
    """What one dataset takes from the sentences, and why it leaves out the others."""

    def __init__(self, dataset: TreebankDataset) -> None:
        self.dataset = dataset
        self.candidates: list[Candidate] = []
        self.left_out: Counter[str] = Counter()
        self.counts = WordCounts()

    def add(self, tree: Tree) -> None:
        """Look at a sentence."""
        task = self.dataset.task
        if task.count:
            task.count(tree, self.counts)
        shortest, longest = task.lengths
        if not shortest <= len(tree.tokens) <= longest:
            result: Candidate | str = "too_short_or_long"
        elif _ADDRESS.search(tree.text):
            result = "with_address"
        else:
            result = task.find(tree, self.dataset.draw)
        if isinstance(result, str):
            self.left_out[result] += 1
        else:
            self.candidates.append(result)


def treebank_rows(
    datasets: Sequence[TreebankDataset], records: Path, corpus: Corpus
) -> list[BuiltRows]:
    """Return the rows of each dataset; a sentence gives one row of each at most."""
    candidates_of = [_TreebankCandidates(dataset) for dataset in datasets]
    n_read = 0
    for record in read_records(records, corpus.facts.records):
        assert isinstance(record, ParsedSentence)
        tree = Tree(record)
        n_read += 1
        for sentences in candidates_of:
            sentences.add(tree)
    return [_build_treebank_rows(sentences, n_read) for sentences in candidates_of]


def _build_treebank_rows(gathered: _TreebankCandidates, n_read: int) -> BuiltRows:
    task, draw = gathered.dataset.task, gathered.dataset.draw
    if fault := _fault(gathered):
        return BuiltRows({}, [], {"sentences": {"read": n_read}}, fault)
    candidates = gathered.candidates
    settled = task.settle(candidates, gathered.counts, draw) if task.settle else candidates
    classes = {candidate.label for candidate in settled}
    unknown = classes - {"", *(task.labels or classes)}
    assert not unknown, f"{task.name}: candidates of {sorted(unknown)}, not in {task.labels}"

    def chosen(candidates: Sequence[Candidate], labels: Sequence[str]) -> list[Candidate]:
        if task.unchanged:
            return draw_classes(candidates, labels, draw)
        return balance_classes(candidates, labels, draw, by_length=task.by_length)

    labels = list(task.labels) or sorted(classes)
    if task.least_share:
        labels, n_folds = choose_classes(settled, task.least_share, draw)
        settled = [candidate for candidate in settled if candidate.label in labels]
    else:
        n_folds = limit_folds(len(chosen(settled, labels)), len(labels))
    in_folds = deal_to_folds(settled, n_folds, draw, by_length=task.by_length)
    if not (task.labels or task.least_share):
        labels_of_folds = [{c.label for c in in_folds if c.fold == fold} for fold in range(n_folds)]
        labels = sorted(set.intersection(*labels_of_folds))
    rows = chosen(in_folds, labels) if len(labels) > 1 else []
    counts = {
        "read": n_read,
        **dict(sorted(gathered.left_out.items())),
        "not_asked_for": len(candidates) - len(settled),
        "form_of_another_fold": len(settled) - len(in_folds),
        "beyond_balance": len(in_folds) - len(rows),
        "used": len(rows),
    }
    sample = gathered.dataset.sample
    rows_by_split: Rows = {"train": [_row(candidate, task, sample=sample) for candidate in rows]}
    todo = "read more treebanks, or larger ones"
    if labels and not task.unchanged:
        n_sentences = Counter(candidate.label for candidate in settled)
        rarest = min(labels, key=lambda label: (n_sentences[label], label))
        todo += ": each fold needs all classes" + ", in the same lengths" * task.by_length
        todo += f"; the rarest one, {rarest}, has {n_sentences[rarest]:,} sentences in all"
    return BuiltRows(rows_by_split, labels, {"sentences": counts}, todo=todo)


def _row(candidate: Candidate, task: TreebankTask, *, sample: bool) -> dict[str, Any]:
    changed = bool(task.unchanged) and candidate.label != task.unchanged
    return {
        "id": candidate.id,
        "sentence": candidate.changed if changed else candidate.text,
        "label": candidate.label,
        "document_id": candidate.document_id,
        "treebank": candidate.treebank,
        "length": candidate.length,
        "fold": candidate.fold,
        **(candidate.columns if changed or not task.unchanged else {}),
        "licence": SAMPLE_LICENCE if sample else candidate.licence,
    }


def _fault(gathered: _TreebankCandidates) -> InputError | None:
    """Return the error of a feature that the treebanks lack for a dataset, with the counts."""
    dataset, n_with_feature = gathered.dataset, len(gathered.candidates)
    task = dataset.task
    n_without_feature = gathered.left_out[f"without_{task.feature.lower()}"]
    total = n_with_feature + n_without_feature
    if n_without_feature and n_with_feature < MIN_FEATURE_SHARE * total:
        found = (
            f"only {n_with_feature:,} of {total:,} {task.carrier} have the feature {task.feature}"
        )
        todo = f"remove {dataset.name} from this entry, or read other treebanks"
        kind = SmallSample if dataset.sample else InputError
        return kind(dataset.in_words, "a dataset that the treebanks can give", found, todo)
    return None


# Passages held in memory per passage that rows can take, as some turn out unusable.
SPARE = 2
# A small dataset has fewer folds than ``N_FOLDS``, so that each has rows of several documents.
DOCUMENTS_PER_FOLD = 10


def passage_rows(
    datasets: Sequence[PassageDataset], records: Path, corpus: Corpus
) -> list[BuiltRows]:
    """Return the rows of each dataset; the datasets share the documents of their corpus."""
    passages, counts = _collect_passages(datasets, read_records(records, corpus.facts.records))
    eligible: dict[str, list[str]] = {}
    for name, of_dataset in passages.items():
        for document_id in dict.fromkeys(passage.document_id for passage in of_dataset):
            eligible.setdefault(document_id, []).append(name)
    need = {d.name: sum(d.rows) * d.task.documents_per_row for d in datasets}
    owner = allocate_documents(eligible, need, corpus.seed, corpus.name)
    rows: dict[str, Rows] = {}
    documents: dict[str, set[str]] = {}
    for d in datasets:
        if d.folds:
            _check_folds(d, passages[d.name], corpus)
        available = _available_passages(d, passages[d.name], owner, datasets)
        unique, repeated = without_repeated(available)
        levelled = unique
        if how_shown := d.task.level_lengths:
            levelled = level_lengths(unique, how_shown, d.draw)
        settled = d.task.settle(levelled) if d.task.settle else levelled
        rows[d.name], used = _build_passage_rows(d, settled)
        documents[d.name] = {passage.document_id for passage in used}
        n_finished = counts[d.name]["passages"]["found"]
        n_finished -= counts[d.name]["passages"]["unfinished_sentence"]
        counts[d.name]["passages"] |= {
            "not_needed": n_finished - len(passages[d.name]),
            "of_another_dataset": len(passages[d.name]) - len(available),
            "repeated_sentence": repeated,
            "length_tells": len(unique) - len(levelled),
            **({"rare_class": len(levelled) - len(settled)} if d.task.settle else {}),
            "beyond_quota_or_balance": len(settled) - len(used),
            "used": len(used),
        }
        if donors := _count_donors(rows[d.name], used):
            counts[d.name]["donors"] = donors
            if d.options.get("donors", "random") == "random":
                del donors["without_shared_topic"]
    for name, used_documents in documents.items():
        others = set().union(*(documents[other] for other in documents if other != name))
        document_counts = counts[name]["documents"]
        document_counts |= {
            "no_passage_used": document_counts["read"]
            - document_counts["without_passage"]
            - len(used_documents),
            "used": len(used_documents),
            "used_in_another_dataset_too": len(used_documents & others),
        }
    return [BuiltRows(rows[d.name], _labels(d, rows[d.name]), counts[d.name]) for d in datasets]


def _labels(dataset: PassageDataset, rows: Rows) -> list[str]:
    """Return the classes: those of the task, or else those of the rows."""
    return list(dataset.task.labels) or sorted({r["label"] for part in rows.values() for r in part})


def _available_passages(
    dataset: PassageDataset,
    passages: Sequence[Passage],
    owner: dict[str, str],
    datasets: Sequence[PassageDataset],
) -> list[Passage]:
    """Return the passages that a dataset may take, in the order in which it takes them."""
    lenders = {d.name for d in datasets if d.task.lends_documents}
    owners = {dataset.name, *(lenders if dataset.name in lenders else ())}
    ordered = in_keyed_order(passages, dataset.draw, "select")
    available = [p for p in ordered if owner[p.document_id] in owners]
    return sorted(available, key=lambda p: owner[p.document_id] != dataset.name)


def _collect_passages(
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
    needed = {
        d.name: {s: SPARE * d.quota(s) * d.task.documents_per_row for s in SPLITS} for d in datasets
    }
    max_held = {d.name: 2 * SPARE * sum(d.rows) for d in datasets}
    for record in records:
        for d in datasets:
            found_passages = d.task.passages(record, d.draw)
            finished = found_passages
            # An unfinished sentence, whose full stop was lost, reveals its place.
            if d.options.get("unfinished") != "taken":
                finished = [
                    p
                    for p in found_passages
                    if all(is_finished(s, d.language, also=":") for s in p.sentences)
                ]
            count = counts[d.name]
            count["documents"]["read"] += 1
            count["documents"]["without_passage"] += not found_passages
            count["passages"]["found"] += len(found_passages)
            count["passages"]["unfinished_sentence"] += len(found_passages) - len(finished)
            passages[d.name] += finished
            if len(passages[d.name]) > max_held[d.name]:
                passages[d.name] = first_ranks(passages[d.name], needed[d.name])
                max_held[d.name] = 2 * max(len(passages[d.name]), SPARE * sum(d.rows))
    return {d.name: first_ranks(passages[d.name], needed[d.name]) for d in datasets}, counts


def _build_passage_rows(
    dataset: PassageDataset, passages: Sequence[Passage]
) -> tuple[Rows, list[Passage]]:
    """Return the rows of a dataset and the passages that they were made of."""
    by_id = {passage.id: passage for passage in passages}
    rows: Rows = {}
    used: dict[str, Passage] = {}
    ids = set[str]()
    for split, quota, further, available in _split_passages(dataset, passages):
        part_rows = dataset.task.instances(available, dataset.draw, quota)
        for row in part_rows:
            _validate_row(row, dataset)
            source = by_id[row.pop("passage")]
            row.setdefault("id", source.id)
            if row["id"] in ids:
                todo = "a passage that gives several rows: let `instances` give each an `id` too"
                expected, found = "rows with ids of their own", f"two with the id {row['id']}"
                raise InputError(dataset.in_words, expected, found, todo)
            ids.add(row["id"])
            row |= {"document_id": source.document_id, **further}
            for name in (source.id, row.get("donor_id")):
                if name is not None:
                    used[name] = by_id[name]
        rows.setdefault(split, []).extend(part_rows)
    return rows, list(used.values())


def _split_passages(
    dataset: PassageDataset, passages: Sequence[Passage]
) -> list[tuple[Split, int, dict[str, int], list[Passage]]]:
    """Return the splits, or the folds, with their quotas, further columns and passages."""
    if not dataset.folds:
        return [(s, dataset.quota(s), {}, [p for p in passages if p.split == s]) for s in SPLITS]
    documents = sorted(
        {p.document_id for p in passages}, key=lambda name: dataset.draw.hash(name, "fold")
    )
    n_folds = max(MIN_FOLDS, min(N_FOLDS, len(documents) // DOCUMENTS_PER_FOLD))
    fold_of = {name: rank % n_folds for rank, name in enumerate(documents)}
    quota = dataset.quota("train") // n_folds
    return [
        ("train", quota, {"fold": fold}, [p for p in passages if fold_of[p.document_id] == fold])
        for fold in range(n_folds)
    ]


def _check_folds(dataset: PassageDataset, passages: Sequence[Passage], corpus: Corpus) -> None:
    """Raise a ParamsError if documents have splits of their source: these are kept."""
    for p in passages:
        if p.split != decide_split(corpus.seed, corpus.name, p.document_id):
            where = f"{corpus.where}.datasets.{dataset.name}.folds"
            found = f"document {p.document_id}, which its source puts into {p.split}"
            todo = "remove `folds`: whoever compares scores needs the published split"
            raise ParamsError(where, "documents without a split of their source", found, todo)


def _validate_row(row: Mapping[str, Any], dataset: PassageDataset) -> None:
    """Refuse a row that ``instances`` returned if it lacks what its task declares, or has more."""
    texts = {text.natural: text.count for text in dataset.task.texts}
    needed = ["passage", "label", *texts]
    found = [f"no {name}" for name in needed if name not in row]
    undeclared = sorted(row.keys() - {"passage", *dataset.columns()})
    found += [f"{name}, which is not declared" for name in undeclared]
    for name in sorted(texts.keys() & row.keys()):
        n_texts = 1 if isinstance(row[name], str) else len(row[name])
        found += [f"{n_texts} texts in {name}"] if texts[name] not in (None, n_texts) else []
    if found:
        expected = f"rows of `instances` with {', '.join(needed)}, and what its task declares"
        todo = f"mend builders/tasks/{dataset.task.name}.py: `instances`, `texts` or `provenance`"
        raise InputError(dataset.in_words, expected, ", ".join(found), todo)


def _count_donors(rows: Rows, passages: Sequence[Passage]) -> dict[str, int]:
    """Count the donors, and those that violate the requested policy; empty without donors."""
    by_id = {passage.id: passage for passage in passages}
    pairs = [
        (by_id[row["id"]], by_id[row["donor_id"]])
        for split_rows in rows.values()
        for row in split_rows
        if row.get("donor_id") is not None
    ]
    if not pairs:
        return {}
    return {
        "used": len(pairs),
        "of_the_same_document": sum(a.document_id == b.document_id for a, b in pairs),
        "without_shared_topic": sum(set(a.topics).isdisjoint(b.topics) for a, b in pairs),
    }


# Kind of dataset to the function that makes the rows from the records of the corpus.
ROW_BUILDERS: dict[type[Dataset], Callable[[Sequence[Any], Path, Corpus], Iterable[BuiltRows]]] = {
    PassageDataset: passage_rows,
    ExampleDataset: example_rows,
    Dataset: relation_rows,
    TreebankDataset: treebank_rows,
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
        faults: gets the datasets that lack rows or a feature, which are skipped; None to raise the
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
    results = ROW_BUILDERS[type(datasets[0])](datasets, records, corpus) if datasets else ()
    with whole_folder(out) as folder:
        report = {}
        for dataset, result in zip(datasets, results, strict=True):
            _drop_unlearnt_classes(dataset, result)
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


def _drop_unlearnt_classes(dataset: Dataset, built: BuiltRows) -> None:
    """Leave out tested documents with a class that no row has which a probe learns from."""
    if dataset.task.target != "label" or not dataset.task.trained:
        return
    train = built.rows.get("train", [])
    tested: Split = "train" if any("fold" in row for row in train) else "test"
    folds_of_class: dict[Any, set[int]] = {}
    for row in train:
        folds_of_class.setdefault(row["label"], set()).add(row.get("fold", 0))
    min_folds = 2 if tested == "train" else 1
    rows = built.rows.get(tested, [])
    unlearnt_documents = {
        row["document_id"] for row in rows if len(folds_of_class.get(row["label"], ())) < min_folds
    }
    if unlearnt_documents:
        built.rows[tested] = [row for row in rows if row["document_id"] not in unlearnt_documents]
        built.counts["tested_documents"] = {"class_never_learnt": len(unlearnt_documents)}


def _check_sizes(dataset: Dataset, built: BuiltRows) -> None:
    """Raise an InputError unless every split or fold has enough rows for a probe."""
    if built.fault:
        raise built.fault
    # Two classes need two rows; each cluster is scored alone.
    min_rows = 1 if dataset.task.target == "neighbours" else 2
    sizes = Counter({str(split): len(rows) for split, rows in built.rows.items()})
    min_parts, part = 1, "split"
    if sizes.keys() == {"train"}:
        sizes = Counter(f"fold {row['fold']}" for row in built.rows["train"])
        min_parts, part = MIN_FOLDS, f"of {MIN_FOLDS} folds or more"
    if len(sizes) >= min_parts and min(sizes.values()) >= min_rows:
        return
    found = ", ".join(f"{name} {size} rows" for name, size in sorted(sizes.items())) or "none"
    todo = built.todo
    if isinstance(dataset, PassageDataset):
        todo = "take more or longer documents, or give the corpus fewer datasets: they share them"
    expected = f"{min_rows} rows or more in each {part}; a row needs {dataset.task.needs}"
    kind = SmallSample if dataset.sample else InputError
    raise kind(dataset.in_words, expected, f"{found}; {describe(built.counts)}", todo)


def _check_donors(dataset: Dataset, built: BuiltRows) -> None:
    """Raise an InputError if most donors are of their row's document, as with few documents."""
    donors = built.counts.get("donors", {})
    n_same_document, n_used = donors.get("of_the_same_document", 0), donors.get("used", 0)
    if dataset.sample or 2 * n_same_document <= n_used:
        return
    expected = "at least half of the donors from another document than their row"
    n_documents = built.counts["documents"]["used"]
    found = f"{n_used - n_same_document:,} of {n_used:,}; {n_documents:,} documents are used"
    todo = "read more documents: each split needs several"
    raise InputError(dataset.in_words, expected, found, todo)
