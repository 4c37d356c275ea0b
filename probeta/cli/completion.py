"""`probeta completion`: print what lets a shell complete verbs, options, encoders and datasets."""

import argparse
from pathlib import Path
from typing import Any

from probeta.cli import main as commands


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of `probeta completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to write it for")


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    import shtab

    from evaluation.data.finding import PACKAGE
    from evaluation.encoders import ENCODERS, options_required

    names = {
        "encoder": [name for name, kind in ENCODERS.items() if not options_required(kind)],
        "datasets": sorted(path.name for path in PACKAGE.glob("*/") if path.is_dir()),
    }
    parser = argparse.ArgumentParser(prog="probeta")
    verbs = parser.add_subparsers()
    for name, verb in commands.VERBS.items():
        of_verb = verbs.add_parser(name, help=verb.summary)
        commands.add_arguments(of_verb, commands.import_verb(name))
        actions: list[Any] = of_verb._actions
        for action in actions:
            action.choices = action.choices or names.get(action.dest)
            if action.type is Path:
                action.complete = shtab.FILE
    print(shtab.complete(parser, options.shell))
