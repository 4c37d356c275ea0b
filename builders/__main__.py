"""Command line of the builders: build, package, digest."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.commands import run

EXAMPLES = """\
examples:
  python -m builders build theses --records data/records/theses.parquet --out data/instances/theses
  python -m builders package --instances data/instances --out dist/hub
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
    build = commands.add_parser(
        "build", parents=[common], help="records to the instances of a corpus's datasets"
    )
    build.add_argument("corpus", help="an entry of corpora in params.yaml")
    build.add_argument("--records", type=Path, required=True, metavar="FILE.parquet")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    package = commands.add_parser(
        "package", parents=[common], help="all instances to one folder with a dataset card"
    )
    package.add_argument("--instances", type=Path, required=True, metavar="DIR")
    package.add_argument("--out", type=Path, required=True, metavar="DIR")
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
    from corpora_recipes.params import load_corpora, load_corpus, load_params

    if args.command == "build":
        from builders.building import build

        report = build(load_corpus(args.params, args.corpus), args.records, args.out)
        for name, entry in report.items():
            rows = ", ".join(f"{split} {count:,}" for split, count in entry["rows"].items())
            print(f"{name}: {rows}")
    else:
        from builders.hub import package

        sources = load_params(args.params)["sources"]
        package(load_corpora(args.params), sources, args.instances, args.out)


if __name__ == "__main__":
    sys.exit(main())
