"""The `audit` command: every gate on every dataset of a folder, as JSON and as Markdown."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from builders.audit_report import (
    FORMAT,
    GATES,
    SMALL_TEST,
    Declared,
    Inherited,
    chosen_of,
    cite,
    entries_of,
    failures_of,
    shown_number,
    undeclared_of,
)
from builders.auditing.comparing import Shared, compare, lookup_check
from builders.auditing.gates.donors import occur_elsewhere, rows_of
from builders.auditing.gates.gate import Check
from builders.auditing.markdown import render
from builders.auditing.measuring import Measured, keep_measured, kept_measured, key_of, measure
from builders.auditing.target import Location
from builders.plan.groups import BuildGroup
from builders.plan.inherited import check_inherited
from corpora_recipes.recipe import load_recipe
from corpora_recipes.running.commands import PARAMS
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.memo import Cache, Key
from corpora_recipes.running.outputs import whole_folder
from corpora_recipes.running.telling import progress

PAGE = Path(__file__).with_name("audit.md.jinja")
# Decimals that a declared share is rounded up to; a declaration of more than `GENEROUS` times the
# measured share is noted.
DECIMALS = 3
GENEROUS = 10
# A worker process needs longer to start than to measure this many bytes of files.
BYTES_A_WORKER = 2_000_000
# Pairs of datasets that share fewer rows are in audit.json only.
SHOWN_ROWS = 5
MISSES = ("inherited", "undeclared", "miss")


def audit(
    locations: Sequence[Location],
    out: Path,
    *,
    target: str,
    source: Mapping[str, Any] | None = None,
    not_read: Sequence[str] = (),
    groups: Sequence[BuildGroup] = (),
    inherited: Inherited | None = None,
    params: Path = PARAMS,
    strict: bool = False,
    workers: int = 1,
    cited: Path | None = None,
    memo: Cache | None = None,
) -> dict[str, Any]:
    """Measure the gates on datasets.

    Writes ``out/audit.json`` and ``out/audit.md``, whatever the verdicts. They do not depend on the
    number of workers, nor on the cache.

    Args:
        locations: of the datasets.
        out: a folder; what it held before is replaced as a whole.
        target: the folder or name that the datasets were found in, for the JSON that is cited.
        source: the repository, if they were downloaded.
        not_read: files that were not opened.
        groups: the datasets of params.yaml, for the boilerplate of their corpora.
        inherited: dataset to gate to the reason why the dataset misses it (``because``) and the
            highest share of rows (``at_most``, 0 … 1; a count is taken as a share of all rows).
        params: the file that declares them, for messages.
        strict: whether undeclared misses of source data are failures too.
        workers: number of processes; fewer if there is little to measure.
        cited: a file for the JSON of ``builders.audit_report.cite``; None for none.
        memo: the cached measurements on datasets of ``groups``; None to measure all.

    Returns:
        The content of ``audit.json``: ``source``, ``shared`` (see
        ``builders.auditing.comparing.Shared``), ``not_read``; ``datasets``, name to
        ``task``, ``language``, ``classes``,
        ``texts`` (the columns judged), ``rows``, ``content`` (split to hash), ``inherited`` (its
        declarations), ``checks``, ``chosen`` (see ``audit_report.chosen_of``); in words
        ``failures``, ``undeclared`` (misses of source data) and ``notes``; and ``entry``, YAML for
        ``audit.inherited`` that declares what is undeclared.

    Raises:
        InputError: files are damaged, or ``inherited`` names an unknown gate or dataset.
    """
    declared = inherited or {}
    corpora = {
        dataset.name: dataset.about()["corpus"] for group in groups for dataset in group.datasets
    }
    files = {location.name: location.files for location in locations}
    _check_declared(declared, sorted({*corpora, *files}), params)
    boilerplate = {
        group.name: [
            pattern
            for origin in group.origins
            for pattern in load_recipe(origin.corpus.recipe).boilerplate(origin.corpus)
        ]
        for group in groups
    }
    measured = _measured(locations, boilerplate, corpora, memo, workers)
    compared = compare(
        {name: results.index for name, results in measured.items()},
        {name: results.facts["rows"] for name, results in measured.items()},
    )
    checks = _with_others(measured, locations, compared)
    report: dict[str, Any] = {
        "format": FORMAT,
        "source": source,
        "datasets": {
            name: _judged(
                name, results, checks[name], declared.get(name, {}), strict, ours=name in corpora
            )
            for name, results in measured.items()
        },
        "shared": [asdict(shared) for shared in compared],
        "not_read": [*not_read],
    }
    with whole_folder(out) as temporary:
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (temporary / "audit.json").write_text(text + "\n", "utf-8")
        (temporary / "audit.md").write_text(as_markdown(report), "utf-8")
    if cited:
        cite(report, files, target, cited)
    return report


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the report as Markdown: a table of verdicts, every measurement, and what fails."""
    return render(
        PAGE,
        {
            "source": report["source"],
            "datasets": report["datasets"],
            "undeclared": undeclared_of(report),
            "entries": entries_of(report),
            "failures": failures_of(report),
            "shared": [pair for pair in report["shared"] if pair["rows"] >= SHOWN_ROWS],
            "not_read": report["not_read"],
        },
    )


def _measured(
    locations: Sequence[Location],
    boilerplate: Mapping[str, Sequence[re.Pattern[str]]],
    corpora: Mapping[str, str],
    memo: Cache | None,
    workers: int,
) -> dict[str, Measured]:
    """Return the measurements on each dataset, by name: those that are remembered, or new ones."""
    keys: dict[str, Key] = {}
    measured: dict[str, Measured] = {}
    for location in locations if memo else ():
        name = location.name
        keys[name] = key_of(location, boilerplate.get(corpora.get(name, ""), ()))
        if memo and (kept := kept_measured(memo, name, keys[name])):
            measured[name] = kept
    new = [location for location in locations if location.name not in measured]
    files = [path for location in new for paths in location.files.values() for path in paths]
    size = sum(path.stat().st_size for path in files)
    workers = min(workers, len(new), 1 + size // BYTES_A_WORKER)
    with (
        open_executor("local", max(1, workers)) as pool,
        progress(len(new), "audit", "dataset") as bar,
    ):
        each: Callable[..., Iterator[Measured]] = map if pool is None else pool.map
        for location, results in zip(new, each(measure, new, repeat(boilerplate)), strict=True):
            measured[location.name] = results
            if memo:
                keep_measured(memo, location.name, keys[location.name], results)
            bar.update()
    if memo:
        memo.prune(keys)
    return {location.name: measured[location.name] for location in locations}


def _check_declared(declared: Inherited, datasets: Sequence[str], params: Path) -> None:
    check_inherited(declared, datasets, params)
    for dataset, gates in declared.items():
        if unknown := [gate for gate in gates if gate not in GATES]:
            where = f"{params}: audit.inherited.{dataset}"
            raise ParamsError(where, f"gates among {', '.join(GATES)}", ", ".join(unknown))


def _with_others(
    measured: Mapping[str, Measured], locations: Sequence[Location], compared: Sequence[Shared]
) -> dict[str, list[Check]]:
    """Return the checks of each dataset, with those that need the other datasets."""
    marks = [r.index.marks for r in measured.values() if r.facts["records"] != "examples"]
    texts = np.sort(np.concatenate([np.zeros(0, np.uint64), *marks]))
    checks = {name: list(results.checks) for name, results in measured.items()}
    for location in locations:
        replacing = measured[location.name].replacing
        if replacing is not None:
            of_dataset = checks[location.name]
            first = [check.gate for check in of_dataset].index("donors")
            of_dataset.insert(first, occur_elsewhere(replacing, texts, rows_of(location, texts)))
    for shared in compared:
        if shared.looked_up is not None:
            checks[shared.dataset].insert(0, lookup_check(shared))
    return checks


def _judged(
    name: str,
    results: Measured,
    checks: Sequence[Check],
    declared: Declared,
    strict: bool,
    *,
    ours: bool,
) -> dict[str, Any]:
    """Return the part of the report about a dataset."""
    rows = sum(results.facts["rows"].values())
    # A fault of ours cannot be declared: there is no source that has it.
    checks = [
        check if ours and check.verdict == "miss" else _inherited(check, declared, rows)
        for check in checks
    ]
    failures = [_in_words(c, declared) for c in checks if c.verdict == "miss"]
    undeclared = [check for check in checks if check.verdict == "undeclared"]
    in_words = [_in_words(check, declared) for check in undeclared]
    return results.facts | {
        "inherited": dict(declared),
        "checks": [asdict(check) for check in checks],
        "chosen": chosen_of(map(asdict, checks)),
        "failures": [*failures, *in_words] if strict else failures,
        "undeclared": in_words,
        "entry": _entry(name, undeclared, declared, rows),
        "notes": _notes(checks, declared, rows),
    }


def _inherited(check: Check, declared: Declared, rows: int) -> Check:
    """Mark a declared miss as inherited; the declared share does not limit small datasets."""
    if (
        check.verdict in MISSES
        and check.gate in declared
        and (rows < SMALL_TEST or _share(check, rows) <= declared[check.gate]["at_most"])
    ):
        return replace(check, verdict="inherited")
    return check


def _share(check: Check, rows: int) -> float:
    """Return the measured value as a share; a count is divided by the number of rows."""
    return check.value / rows if isinstance(check.value, int) else check.value


def _in_words(check: Check, declared: Declared) -> str:
    value = shown_number(check.value, check.correlation)
    words = f"gate {GATES[check.gate]}: {check.what}: {value}"
    if check.gate in declared:
        at_most = declared[check.gate]["at_most"]
        words += f", declared as at most {at_most:.1%} of rows"
    return words


def _entry(name: str, undeclared: Sequence[Check], declared: Declared, rows: int) -> str:
    """Return YAML that declares the misses of a dataset, including those declared already."""
    if not undeclared:
        return ""
    entry = {gate: dict(declaration) for gate, declaration in declared.items()}
    for check in undeclared:
        declaration = entry.setdefault(check.gate, {"at_most": 0, "because": "…"})
        share = math.ceil(_share(check, rows) * 10**DECIMALS) / 10**DECIMALS
        declaration["at_most"] = min(1, max(declaration["at_most"], share))
    # One gate per line, as in params.yaml.
    text: str = yaml.safe_dump(
        {name: entry}, default_flow_style=None, allow_unicode=True, sort_keys=False, width=1000
    )
    return text


def _notes(checks: Sequence[Check], declared: Declared, rows: int) -> list[str]:
    """Return notes on declared misses that do not occur, or hardly."""
    notes = []
    for gate, declaration in declared.items():
        missed = [c for c in checks if c.gate == gate and c.verdict in MISSES]
        title = f"gate {GATES[gate]}"
        if not missed:
            notes.append(f"{title}: declared as missed, but it is met in {rows:,} rows")
        elif rows >= SMALL_TEST:
            share = max(_share(check, rows) for check in missed)
            if GENEROUS * share < declaration["at_most"]:
                notes.append(
                    f"{title}: declared as at most {declaration['at_most']:.1%} of "
                    f"rows, measured {share:.2%}"
                )
    return notes
