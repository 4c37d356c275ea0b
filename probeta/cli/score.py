"""`probeta score`: score one encoder on some datasets."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.commands import add_data, add_params, add_workers, names
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.telling import tell

if TYPE_CHECKING:
    from probeta.scores import Scores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta score`."""
    add = parser.add_argument
    add("encoder", nargs="?", metavar="ENCODER", help="what to score: see below")
    told = "instead of ENCODER: the answers of a language model, that lm-eval wrote to DIR"
    add("--from-lm-eval", type=Path, metavar="DIR", help=told)
    add_data(parser)
    add("--datasets", type=names, metavar="A,B", help="names of datasets (default: all)")
    add("--groups", type=names, metavar="SP,DR", help="groups, or benchmarks")
    add("--protocol", metavar="NAME", help="standard or senteval (default: that of params.yaml)")
    add("--name", metavar="NAME", help="name of the results (default: from ENCODER)")
    told = "of a function: a version of its vectors, which are then kept; of a model on the Hub: "
    add("--revision", metavar="R", help=f"{told}branch, tag or commit")
    told = """prompts of the texts, such as 'default: "query: "' or '{SP: "a: ", SS: "b: "}'"""
    add("--prompts", metavar="YAML", help=told)
    add("--out", type=Path, metavar="DIR", help="folder for the results (default: results/NAME)")
    add_params(parser)
    add_workers(parser)


def run(options: argparse.Namespace) -> None:
    """Score the encoder, print a table, and write the results."""
    if (options.encoder is None) == (options.from_lm_eval is None):
        given = "neither" if options.encoder is None else "both"
        todo = "name what to score, see `probeta score --help`"
        raise InputError("probeta score", "ENCODER, or --from-lm-eval DIR", given, todo)
    scores = _language_model(options) if options.encoder is None else _encoder(options)
    out = options.out or Path("results", scores.results.name)
    scores.save(out)
    print(scores)
    if scores.store:
        tell(f"vectors: {scores.store}")
    tell(f"results: {out}")


def _encoder(options: argparse.Namespace) -> "Scores":
    from corpora_recipes.running.yaml_text import parse_yaml
    from probeta.scoring import score

    return score(
        options.encoder,
        options.data,
        datasets=options.datasets,
        groups=options.groups,
        name=options.name,
        revision=options.revision,
        prompts=parse_yaml(options.prompts, "--prompts") if options.prompts else None,
        protocol=options.protocol,
        params=options.params,
        workers=options.workers,
    )


def _language_model(options: argparse.Namespace) -> "Scores":
    from probeta.exchange.lm_eval import score_language_model

    for name in ("revision", "prompts", "protocol"):
        if getattr(options, name) is not None:
            expected = "an encoder to score, which this option is about"
            raise InputError(f"--{name}", expected, "--from-lm-eval", "leave the option out")
    return score_language_model(
        options.from_lm_eval,
        options.data,
        datasets=options.datasets,
        groups=options.groups,
        name=options.name,
    )
