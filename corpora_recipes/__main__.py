"""Command line of the recipes: list, fetch, read."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.commands import positive, run
from corpora_recipes.params import load_corpus, load_params, with_documents

EXAMPLES = """\
examples:
  python -m corpora_recipes list
  python -m corpora_recipes fetch wikipedia --out data/raw/wikipedia
  python -m corpora_recipes read wikipedia --raw data/raw/wikipedia --out wikipedia.parquet
  python -m corpora_recipes read theses --raw my/pages --out theses.parquet --documents all
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m corpora_recipes",
        description="From raw corpora to records.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--params", type=Path, default=Path("params.yaml"), help="default: params.yaml"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "list", parents=[common], help="the corpora of params.yaml, and all recipes"
    )
    fetch = commands.add_parser(
        "fetch", parents=[common], help="bring a corpus's raw files into a folder"
    )
    fetch.add_argument("corpus", help="an entry of corpora in params.yaml")
    fetch.add_argument("--out", type=Path, required=True, metavar="DIR")
    read = commands.add_parser("read", parents=[common], help="raw files to records (Parquet)")
    read.add_argument("corpus", help="an entry of corpora in params.yaml")
    read.add_argument("--raw", type=Path, required=True, metavar="DIR", help="the raw files")
    read.add_argument("--out", type=Path, required=True, metavar="FILE.parquet")
    read.add_argument(
        "--documents", metavar="N|all", help="how many to take; default: what params.yaml says"
    )
    read.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="blocks read at once; default: one a CPU, or one a thread of the cluster",
    )
    read.add_argument(
        "--executor",
        default=os.environ.get("PROBETA_EXECUTOR") or "local",
        metavar="local|tcp://HOST:PORT",
        help="processes of this machine, or a Dask scheduler; default: the environment variable "
        "PROBETA_EXECUTOR, else local",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, or 1 for bad input."""
    args = _parser().parse_args(arguments)
    return run(lambda: _run(args))


def _run(args: argparse.Namespace) -> None:
    if args.command == "list":
        from corpora_recipes.listing import listing

        print(listing(args.params))
        return
    corpus = load_corpus(args.params, args.corpus)
    if args.command == "fetch":
        from corpora_recipes.sources import fetch

        fetch(corpus, load_params(args.params)["sources"], args.out)
    else:
        from corpora_recipes.reading import read

        corpus = with_documents(corpus, args.documents)
        drops = read(corpus, args.raw, args.out, workers=args.workers, executor=args.executor)
        for unit, counts in drops.as_dict().items():
            reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts["dropped"].items() if n)
            kept = f"{corpus.name}: {counts['kept']:,} of {counts['seen']:,} {unit} kept"
            print(f"{kept}; dropped: {reasons}" if reasons else kept)


if __name__ == "__main__":
    sys.exit(main())
