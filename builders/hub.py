"""The `package` command: all instances in one folder that the Hub and `datasets` read."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from builders.dataset import Dataset, datasets_of
from builders.schemas import TEXT_COLUMNS, about_of, instance_schema, labels_of
from builders.shards import datasets_in, digests
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_folder
from corpora_recipes.recipes import Corpus
from corpora_recipes.records import SPLITS

# Below this a test score says little: one standard error is above 1.6 points.
SMALL_TEST = 1000

SAMPLE_NOTE = """**What is marked "sample" below was built from the small samples that Probeta ships
to try it out, not from the corpora. Do not report scores on it.**
"""

QUESTIONS = {
    "sentence_position": "The first of five sentences was taken from one of the five places of the "
    "passage, the others follow in their order: from which place?",
    "sentence_ordering": "Do the two sentences stand in their order, or swapped?",
    "discourse_coherence": "Do the six sentences follow each other in the source, or was one of "
    "the second to the fifth replaced by a sentence of another document?",
    "discourse_relations": "Which discourse relation joins the two spans of a rhetorical structure "
    "tree (nucleus first)?",
}

COLUMNS = {
    "id": "stable id of the row",
    "sentences": "natural text",
    "tokens": "the same, as spaCy tokens joined by blanks",
    "left": "elementary discourse units of the nucleus (of the first span of a multinuclear one)",
    "right": "elementary discourse units of the satellite (of the second span)",
    "left_tokens": "`left` as spaCy tokens joined by blanks",
    "right_tokens": "`right` as spaCy tokens joined by blanks",
    "label": "the class",
    "document_id": "the document in its corpus",
    "replaced_position": "which sentence was replaced (2 to 5), null where none was",
    "donor_id": "the document that the replacing sentence comes from, null where there is none",
    "relation": "name of the relation in the treebank",
    "order": "NS, SN or NN: nucleus (N) and satellite (S) in the order of the text",
    "left_first": "index of the first unit of `left` in its text",
    "left_last": "index of the last one",
    "right_first": "index of the first unit of `right` in its text",
    "right_last": "index of the last one",
    "split": "train, validation or test",
}

# The columns that hold lists of strings.
_LISTS = {name for columns in TEXT_COLUMNS.values() for name in columns}


@dataclass(frozen=True, slots=True)
class _Config:
    """A dataset of the package, with what its card says."""

    dataset: Dataset
    facts: dict[str, Any]
    labels: list[str]
    rows: dict[str, int]
    num_bytes: dict[str, int]
    download_size: int
    content: dict[str, str]
    documents: dict[str, int]
    is_sample: bool


def package(corpora: Sequence[Corpus], sources: str, instances: Path, out: Path) -> None:
    """Copy the instances of all corpora to ``out``, a folder a dataset, with a dataset card.

    Args:
        corpora: every entry of params.yaml.
        sources: what params.yaml says; the card says if the texts are the project's samples.
        instances: where `build` wrote: ``instances/<corpus>/<dataset>/<split>-….parquet``.
        out: the folder to write; what it held before is replaced as a whole.

    Raises:
        InputError: a dataset of params.yaml has not been built, or was built with other
            parameters.
    """
    with whole_folder(out) as folder:
        for corpus in corpora:
            for dataset in datasets_of(corpus):
                source = instances / corpus.name / dataset.name
                _check_built(dataset, source)
                shutil.copytree(source, folder / dataset.name)
        samples = {c.name for c in corpora if sources == "sample" and not c.options.get("path")}
        configs = _configs(corpora, samples, instances, folder)
        (folder / "README.md").write_text(_card(configs), "utf-8")


def _check_built(dataset: Dataset, source: Path) -> None:
    import pyarrow.parquet as pq

    shards = sorted(source.glob("*.parquet"))
    about = about_of(pq.read_schema(shards[0])) if shards else None
    if about != dataset.about():
        raise InputError(
            source,
            expected=f"the instances of {dataset.about()}",
            found="none" if about is None else f"those of {about}",
            todo=f"run `python -m builders build {dataset.corpus} …`, or `dvc repro`",
        )


def _configs(
    corpora: Sequence[Corpus], samples: set[str], instances: Path, folder: Path
) -> list[_Config]:
    import pyarrow.parquet as pq

    content: dict[str, dict[str, str]] = {}
    rows: dict[str, dict[str, int]] = {}
    for entry in digests(folder):
        content.setdefault(entry["config"], {})[entry["split"]] = entry["content"]
        rows.setdefault(entry["config"], {})[entry["split"]] = entry["rows"]
    shards: dict[str, dict[str, list[Path]]] = {}
    for name, split, paths in datasets_in(folder):
        shards.setdefault(name, {})[split] = paths
    configs = []
    for corpus in corpora:
        report = json.loads((instances / corpus.name / "build.json").read_text("utf-8"))
        for dataset in datasets_of(corpus):
            name = dataset.name
            config = _Config(
                dataset=dataset,
                facts=corpus.facts,
                labels=labels_of(pq.read_schema(shards[name]["train"][0])),
                rows=rows[name],
                num_bytes={
                    split: sum(map(_uncompressed, paths)) for split, paths in shards[name].items()
                },
                download_size=sum(
                    path.stat().st_size for paths in shards[name].values() for path in paths
                ),
                content=content[name],
                documents=report[name]["documents"],
                is_sample=corpus.name in samples,
            )
            configs.append(config)
    return configs


def _uncompressed(path: Path) -> int:
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


def _card(configs: Sequence[_Config]) -> str:
    header = yaml.safe_dump(_header(configs), allow_unicode=True, sort_keys=False, width=100)
    parts = [f"---\n{header}---\n", _introduction(configs)]
    if any(config.is_sample for config in configs):
        parts.append(SAMPLE_NOTE)
    parts.append(_overview(configs))
    parts += [_section(config) for config in configs]
    parts.append(_sources(configs))
    return "\n".join(parts)


def _header(configs: Sequence[_Config]) -> dict[str, Any]:
    total = sum(sum(config.rows.values()) for config in configs)
    return {
        "language": sorted({config.dataset.language for config in configs}),
        "license": "other",
        "license_name": "several",
        "license_link": "#sources-and-licences",
        "pretty_name": "Probeta",
        "task_categories": ["text-classification"],
        "size_categories": [_size_category(total)],
        "tags": ["sentence-embeddings", "discourse", "probing", "benchmark"],
        "configs": [
            {
                "config_name": config.dataset.name,
                "data_files": [
                    {"split": split, "path": f"{config.dataset.name}/{split}-*"} for split in SPLITS
                ],
                **({"default": True} if index == 0 else {}),
            }
            for index, config in enumerate(configs)
        ],
        "dataset_info": [_info(config) for config in configs],
    }


def _info(config: _Config) -> dict[str, Any]:
    schema = instance_schema(config.dataset.task, config.labels, {})
    features = []
    for field in schema:
        if field.name == "label":
            names = {str(number): name for number, name in enumerate(config.labels)}
            features.append({"name": "label", "dtype": {"class_label": {"names": names}}})
        elif field.name in _LISTS:
            features.append({"name": field.name, "sequence": "string"})
        else:
            features.append({"name": field.name, "dtype": str(field.type)})
    return {
        "config_name": config.dataset.name,
        "features": features,
        "splits": [
            {"name": s, "num_bytes": config.num_bytes[s], "num_examples": config.rows[s]}
            for s in SPLITS
        ],
        "download_size": config.download_size,
        "dataset_size": sum(config.num_bytes.values()),
    }


def _size_category(rows: int) -> str:
    bounds = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")]
    return next((name for bound, name in bounds if rows < bound), "100K<n<1M")


def _introduction(configs: Sequence[_Config]) -> str:
    first = configs[0].dataset.name
    return f"""# Probeta

Discourse benchmarks for sentence encoders, rebuilt from raw corpora by keyed hashing: the same
inputs and seed give the same rows everywhere. A document belongs to the same split in every
dataset of its corpus.

```python
from datasets import load_dataset

{first} = load_dataset("<this repository or folder>", "{first}")
```
"""


def _overview(configs: Sequence[_Config]) -> str:
    lines = [
        "| dataset | task | corpus | train | validation | test | classes | version |",
        "|---|---|---|---:|---:|---:|---:|---|",
    ]
    lines += [
        f"| `{c.dataset.name}` | {c.dataset.task.replace('_', ' ')} "
        f"| {c.facts['name']}{' (sample)' if c.is_sample else ''} "
        f"| {c.rows['train']:,} | {c.rows['validation']:,} | {c.rows['test']:,} "
        f"| {len(c.labels)} | {c.dataset.version} |"
        for c in configs
    ]
    return "\n".join(lines) + "\n"


def _section(config: _Config) -> str:
    dataset = config.dataset
    schema = instance_schema(dataset.task, config.labels, {})
    error = (0.25 / config.rows["test"]) ** 0.5
    lines = [
        f"## {dataset.name}",
        "",
        QUESTIONS[dataset.task],
        "",
        f"- Classes: {', '.join(f'`{name}`' for name in config.labels)}.",
        f"- Seed {dataset.seed}; the standard error of an accuracy on the test is at most "
        f"{error:.1%}.",
    ]
    if config.rows["test"] < SMALL_TEST:
        lines.append(f"- **Fewer than {SMALL_TEST:,} test rows: small differences mean nothing.**")
    if dataset.task == "discourse_coherence":
        lines.append(f"- Donors of replacing sentences: {dataset.donors.replace('_', ' ')}.")
    counts = ", ".join(f"{k.replace('_', ' ')} {n:,}" for k, n in config.documents.items())
    lines.append(f"- Documents: {counts}.")
    lines += ["", "| column | type | what it holds |", "|---|---|---|"]
    for field in schema:
        kind = "class label" if field.name == "label" else _type_name(field)
        lines.append(f"| `{field.name}` | {kind} | {COLUMNS[field.name]} |")
    lines += ["", "| split | hash of the content |", "|---|---|"]
    lines += [f"| {split} | `{config.content[split]}` |" for split in SPLITS]
    return "\n".join(lines) + "\n"


def _type_name(field: Any) -> str:
    return "list of strings" if field.name in _LISTS else str(field.type)


def _sources(configs: Sequence[_Config]) -> str:
    lines = ["## Sources and licences", ""]
    facts = {config.facts["name"]: config.facts for config in configs}
    for name, fact in sorted(facts.items()):
        used = ", ".join(f"`{c.dataset.name}`" for c in configs if c.facts["name"] == name)
        lines += [
            f"### {name}",
            "",
            f"Datasets: {used}. {fact['description'].strip()}".rstrip(),
            "",
            f"Licence of the corpus: {fact['licence']}"
            + (f" ({fact['licence_url']})." if fact["licence_url"] else ".")
            + ("" if fact["redistributable"] else " **Not to be redistributed without asking.**")
            + (f" Homepage: {fact['homepage']}." if fact["homepage"] else ""),
            "",
        ]
        if any(c.is_sample for c in configs if c.facts["name"] == name):
            lines += [
                "These rows are a sample in the corpus's format: texts of the Probeta project, "
                "under the Apache License 2.0.",
                "",
            ]
        if fact["citation"]:
            lines += [f"> {' '.join(fact['citation'].split())}", ""]
    return "\n".join(lines)
