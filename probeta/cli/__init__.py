"""The command `probeta`, which imports the module of a verb when it is called; and completion."""

import argparse
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.running import console
from corpora_recipes.running.console import open_streams, run
from corpora_recipes.running.errors import nearest, suggest
from corpora_recipes.yaml_files import load_yaml


class Parser(argparse.ArgumentParser):
    """A parser that says which option or name a misspelt one may stand for."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments; exit with 2 and a message if one is unknown."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            like = nearest([unknown[0].partition("=")[0]], self._option_string_actions)
            hint = f": did you mean {like}?" if like else ""
            self.error(f"unknown arguments: {' '.join(unknown)}{hint}")
        return options

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(
                action, f"{value!r}: {suggest([value], [*action.choices])}"
            )


class Verb(NamedTuple):
    """A verb of the command line, see verbs.yaml.

    Its module has the function `run_NAME`. To import it is cheap: what a run needs, `run_NAME`
    imports.
    """

    name: str
    module: str
    summary: str
    help: str
    arguments: dict[str, Any]
    sections: list[str] | None = None
    if_interrupted: str = "what was there before is unchanged"

    def run(self, options: argparse.Namespace) -> None:
        """Run the verb; see ``corpora_recipes.running.console.run`` for errors."""
        module = import_module(self.module)
        import_module("corpora_recipes.parquet").convert_without_pandas()
        getattr(module, f"run_{self.name}")(options)


_SHARED = load_yaml(Path(__file__).with_name("shared_arguments.yaml"))
_TYPES: dict[str, Any] = {"path": Path, "names": console.names, "positive": console.positive}
_ENTRIES = load_yaml(Path(__file__).with_name("verbs.yaml"))
VERBS = {name: Verb(name, **entry) for name, entry in _ENTRIES.items()}

# The stages of a run, in their order.
STAGES = [verb for verb in VERBS.values() if verb.sections is not None]

_VERBOSITY = ("--quiet", "--verbose")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code: 0, or 1 for bad input."""
    open_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    # These two may also stand before the verb.
    first = next((n for n, word in enumerate(words) if word not in _VERBOSITY), len(words))
    words = [*words[first:][:1], *words[:first], *words[first + 1 :]]
    verb = VERBS[_parser().parse_args(words[:1]).verb]
    # One thread, for the same bits everywhere; numpy starts a thread per CPU when it is imported,
    # which takes as long as the import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imports make no garbage: to look for it after every 700 objects takes a tenth of a start.
    gc.set_threshold(50_000, 20, 20)
    # A notebook names one of its kernel, which matplotlib refuses where it is not installed.
    os.environ["MPLBACKEND"] = "agg"
    return run(lambda: _run(verb, words[1:]), verb.if_interrupted)


def _run(verb: Verb, arguments: Sequence[str]) -> None:
    parser = Parser(
        prog=f"probeta {verb.name}",
        description=f"{verb.summary[0].upper()}{verb.summary[1:]}.",
        epilog=verb.help,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_arguments(parser, verb)
    options = parser.parse_args(arguments)
    console.quiet, console.verbose = options.quiet, options.verbose
    console.begin_stage()
    try:
        verb.run(options)
    finally:
        console.quiet = console.verbose = False


def add_arguments(
    parser: argparse.ArgumentParser, arguments: Mapping[str, Any], of: str = ""
) -> None:
    """Add arguments of verbs.yaml; ``of`` is what a verb says of those that others have too."""
    computed = {
        "CPUS": os.cpu_count() or 1,
        "EXECUTOR": os.environ.get("PROBETA_EXECUTOR") or "local",
    }
    for name, facts in arguments.items():
        if name in _SHARED:
            add_arguments(parser, _SHARED[name], facts or "")
            continue
        if "{of}" in facts["help"] and not of:
            continue
        details = {**facts, "help": facts["help"].replace("{of}", of)}
        if facts["help"] == argparse.SUPPRESS:
            details["help"] = argparse.SUPPRESS  # argparse asks whether it is the same object
        if "type" in facts:
            details["type"] = _TYPES[facts["type"]]
        if facts.get("default") in [*computed]:
            details["default"] = computed[facts["default"]]
        if isinstance(choices := facts.get("choices"), str):
            module, _, constant = choices.partition(":")
            details["choices"] = list(getattr(import_module(module), constant))
        parser.add_argument(*name.split(), **details)


def _add_arguments(parser: argparse.ArgumentParser, verb: Verb) -> None:
    """Add the arguments of a verb, and those that all verbs have."""
    add_arguments(parser, verb.arguments)
    verbosity = parser.add_mutually_exclusive_group()
    verbosity.add_argument("--quiet", action="store_true", help="print the result and faults alone")
    verbosity.add_argument("--verbose", action="store_true", help="print the counts of every entry")


class _Version(argparse.Action):
    """Prints the version: its import takes longer than all else here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"probeta {version('probeta')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, VERBS))
    summaries = [f"  {name:{width}}  {verb.summary}" for name, verb in VERBS.items()]
    text = Path(__file__).with_name("help.txt").read_text("utf-8")
    parser = Parser(
        prog="probeta",
        usage="probeta VERB …",
        description="Rebuild benchmarks of sentence encoders from raw corpora, and probe encoders.",
        epilog=text.format(summaries="\n".join(summaries)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help="see below")
    return parser


def run_completion(options: argparse.Namespace) -> None:
    """Print the script."""
    import shtab

    from corpora_recipes.running.outputs import PACKAGE
    from evaluation.encoders import ENCODERS, options_required

    names = {
        "encoder": [name for name, kind in ENCODERS.items() if not options_required(kind)],
        "datasets": sorted(path.name for path in PACKAGE.glob("*/") if path.is_dir()),
    }
    parser = argparse.ArgumentParser(prog="probeta")
    verbs = parser.add_subparsers()
    for name, verb in VERBS.items():
        verb_parser = verbs.add_parser(name, help=verb.summary)
        _add_arguments(verb_parser, verb)
        actions: list[Any] = verb_parser._actions
        for action in actions:
            action.choices = action.choices or names.get(action.dest)
            if action.type is Path:
                action.complete = shtab.FILE
    print(shtab.complete(parser, options.shell))
