"""The command `probeta`; each verb is a module, imported only when it is called."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from corpora_recipes.running import telling
from corpora_recipes.running.commands import open_streams, run


class Verb(NamedTuple):
    """A verb: its module, see ``VerbModule``, and what is kept of its work if interrupted."""

    module: str
    summary: str
    kept: str = "what was there before is unchanged"


class VerbModule(Protocol):
    """A module with a verb. Its import is cheap: ``run`` imports all that a run needs."""

    HELP: str
    """The text of `--help` below the options: examples and notes."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's arguments to its parser."""

    def run(self, options: argparse.Namespace) -> None:
        """Do the work; see ``corpora_recipes.running.commands.run`` for errors."""


_DOWNLOADED = "the next run resumes the download"
VERBS = {
    "init": Verb("evaluation.starting.command", "write a params.yaml for a language"),
    "list": Verb("evaluation.listing", "list and check the entries of params.yaml"),
    "schema": Verb("evaluation.schema", "write the JSON Schema of params.yaml, for editors"),
    "doctor": Verb("corpora_recipes.doctor", "check that the corpora can be fetched"),
    "fetch": Verb("corpora_recipes.fetching.command", "get the raw files of a corpus", _DOWNLOADED),
    "read": Verb(
        "corpora_recipes.reading.command",
        "fetch raw files, and convert them to records (Parquet)",
        _DOWNLOADED,
    ),
    "build": Verb(
        "builders.building.command", "build the instances of a corpus's datasets from records"
    ),
    "compose": Verb("builders.composing.command", "build the instances of a ranking from records"),
    "audit": Verb("builders.auditing.command", "measure every gate on the datasets of a folder"),
    "package": Verb(
        "builders.packaging.command", "collect all instances in one folder for the Hub"
    ),
    "publish": Verb(
        "builders.packaging.publish_command",
        "upload the datasets that may be redistributed",
        "a version is published whole or not at all",
    ),
    "digest": Verb("builders.store.command", "identify datasets by their content"),
    "train": Verb(
        "evaluation.training.command",
        "train an encoder on the structure of documents",
        "the next run goes on from its last checkpoint",
    ),
    "embed": Verb(
        "evaluation.embedding.command",
        "encode the sentences of all instances",
        "the vectors encoded before are kept",
    ),
    "probe": Verb("evaluation.probing.command", "train and score a probe on every dataset"),
    "rank": Verb("evaluation.ranking.command", "rank paraphrases among all texts (EvalRank)"),
    "paradigms": Verb("evaluation.paradigms.command", "complete paradigms of words (ParaLex)"),
    "score": Verb("evaluation.scoring.command", "score one encoder on some datasets"),
    "compare": Verb(
        "evaluation.scoring.compare_command", "show the differences of two encoders, with intervals"
    ),
    "sheet": Verb("evaluation.people.command", "ask people about rows, and score their answers"),
    "export": Verb(
        "evaluation.exchange.command", "write results for mteb and the Hugging Face Hub"
    ),
    "verify": Verb("evaluation.verifying.command", "compute stored scores again from the answers"),
    "repro": Verb(
        "evaluation.repro",
        "run all stages, and show where the run is and its scores",
        "the finished stages are kept",
    ),
    "report": Verb("evaluation.reporting.command", "write the page, tables and figures"),
    "study": Verb(
        "evaluation.reporting.study_command",
        "correlate scores that need no probe with those of tasks, over encoders",
    ),
    "site": Verb("evaluation.reporting.site_command", "build the site of documentation and report"),
    "completion": Verb("evaluation.completion", "print what lets a shell complete commands"),
    "check": Verb("evaluation.checking", "show the averages, and what a run has left out"),
}

_TOLD = ("--quiet", "--verbose")
_WIDTH = max(map(len, VERBS))
_LISTED = "\n".join(f"  {name:{_WIDTH}}  {verb.summary}" for name, verb in VERBS.items())
_HELP = f"""\
verbs:
{_LISTED}

examples:
  probeta list
  probeta build --only theses
  probeta audit somebody/elses/benchmark --task sentence_position --out audit
  probeta VERB --help

--quiet prints the result and faults alone, --verbose the counts of every entry.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0, or 1 for bad input."""
    open_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    # These two may also stand before the verb.
    before = next((n for n, text in enumerate(given) if text not in _TOLD), len(given))
    given = [*given[before:][:1], *given[:before], *given[before + 1 :]]
    name = _parser().parse_args(given[:1]).verb
    # One thread, for the same bits everywhere; numpy starts a thread per CPU when it is imported,
    # which takes as long as the import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A notebook names one of its kernel, which matplotlib refuses where it is not installed.
    os.environ["MPLBACKEND"] = "agg"
    return run(lambda: _call(name, given[1:]), VERBS[name].kept)


def _call(name: str, given: Sequence[str]) -> None:
    module = import_verb(name)
    summary = VERBS[name].summary
    parser = argparse.ArgumentParser(
        prog=f"probeta {name}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=module.HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, module)
    options = parser.parse_args(given)
    telling.quiet = options.quiet
    try:
        module.run(options)
    finally:
        telling.quiet = False


def import_verb(name: str) -> VerbModule:
    """Return the module of a verb."""
    return cast("VerbModule", import_module(VERBS[name].module))


def add_arguments(parser: argparse.ArgumentParser, module: VerbModule) -> None:
    """Add the arguments of a verb, and those that all verbs have."""
    module.add_arguments(parser)
    told = parser.add_mutually_exclusive_group()
    told.add_argument("--quiet", action="store_true", help="print the result and faults alone")
    told.add_argument("--verbose", action="store_true", help="tell the counts of every entry")


class _Version(argparse.Action):
    """Prints the version; importing what tells it takes longer than all else here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"probeta {version('probeta')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="probeta",
        usage="probeta VERB …",
        description="Rebuild benchmarks of sentence encoders from raw corpora, and probe encoders.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="see below")
    return parser


if __name__ == "__main__":
    sys.exit(main())
