"""The Markdown of a package: its card, the page of each dataset, and the licences."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from builders.audit_report import (
    DETECTABLE_AT_MOST,
    GATES,
    SMALL_TEST,
    SURFACE_FORM,
    VERDICTS,
    Verdict,
    detectable_of,
    verdict_of,
)
from builders.auditing.markdown import render
from builders.packaging.config import LISTED_CLASSES, Config
from builders.plan.origins import licence_id
from builders.statistics import ERRORS
from builders.tasks import ranking
from builders.tasks.task import Answer, Kind

_CATEGORIES: dict[Answer, str] = {
    "label": "text-classification",
    "score": "sentence-similarity",
    "neighbours": "sentence-similarity",
}
CARD = Path(__file__).with_name("card.md.jinja")
DATASET = Path(__file__).with_name("dataset.md.jinja")
LICENCES = Path(__file__).with_name("licences.md.jinja")
# The folder of the datasets' pages; in that of its files, pandas would take a page for data.
PAGES = "docs"
_TYPES: dict[Kind, str] = {
    "string": "string",
    "strings": "list of strings",
    "integer": "int64",
    "number": "float64",
}
# The Hub's identifiers of the licences that corpora have (its documentation, "Licenses").
HUB_LICENCES = {
    *("apache-2.0", "bsd-3-clause", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-4.0"),
    *("cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0"),
    *("gfdl", "mit"),
}
GATED = (
    "Some of these texts may not be redistributed without permission: {}. By asking for access you "
    "state that their publishers have given you the permission to use them."
)


def card(
    configs: Sequence[Config],
    missing: Sequence[str] = (),
    failed: Sequence[str] = (),
    asked: int = 0,
) -> str:
    """Return the README.md of a package.

    Args:
        missing: names of datasets that are left out because their corpora must be asked for.
        failed: names of those that are left out for a fault.
        asked: number of datasets that language models can be asked, see ``write_tasks``.
    """
    restricted = [config.dataset.name for config in configs if config.is_restricted]
    return render(
        CARD,
        {
            "header": _header(configs, restricted),
            "configs": configs,
            "groups": _grouped(configs),
            "languages": {config.dataset.language for config in configs},
            "rows": sum(sum(config.rows.values()) for config in configs),
            "missing": missing,
            "failed": failed,
            "asked": asked,
            "restricted": restricted,
            "sample": any(config.dataset.sample for config in configs),
            "found": _found(configs),
        },
    )


def dataset_page(config: Config) -> str:
    """Return the page of a dataset: question, classes, columns, construction, audit, changes."""
    facts = {
        **{"config": config, "types": _TYPES, "listed_classes": LISTED_CLASSES},
        "small_test": SMALL_TEST,
        "detectable": detectable_of(config.audit),
        "detectable_at_most": DETECTABLE_AT_MOST,
        "errors": ERRORS,
    }
    return render(DATASET, facts)


def licences(configs: Sequence[Config]) -> str:
    """Return the LICENSE.md of a package: licences, sources, citations, and personal data."""
    method = ranking.CITATION if any(config.is_ranking for config in configs) else ""
    return render(LICENCES, {"configs": configs, "sources": _sources(configs), "method": method})


def _grouped(configs: Sequence[Config]) -> dict[tuple[str, ...], list[Config]]:
    """Return the datasets of each group of tasks, language, title and licence."""
    groups: dict[tuple[str, ...], list[Config]] = {}
    for config in configs:
        about = (config.task.group.title, config.dataset.language, config.title)
        groups.setdefault((*about, config.dataset.licence), []).append(config)
    return groups


def _found(configs: Sequence[Config]) -> dict[tuple[str, Verdict], list[str]]:
    """Return the datasets of each gate and verdict that is worse than a pass."""
    found: dict[tuple[str, Verdict], list[str]] = {}
    for gate in GATES:
        for config in configs:
            verdict = verdict_of(config.audit["checks"], gate)
            if verdict in VERDICTS[VERDICTS.index(SURFACE_FORM) :]:
                found.setdefault((gate, verdict), []).append(config.dataset.name)
    return found


def _header(configs: Sequence[Config], restricted: Sequence[str]) -> str:
    """Return the head of the card, which is YAML."""
    total = sum(sum(config.rows.values()) for config in configs)
    gate = {"extra_gated_prompt": GATED.format(", ".join(restricted))} if restricted else {}
    head = {
        "language": sorted({config.dataset.language for config in configs}),
        **_licence(configs),
        # Shown if access is gated in the settings of the repository.
        **gate,
        "pretty_name": "Probeta",
        "task_categories": _task_categories(configs),
        "source_datasets": _source_datasets(configs),
        "size_categories": [_size_category(total)],
        "tags": ["sentence-embeddings", "discourse", "probing", "benchmark"],
    }
    listed = [
        {
            "config_name": (name := config.dataset.name),
            "data_files": [{"split": s, "path": f"{name}/{s}-*"} for s in config.rows],
            **({"default": True} if config is configs[0] else {}),
        }
        for config in configs
    ]
    # A key or a dataset takes one line.
    style: dict[str, Any] = {"sort_keys": False, "width": math.inf, "allow_unicode": True}
    lines = [yaml.safe_dump(head, default_flow_style=None, **style), "configs:\n"]
    lines += (f"- {yaml.safe_dump(one, default_flow_style=True, **style)}" for one in listed)
    return "".join(lines)


def _licence(configs: Sequence[Config]) -> dict[str, Any]:
    """Return the licences of all texts as the Hub names them, or a link if it cannot."""
    names = {licence_id(origin.licence) for config in configs for origin in config.origins}
    if names <= HUB_LICENCES:
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
    return ["original", *sorted(taken)] if made else sorted(taken)


def _size_category(rows: int) -> str:
    names = {1e3: "n<1K", 1e4: "1K<n<10K", 1e5: "10K<n<100K", 1e6: "100K<n<1M"}
    return next((name for bound, name in names.items() if rows < bound), "1M<n<10M")


def _sources(configs: Sequence[Config]) -> list[dict[str, Any]]:
    """Return each corpus once, sorted by name: its facts, its datasets, whether it is a sample."""
    sources: dict[str, dict[str, Any]] = {}
    for config in configs:
        for origin in config.origins:
            facts = origin.corpus.facts
            source = sources.setdefault(facts.name, {"datasets": [], "sample": False})
            source["facts"] = facts
            source["datasets"].append(config.dataset.name)
            source["sample"] |= origin.sample
    return [sources[name] for name in sorted(sources)]
