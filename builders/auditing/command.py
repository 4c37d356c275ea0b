"""`probeta audit`: measure every gate on the datasets of a folder."""

import argparse
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from corpora_recipes.records import KINDS
from corpora_recipes.running.commands import add_params, add_workers
from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from builders.auditing.targets.target import Columns

HELP = """\
examples:
  probeta audit data/instances --out data/audit
  probeta audit somebody/elses/benchmark --out audit --json audit.json
  probeta audit hf://datasets/ORG/NAME@REVISION --language es --out audit
  probeta audit mteb:STSES --out audit

The folder holds Probeta's instances, or files of others in one of the layouts of docs/audit.md:
Parquet, text with tabs, CSV, JSON, parallel files, a file for each class.

The exit code is 1 if a dataset that is constructed here, or a dataset of others, misses a gate.
Misses of source data are only shown, with the entries for params.yaml that declare them.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta audit`."""
    parser.add_argument(
        "target",
        metavar="DIR|NAME",
        help="folder with datasets, hf://datasets/ORG/NAME[@REVISION][/FOLDER], or mteb:TASK",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for audit.json and audit.md; unchanged datasets of an earlier audit in it are "
        "not measured again",
    )
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="file for the audit as JSON that can be cited: revision, digests, versions, findings",
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail on undeclared misses of source data too"
    )
    parser.add_argument(
        "--task", help="task of files that do not state it, such as sentence_position"
    )
    parser.add_argument(
        "--language",
        help="language of files that do not state it (default: that of the Hub's card, or of the "
        "task of mteb; es in a folder)",
    )
    parser.add_argument(
        "--records",
        choices=KINDS,
        help="content of files that do not state it: sentences, turns, discourse units, "
        "labelled texts of any kind, or sentences of treebanks",
    )
    parser.add_argument(
        "--columns",
        default="",
        help="comma-separated columns of files that do not name them: texts by name, labels or "
        "scores as label=NAME or score=NAME (default: found by name and content)",
    )
    add_params(parser)
    add_workers(parser)


def columns_of(said: str) -> "Columns":
    """Return the columns that ``--columns`` names: ``premise,hypothesis,label=gold``.

    Raises:
        InputError: it names none, or an unknown role.
    """
    from builders.auditing.targets.target import Columns

    if not said:
        return Columns()
    named = [
        part.partition("=")[::2] if "=" in part else ("text", part) for part in said.split(",")
    ]
    texts = tuple(name for role, name in named if role == "text")
    others = [(role, name) for role, name in named if role != "text"]
    if not {role for role, _ in others} <= {"label", "score"} or len(others) > 1 or "" in texts:
        raise InputError(
            f"--columns {said}",
            expected="names of columns with text, and one of label=NAME and score=NAME",
            found=said,
            todo="write for example: --columns premise,hypothesis,label=gold",
        )
    return Columns(texts, **dict(others))


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
        options.target,
        options.out,
        groups=groups,
        inherited=inherited,
        params=options.params,
        strict=options.strict,
        task=options.task,
        language=options.language,
        records=options.records,
        columns=columns_of(options.columns),
        workers=options.workers,
        cited=options.json,
    )
    print(f"datasets audited: {len(report['datasets'])}, see {options.out / 'audit.md'}")
    if source := report["source"]:
        print(f"{source['repository']} at the commit {source['revision']}")
    else:
        for line in said_missing(missing_datasets(groups, Path(options.target))):
            print(line)
    if undeclared := undeclared_of(report):
        print(f"misses of source data that {options.params} does not declare:")
        print(*undeclared, sep="\n")
        print("to declare them, fill in the reasons and put these entries under audit.inherited,")
        print("replacing the entries of the same datasets:")
        print(indent(entries_of(report), "    "), end="")
    if failures := failures_of(report):
        raise InputError(
            options.target,
            expected="every gate met; misses of source data may be declared under audit.inherited",
            found="".join(f"\n    {failure}" for failure in failures),
            todo=f"read {options.out / 'audit.md'}, then correct the dataset",
        )
