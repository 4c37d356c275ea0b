"""The dataset card: what is in the package, how it was made, and what may be done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from builders import ranking
from builders.audit import inherited_of, measurements, verdict_table
from builders.audit_gates import ERRORS, SMALL_TEST
from builders.baselines import standard_error
from builders.building import describe
from builders.dataset import Dataset
from builders.examples import FOLDS
from builders.rankings import Origin
from builders.schemas import Column, Kind
from builders.tasks import TASKS
from corpora_recipes.records import SPLITS, Split

SAMPLE_NOTE = """**What is marked "sample" below was built from the small samples that Probeta ships
to try it out, not from the corpora. Do not report scores on it.** What is said of sources, of
official counts and of published rows is true of the corpora.
"""
_TYPES: dict[Kind, str] = {
    "string": "string",
    "strings": "list of strings",
    "integer": "int64",
    "number": "float64",
}
# So many classes are listed in the card; of more only the number is said.
LISTED_CLASSES = 40
# The share of a part's official count that has to be there: some rows are dropped with a reason.
COMPLETE = 0.95


@dataclass(frozen=True, slots=True)
class Config:
    """A dataset of the package, with what its card says.

    Attributes:
        dataset: what params.yaml says of it.
        origins: the corpora that its texts are of.
        sources: of a ranking, what `compose` says of each collection that it was made of.
        columns: name to column.
        labels: names of the classes; empty if rows have no label.
        rows: split to the number of rows.
        num_bytes: split to the size in memory.
        download_size: of the files.
        content: split to the hash of the content.
        counts: what became of documents and passages, as `build` counted it.
        audit: what the audit found.
        changes: version to what changed, the latest first.
    """

    dataset: Dataset
    origins: Sequence[Origin]
    sources: Mapping[str, Mapping[str, Any]]
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
    def asked(self) -> int:
        """How many rows an encoder is scored on: those of test, or of all folds.

        Of a ranking, how many groups of texts that mean the same.
        """
        if self.dataset.parts:
            return self.counts["texts"]["groups_of_positives"]
        return self.rows["train" if "fold" in self.columns else "test"]

    @property
    def title(self) -> str:
        """The name of its corpus, or the names of its corpora, for readers."""
        return " + ".join(origin.title for origin in self.origins)

    @property
    def citations(self) -> list[str]:
        """What to cite: its corpora, and of a ranking the method too."""
        found = [" ".join(origin.corpus.facts["citation"].split()) for origin in self.origins]
        found += [ranking.CITATION] * bool(self.dataset.parts)
        return [text for text in dict.fromkeys(found) if text]


def card(configs: Sequence[Config]) -> str:
    """Return the README.md of a package."""
    header = yaml.safe_dump(_header(configs), allow_unicode=True, sort_keys=False, width=100)
    parts = [f"---\n{header}---\n", _introduction(configs)]
    if any(config.dataset.sample for config in configs):
        parts.append(SAMPLE_NOTE)
    parts += [_overview(configs), _audit(configs)]
    parts += [_task(name) for name in dict.fromkeys(c.dataset.task for c in configs)]
    parts += [_section(config) for config in configs]
    parts.append(_sources(configs))
    return "\n".join(parts)


def licences(configs: Sequence[Config]) -> str:
    """Return the LICENSE.md of a package."""
    lines = [
        "# Licences",
        "",
        "The datasets are made of the texts of different corpora, each under the licence of its "
        "corpus; the column `licence` of every row says which.",
        "",
        "| dataset | corpus | licence of the texts |",
        "|---|---|---|",
    ]
    for config in configs:
        for origin in config.origins:
            url = origin.corpus.facts["licence_url"]
            link = f" ({url})" if url and not origin.sample else ""
            lines.append(f"| `{config.dataset.name}` | {origin.title} | {origin.licence}{link} |")
    return "\n".join(lines) + "\n"


def _header(configs: Sequence[Config]) -> dict[str, Any]:
    total = sum(sum(config.rows.values()) for config in configs)
    return {
        "language": sorted({config.dataset.language for config in configs}),
        # The licences of the texts differ: see the table and the column of every row.
        "license": "other",
        "license_name": "several",
        "license_link": "LICENSE.md",
        "pretty_name": "Probeta",
        "task_categories": ["text-classification", "sentence-similarity"],
        "source_datasets": ["original"],
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


def _info(config: Config) -> dict[str, Any]:
    features: list[dict[str, Any]] = []
    for name, column in config.columns.items():
        if name == "label":
            names = {str(number): label for number, label in enumerate(config.labels)}
            features.append({"name": name, "dtype": {"class_label": {"names": names}}})
        elif column.kind == "strings":
            features.append({"name": name, "sequence": "string"})
        else:
            features.append({"name": name, "dtype": _TYPES[column.kind]})
    return {
        "config_name": config.dataset.name,
        "features": features,
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


def _introduction(configs: Sequence[Config]) -> str:
    first = configs[0].dataset.name
    return f"""# Probeta

Benchmarks for sentence encoders, rebuilt from raw corpora by keyed hashing: the same inputs and
seed give the same rows everywhere. A document belongs to the same split in every dataset of its
corpus.

```python
from datasets import load_dataset

{first} = load_dataset("<this repository or folder>", "{first}")
```
"""


def _overview(configs: Sequence[Config]) -> str:
    lines = [
        "| dataset | task | corpus | train | validation | test | asked | version | licence |",
        "|---|---|---|---:|---:|---:|---:|---|---|",
    ]
    lines += [
        f"| `{c.dataset.name}` | {c.dataset.task.replace('_', ' ')} "
        f"| {c.title} "
        f"| {' | '.join(_rows(c, split) for split in SPLITS)} "
        f"| {_answers(c)} | {c.dataset.version} | {c.dataset.licence} |"
        for c in configs
    ]
    return "\n".join(lines) + "\n"


def _rows(config: Config, split: Split) -> str:
    if split not in config.rows:
        return "–"
    return f"{config.rows[split]:,}" + (f" ({FOLDS} folds)" if "fold" in config.columns else "")


def _answers(config: Config) -> str:
    if config.dataset.parts:
        return f"{config.counts['pairs']['used']:,} pairs"
    target = TASKS[config.dataset.task].target
    if target == "neighbours":
        return f"{config.rows['test']:,} clusters"
    if target == "label":
        return f"{len(config.labels):,} classes"
    lowest, highest = config.dataset.facts["scale"]
    return f"score {lowest} … {highest}"


def _audit(configs: Sequence[Config]) -> str:
    lines = [
        "## Audit",
        "",
        "What was measured on each dataset is said with it below. A gate that is missed for a "
        "reason that lies in the source is called inherited; a measurement beyond its limit by no "
        f"more than {ERRORS} standard errors is within chance.",
        "",
        *verdict_table({c.dataset.name: c.audit for c in configs}),
    ]
    return "\n".join(lines) + "\n"


def _task(name: str) -> str:
    task = TASKS[name]
    title = name.replace("_", " ").capitalize()
    return f"## {title} ({task.abbreviation})\n\n{task.question}\n\n{task.example}\n"


def _section(config: Config) -> str:
    dataset = config.dataset
    task = TASKS[dataset.task]
    lines = [
        f"## {dataset.name}",
        "",
        f"{task.name.replace('_', ' ').capitalize()} ({task.abbreviation}) on "
        f"{config.title}, version "
        f"{dataset.version}{': ' + _one_line(dataset.facts['about']) if dataset.facts else ''}.",
        "",
        *_answer(config),
        f"- Licence of the texts: {config.dataset.licence}.",
        f"- Seed {dataset.seed}.",
    ]
    if task.target == "label":
        error = standard_error(0.5, config.asked)
        lines.append(f"- The standard error of an accuracy on the test is at most {error:.1%}.")
    if config.asked < SMALL_TEST:
        asked = "groups of positives" if dataset.parts else "test rows"
        lines.append(f"- **Fewer than {SMALL_TEST:,} {asked}: small differences mean nothing.**")
    if dataset.facts:
        lines += [_splits(config), *_parts(config)]
    if dataset.parts:
        lines += _composition(config)
    if dataset.task == "discourse_coherence":
        lines.append(f"- Donors of replacing sentences: {dataset.donors.replace('_', ' ')}.")
    if describe(config.counts):
        lines.append(f"- How it came about: {describe(config.counts)}.")
    lines += ["", "| column | type | what it holds |", "|---|---|---|"]
    for name, column in config.columns.items():
        kind = "class label" if name == "label" else _TYPES[column.kind]
        lines.append(f"| `{name}` | {kind} | {column.about} |")
    lines += ["", *measurements(config.audit)]
    lines += [f"\n{line}" for line in inherited_of(config.audit)]
    lines += ["", "| split | hash of the content |", "|---|---|"]
    lines += [f"| {split} | `{content}` |" for split, content in config.content.items()]
    if config.changes:
        lines += ["", "| version | change |", "|---|---|"]
        lines += [f"| {version} | {change} |" for version, change in config.changes.items()]
    return "\n".join(lines) + "\n"


def _answer(config: Config) -> list[str]:
    """Return what is asked: the classes with the numbers that rows have for them, and scores."""
    labels, facts = config.labels, config.dataset.facts
    lines = []
    if len(labels) > LISTED_CLASSES:
        lines.append(f"- Classes: {len(labels):,}, numbered in alphabetical order.")
    elif labels and facts.get("labels"):
        spelt: dict[str, list[str]] = {}
        for spelling, name in facts["labels"].items():
            spelt.setdefault(name, []).append(f"`{spelling}`")
        named = (
            f"{number} `{name}` ({', '.join(spelt[name])})" for number, name in enumerate(labels)
        )
        lines.append(
            "- Classes, numbered as the benchmark of 2022 does, with the source's spelling in "
            f"brackets: {'; '.join(named)}."
        )
    elif labels:
        lines.append(f"- Classes: {', '.join(f'`{name}`' for name in labels)}.")
    if "score" in config.columns:
        lines.append(f"- Scores: {config.columns['score'].about}.")
    return lines


def _splits(config: Config) -> str:
    """Say which rows a probe is trained on and scored on."""
    if "fold" in config.columns:
        return (
            f"- Splits: there are none, all rows stand in `train`. The column `fold` says in which "
            f"of {FOLDS} folds a row is; for each, probe on the others and score on it. The same "
            "text is never in two."
        )
    if list(config.rows) == ["test"]:
        return "- Splits: all rows are test; nothing is trained."
    parts = [part for part in SPLITS if part in config.counts["source_parts"]]
    held_out = f"a tenth of its {parts[0]}, by keyed hash" if len(parts) == 2 else "its validation"
    return (
        f"- Splits: train is the source's {parts[0]}, validation {held_out}, test its {parts[-1]}."
    )


def _composition(config: Config) -> list[str]:
    """Say which texts a ranking holds, which of them mean the same, and how it is scored."""
    parts = config.dataset.parts
    lines = ["- Splits: all rows are test; nothing is trained."]
    for name in parts["pairs"]:
        own = config.sources[name]
        lowest = own["lowest_score"]
        if not own["different"]:
            lines.append(f"- Positives from `{name}`: none, as no pair of it can be used.")
            continue
        which = "its pairs"
        if lowest is not None:
            share = own["chosen"] / own["different"]
            which = (
                f"its top 25 % of pairs by score, ties included (a score of {lowest:g} or more: "
                f"{own['chosen']:,} of {own['different']:,} different pairs, {share:.0%})"
            )
        lines.append(
            f"- Positives from `{name}`: {which}. They are {own['positives']:,} pairs that no "
            "collection named before has."
            if len(parts["pairs"]) > 1
            else f"- Positives: {which}, {own['positives']:,} different ones."
        )
    scored = any(config.sources[name]["lowest_score"] is not None for name in parts["pairs"])
    if scored:
        lines.append("- A pair that a collection has several times has the mean of its scores.")
    for name, own in config.sources.items():
        if count := own["of_a_test_part"]:
            lines.append(
                f"- Left out: {count:,} examples of `{name}`, the source's {own['test_part']}, on "
                "which another dataset tests what it trained on the rest. Collections for which "
                "nothing is trained are taken whole."
            )
    if parts["background"]:
        names = ", ".join(f"`{name}`" for name in parts["background"])
        lines.append(
            f"- Background: the texts of {names}, as published; a pair with a text that is not "
            "there is left out."
        )
    else:
        lower = ", those of pairs with lower scores included" if scored else ""
        lines.append(f"- Background: every text of these collections{lower}.")
    if config.dataset.task == "word_ranking":
        lines.append("- Words are in lower case; those that are equal then are one row.")
    elif parts["background"]:
        lines.append("- Only sentences that are equal are one row.")
    else:
        lines.append("- Sentences that differ only in case, punctuation and symbols are one row.")
    if parts["vocabulary"]:
        words = config.counts["words"]
        times = words["occurrences_of_the_rarest"]
        lines.append(
            f"- With them stand the {words['most_frequent']:,} most frequent words of "
            f"`{parts['vocabulary']}`; the rarest occurs {times:,} time{'s' * (times > 1)}."
        )
    lines.append(
        "- Positives go both ways, and a text may have several. Each positive of a query is ranked "
        "among all other texts but the query itself and the query's other positives."
    )
    missing = [
        f"`{name}` ({part})"
        for name, own in config.sources.items()
        for part in own["missing_parts"]
    ]
    if missing and not config.dataset.sample:
        lines.append(f"- **Incomplete: of {' and '.join(missing)} much or all was not there.**")
    return lines


def missing_parts(facts: Mapping[str, Any], found: Mapping[str, int]) -> list[str]:
    """Return the parts of which much less is there than a collection officially has.

    Args:
        facts: the collection's part of corpus.yaml.
        found: part to the number of rows.
    """
    return [
        part
        for part, count in facts["sizes"].items()
        if count is not None and found.get(part, 0) < COMPLETE * count
    ]


def _parts(config: Config) -> list[str]:
    """Return how the rows compare with the source's own parts and with what was published."""
    facts, found = config.dataset.facts, config.counts["source_parts"]
    lines = []
    if facts["sizes"]:
        official = ", ".join(
            f"{part} {'unknown' if count is None else f'{count:,}'} (read {found.get(part, 0):,})"
            for part, count in facts["sizes"].items()
        )
        lines.append(f"- Official counts of the source's parts: {official}.")
    if not config.dataset.sample and (missing := missing_parts(facts, found)):
        lines.append(
            f"- **Incomplete: of the source's {' and '.join(missing)} much or all was not there.**"
        )
    if facts.get("published"):
        lines.append(f"- Published rows: {_one_line(facts['published'])}")
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _sources(configs: Sequence[Config]) -> str:
    lines = ["## Sources and licences", ""]
    found: dict[str, list[tuple[Config, Origin]]] = {}
    for config in configs:
        for origin in config.origins:
            found.setdefault(origin.corpus.facts["name"], []).append((config, origin))
    for name, held in sorted(found.items()):
        fact = held[-1][1].corpus.facts
        used = ", ".join(f"`{config.dataset.name}`" for config, _ in held)
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
        if any(origin.sample for _, origin in held):
            lines += [
                "These rows are a sample in the corpus's format: texts of the Probeta project, "
                "under the Apache License 2.0.",
                "",
            ]
        if fact["citation"]:
            lines += [f"> {' '.join(fact['citation'].split())}", ""]
    if any(config.dataset.parts for config in configs):
        lines += ["### The method of EvalRank", "", f"> {ranking.CITATION}", ""]
    return "\n".join(lines)
