"""The rows of datasets that are made of the sentences of treebanks."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders.plan.datasets import TreebankDataset
from builders.plan.origins import SAMPLE_LICENCE
from builders.sampling.candidates import Candidate, balanced, in_folds, with_drawn_classes
from builders.sampling.folds import MIN_FOLDS, N_FOLDS
from builders.sampling.tree import Tree, WordCounts
from builders.store.record_files import read_records
from builders.store.shards import Made, Rows
from builders.tasks.task import TreebankTask
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import ParsedSentence
from corpora_recipes.running.errors import InputError

# The share of words with the feature below which a treebank is taken to lack it.
LEAST_WITH_FEATURE = 0.5
# A small dataset has fewer folds than ``N_FOLDS``, so that each has rows of all classes.
ROWS_A_FOLD = 20
_ADDRESS = re.compile(r"https?:|www\.|\S@\S")


class _Gathered:
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


def treebank_rows(datasets: Sequence[TreebankDataset], records: Path, corpus: Corpus) -> list[Made]:
    """Return the rows of each dataset; a sentence gives one row of each at most."""
    gathered = [_Gathered(dataset) for dataset in datasets]
    read = 0
    for record in read_records(records, corpus.facts.records):
        assert isinstance(record, ParsedSentence)
        tree = Tree(record)
        read += 1
        for sentences in gathered:
            sentences.add(tree)
    return [_made(sentences, read) for sentences in gathered]


def _made(sentences: _Gathered, read: int) -> Made:
    task, draw = sentences.dataset.task, sentences.dataset.draw
    if fault := _fault(sentences):
        return Made({}, [], {"sentences": {"read": read}}, fault)
    found = sentences.candidates
    settled = task.settle(found, sentences.counts, draw) if task.settle else found
    classes = {candidate.label for candidate in settled}
    unknown = classes - {"", *(task.labels or classes)}
    assert not unknown, f"{task.name}: candidates of {sorted(unknown)}, not in {task.labels}"

    def chosen(candidates: Sequence[Candidate], labels: Sequence[str]) -> list[Candidate]:
        if task.unchanged:
            return with_drawn_classes(candidates, labels, draw)
        return balanced(candidates, labels, draw, by_length=task.by_length)

    labels = list(task.labels) or sorted(classes)
    most = len(chosen(settled, labels))
    number = max(MIN_FOLDS, min(N_FOLDS, most // ROWS_A_FOLD, most // max(len(labels), 1)))
    dealt = in_folds(settled, number, draw, by_length=task.by_length)
    if not task.labels:
        of_folds = [{c.label for c in dealt if c.fold == fold} for fold in range(number)]
        labels = sorted(set.intersection(*of_folds))
    rows = chosen(dealt, labels) if len(labels) > 1 else []
    counts = {
        "read": read,
        **dict(sorted(sentences.left_out.items())),
        "not_asked_for": len(found) - len(settled),
        "form_of_another_fold": len(settled) - len(dealt),
        "beyond_balance": len(dealt) - len(rows),
        "used": len(rows),
    }
    sample = sentences.dataset.sample
    made: Rows = {"train": [_row(candidate, task, sample=sample) for candidate in rows]}
    return Made(made, labels, {"sentences": counts})


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


def _fault(sentences: _Gathered) -> InputError | None:
    """Return the error of a feature that the treebanks lack for a dataset, with the counts."""
    dataset, having = sentences.dataset, len(sentences.candidates)
    task = dataset.task
    lacking = sentences.left_out[f"without_{task.feature.lower()}"]
    total = having + lacking
    if lacking and having < LEAST_WITH_FEATURE * total:
        found = f"only {having:,} of {total:,} {task.carrier} have the feature {task.feature}"
        todo = f"remove {dataset.name} from this entry, or read other treebanks"
        return InputError(dataset.in_words, "a dataset that the treebanks can give", found, todo)
    return None
