"""`probeta read`: raw files to records."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_corpus, add_executor, add_params

HELP = """\
examples:
  probeta read wikipedia --raw data/raw/wikipedia --out wikipedia.parquet
  probeta read theses --raw my/pages --out theses.parquet --documents all
  probeta read tass --fetch --raw data/raw/tass --out tass.parquet

Beside the records it writes, as JSON, the numbers of documents kept and of documents dropped by
reason. The records do not depend on the number of workers. With --fetch, a corpus that must be
asked for and is not there gives records without rows; all that follows leaves out its datasets.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta read`."""
    add_corpus(parser)
    add_params(parser)
    parser.add_argument(
        "--raw", type=Path, required=True, metavar="DIR", help="folder with the raw files"
    )
    parser.add_argument(
        "--fetch",
        action="store_true",
        help="first get the raw files that are missing, as `probeta fetch` does",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.parquet", help="file for the records"
    )
    parser.add_argument(
        "--documents",
        metavar="N|all",
        help="number of documents to take (default: that of params.yaml)",
    )
    add_executor(parser, "blocks read")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail if a share of drops is above its limit in corpus.yaml, or if a corpus that must "
        "be asked for is missing (default: print a note)",
    )


def run(options: argparse.Namespace) -> None:
    """Read a corpus, and print the counts of records kept and dropped."""
    from corpora_recipes.entries import load_corpus, with_documents
    from corpora_recipes.reading.reading import above_limits, read

    corpus = load_corpus(options.params, options.corpus)
    if options.fetch:
        from corpora_recipes.fetching.sources import fetch
        from corpora_recipes.missing import MissingCorpus
        from corpora_recipes.params import load_params
        from corpora_recipes.reading.without_rows import write_missing

        try:
            fetch(corpus, load_params(options.params)["sources"], options.raw)
        except MissingCorpus as missing:
            if options.strict:
                raise
            write_missing(corpus, options.out)
            print(f"missing, which leaves out {', '.join(corpus.datasets)}: {missing}")
            return
    corpus = with_documents(corpus, options.documents)
    drops = read(
        corpus,
        options.raw,
        options.out,
        workers=options.workers,
        executor=options.executor,
        strict=options.strict,
    )
    for unit, counts in drops.as_dict().items():
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts["dropped"].items() if n)
        kept = f"{corpus.name}: {counts['kept']:,} of {counts['seen']:,} {unit} kept"
        print(f"{kept}; dropped: {reasons}" if reasons else kept)
    for excess in above_limits(corpus, drops):
        print(f"{corpus.name}: note: {excess}")
