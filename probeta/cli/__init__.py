"""The command `probeta`; the module of a verb is imported only when it is called."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.running import console
from corpora_recipes.running.console import open_streams, run
from corpora_recipes.yaml_files import load_yaml


class Verb(NamedTuple):
    """A verb, see verbs.yaml; ``module`` is a ``VerbModule``."""

    module: str
    summary: str
    help: str
    kept: str = "what was there before is unchanged"


VERBS = {
    name: Verb(**entry) for name, entry in load_yaml(Path(__file__).with_name("verbs.yaml")).items()
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
    summary = VERBS[name].summary
    parser = argparse.ArgumentParser(
        prog=f"probeta {name}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=VERBS[name].help,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, name)
    options = parser.parse_args(given)
    console.quiet = options.quiet
    try:
        verb_function("run_{}", name)(options)
    finally:
        console.quiet = False


def verb_function(pattern: str, name: str) -> Callable[[Any], None]:
    """Return "run_{}" or "add_{}_arguments" of a verb; importing its module is cheap."""
    function: Callable[[Any], None] = getattr(
        import_module(VERBS[name].module), pattern.format(name)
    )
    return function


def add_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the arguments of a verb, and those that all verbs have."""
    verb_function("add_{}_arguments", name)(parser)
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


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of `probeta completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to write it for")


def run_completion(options: argparse.Namespace) -> None:
    """Print the script."""
    import shtab

    from evaluation.datasets import PACKAGE
    from evaluation.encoders import ENCODERS, options_required

    names = {
        "encoder": [name for name, kind in ENCODERS.items() if not options_required(kind)],
        "datasets": sorted(path.name for path in PACKAGE.glob("*/") if path.is_dir()),
    }
    parser = argparse.ArgumentParser(prog="probeta")
    verbs = parser.add_subparsers()
    for name, verb in VERBS.items():
        of_verb = verbs.add_parser(name, help=verb.summary)
        add_arguments(of_verb, name)
        actions: list[Any] = of_verb._actions
        for action in actions:
            action.choices = action.choices or names.get(action.dest)
            if action.type is Path:
                action.complete = shtab.FILE
    print(shtab.complete(parser, options.shell))
