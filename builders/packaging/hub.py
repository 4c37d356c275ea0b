"""The `package` command: all instances in one folder for the Hub and `datasets`."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.audit_report import read_audit
from builders.packaging.card import PAGES, card, dataset_page, licences
from builders.packaging.changes import dataset_changes, latest_date
from builders.packaging.config import Config
from builders.packaging.leaderboard import FACTS, eval_yaml
from builders.packaging.lm_eval import write_tasks
from builders.packaging.mteb_facts import mteb_facts
from builders.packaging.rows import Content, Digests, keep_rows, kept_rows, write_rows
from builders.plan.datasets import Dataset, ExampleDataset
from builders.plan.groups import BuildGroup
from builders.plan.making import benchmark_of, making_of
from builders.plan.rankings import RankingDataset
from builders.store.schema import about_of, labels_of
from builders.store.shards import NO_COUNTS, digest, opened, shards_in
from corpora_recipes.records import Split
from corpora_recipes.running.errors import OutputError
from corpora_recipes.running.left_out import LeftOut
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.outputs import whole_folder


def package(
    groups: Sequence[BuildGroup],
    instances: Path,
    audit: Path,
    out: Path,
    *,
    left_out: Mapping[str, LeftOut] | None = None,
    earlier: Path | None = None,
    hub: tuple[str, str] | None = None,
) -> int:
    """Write the instances of all datasets to ``out``, with tokens, and a dataset card.

    Each dataset is a folder of Parquet files alone, so that pandas reads it, and has a page in the
    folder docs. Beside the card (README.md) there are LICENSE.md, with licences and sources;
    audit.json, with the corpora and benchmarks of the datasets, the versions of what made the files
    ("made_by"), and the skipped datasets with the reason: their corpora must be asked for
    ("missing"), or they have a fault ("left_out"); eval.yaml, for the leaderboards of the Hub;
    mteb.json, from which tasks of mteb are made; and the folder lm_eval with the datasets as tasks
    of lm-evaluation-harness. The misses of the audit are shown on the pages; they are no errors.

    Args:
        groups: the datasets to package, of which there are all.
        instances: where `build` and `compose` wrote.
        audit: the audit.json of these instances.
        left_out: the datasets of params.yaml that are not among them, and why.
        earlier: the package whose rows the memory knows; what is unchanged is taken from there, and
            what it gets is remembered. None to take nothing. The result is the same.
        hub: the repository and the tag that it is to be published as, if any.

    Returns:
        The number of datasets whose rows are new.
    """
    report = read_audit(audit)
    digests: dict[str, Digests] = {}
    audits: dict[str, dict[str, Any]] = {}
    for group in groups:
        for dataset in group.datasets:
            source = instances / group.folder / dataset.name
            _check_built(dataset, source, group.name)
            of_splits = {split: digest(shards) for split, shards in shards_in(source).items()}
            digests[dataset.name] = of_splits
            corpora = [origin.corpus for origin in group.origins]
            audits[dataset.name] = _audited(report, dataset.name, of_splits) | {
                "title": " + ".join(origin.title for origin in group.origins),
                "benchmark": benchmark_of(dataset, corpora),
                "made": making_of(dataset, corpora),
            }
            if dataset.edition_of:
                audits[dataset.name]["edition_of"] = dataset.edition_of
            if isinstance(dataset, ExampleDataset) and dataset.facts.published:
                audits[dataset.name]["published"] = dataset.facts.published
    missing, failed = (
        {name: fate.why for name, fate in (left_out or {}).items() if fate.asked_for == asked_for}
        for asked_for in (True, False)
    )
    new: dict[str, Content] = {}
    with whole_folder(out) as folder:
        for group in groups:
            for dataset in group.datasets:
                name = dataset.name
                content = kept_rows(name, digests[name], earlier, folder) if earlier else None
                if content is None:
                    source = instances / group.folder / name
                    content = new[name] = write_rows(dataset, source, digests[name], folder)
                audits[name]["content"] = content
        configs = _configs(groups, instances, digests, audits, folder)
        asked = write_tasks(configs, folder, hub)
        made_by = {name: version(name) for name in ("probeta", "pyarrow", "spacy")}
        found = {"datasets": audits, "missing": missing, "left_out": failed, "made_by": made_by}
        pages = {
            "README.md": card(configs, list(missing), list(failed), asked),
            **{f"{PAGES}/{config.dataset.name}.md": dataset_page(config) for config in configs},
            "LICENSE.md": licences(configs),
            "eval.yaml": eval_yaml(_asked(configs)),
            "audit.json": _json(report | found),
            FACTS: _json(mteb_facts(configs, latest_date())),
        }
        # A dataset may have that name.
        (folder / PAGES).mkdir(exist_ok=True)
        for name, text in pages.items():
            (folder / name).write_text(text, "utf-8")
    if out == earlier:
        memo = Cache("tokens")
        for name, content in new.items():
            keep_rows(memo, name, digests[name], content, out)
        memo.prune(digests)
    return len(new)


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _check_built(dataset: Dataset, source: Path, entry: str) -> None:
    shards = sorted(source.glob("*.parquet"))
    about = about_of(pq.read_schema(shards[0])) if shards else None
    if about != (asked := dataset.about()):
        verb = "compose" if isinstance(dataset, RankingDataset) else "build"
        differing = (
            f"{key} {about.get(key)!r}, not {asked.get(key)!r}"
            for key in {**asked, **(about or {})}
            if about and asked.get(key) != about.get(key)
        )
        expected = f"the instances of {dataset.name} as params.yaml asks for them"
        todo = f"run `probeta {verb} --only {entry}`, or `probeta repro`"
        raise OutputError(source, expected, ", ".join(differing) or "none", todo)


def _configs(
    groups: Sequence[BuildGroup],
    instances: Path,
    digests: Mapping[str, Digests],
    audits: Mapping[str, dict[str, Any]],
    folder: Path,
) -> list[Config]:
    changes = dataset_changes()
    configs = []
    for group in groups:
        if not group.datasets:
            continue
        built = json.loads((instances / group.folder / "build.json").read_text("utf-8"))
        for dataset in group.datasets:
            name = dataset.name
            with opened(next(iter(shards_in(folder / name).values()))[0]) as file:
                schema = file.schema_arrow
                first = next(file.iter_batches(1)).to_pylist()[0]
            changed = changes.get(name, {})
            counts = {unit: of for unit, of in built[name].items() if unit not in NO_COUNTS}
            configs.append(
                Config(
                    dataset=dataset,
                    origins=group.origins,
                    sources=built[name].get("sources", {}),
                    window=built[name].get("window"),
                    folds=built[name]["folds"],
                    columns={column: dataset.columns()[column] for column in schema.names},
                    labels=labels_of(schema),
                    first_row=first,
                    rows={split: part["rows"] for split, part in digests[name].items()},
                    content=audits[name]["content"],
                    counts=counts,
                    audit=audits[name],
                    # None of a user's dataset of the same name, but version.
                    changes=changed if next(iter(changed), "") == dataset.version else {},
                )
            )
    return configs


def _asked(configs: Sequence[Config]) -> dict[str, Split]:
    """Return the datasets with a label or a score, and the split that encoders are scored on."""
    return {
        config.dataset.name: "train" if config.folds else "test"
        for config in configs
        if config.task.target != "neighbours"
    }


def _audited(report: Mapping[str, Any], name: str, digests: Digests) -> dict[str, Any]:
    facts: dict[str, Any] | None = report["datasets"].get(name)
    content = {split: part["content"] for split, part in digests.items()}
    if facts is None or facts.get("content") != content:
        found = "none" if facts is None else f"that of {facts.get('content')}"
        raise OutputError(f"audit.json: {name}", f"the audit of the instances, {content}", found)
    return dict(facts)
