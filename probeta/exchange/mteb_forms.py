"""Probeta's datasets in the forms of mteb's tasks. This file goes to mteb as it is.

Rows are chosen by the hash of their ids, so that everybody tests the same ones, in one order. Rows
with texts that occurred before are left out, and so are training texts that are tested too. The
tasks have mteb's own measures: scores differ from those of Probeta's probes.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from hashlib import sha256
from typing import Any

from datasets import Dataset, DatasetDict, load_dataset
from mteb.abstasks import (
    AbsTaskClassification,
    AbsTaskPairClassification,
    AbsTaskRetrieval,
    AbsTaskSTS,
)

# The most rows, or queries, that are tested, and the shortest text of a class, in characters.
TESTED = 2048
SHORTEST = 4


def _chosen(
    rows: Dataset,
    keys: Sequence[Hashable],
    most: int | None = None,
    taken: Collection[Hashable] = (),
) -> Dataset:
    """Return the first row of each key that is not taken, and at most some, by hash of the id."""
    ids = rows["id"]
    found: dict[Hashable, int] = {}
    for row in sorted(range(len(keys)), key=lambda row: sha256(ids[row].encode()).digest()):
        if keys[row] not in taken:
            found.setdefault(keys[row], row)
    return rows.select(list(found.values())[:most])


class ProbetaClassification(AbsTaskClassification):  # type: ignore[misc]
    """Texts with a class; of several texts, the encoder gets one, in which they are joined.

    Attributes:
        columns: those of the texts.
        between: what is between two texts.
    """

    dataset: Any
    columns: tuple[str, ...]
    between: str

    def dataset_transform(self, num_proc: int | None = None, **_: Any) -> None:
        """Choose the rows; of those with folds, which keep documents together, half are tested."""
        train = self.dataset["train"]
        if "fold" in train.column_names:
            folds = train["fold"]
            tested = (max(folds) + 1) // 2
            test = train.select([row for row, fold in enumerate(folds) if fold < tested])
            train = train.select([row for row, fold in enumerate(folds) if fold >= tested])
        else:
            test = self.dataset["test"]
        test, train = self._joined(test), self._joined(train)
        test = _chosen(test, test["text"], TESTED)
        train = _chosen(train, train["text"], taken={*test["text"]})
        self.dataset = DatasetDict(train=train, test=test)

    def _joined(self, rows: Dataset) -> Dataset:
        columns = [
            [text if isinstance(text, str) else self.between.join(text) for text in rows[column]]
            for column in self.columns
        ]
        texts = [self.between.join(cells) for cells in zip(*columns, strict=True)]
        kept = rows.select_columns(["id", "label"]).add_column("text", texts)
        return kept.select([row for row, text in enumerate(texts) if len(text) >= SHORTEST])


class ProbetaPairClassification(AbsTaskPairClassification):  # type: ignore[misc]
    """Pairs of one of two classes, the second of which makes them alike; others are left out.

    Attributes:
        classes: the two classes.
    """

    dataset: Any
    classes: tuple[str, str]

    def dataset_transform(self, num_proc: int | None = None, **_: Any) -> None:
        """Choose the rows, and number their classes."""
        test = self.dataset["test"]
        names = test.features["label"].names
        numbers = {names.index(name): number for number, name in enumerate(self.classes)}
        test = test.select([row for row, label in enumerate(test["label"]) if label in numbers])
        test = test.add_column("labels", [numbers[label] for label in test["label"]])
        keys = [*zip(test["sentence1"], test["sentence2"], strict=True)]
        self.dataset = DatasetDict(test=_chosen(test, keys, TESTED))


class ProbetaSTS(AbsTaskSTS):  # type: ignore[misc]
    """Pairs with a score."""

    dataset: Any

    def dataset_transform(self, num_proc: int | None = None, **_: Any) -> None:
        """Choose the rows."""
        test = self.dataset["test"]
        # In either order.
        keys = [*map(frozenset, zip(test["sentence1"], test["sentence2"], strict=True))]
        self.dataset = DatasetDict(test=_chosen(test, keys, TESTED))


class ProbetaRetrieval(AbsTaskRetrieval):  # type: ignore[misc]
    """Texts whose paraphrases, synonyms, or fellow words of a paradigm are to be found.

    The queries are documents too; none finds itself.
    """

    ignore_identical_ids = True
    data_loaded: bool = False

    def load_data(self, num_proc: int | None = None, **_: Any) -> None:
        """Read the rows, and make queries, corpus and judgements of them."""
        if not self.data_loaded:
            self.dataset = load_dataset(**self.metadata.dataset, num_proc=num_proc)
            self.dataset_transform()
            self.data_loaded = True

    def dataset_transform(self, num_proc: int | None = None, **_: Any) -> None:
        """Make queries, corpus and judgements; a term of several clusters has all their terms."""
        rows = self.dataset["test"]
        if "terms" in rows.column_names:
            others: defaultdict[str, set[str]] = defaultdict(set)
            for cluster in rows["terms"]:
                for term in cluster:
                    others[term] |= {*cluster} - {term}
            terms = sorted(others)
            corpus = Dataset.from_dict({"id": terms, "text": terms})
        else:
            others = defaultdict(set, zip(rows["id"], map(set, rows["positives"]), strict=True))
            corpus = rows.select_columns(["id", "text"])
        found = {query: dict.fromkeys(sorted(found), 1) for query, found in others.items() if found}
        queries = corpus.select([row for row, name in enumerate(corpus["id"]) if name in found])
        queries = _chosen(queries, queries["id"], TESTED)
        judged = {query: found[query] for query in queries["id"]}
        test = {"queries": queries, "corpus": corpus, "relevant_docs": judged, "top_ranked": None}
        self.dataset = {"default": {"test": test}}
