"""The Markdown of a package: its card, the page of each dataset, and the licences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from builders.auditing.markdown import render
from builders.auditing.report import SMALL_TEST, VERY_SMALL_TEST
from builders.auditing.standard_errors import ERRORS, standard_error
from builders.plan.datasets import Dataset, ExampleDataset
from builders.plan.origins import Origin, licence_id, missing_parts
from builders.plan.rankings import RankingDataset
from builders.sampling.folds import FOLDS
from builders.store.shards import describe
from builders.tasks import TASKS, ranking
from builders.tasks.task import Answer, Column, Kind, Task
from corpora_recipes.escaping import one_line
from corpora_recipes.facts import CollectionFacts
from corpora_recipes.records import SPLITS, Split

_CATEGORIES: dict[Answer, str] = {
    "label": "text-classification",
    "score": "sentence-similarity",
    "neighbours": "sentence-similarity",
}
CARD = Path(__file__).with_name("card.md.jinja")
DATASET = Path(__file__).with_name("dataset.md.jinja")
LICENCES = Path(__file__).with_name("licences.md.jinja")
_TYPES: dict[Kind, str] = {
    "string": "string",
    "strings": "list of strings",
    "integer": "int64",
    "number": "float64",
}
# A dataset's page lists up to so many classes; of more it states only the number.
LISTED_CLASSES = 40
# The Hub's identifiers of the licences that corpora have (its documentation, "Licenses").
HUB_LICENCES = (
    "apache-2.0",
    "bsd-3-clause",
    "cc-by-2.0",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-sa-3.0",
    "cc-by-nc-sa-4.0",
    "cc-by-sa-3.0",
    "cc-by-sa-4.0",
    "cc0-1.0",
    "gfdl",
    "mit",
)
GATED = (
    "Some of these texts may not be redistributed without permission: {}. By asking for access you "
    "state that their publishers have given you the permission to use them."
)


@dataclass(frozen=True, slots=True)
class Config:
    """A dataset of the package, with the facts for its card.

    Attributes:
        dataset: its entry in params.yaml.
        origins: the corpora of its texts.
        sources: for a ranking, collection to its part of the report of `compose`.
        window: between which days its documents were made, the fields of a ``Window``; None if it
            is not limited.
        columns: name to column.
        labels: names of the classes; empty if rows have no label.
        rows: split to the number of rows.
        num_bytes: split to the size in memory.
        download_size: of the files.
        content: split to the hash of the content.
        counts: the numbers of documents and passages by outcome, from `build`.
        audit: its part of the audit's report.
        changes: version to its changes, the latest first.
    """

    dataset: Dataset
    origins: Sequence[Origin]
    sources: Mapping[str, Mapping[str, Any]]
    window: Mapping[str, Any] | None
    columns: Mapping[str, Column]
    labels: list[str]
    rows: dict[str, int]
    num_bytes: dict[str, int]
    download_size: int
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
        return self.rows["train" if "fold" in self.columns else "test"]

    @property
    def standard_error(self) -> float:
        """The largest standard error of an accuracy on it."""
        return standard_error(0.5, self.asked)

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
    def pairs(self) -> list[str]:
        """The collections that a ranking takes its pairs from."""
        return list(self.parts["pairs"])

    @property
    def background(self) -> list[str]:
        """The background collections of a ranking; empty if they are those of its pairs."""
        return list(self.parts["background"])

    @property
    def vocabulary(self) -> str:
        """The corpus whose most frequent words a ranking contains, or ""."""
        return str(self.parts["vocabulary"])

    @property
    def is_scored(self) -> bool:
        """Whether some pairs of a ranking have scores."""
        return any(self.sources[name]["lowest_score"] is not None for name in self.pairs)

    @property
    def missing(self) -> list[str]:
        """The parts of its sources with far too few examples; empty for samples."""
        if self.dataset.sample:
            return []
        if self.is_ranking:
            return [
                f"{name} ({part})"
                for name, found in self.sources.items()
                for part in found["missing_parts"]
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
    def citations(self) -> list[str]:
        """What to cite: its corpora, and for a ranking also the method."""
        texts = [" ".join(origin.corpus.facts.citation.split()) for origin in self.origins]
        texts += [ranking.CITATION] * self.is_ranking
        return [text for text in dict.fromkeys(texts) if text]

    def shown_rows(self, split: Split) -> str:
        """Return the number of rows of a split, for the card."""
        if split not in self.rows:
            return "–"
        return f"{self.rows[split]:,}" + (f" ({FOLDS} folds)" if "fold" in self.columns else "")


def card(
    configs: Sequence[Config],
    missing: Sequence[str] = (),
    failed: Sequence[str] = (),
    asked: int = 0,
) -> str:
    """Return the README.md of a package.

    Args:
        configs: its datasets.
        missing: names of datasets that are left out because their corpora must be asked for.
        failed: names of those that are left out for a fault.
        asked: number of datasets that language models can be asked, see ``write_tasks``.
    """
    restricted = [config.dataset.name for config in configs if config.is_restricted]
    # A mapping or list without others in it takes one line.
    style: dict[str, Any] = {"default_flow_style": None, "sort_keys": False, "width": 1000}
    header = yaml.safe_dump(_header(configs, restricted), allow_unicode=True, **style)
    used = dict.fromkeys(config.task.name for config in configs)
    return render(
        CARD,
        {
            "header": header,
            "configs": configs,
            "missing": missing,
            "failed": failed,
            "asked": asked,
            "restricted": restricted,
            "tasks": [TASKS[name] for name in used],
            "sample": any(config.dataset.sample for config in configs),
            "audits": {config.dataset.name: config.audit for config in configs},
            "errors": ERRORS,
        },
    )


def dataset_page(config: Config) -> str:
    """Return the README.md of a dataset's folder: columns, construction, audit, changes."""
    facts = {
        "config": config,
        "types": _TYPES,
        "small_test": SMALL_TEST,
        "very_small_test": VERY_SMALL_TEST,
        "folds": FOLDS,
        "listed_classes": LISTED_CLASSES,
    }
    return render(DATASET, facts)


def licences(configs: Sequence[Config]) -> str:
    """Return the LICENSE.md of a package: licences, sources, citations, and personal data."""
    method = ranking.CITATION if any(config.is_ranking for config in configs) else ""
    return render(LICENCES, {"configs": configs, "sources": _sources(configs), "method": method})


def _header(configs: Sequence[Config], restricted: Sequence[str]) -> dict[str, Any]:
    total = sum(sum(config.rows.values()) for config in configs)
    gate = {"extra_gated_prompt": GATED.format(", ".join(restricted))} if restricted else {}
    return {
        "language": sorted({config.dataset.language for config in configs}),
        **_licence(configs),
        # Shown if access is gated in the settings of the repository.
        **gate,
        "pretty_name": "Probeta",
        "task_categories": _task_categories(configs),
        "source_datasets": _source_datasets(configs),
        "size_categories": [_size_category(total)],
        "tags": ["sentence-embeddings", "discourse", "probing", "benchmark"],
        "configs": [
            {
                "config_name": config.dataset.name,
                "data_files": [
                    {"split": split, "path": f"{config.dataset.name}/{split}-*"}
                    for split in config.rows
                ],
                **({"default": True} if index == 0 else {}),
            }
            for index, config in enumerate(configs)
        ],
        "dataset_info": [_info(config) for config in configs],
    }


def _licence(configs: Sequence[Config]) -> dict[str, Any]:
    """Return the licences of all texts as the Hub names them, or a link if it cannot."""
    names = {licence_id(origin.licence) for config in configs for origin in config.origins}
    if names <= set(HUB_LICENCES):
        return {"license": sorted(names)}
    return {"license": "other", "license_name": "several", "license_link": "LICENSE.md"}


def _task_categories(configs: Sequence[Config]) -> list[str]:
    categories = {_CATEGORIES[config.task.target] for config in configs}
    return sorted(categories | {"text-ranking" for config in configs if config.is_ranking})


def _source_datasets(configs: Sequence[Config]) -> list[str]:
    """Return "original" for rows that are made here, and the sets of examples that are taken."""
    taken = {
        f"extended|other-{origin.corpus.recipe}"
        for config in configs
        for origin in config.origins
        if origin.corpus.facts.records == "examples"
    }
    made = any(origin.corpus.facts.records != "examples" for c in configs for origin in c.origins)
    return ["original"] * made + sorted(taken)


def _info(config: Config) -> dict[str, Any]:
    # Without features: they are in the files, and a thousand classes would take half of the card.
    return {
        "config_name": config.dataset.name,
        "description": config.summary,
        "splits": [
            {"name": s, "num_bytes": config.num_bytes[s], "num_examples": config.rows[s]}
            for s in config.rows
        ],
        "download_size": config.download_size,
        "dataset_size": sum(config.num_bytes.values()),
    }


def _size_category(rows: int) -> str:
    bounds = [
        (1_000, "n<1K"),
        (10_000, "1K<n<10K"),
        (100_000, "10K<n<100K"),
        (1_000_000, "100K<n<1M"),
    ]
    return next((name for bound, name in bounds if rows < bound), "1M<n<10M")


def _sources(configs: Sequence[Config]) -> list[dict[str, Any]]:
    """Return each corpus once, sorted by name: its facts, its datasets, whether it is a sample."""
    found: dict[str, list[tuple[Config, Origin]]] = {}
    for config in configs:
        for origin in config.origins:
            found.setdefault(origin.corpus.facts.name, []).append((config, origin))
    return [
        {
            "facts": held[-1][1].corpus.facts,
            "datasets": [config.dataset.name for config, _ in held],
            "sample": any(origin.sample for _, origin in held),
        }
        for _, held in sorted(found.items())
    ]
