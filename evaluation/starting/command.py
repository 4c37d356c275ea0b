"""`probeta init`: write a params.yaml for a language to the standard output."""

import argparse

HELP = """\
examples:
  probeta init --language ca > params.yaml
  probeta list --languages

Writes what there is in the language: datasets, with the corpora to download, and multilingual
encoders. Nothing is downloaded before `probeta repro`. `probeta list --languages` shows all
languages.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta init`."""
    parser.add_argument(
        "--language", required=True, metavar="CODE", help="of the benchmark, such as ca or pt-BR"
    )


def run(options: argparse.Namespace) -> None:
    """Print a params.yaml.

    Raises:
        InputError: no corpus has the language.
    """
    from evaluation.starting.offers import params_text

    print(params_text(options.language))
