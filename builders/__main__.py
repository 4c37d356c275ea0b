"""Command line of the builders: list, build, compose, audit, package, publish, digest."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpora_recipes.commands import positive, run
from corpora_recipes.errors import InputError

EXAMPLES = """\
examples:
  python -m builders list
  python -m builders build theses --records data/records/theses.parquet --out data/instances/theses
  python -m builders compose evalrank_es --records data/records --out data/instances/evalrank_es
  python -m builders audit data/instances --out data/audit
  python -m builders audit somebody/elses/benchmark --task sentence_position --out audit
  python -m builders package --instances data/instances --audit data/audit/audit.json --out dist/hub
  python -m builders publish --repo ORG/NAME --dry-run
  python -m builders digest dist/hub
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m builders",
        description="From records to instances, and to a folder for the Hugging Face Hub.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--params", type=Path, default=Path("params.yaml"), help="default: params.yaml"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "list", parents=[common], help="the datasets of params.yaml, checked: task, corpus, classes"
    )
    build = commands.add_parser(
        "build", parents=[common], help="records to the instances of a corpus's datasets"
    )
    build.add_argument("corpus", help="an entry of corpora in params.yaml")
    build.add_argument("--records", type=Path, required=True, metavar="FILE.parquet")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    compose = commands.add_parser(
        "compose",
        parents=[common],
        help="records of one or more corpora to the instances of a ranking",
        description="Make a ranking (EvalRank) of the records of one or more corpora: pairs that "
        "mean the same, and all other texts to rank them among. What became of every pair is "
        "printed, and stands in build.json.",
    )
    compose.add_argument("ranking", help="an entry of rankings in params.yaml")
    compose.add_argument(
        "--records", type=Path, required=True, metavar="DIR", help="with <corpus>.parquet of each"
    )
    compose.add_argument("--out", type=Path, required=True, metavar="DIR")
    audit = commands.add_parser(
        "audit",
        parents=[common],
        help="measure every gate on the datasets of a folder",
        description="Measure every gate on the datasets of a folder: our instances, other Parquet "
        "files (<dataset>/<split>-00000-of-00001.parquet with a column label), or text files "
        "(<dataset>/<split>.txt: label, tab, texts parted by tabs). Exit code 1 if one is missed.",
    )
    audit.add_argument("folder", type=Path, metavar="DIR")
    audit.add_argument("--out", type=Path, required=True, metavar="DIR")
    audit.add_argument("--task", help="of files that do not say it, such as sentence_position")
    audit.add_argument("--language", default="es", help="of files that do not say it; default: es")
    audit.add_argument(
        "--records",
        choices=("documents", "dialogues", "trees", "examples"),
        help="what files that do not say it hold: sentences, turns, discourse units or labelled "
        "texts of any kind",
    )
    audit.add_argument(
        "--columns", type=lambda names: names.split(","), help="with text, parted by commas"
    )
    audit.add_argument(
        "--workers", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes"
    )
    package = commands.add_parser(
        "package", parents=[common], help="all instances to one folder with a dataset card"
    )
    publish = commands.add_parser(
        "publish", parents=[common], help="package what may be passed on and upload it to the Hub"
    )
    for command in (package, publish):
        command.add_argument(
            "--instances", type=Path, default=Path("data/instances"), metavar="DIR"
        )
        command.add_argument(
            "--audit", type=Path, default=Path("data/audit/audit.json"), metavar="FILE.json"
        )
    package.add_argument("--out", type=Path, required=True, metavar="DIR")
    publish.add_argument("--repo", required=True, metavar="ORG/NAME")
    publish.add_argument(
        "--dry-run", action="store_true", help="say what would be uploaded; send nothing"
    )
    publish.add_argument(
        "--include-restricted",
        action="store_true",
        help="also what its corpus does not allow to be redistributed",
    )
    digest = commands.add_parser(
        "digest", help="config, split, rows, sha256 of the files, hash of the content"
    )
    digest.add_argument("folder", type=Path, metavar="DIR")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, or 1 for bad input."""
    args = _parser().parse_args(arguments)
    return run(lambda: _run(args))


def _run(args: argparse.Namespace) -> None:
    if args.command == "digest":
        from builders.shards import digests

        print("config\tsplit\trows\tsha256\tcontent")
        for row in digests(args.folder):
            print(*row.values(), sep="\t")
        return
    from builders.rankings import groups_of, rankings_of
    from corpora_recipes.params import load_corpora, load_corpus, load_params

    if args.command == "audit":
        _audit(args)
        return
    params = load_params(args.params)
    sources = params["sources"]
    rankings = params["rankings"]
    if args.command == "build":
        from builders.building import build

        corpus = load_corpus(args.params, args.corpus)
        # A corpus with datasets can be built whatever the rankings say.
        composed = not corpus.datasets and any(
            used.name == corpus.name
            for ranking in rankings_of(rankings, load_corpora(args.params), sources)
            for used in ranking.corpora
        )
        _print_rows(build(corpus, args.records, args.out, sources, composed=composed))
        return
    corpora = load_corpora(args.params)
    if args.command == "list":
        from builders.dataset import check_inherited

        groups = groups_of(corpora, rankings, sources)
        check_inherited(
            params["audit"]["inherited"], [d.name for group in groups for d in group.datasets]
        )
        for group in groups:
            for d in group.datasets:
                made_of = ", ".join(origin.corpus.name for origin in group.origins)
                print(f"{d.name}: {d.task.replace('_', ' ')}, from {made_of}", end="")
                print(f" ({d.collection})" if d.collection else "")
    elif args.command == "compose":
        from builders.composing import compose

        found = [
            r for r in rankings_of(rankings, corpora, sources) if r.dataset.name == args.ranking
        ]
        if not found:
            raise InputError(
                f"{args.params}: rankings",
                expected=f"one of {', '.join(rankings) or '(there are none)'}",
                found=repr(args.ranking),
                todo="correct the name, or add an entry",
            )
        report = compose(found[0], args.records, args.out, sources)
        _print_rows(report)
        for entry in report.values():
            print("pairs: " + ", ".join(f"{what} {n:,}" for what, n in entry["pairs"].items()))
    elif args.command == "package":
        from builders.hub import package

        groups = groups_of(corpora, rankings, sources)
        package(groups, args.instances, args.audit, args.out)
    else:
        from builders.publishing import publish

        publication = publish(
            groups_of(corpora, rankings, sources),
            args.instances,
            args.audit,
            args.repo,
            version=version("probeta"),
            dry_run=args.dry_run,
            include_restricted=args.include_restricted,
        )
        print(publication)


def _print_rows(report: dict[str, Any]) -> None:
    for name, entry in report.items():
        rows = ", ".join(f"{split} {count:,}" for split, count in entry["rows"].items())
        print(f"{name}: {rows}")


def _audit(args: argparse.Namespace) -> None:
    from builders.audit import audit, failures_of
    from builders.rankings import groups_of
    from corpora_recipes.params import load_corpora, load_params

    groups, inherited = [], {}
    if args.params.exists():
        params = load_params(args.params)
        groups = groups_of(load_corpora(args.params), params["rankings"], params["sources"])
        inherited = params["audit"]["inherited"]
    report = audit(
        args.folder,
        args.out,
        groups=groups,
        inherited=inherited,
        task=args.task,
        language=args.language,
        records=args.records,
        columns=args.columns,
        workers=args.workers,
    )
    print(f"datasets audited: {len(report['datasets'])}, see {args.out / 'audit.md'}")
    if failures := failures_of(report):
        raise InputError(
            args.folder,
            expected="every gate met, or its miss declared under audit.inherited in params.yaml",
            found="; ".join(failures),
            todo=f"read {args.out / 'audit.md'}, then mend the dataset",
        )


if __name__ == "__main__":
    sys.exit(main())
