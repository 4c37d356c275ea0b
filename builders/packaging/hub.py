"""The `package` command: all instances in one folder for the Hub and `datasets`."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from builders.auditing.report import read_audit
from builders.packaging.card import Config, card, licences
from builders.packaging.croissant import croissant
from builders.plan.datasets import Dataset
from builders.plan.groups import BuildGroup
from builders.plan.rankings import RankingDataset
from builders.store.schema import about_of, labels_of
from builders.store.shards import datasets_in, digests
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder

# Dataset to version to changes, for the datasets that the project publishes.
CHANGES = Path(__file__).with_name("dataset_changes.yaml")


def package(groups: Sequence[BuildGroup], instances: Path, audit: Path, out: Path) -> None:
    """Copy the instances of all datasets to ``out``, one folder per dataset, with a dataset card.

    Beside the card (README.md) there are LICENSE.md, croissant.json (the same facts in MLCommons'
    vocabulary) and audit.json. The card shows the misses of the audit; they are not errors here.

    Args:
        groups: the datasets to package.
        instances: where `build` and `compose` wrote: ``instances/<corpus or
            ranking>/<dataset>/<split>-….parquet``.
        audit: the audit.json of these instances.
        out: the folder to write; what it held before is replaced as a whole.

    Raises:
        InputError: a dataset of params.yaml has not been built or audited, or was built with other
            parameters, or its version is not in dataset_changes.yaml.
    """
    report = read_audit(audit)
    with whole_folder(out) as folder:
        for group in groups:
            for dataset in group.datasets:
                source = instances / group.name / dataset.name
                _check_built(dataset, source, group.name)
                shutil.copytree(source, folder / dataset.name)
        configs = _configs(groups, instances, report, folder)
        (folder / "README.md").write_text(card(configs), "utf-8")
        (folder / "LICENSE.md").write_text(licences(configs), "utf-8")
        text = json.dumps(croissant(configs, folder), ensure_ascii=False, indent=2)
        (folder / "croissant.json").write_text(text + "\n", "utf-8")
        audits = {config.dataset.name: config.audit for config in configs}
        text = json.dumps(report | {"datasets": audits}, ensure_ascii=False, indent=2)
        (folder / "audit.json").write_text(text + "\n", "utf-8")


def _check_built(dataset: Dataset, source: Path, entry: str) -> None:
    import pyarrow.parquet as pq

    shards = sorted(source.glob("*.parquet"))
    about = about_of(pq.read_schema(shards[0])) if shards else None
    if about != dataset.about():
        verb = "compose" if isinstance(dataset, RankingDataset) else "build"
        raise InputError(
            source,
            expected=f"the instances of {dataset.name} as params.yaml asks for them",
            found="none" if about is None else _differing(dataset.about(), about),
            todo=f"run `probeta {verb} {entry} …`, or `dvc repro`; to package some datasets only, "
            "pass --params with a file that has these alone",
        )


def _differing(expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Say which of the facts that are stored with the data differ."""
    keys = [key for key in {**expected, **found} if expected.get(key) != found.get(key)]
    return ", ".join(f"{key} {found.get(key)!r}, not {expected.get(key)!r}" for key in keys)


def _configs(
    groups: Sequence[BuildGroup], instances: Path, report: dict[str, Any], folder: Path
) -> list[Config]:
    import pyarrow.parquet as pq

    content: dict[str, dict[str, str]] = {}
    rows: dict[str, dict[str, int]] = {}
    for entry in digests(folder):
        content.setdefault(entry["config"], {})[entry["split"]] = entry["content"]
        rows.setdefault(entry["config"], {})[entry["split"]] = entry["rows"]
    shards: dict[str, dict[str, list[Path]]] = {}
    for name, split, found in datasets_in(folder):
        shards.setdefault(name, {})[split] = found
    configs = []
    for group in groups:
        if not group.datasets:
            continue
        built = json.loads((instances / group.name / "build.json").read_text("utf-8"))
        for dataset in group.datasets:
            name = dataset.name
            paths = shards[name]
            schema = pq.read_schema(next(iter(paths.values()))[0])
            counts = {
                unit: of
                for unit, of in built[name].items()
                if unit not in ("rows", "labels", "sources")
            }
            configs.append(
                Config(
                    dataset=dataset,
                    origins=group.origins,
                    sources=built[name].get("sources", {}),
                    columns={column: dataset.columns()[column] for column in schema.names},
                    labels=labels_of(schema),
                    rows=rows[name],
                    num_bytes={split: sum(map(_uncompressed, p)) for split, p in paths.items()},
                    download_size=sum(p.stat().st_size for part in paths.values() for p in part),
                    content=content[name],
                    counts=counts,
                    audit=_audited(report, name, content[name]),
                    changes=_changes(dataset),
                )
            )
    return configs


def _audited(report: dict[str, Any], name: str, content: dict[str, str]) -> dict[str, Any]:
    facts: dict[str, Any] | None = report["datasets"].get(name)
    if facts is None or facts.get("content") != content:
        raise InputError(
            f"audit.json: {name}",
            expected=f"the audit of the packaged rows, {content}",
            found="none" if facts is None else f"that of {facts.get('content')}",
            todo="run `probeta audit …` again, or `dvc repro`",
        )
    return facts


def _changes(dataset: Dataset) -> dict[str, str]:
    changes: dict[str, str] = yaml.safe_load(CHANGES.read_text("utf-8")).get(dataset.name, {})
    if changes and next(iter(changes)) != dataset.version:
        raise InputError(
            f"{CHANGES.name}: {dataset.name}",
            expected=f"the changes of version {dataset.version}, as the first entry",
            found=f"version {next(iter(changes))}",
            todo="add an entry with the version, the date and the changes",
        )
    return changes


def _uncompressed(path: Path) -> int:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
