"""`probeta train`: train a sentence encoder on the structure of a corpus's documents."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params
from evaluation.entries import add_instances

HELP = """\
examples:
  probeta train wiki_nsp --records data/records --instances dist/hub --out data/trained/wiki_nsp

The entry in params.yaml:
  trained:
    wiki_nsp: {corpus: wikipedia, objectives: {nsp: 1, spp: 1, nl: 1}, epochs: 4, seed: 1}

It learns from documents of train, and from no sentence of six words or more that is in validation
or test of a dataset below --instances. A run that was killed goes on from its last checkpoint, in
OUT.unfinished, and ends with the same weights. Needs the extra `torch`; see docs/training.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta train`."""
    parser.add_argument("encoder", metavar="NAME", help="an entry of `trained` in params.yaml")
    parser.add_argument(
        "--records",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the records, such as data/records",
    )
    add_instances(parser)
    add_params(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the trained model"
    )


def run(options: argparse.Namespace) -> None:
    """Train the encoder, and print what it has learnt from."""
    from corpora_recipes.params import load_params
    from evaluation.encoders.pretrained import check_packages
    from evaluation.training.params import training_of

    params = load_params(options.params)
    training = training_of(params, options.params, options.encoder)
    check_packages("train", "torch", "sentence_transformers")

    from evaluation.training.card import model_card
    from evaluation.training.held_out import held_out_sentences
    from evaluation.training.training import train

    records = options.records / f"{training.corpus}.parquet"
    held_out = held_out_sentences(options.instances)
    trained, kept = train(
        options.encoder,
        training,
        records,
        held_out,
        options.out,
        lambda found: model_card(options.encoder, params["corpora"], records, held_out, found),
    )
    counts = trained.counts
    print(
        f"{options.encoder}: {counts['sentences']} sentences in {counts['documents']} documents, "
        f"{counts['held_out']} left out as they are in tests{'; model kept' if kept else ''}"
    )
    if trained.curve:
        first, last = (
            ", ".join(f"{name} {value:.3f}" for name, value in point.items() if name != "step")
            for point in (trained.curve[0], trained.curve[-1])
        )
        print(f"{options.encoder}: losses at first {first}; at last {last}")
