"""`probeta rank`: rank paraphrases among all texts (EvalRank)."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_workers, said_kept
from evaluation.entries import add_embedded

HELP = """\
examples:
  probeta rank char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/rankings/char_hash

EvalRank (Wang et al. 2022) on the datasets of `rankings` in params.yaml: the rank of each positive
among all other texts. `evalrank` in params.yaml lists the similarities, and the post-processing of
the vectors. The folder has the ranks of all pairs, too. What an earlier run wrote there is kept
where dataset, encoder, parameters, code and libraries are unchanged.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta rank`."""
    add_embedded(parser)
    add_workers(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the results"
    )


def run(options: argparse.Namespace) -> None:
    """Rank the pairs of all rankings, and print the scores."""
    from corpora_recipes.params import load_params
    from evaluation.data.instances import find_datasets
    from evaluation.entries import encoder_of
    from evaluation.ranking.evaluating import rank_datasets
    from evaluation.ranking.params import evalrank_params
    from evaluation.results.rankings import write_rankings

    params = load_params(options.params)
    results, ranks, kept = rank_datasets(
        options.encoder,
        encoder_of(options.params, options.encoder),
        find_datasets(options.instances),
        options.embeddings,
        seed=params["seed"],
        **evalrank_params(params, options.params),
        workers=options.workers,
        earlier=options.out,
    )
    write_rankings(results, ranks, options.out)
    for score in results.plain:
        print(f"{score.dataset}: MRR {100 * score.mrr:.1f} ({score.similarity})")
    datasets = {score.dataset for score in results.scores}
    datasets |= {score.dataset for score in results.similarities}
    print(said_kept(len(datasets), kept))
