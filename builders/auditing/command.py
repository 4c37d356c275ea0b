"""`probeta audit`: measure every gate on the datasets of a folder."""

import argparse
from pathlib import Path
from textwrap import indent

from corpora_recipes.records import KINDS
from corpora_recipes.running.commands import add_params, add_workers
from corpora_recipes.running.errors import InputError

HELP = """\
examples:
  probeta audit data/instances --out data/audit
  probeta audit somebody/elses/benchmark --task sentence_position --out audit

The folder holds Probeta's instances, other Parquet files (DATASET/SPLIT-00000-of-00001.parquet
with a column `label`), or text files (DATASET/SPLIT.txt: label, tab, tab-separated texts).

The exit code is 1 if a dataset that is constructed here, or a dataset of others, misses a gate.
Misses of source data are only shown, with the entries for params.yaml that declare them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta audit`."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder with datasets")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for audit.json and audit.md; unchanged datasets of an earlier audit in it are "
        "not measured again",
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail on undeclared misses of source data too"
    )
    parser.add_argument(
        "--task", help="task of files that do not state it, such as sentence_position"
    )
    parser.add_argument(
        "--language", default="es", help="language of files that do not state it (default: es)"
    )
    parser.add_argument(
        "--records",
        choices=KINDS,
        help="content of files that do not state it: sentences, turns, discourse units, "
        "labelled texts of any kind, or sentences of treebanks",
    )
    parser.add_argument(
        "--columns",
        type=lambda names: names.split(","),
        help="comma-separated names of the columns with text (default: all)",
    )
    add_params(parser)
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    """Audit the datasets of a folder."""
    from builders.auditing.auditing import audit
    from builders.auditing.report import entries_of, failures_of, undeclared_of
    from builders.plan.groups import load_groups
    from builders.plan.params import inherited_params
    from builders.store.missing import missing_datasets, said_missing
    from corpora_recipes.params import load_params

    groups, inherited = [], {}
    if options.params.exists():
        groups = load_groups(options.params)
        inherited = inherited_params(load_params(options.params), options.params)
    report = audit(
        options.folder,
        options.out,
        groups=groups,
        inherited=inherited,
        params=options.params,
        strict=options.strict,
        task=options.task,
        language=options.language,
        records=options.records,
        columns=options.columns,
        workers=options.workers,
    )
    print(f"datasets audited: {len(report['datasets'])}, see {options.out / 'audit.md'}")
    for line in said_missing(missing_datasets(groups, options.folder)):
        print(line)
    if undeclared := undeclared_of(report):
        print(f"misses of source data that {options.params} does not declare:")
        print(*undeclared, sep="\n")
        print("to declare them, fill in the reasons and put these entries under audit.inherited,")
        print("replacing the entries of the same datasets:")
        print(indent(entries_of(report), "    "), end="")
    if failures := failures_of(report):
        raise InputError(
            options.folder,
            expected="every gate met; misses of source data may be declared under audit.inherited",
            found="".join(f"\n    {failure}" for failure in failures),
            todo=f"read {options.out / 'audit.md'}, then correct the dataset",
        )
