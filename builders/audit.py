"""The `audit` command: every gate on every dataset of a folder, as JSON and as a Markdown table."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from builders.audit_gates import (
    GATES,
    SMALL_TEST,
    Check,
    Context,
    audit_dataset,
    count_sentences,
)
from builders.audit_targets import Location, find_targets
from builders.dataset import check_inherited
from builders.rankings import Group
from builders.shards import digest
from corpora_recipes.errors import InputError
from corpora_recipes.executors import open_executor
from corpora_recipes.outputs import read_report, whole_folder
from corpora_recipes.recipes import boilerplate_of

FORMAT = 1
# How a verdict is shown, from the best to the worst.
MARKS = {
    "not applicable": "–",
    "pass": "pass",
    "within chance": "pass (within chance)",
    "inherited": "inherited",
    "miss": "**miss**",
}
Declared = Mapping[str, Mapping[str, Any]]
"""Gate to what params.yaml says of its miss: ``at_most`` and ``because``."""
Inherited = Mapping[str, Declared]
"""Dataset to what is declared of it."""


def audit(
    folder: Path,
    out: Path,
    *,
    groups: Sequence[Group] = (),
    inherited: Inherited | None = None,
    task: str | None = None,
    language: str = "es",
    records: str | None = None,
    columns: Sequence[str] | None = None,
    workers: int = 1,
) -> dict[str, Any]:
    """Measure the gates on every dataset of a folder.

    Writes ``out/audit.json`` and ``out/audit.md``, whatever the verdicts. They do not depend on
    the number of workers.

    Args:
        folder: see ``builders.audit_targets.find_targets``.
        out: a folder; what it held before is replaced as a whole.
        groups: what params.yaml has, for the boilerplate of our own datasets' corpora.
        inherited: dataset to gate to why it is known to be missed (``because``) and in what share
            of the rows at most (``at_most``, 0 … 1; a count is taken as a share of all rows).
        task: the task of files that do not say it.
        language: the language of files that do not say it.
        records: the kind of texts in files that do not say it.
        columns: the columns with text in Parquet files that do not say it.
        workers: number of processes.

    Returns:
        What stands in ``audit.json``: ``datasets``, name to ``task``, ``language``, ``classes``,
        ``texts`` (the columns judged), ``rows``, ``content`` (split to hash), ``inherited`` (what
        is declared), ``checks``, ``failures`` and ``notes`` (in words).

    Raises:
        InputError: there is nothing to audit, files are damaged, or ``inherited`` names a gate or
            a dataset that is not there.
    """
    declared = inherited or {}
    locations = find_targets(folder, task=task, language=language, records=records, columns=columns)
    ours = [dataset.name for group in groups for dataset in group.datasets]
    _check_declared(declared, sorted({*ours, *(location.name for location in locations)}))
    boilerplate = {
        group.name: [p for origin in group.origins for p in boilerplate_of(origin.corpus)]
        for group in groups
    }
    sentences: Counter[int] = Counter()
    for location in tqdm(locations, desc="count sentences", unit="dataset", disable=None):
        sentences.update(count_sentences([location.load()]))
    datasets: dict[str, Any] = {}
    with (
        open_executor("local", min(workers, len(locations))) as pool,
        tqdm(total=len(locations), desc="audit", unit="dataset", disable=None) as bar,
    ):
        jobs = [(location, sentences, boilerplate) for location in locations]
        results = (
            (_audit_one(*job) for job in jobs)
            if pool is None
            else (future.result() for future in [pool.submit(_audit_one, *job) for job in jobs])
        )
        for location, (facts, checks) in zip(locations, results, strict=True):
            own = declared.get(location.name, {})
            rows = sum(facts["rows"].values())
            judged = [_judge(check, own, rows) for check in checks]
            datasets[location.name] = facts | {
                "inherited": dict(own),
                "checks": [asdict(check) for check in judged],
                **_outcome(judged, own, rows),
            }
            bar.update()
    report = {"format": FORMAT, "datasets": datasets}
    with whole_folder(out) as temporary:
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (temporary / "audit.json").write_text(text + "\n", "utf-8")
        (temporary / "audit.md").write_text(as_markdown(report), "utf-8")
    return report


def read_audit(path: Path) -> dict[str, Any]:
    """Read what ``audit`` wrote.

    Raises:
        InputError: the file is missing, or in another format.
    """
    return read_report(
        path, FORMAT, "the report of `python -m builders audit`", "run the audit again"
    )


def baselines_of(report: Mapping[str, Any], dataset: str) -> dict[str, float]:
    """Return what the trivial baselines reach on a dataset's test, by name.

    Accuracies 0 … 1, or correlations -1 … 1 where a score is asked for.
    """
    checks = report["datasets"][dataset]["checks"]
    return {c["what"]: c["value"] for c in checks if c["gate"] == "baselines" and c["what"]}


def _audit_one(
    location: Location, sentences: Counter[int], boilerplate: Mapping[str, list[re.Pattern[str]]]
) -> tuple[dict[str, Any], list[Check]]:
    target = location.load()
    try:
        checks = audit_dataset(target, Context(sentences, boilerplate.get(target.corpus, [])))
    except InputError as error:
        raise InputError(
            f"dataset {target.name}: {error.where}",
            expected=error.expected,
            found=error.found,
            todo=error.todo,
        ) from None
    shards = location.files if target.corpus else {}
    facts = {
        "task": target.task.name if target.task else None,
        "language": target.language,
        "classes": len(target.labels),
        "texts": list(target.texts),
        "rows": {split: len(part.texts) for split, part in target.parts.items()},
        # What was audited, so that nothing else is packaged with this audit.
        "content": {split: digest(paths)["content"] for split, paths in shards.items()},
    }
    return facts, checks


def _check_declared(declared: Inherited, datasets: Sequence[str]) -> None:
    check_inherited(declared, datasets)
    for dataset, gates in declared.items():
        if unknown := [gate for gate in gates if gate not in GATES]:
            raise InputError(
                f"params.yaml: audit.inherited.{dataset}",
                expected=f"gates among {', '.join(GATES)}",
                found=", ".join(unknown),
                todo="correct or remove the entry",
            )


def _judge(check: Check, declared: Declared, rows: int) -> Check:
    """Tell a declared miss from another; shares of a small dataset are not held against it."""
    if check.verdict == "miss" and check.gate in declared:
        share = check.value / rows if isinstance(check.value, int) else check.value
        if rows < SMALL_TEST or share <= declared[check.gate]["at_most"]:
            return replace(check, verdict="inherited")
    return check


def _outcome(checks: Sequence[Check], declared: Declared, rows: int) -> dict[str, list[str]]:
    """Return the failures of a dataset, and what is only to be noted.

    A declared miss that does not occur is a failure, but in a small dataset it may not occur by
    chance.
    """
    failures = [
        f"gate {GATES[c.gate][0]}: {c.what}: {_number(c.value, c.correlation)}"
        + (
            f", declared in params.yaml as at most {declared[c.gate]['at_most']:.1%} of rows"
            if c.gate in declared
            else ""
        )
        for c in checks
        if c.verdict == "miss"
    ]
    notes = []
    occurring = {check.gate for check in checks if check.verdict in ("inherited", "miss")}
    for gate in declared:
        if gate in occurring:
            continue
        title = f"gate {GATES[gate][0]}"
        if rows < SMALL_TEST:
            notes.append(f"{title}: declared as missed, not seen in {rows:,} rows")
        else:
            failures.append(
                f"{title}: declared as missed in params.yaml, but it is met: remove the entry"
            )
    return {"failures": failures, "notes": notes}


def inherited_of(facts: Mapping[str, Any]) -> list[str]:
    """Return the reasons of the misses that a dataset inherits, as lines of Markdown.

    Args:
        facts: what ``audit`` reports of it.
    """
    occurring = {c["gate"] for c in facts["checks"] if c["verdict"] == "inherited"}
    reasons = {gate: d["because"] for gate, d in facts["inherited"].items() if gate in occurring}
    return [f"Inherited, {gate.replace('_', ' ')}: {why}." for gate, why in reasons.items()] + [
        f"Note, {note}." for note in facts["notes"]
    ]


def failures_of(report: Mapping[str, Any]) -> list[str]:
    """Return every failure of a report, with the name of its dataset."""
    return [
        f"{name}, {failure}"
        for name, facts in report["datasets"].items()
        for failure in facts["failures"]
    ]


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the report as Markdown: a table of verdicts, the baselines, and every measurement."""
    datasets = report["datasets"]
    lines = ["# Audit", "", *verdict_table(datasets), ""]
    for name, facts in datasets.items():
        lines += [f"## {name}", "", f"Texts: {', '.join(facts['texts'])}.", ""]
        lines += [*measurements(facts), ""]
        for line in inherited_of(facts):
            lines += [line, ""]
    if failures := failures_of(report):
        lines += ["## Failures", "", *(f"- {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"


def verdict_table(datasets: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the table of verdicts, as lines of Markdown.

    Args:
        datasets: name to what ``audit`` reports of it.
    """
    titles = [title for title, _ in GATES.values()]
    lines = ["| dataset | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for name, facts in datasets.items():
        cells = [MARKS[verdict_of(facts["checks"], gate)] for gate in GATES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "Gate 10, that scores depend neither on the embeddings' scale nor on the order of tasks "
        "nor on hash seeds, is measured with the scores.",
    ]
    return lines


def verdict_of(checks: Sequence[Mapping[str, Any]], gate: str) -> str:
    """Return the worst verdict of a gate's checks."""
    found = [str(check["verdict"]) for check in checks if check["gate"] == gate]
    return max(found, key=list(MARKS).index)


def measurements(facts: Mapping[str, Any]) -> list[str]:
    """Return a table of a dataset's measurements, as lines of Markdown."""
    lines = ["| gate | measured | value | limit | verdict |", "|---|---|---:|---:|---|"]
    for entry in facts["checks"]:
        check = Check(**entry)
        if check.verdict == "not applicable":
            continue
        title = GATES[check.gate][0]
        value = _number(check.value, check.correlation)
        limit = "" if check.limit is None else _number(check.limit, check.correlation)
        verdict = MARKS[check.verdict] if check.limit is not None else ""
        lines.append(f"| {title} | {check.what} | {value} | {limit} | {verdict} |")
    return lines


def _number(value: float, correlation: bool) -> str:
    if correlation:
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:.2f} %"
