"""A dataset of a package, with the facts that its descriptions state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.plan.datasets import Dataset, ExampleDataset
from builders.plan.origins import Origin, missing_parts
from builders.plan.rankings import RankingDataset
from builders.store.shards import describe
from builders.tasks import ranking
from builders.tasks.differences import differences_of
from builders.tasks.task import Column, Task
from corpora_recipes.escaping import one_line
from corpora_recipes.facts import CollectionFacts
from corpora_recipes.records import SPLITS, Split

# Descriptions list up to so many classes; of more they state only the number.
LISTED_CLASSES = 40


@dataclass(frozen=True, slots=True)
class Config:
    """A dataset of the package, with the facts for its card.

    Attributes:
        sources: for a ranking, collection to its part of the report of `compose`.
        window: between which days its documents were made, the fields of a ``Window``; None if it
            is not limited.
        folds: number of folds; 0 if it has splits.
        labels: names of the classes; empty if rows have no label.
        first_row: of its first split, column to value.
        counts: the numbers of documents and passages by outcome, from `build`.
        changes: version to its changes, the latest first.
    """

    dataset: Dataset
    origins: Sequence[Origin]
    sources: Mapping[str, Mapping[str, Any]]
    window: Mapping[str, Any] | None
    folds: int
    columns: Mapping[str, Column]
    labels: list[str]
    first_row: Mapping[str, Any]
    rows: dict[str, int]
    content: dict[str, str]
    counts: dict[str, dict[str, int]]
    audit: dict[str, Any]
    changes: Mapping[str, str]

    @property
    def task(self) -> Task:
        """Its task."""
        return self.dataset.task

    @property
    def is_ranking(self) -> bool:
        """Whether it was composed of pairs and a background."""
        return isinstance(self.dataset, RankingDataset)

    @property
    def is_restricted(self) -> bool:
        """Whether some of its texts may not be redistributed without permission."""
        return any(
            not origin.corpus.facts.redistributable and not origin.sample for origin in self.origins
        )

    @property
    def facts(self) -> CollectionFacts | None:
        """Facts of its collection from corpus.yaml; None if it is not made of examples."""
        return self.dataset.facts if isinstance(self.dataset, ExampleDataset) else None

    @property
    def asked(self) -> int:
        """The number of rows an encoder is scored on: those of test, or of all folds.

        For a ranking, the number of groups of paraphrases.
        """
        if self.is_ranking:
            return self.counts["texts"]["groups_of_positives"]
        return self.rows["train" if self.folds else "test"]

    @property
    def title(self) -> str:
        """The name of its corpus, or the names of its corpora, for readers."""
        return " + ".join(origin.title for origin in self.origins)

    @property
    def summary(self) -> str:
        """Its group of tasks and its title, on one line."""
        return one_line(f"{self.task.group.title}: {self.title}")

    @property
    def answers(self) -> str:
        """The number of classes, pairs or clusters, or the range of the scores."""
        if self.is_ranking:
            return f"{self.counts['pairs']['used']:,} pairs"
        if self.task.target == "neighbours":
            return f"{self.rows['test']:,} clusters"
        if self.task.target == "label":
            return f"{len(self.labels):,} classes"
        assert self.facts is not None
        assert self.facts.scale is not None
        lowest, highest = self.facts.scale
        return f"score {lowest} … {highest}"

    @property
    def spellings(self) -> dict[str, list[str]]:
        """Class to its spellings in the source; empty if corpus.yaml does not list them."""
        spelt: dict[str, list[str]] = {name: [] for name in self.labels}
        labels = self.facts.labels if self.facts else None
        for spelling, name in (labels or {}).items():
            spelt[name].append(spelling)
        return spelt if labels else {}

    @property
    def source_parts(self) -> list[Split]:
        """The parts that the source has."""
        return [part for part in SPLITS if part in self.counts["source_parts"]]

    @property
    def parts(self) -> dict[str, Any]:
        """The corpora and collections that a ranking is made of; empty for other datasets."""
        return self.dataset.parts if isinstance(self.dataset, RankingDataset) else {}

    @property
    def is_scored(self) -> bool:
        """Whether some pairs of a ranking have scores."""
        return any(self.sources[name]["lowest_score"] is not None for name in self.parts["pairs"])

    @property
    def missing(self) -> list[str]:
        """The parts of its sources with far too few examples; empty for samples."""
        if self.dataset.sample:
            return []
        if self.is_ranking:
            return [
                f"{name} ({part})"
                for name, source in self.sources.items()
                for part in source["missing_parts"]
            ]
        return missing_parts(self.facts, self.counts["source_parts"]) if self.facts else []

    @property
    def notable(self) -> list[dict[str, Any]]:
        """The measurements of the audit that have no limit or are beyond it, and all baselines."""
        return [
            check
            for check in self.audit["checks"]
            if check["limit"] is None or check["verdict"] != "pass" or check["gate"] == "baselines"
        ]

    @property
    def described(self) -> str:
        """The counts of documents, passages or pairs, in words."""
        return describe(self.counts)

    @property
    def differences(self) -> list[str]:
        """How it departs from the dataset of a paper, and why."""
        return differences_of(self.dataset.name, self.task.name, self.audit["benchmark"])

    @property
    def citations(self) -> list[str]:
        """What to cite: its corpora, and for a ranking also the method."""
        texts = [" ".join(origin.corpus.facts.citation.split()) for origin in self.origins]
        texts += [ranking.CITATION] if self.is_ranking else []
        return [text for text in dict.fromkeys(texts) if text]
