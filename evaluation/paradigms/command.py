"""`probeta paradigms`: complete paradigms of words (ParaLex)."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import said_kept
from evaluation.entries import add_embedded

HELP = """\
examples:
  probeta paradigms char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/paradigms/char_hash.json

ParaLex (Sumbler et al. 2018): whether the words of a cluster are found among the nearest neighbours
of two of them, and of each other. Candidates are the words of the language's word rankings; for an
encoder that is a file of word vectors, also its own vocabulary. `paralex` in params.yaml has the
coherence threshold and the casings. What an earlier run wrote is kept where dataset, vocabulary,
encoder, parameters, code and libraries are unchanged.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta paradigms`."""
    add_embedded(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.json", help="file for the results"
    )


def run(options: argparse.Namespace) -> None:
    """Evaluate all paradigms, and print the scores."""
    from corpora_recipes.params import load_params
    from evaluation.data.instances import find_datasets
    from evaluation.entries import encoder_of
    from evaluation.paradigms.evaluating import evaluate_paradigms
    from evaluation.paradigms.params import paralex_params
    from evaluation.results.paradigms import write_paradigms

    params = load_params(options.params)
    results, kept = evaluate_paradigms(
        options.encoder,
        encoder_of(options.params, options.encoder),
        find_datasets(options.instances),
        options.embeddings,
        seed=params["seed"],
        **paralex_params(params, options.params),
        earlier=options.out,
    )
    write_paradigms(results, options.out)
    for score in results.main:
        print(
            f"{score.dataset} ({score.vocabulary} vocabulary, {score.casing.replace('_', ' ')}): "
            f"suggestion {100 * score.suggestion:.1f}, coherence {100 * score.coherence:.1f}"
        )
    for dataset, reason in results.left_out.items():
        print(f"{dataset}: not scored: {reason}")
    print(said_kept(len({score.dataset for score in results.scores}), kept))
