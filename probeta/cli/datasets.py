"""The verbs on datasets: `probeta audit`, `digest` and `publish`."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from builders.audit_report import entries_of, failures_of, undeclared_of
from builders.plan.groups import inherited_of, load_groups, skipped_datasets, without_datasets
from corpora_recipes.params import load_params
from corpora_recipes.running.cache import Cache, digest_files, open_cache
from corpora_recipes.running.code import code_digest, stage_versions
from corpora_recipes.running.errors import InputError, check_packages
from corpora_recipes.running.outputs import AUDIT, INSTANCES, LEFT_OUT, PACKAGE
from corpora_recipes.running.stage import Skipped, log_outcome, read_skipped, write_skipped

if TYPE_CHECKING:
    from builders.auditing.target import Columns


def parse_columns(option: str) -> "Columns":
    """Return the columns that ``--columns`` names: ``premise,hypothesis,label=gold``."""
    from builders.auditing.target import Columns

    if not option:
        return Columns()
    roles = [
        part.partition("=")[::2] if "=" in part else ("text", part) for part in option.split(",")
    ]
    texts = tuple(name for role, name in roles if role == "text")
    targets = [(role, name) for role, name in roles if role != "text"]
    if not {role for role, _ in targets} <= {"label", "score"} or len(targets) > 1 or "" in texts:
        expected = "names of columns with text, and one of label=NAME and score=NAME"
        todo = "write for example: --columns premise,hypothesis,label=gold"
        raise InputError(f"--columns {option}", expected, option, todo)
    return Columns(texts, **dict(targets))


def run_audit(options: argparse.Namespace) -> None:
    """Audit the datasets of params.yaml, or third-party data."""
    if options.target is None:
        with open_cache(verify=options.check):
            _audit_own(options)
        return
    if options.out is None:
        todo = "name a folder: it gets audit.json and audit.md"
        raise InputError(f"audit {options.target}", "--out DIR", "no folder for the audit", todo)
    from probeta.auditing import audit

    groups, inherited = [], {}
    if options.params.exists():
        groups = load_groups(options.params)
        inherited = inherited_of(load_params(options.params), options.params, groups)
    defaults = {name: getattr(options, name) for name in ("task", "language", "records")}
    columns = parse_columns(options.columns)
    report = audit(
        options.target,
        options.out,
        **defaults,
        columns=columns,
        groups=groups,
        inherited=inherited,
        **_audit_options(options),
    )
    print(f"datasets audited: {len(report['datasets'])}, see {options.out / 'audit.md'}")
    if source := report["source"]:
        print(f"{source['repository']} at the commit {source['revision']}")
    _print_undeclared(report)
    _refuse_failures(report, options.target, options.out)


def _audit_own(options: argparse.Namespace) -> None:
    """Audit the datasets of params.yaml that were made, and leave out those that fail."""
    groups = load_groups(options.params)
    made_groups = without_datasets(groups, skipped_datasets(groups, "read", "build", "compose"))
    folders = {
        dataset.name: folder
        for group in made_groups
        for dataset in group.datasets
        if (folder := INSTANCES / group.folder / dataset.name).is_dir()
    }
    if not folders:
        todo = "run `probeta build` first"
        if read_skipped("read") or read_skipped("build"):
            todo = f"mend what was skipped, see {LEFT_OUT}: one fault skips a corpus as a whole"
        raise InputError(INSTANCES, "at least one dataset", "none that could be made", todo)
    inherited = inherited_of(load_params(options.params), options.params, groups)
    recipes = {origin.corpus.recipe for group in groups for origin in group.origins}
    key = {
        "inputs": digest_files(folders.values()),
        "parameters": [
            inherited,
            options.strict,
            [group.name for group in groups],
            sorted(folders),
        ],
        "code": code_digest(
            "builders.auditing.auditing",
            "builders.auditing.instances",
            *(f"corpora_recipes.corpora.{recipe}.recipe" for recipe in recipes),
        ),
        "versions": stage_versions("audit"),
    }
    cache = Cache("audit")
    measurements = Cache("measured")
    # The cited JSON is no output of the cache; the measurements are cached all the same.
    failures, again = None if options.json else cache.get("all", key), cache.has("all")
    if failures is None:
        from builders.auditing.auditing import audit
        from builders.auditing.instances import instances_in

        check_packages("audit", "py3langid", "sklearn")
        locations = sorted(map(instances_in, folders.values()), key=lambda location: location.name)
        report = audit(
            locations,
            AUDIT,
            target=str(INSTANCES),
            groups=groups,
            inherited=inherited,
            cache=measurements,
            **_audit_options(options),
        )
        _print_undeclared(report)
        if options.strict:
            _refuse_failures(report, INSTANCES, AUDIT)
        failures = {
            name: "\n".join([*facts["failures"], f"see {AUDIT / 'audit.md'}"])
            for name, facts in report["datasets"].items()
            if facts["failures"]
        }
        cache.put("all", key, [AUDIT], failures)
    skipped = {name: Skipped(why) for name, why in failures.items()}
    write_skipped("audit", skipped)
    log_outcome("audit", "datasets", len(folders), [again] * measurements.written, skipped)


def _audit_options(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "params": options.params,
        "strict": options.strict,
        "workers": options.workers,
        "cited": options.json,
    }


def _print_undeclared(report: Mapping[str, Any]) -> None:
    if undeclared := undeclared_of(report):
        print("misses of source data that are not declared:")
        print(*undeclared, sep="\n")
        print("to declare them, fill in the reasons and put these entries under audit.inherited")
        print("in params.yaml, replacing the entries of the same datasets:")
        print(indent(entries_of(report), "    "), end="")


def _refuse_failures(report: Mapping[str, Any], target: Path | str, out: Path) -> None:
    """Raise an error if a dataset misses a gate."""
    if failures := failures_of(report):
        expected = "every gate met; misses of source data may be declared under audit.inherited"
        todo = f"read {out / 'audit.md'}, then correct the dataset"
        raise InputError(
            target, expected, "".join(f"\n    {failure}" for failure in failures), todo
        )


def run_digest(options: argparse.Namespace) -> None:
    """Print the digests of a folder."""
    from builders.store import digests

    print("config\tsplit\trows\tsha256\tcontent")
    for row in digests(options.folder):
        print(*row.values(), sep="\t")


def run_publish(options: argparse.Namespace) -> None:
    """Publish the datasets that may be redistributed."""
    from builders.packaging.publishing import publish

    groups = load_groups(options.params)
    skipped = skipped_datasets(groups, "read", "build", "compose")
    if faults := [name for name, why in skipped.items() if not (why.asked_for or why.sample)]:
        found = f"{', '.join(faults)}: left out, see `probeta check`"
        todo = "mend the faults, or remove the datasets, and run all stages again"
        raise InputError(options.params, "datasets without a fault", found, todo)
    with open_cache():
        publication = publish(
            without_datasets(groups, skipped),
            INSTANCES,
            AUDIT / "audit.json",
            options.repo,
            version=options.version,
            name=load_params(options.params)["name"],
            params=options.params,
            packaged=PACKAGE,
            dry_run=options.dry_run,
            include_restricted=options.include_restricted,
        )
    print(publication)
