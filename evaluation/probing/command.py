"""`probeta probe`: fit and score a probe for every dataset."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params, add_workers
from evaluation.entries import add_embeddings, add_encoder, add_instances

HELP = """\
examples:
  probeta probe char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/results/char_hash

The results do not depend on the number of workers. In params.yaml, `probing: {protocol: senteval}`
probes by the schedule of the papers, five times; `pair_features: four_part` probes pairs on
[x1, x2, x1*x2, |x1-x2|] instead of [|x1-x2|, x1*x2].
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta probe`."""
    add_encoder(parser)
    add_instances(parser)
    add_embeddings(parser)
    add_params(parser)
    add_workers(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the results"
    )


def run(options: argparse.Namespace) -> None:
    """Probe every dataset, and print the scores."""
    from corpora_recipes.params import load_params
    from evaluation.data.instances import find_probed
    from evaluation.entries import encoder_of
    from evaluation.probing.params import probing_params
    from evaluation.probing.probing import probe_datasets
    from evaluation.results.probes import predictions_table, write_results

    params = load_params(options.params)
    results, predictions = probe_datasets(
        options.encoder,
        encoder_of(options.params, options.encoder),
        find_probed(options.instances),
        options.embeddings,
        seed=params["seed"],
        probing=probing_params(params, options.params),
        workers=options.workers,
    )
    tables = (
        predictions_table(score.dataset, score.layer, answers)
        for score, answers in zip(results.scores, predictions, strict=True)
    )
    write_results(results, tables, options.out)
    for score in results.main:
        beside = "Pearson" if score.majority is None else f"majority {100 * score.majority:.1f}"
        print(f"{score.dataset}: {100 * score.value:.1f} ({beside})")
