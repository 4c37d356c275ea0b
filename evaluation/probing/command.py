"""`probeta probe`: fit and score a probe for every dataset."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_executor, said_kept
from evaluation.entries import add_embedded

HELP = """\
examples:
  probeta probe char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/results/char_hash

Datasets that were probed in an earlier run, whose results are in the same folder, are not probed
again if dataset, encoder, parameters, code and libraries are unchanged. The results do not depend
on that, nor on the number of workers. In params.yaml, `probing: {protocol: senteval}` probes by the
schedule of the papers, five times; `pair_features: four_part` probes pairs on
[x1, x2, x1*x2, |x1-x2|] instead of [|x1-x2|, x1*x2].
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta probe`."""
    add_embedded(parser)
    add_executor(parser, "probes computed")
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
    from evaluation.results.probes import write_results

    params = load_params(options.params)
    datasets = find_probed(options.instances)
    results, predictions, kept = probe_datasets(
        options.encoder,
        encoder_of(options.params, options.encoder),
        datasets,
        options.embeddings,
        seed=params["seed"],
        probing=probing_params(params, options.params),
        workers=options.workers,
        executor=options.executor,
        earlier=options.out,
    )
    write_results(results, predictions, options.out)
    for score in results.main:
        beside = "Pearson" if score.majority is None else f"majority {100 * score.majority:.1f}"
        print(f"{score.dataset}: {100 * score.value:.1f} ({beside})")
    print(said_kept(len(datasets), kept))
