"""The stage `package`: all instances in one folder for the Hub and `datasets`."""

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import yaml

from builders.audit_report import (
    DETECTABLE_AT_MOST,
    GATES,
    SMALL_TEST,
    SURFACE_FORM,
    VERDICTS,
    Verdict,
    detectable_of,
    read_audit,
    verdict_of,
)
from builders.auditing.auditing import render
from builders.packaging.harnesses import (
    LISTED_CLASSES,
    NAME,
    Config,
    eval_yaml,
    mteb_facts,
    write_tasks,
)
from builders.plan.datasets import Dataset, ExampleDataset, RankingDataset, licence_id
from builders.plan.groups import BuildGroup, benchmark_of, label_of, making_of
from builders.statistics import ERRORS
from builders.store import (
    MTEB_FACTS,
    NO_COUNTS,
    about_of,
    describe,
    digest,
    instance_schema,
    labels_of,
    open_parquet,
    shards_in,
    write_shard,
)
from builders.tasks import TASKS
from builders.tasks.task import Column, Task
from corpora_recipes.escaping import one_line, render_html
from corpora_recipes.records import Split
from corpora_recipes.running.cache import Cache, Key
from corpora_recipes.running.code import code_digest, versions_of
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError, OutputError
from corpora_recipes.running.outputs import as_json, whole_folder
from corpora_recipes.running.stage import Skipped
from corpora_recipes.text.tokens import tokenize
from corpora_recipes.yaml_files import load_yaml


def add_tokens(
    source: Path, target: Path, columns: dict[str, Column], progress: Callable[[int], object]
) -> None:
    """Write a shard with the rows of another and the spaCy tokens of their texts, group by group.

    ``progress`` is called with a number of rows done.
    """
    with pq.ParquetFile(source) as file:
        about = about_of(file.schema_arrow)
        task = TASKS[about["task"]]
        names = {*file.schema_arrow.names, *(text.tokens for text in task.texts)}
        written = {name: column for name, column in columns.items() if name in names}
        schema = instance_schema(written, labels_of(file.schema_arrow), about)
        language = _rules_for(task, about["language"])
        write_shard(target, schema, _tokenised(file, task, language, progress))


def _tokenised(
    file: pq.ParquetFile, task: Task, language: str, progress: Callable[[int], object]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each row group with their tokens."""

    def joined(text: str) -> str:
        return " ".join(tokenize(text, language))

    for group in range(file.num_row_groups):
        rows: list[dict[str, Any]] = file.read_row_group(group).to_pylist()
        for row in rows:
            for text in task.texts:
                natural = row[text.natural]
                row[text.tokens] = (
                    joined(natural) if isinstance(natural, str) else [*map(joined, natural)]
                )
            progress(1)
        yield rows


def _rules_for(task: Task, language: str) -> str:
    """Return the language whose rules split the texts of a task into tokens."""
    if task.unit == "word":
        try:
            tokenize("", language)
        except InputError:
            return "xx"
    return language


# Split to ``rows``, ``sha256`` and ``content`` of its shards, see ``digest``.
Digests = Mapping[Split, Mapping[str, Any]]
# Split to the hash of the content of its rows.
Content = dict[str, str]


def write_rows(dataset: Dataset, instances: Path, digests: Digests, folder: Path) -> Content:
    """Write the instances of a dataset with tokens to ``folder/<dataset>``."""
    total = sum(part["rows"] for part in digests.values())
    with progress(total, f"tokens of {dataset.name}", "row") as bar:
        for shards in shards_in(instances).values():
            for shard in shards:
                target = folder / dataset.name / shard.name
                add_tokens(shard, target, dataset.columns(), bar.update)
    return {
        split: digest(shards)["content"]
        for split, shards in shards_in(folder / dataset.name).items()
    }


def copy_cached_rows(name: str, digests: Digests, earlier: Path, folder: Path) -> Content | None:
    """Copy the rows of a dataset from an earlier package, if they would be written the same."""
    cache = Cache("tokens")
    content: Content | None = cache.get(name, _rows_key(digests))
    # Not what others have put there.
    for shard in cache.files(name) if content is not None else ():
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(earlier / name / Path(shard).name, folder / name / Path(shard).name)
    return content


def cache_rows(cache: Cache, name: str, digests: Digests, content: Content, package: Path) -> None:
    """Cache the rows of a dataset in a package."""
    shards = [path for paths in shards_in(package / name).values() for path in paths]
    cache.put(name, _rows_key(digests), shards, content)


def _rows_key(digests: Digests) -> Key:
    return {
        "inputs": {split: part["sha256"] for split, part in digests.items()},
        "code": code_digest("builders.packaging.hub"),
        "versions": versions_of(("pyarrow", "spacy")),
    }


CHANGES_FILE = Path(__file__).with_name("dataset_changes.yaml")


def dataset_changes() -> Mapping[str, Mapping[str, str]]:
    """Return dataset to version to its date and changes, the latest version first."""
    changes: Mapping[str, Mapping[str, str]] = load_yaml(CHANGES_FILE)
    return changes


def latest_date() -> str:
    """Return the date of the latest version of any dataset, as in 2026-01-31."""
    return max(text[:10] for of_one in dataset_changes().values() for text in of_one.values())


_FACTS = load_yaml(Path(__file__).with_name("hub.yaml"))
CARD = Path(__file__).with_name("card.md.jinja")
DATASET = Path(__file__).with_name("dataset.md.jinja")
LICENCES = Path(__file__).with_name("licences.md.jinja")
PICTURE = Path(__file__).with_name("baselines.svg.jinja")
# Beside the card.
PICTURE_FILE = "baselines.svg"
# The folder of the datasets' pages; in that of its files, pandas would take a page for data.
PAGES = "docs"


def package_name(configs: Sequence[Config], name: str = "") -> str:
    """Return what a package is called: its name in params.yaml, or else after the user's corpora.

    One with datasets of the benchmarks is called Probeta.
    """
    corpora = list(dict.fromkeys(config.title for config in configs))
    shipped = any(config.audit["benchmark"] for config in configs)
    return one_line(name or (NAME if shipped else ", ".join(corpora)))


def render_card(
    configs: Sequence[Config],
    missing: Sequence[str] = (),
    failed: Sequence[str] = (),
    asked: int = 0,
    name: str = "",
    drawn: bool = False,
) -> str:
    """Return the README.md of a package.

    Args:
        missing: names of datasets that are left out because their corpora must be asked for.
        failed: names of those that are left out for a fault.
        asked: number of datasets that language models can be asked, see ``write_tasks``.
        name: of the package in params.yaml; "" if it has none.
        drawn: whether the package has the picture of ``draw_baselines``.
    """
    restricted = [config.dataset.name for config in configs if config.is_restricted]
    called = package_name(configs, name)
    return render(
        CARD,
        {
            "header": _header(configs, restricted, called),
            "name": called,
            "configs": configs,
            "default": _default(configs),
            "types": _FACTS["types"],
            "drawn": drawn,
            "folds": any(config.folds for config in configs),
            "groups": _grouped(configs),
            "languages": {config.dataset.language for config in configs},
            "rows": sum(sum(config.rows.values()) for config in configs),
            "missing": missing,
            "failed": failed,
            "asked": asked,
            "restricted": restricted,
            "sample": any(config.dataset.sample for config in configs),
            "found": _missed_gates(configs),
        },
    )


def draw_baselines(configs: Sequence[Config]) -> str:
    """Return the picture of what is reached without an encoder, as SVG; "" if nothing is known.

    A line a group of tasks: the means over its datasets of majority and of the best baseline.
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    for config in configs:
        if best := config.best_baseline:
            groups.setdefault(config.task.group.title, []).append((config.majority, best[1]))
    lines = {
        title: [fmean(of) for of in zip(*pairs, strict=True)] for title, pairs in groups.items()
    }
    return render_html(PICTURE, lines=lines) if lines else ""


def _default(configs: Sequence[Config]) -> Config:
    """Return the dataset that is loaded without a name: the first of params.yaml that is there."""
    by_name = {config.dataset.name: config for config in configs}
    listed = (name for c in configs for origin in c.origins for name in origin.corpus.datasets)
    return next((by_name[name] for name in listed if name in by_name), configs[0])


def render_dataset_page(config: Config) -> str:
    """Return the page of a dataset: question, classes, columns, construction, audit, changes."""
    facts = {
        **{"config": config, "types": _FACTS["types"], "listed_classes": LISTED_CLASSES},
        "described": describe(config.counts),
        "small_test": SMALL_TEST,
        "detectable": detectable_of(config.audit),
        "detectable_at_most": DETECTABLE_AT_MOST,
        "errors": ERRORS,
    }
    return render(DATASET, facts)


def render_licences(configs: Sequence[Config]) -> str:
    """Return the LICENSE.md of a package: licences, sources, citations, and personal data."""
    method = next(filter(None, (config.task.citation for config in configs)), "")
    return render(LICENCES, {"configs": configs, "sources": _sources(configs), "method": method})


def _grouped(configs: Sequence[Config]) -> dict[tuple[str, ...], list[Config]]:
    """Return the datasets of each group of tasks, language, title and licence."""
    groups: dict[tuple[str, ...], list[Config]] = {}
    for config in configs:
        about = (config.task.group.title, config.dataset.language, config.title)
        groups.setdefault((*about, config.dataset.licence), []).append(config)
    return groups


def _missed_gates(configs: Sequence[Config]) -> dict[tuple[str, Verdict], dict[str, str]]:
    """Return the datasets of each gate and verdict that is worse than a pass, with a note."""
    names: dict[tuple[str, Verdict], dict[str, str]] = {}
    for gate in GATES:
        for config in configs:
            verdict = verdict_of(config.audit["checks"], gate)
            if verdict in VERDICTS[VERDICTS.index(SURFACE_FORM) :]:
                note = ""
                if verdict == SURFACE_FORM and (best := config.best_baseline):
                    # By which baseline surface form solves it, and that of the majority class.
                    note = f" ({best[0].replace('_', ' ')} {100 * best[1]:.1f}, "
                    note += f"majority {100 * config.majority:.1f})"
                names.setdefault((gate, verdict), {})[config.dataset.name] = note
    return names


def _header(configs: Sequence[Config], restricted: Sequence[str], name: str) -> str:
    """Return the head of the card, which is YAML; ``name`` is that of the package."""
    default = _default(configs)
    total = sum(sum(config.rows.values()) for config in configs)
    gate = (
        {"extra_gated_prompt": _FACTS["gated"].format(", ".join(restricted))} if restricted else {}
    )
    head = {
        "language": sorted({config.dataset.language for config in configs}),
        **_licence(configs),
        # Shown if access is gated in the settings of the repository.
        **gate,
        "pretty_name": name,
        "task_categories": _task_categories(configs),
        "source_datasets": _source_datasets(configs),
        "size_categories": [_size_category(total)],
        "tags": ["sentence-embeddings", "discourse", "probing", "benchmark"],
    }
    configs_listed = [
        {
            "config_name": (name := config.dataset.name),
            "data_files": [{"split": s, "path": f"{name}/{s}-*"} for s in config.rows],
            **({"default": True} if config is default else {}),
        }
        for config in configs
    ]
    # A key or a dataset takes one line.
    style: dict[str, Any] = {"sort_keys": False, "width": math.inf, "allow_unicode": True}
    lines = [yaml.safe_dump(head, default_flow_style=None, **style), "configs:\n"]
    lines += (
        f"- {yaml.safe_dump(one, default_flow_style=True, **style)}" for one in configs_listed
    )
    return "".join(lines)


def _licence(configs: Sequence[Config]) -> dict[str, Any]:
    """Return the licences of all texts as the Hub names them, or a link if it cannot."""
    names = {licence_id(origin.licence) for config in configs for origin in config.origins}
    if names <= {*_FACTS["licences"]}:
        return {"license": sorted(names)}
    return {"license": "other", "license_name": "several", "license_link": "LICENSE.md"}


def _task_categories(configs: Sequence[Config]) -> list[str]:
    categories = {_FACTS["categories"][config.task.target] for config in configs}
    return sorted(categories | {"text-ranking" for config in configs if config.is_ranking})


def _source_datasets(configs: Sequence[Config]) -> list[str]:
    """Return "original" for rows that are made here, and the sets of examples that are taken."""
    example_sources = {
        f"extended|other-{origin.corpus.recipe}"
        for config in configs
        for origin in config.origins
        if origin.corpus.facts.records == "examples"
    }
    is_original = any(
        origin.corpus.facts.records != "examples" for c in configs for origin in c.origins
    )
    return ["original", *sorted(example_sources)] if is_original else sorted(example_sources)


def _size_category(rows: int) -> str:
    sizes: dict[str, int] = _FACTS["sizes"]
    return next((name for name, bound in sizes.items() if rows < bound), "1M<n<10M")


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


def package(
    groups: Sequence[BuildGroup],
    instances: Path,
    audit: Path,
    out: Path,
    *,
    name: str = "",
    left_out: Mapping[str, Skipped] | None = None,
    earlier: Path | None = None,
    hub: tuple[str, str] | None = None,
) -> int:
    """Write the instances of all datasets to ``out``, with tokens, and a dataset card.

    Each dataset is a folder of Parquet files alone, so that pandas reads it, and has a page in the
    folder docs. Beside the card (README.md) there are LICENSE.md, with licences and sources;
    audit.json, with ``name``, the corpora and benchmarks of the datasets, the versions of what made
    the files ("made_by"), and the skipped datasets with the reason: their corpora must be asked for
    ("missing"), or they have a fault ("left_out"); eval.yaml, for the leaderboards of the Hub;
    mteb.json, from which tasks of mteb are made; baselines.svg, the card's picture; and the folder
    lm_eval with the datasets as tasks of lm-evaluation-harness. The misses of the audit are shown
    on the pages; they are no errors.

    Args:
        groups: the datasets to package, of which there are all.
        instances: where `build` and `compose` wrote.
        audit: the audit.json of these instances.
        name: of all datasets together, in params.yaml; "" for that of ``package_name``.
        left_out: the datasets of params.yaml that are not among them, and why.
        earlier: the package whose rows are cached; what is unchanged is taken from there, and new
            rows are cached. None to take nothing. The result is the same.
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
            split_digests = {split: digest(shards) for split, shards in shards_in(source).items()}
            digests[dataset.name] = split_digests
            corpora = [origin.corpus for origin in group.origins]
            audits[dataset.name] = _audited(report, dataset.name, split_digests) | {
                "title": " + ".join(origin.title for origin in group.origins),
                "label": label_of(dataset, group.origins),
                "benchmark": benchmark_of(dataset, corpora),
                "made": making_of(dataset, corpora),
            }
            if dataset.edition_of:
                audits[dataset.name]["edition_of"] = dataset.edition_of
            if isinstance(dataset, ExampleDataset) and dataset.facts.published:
                audits[dataset.name]["published"] = dataset.facts.published
    missing, failed = (
        {key: fate.why for key, fate in (left_out or {}).items() if fate.asked_for == asked_for}
        for asked_for in (True, False)
    )
    new: dict[str, Content] = {}
    with whole_folder(out) as folder:
        for group in groups:
            for dataset in group.datasets:
                config = dataset.name
                content = (
                    copy_cached_rows(config, digests[config], earlier, folder) if earlier else None
                )
                if content is None:
                    source = instances / group.folder / config
                    content = new[config] = write_rows(dataset, source, digests[config], folder)
                audits[config]["content"] = content
        configs = _configs(groups, instances, digests, audits, folder)
        n_asked = write_tasks(configs, folder, hub)
        made_by = {library: version(library) for library in ("probeta", "pyarrow", "spacy")}
        further = {"name": name, "datasets": audits, "missing": missing, "left_out": failed}
        further["made_by"] = made_by
        picture = draw_baselines(configs)
        card = render_card(configs, list(missing), list(failed), n_asked, name, bool(picture))
        pages = {
            "README.md": card,
            **({PICTURE_FILE: picture} if picture else {}),
            **{
                f"{PAGES}/{config.dataset.name}.md": render_dataset_page(config)
                for config in configs
            },
            "LICENSE.md": render_licences(configs),
            "eval.yaml": eval_yaml(_asked(configs), package_name(configs, name)),
            "audit.json": as_json(report | further),
            MTEB_FACTS: as_json(mteb_facts(configs, latest_date())),
        }
        # A dataset may have that name.
        (folder / PAGES).mkdir(exist_ok=True)
        for path, text in pages.items():
            (folder / path).write_text(text, "utf-8")
    if out == earlier:
        cache = Cache("tokens")
        for config, content in new.items():
            cache_rows(cache, config, digests[config], content, out)
        cache.prune(digests)
    return len(new)


def _check_built(dataset: Dataset, source: Path, entry: str) -> None:
    shards = sorted(source.glob("*.parquet"))
    about = about_of(pq.read_schema(shards[0])) if shards else None
    if about != (expected_about := dataset.about()):
        verb = "compose" if isinstance(dataset, RankingDataset) else "build"
        differing = (
            f"{key} {about.get(key)!r}, not {expected_about.get(key)!r}"
            for key in {**expected_about, **(about or {})}
            if about and expected_about.get(key) != about.get(key)
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
        build_reports = json.loads((instances / group.folder / "build.json").read_text("utf-8"))
        for dataset in group.datasets:
            name = dataset.name
            with open_parquet(next(iter(shards_in(folder / name).values()))[0]) as file:
                schema = file.schema_arrow
                first = next(file.iter_batches(1)).to_pylist()[0]
            own_changes = changes.get(name, {})
            counts = {unit: of for unit, of in build_reports[name].items() if unit not in NO_COUNTS}
            configs.append(
                Config(
                    dataset=dataset,
                    origins=group.origins,
                    sources=build_reports[name].get("sources", {}),
                    window=build_reports[name].get("window"),
                    folds=build_reports[name]["folds"],
                    columns={column: dataset.columns()[column] for column in schema.names},
                    labels=labels_of(schema),
                    first_row=first,
                    rows={split: part["rows"] for split, part in digests[name].items()},
                    content=audits[name]["content"],
                    counts=counts,
                    audit=audits[name],
                    # None of a user's dataset of the same name, but version.
                    changes=own_changes if next(iter(own_changes), "") == dataset.version else {},
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
