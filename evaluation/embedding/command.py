"""`probeta embed`: encode the sentences of all instances, each once."""

import argparse
from pathlib import Path

from corpora_recipes.running.commands import add_params, add_workers
from evaluation.entries import add_encoder, add_instances

HELP = """\
examples:
  probeta embed char_hash --instances dist/hub --out data/embeddings/char_hash
  probeta embed use_multilingual --instances dist/hub \\
      --out data/embeddings/use_multilingual --workers 2

Every sentence is encoded once, however many datasets have it. A run that was killed goes on where
it stopped; a run with nothing new encodes nothing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta embed`."""
    add_encoder(parser)
    add_instances(parser)
    add_params(parser)
    add_workers(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the encoder's store"
    )


def run(options: argparse.Namespace) -> None:
    """Encode new texts, and print their number."""
    from evaluation.data.instances import find_datasets
    from evaluation.data.texts import unique_texts
    from evaluation.embedding.coverage import measure_coverage
    from evaluation.embedding.embedding import embed
    from evaluation.embedding.vocabulary import write_vocabulary
    from evaluation.entries import encoder_of

    encoder = encoder_of(options.params, options.encoder)
    datasets = find_datasets(options.instances)
    texts: set[str] = set().union(*(unique_texts(d, encoder.form) for d in datasets))
    new = embed(options.out, encoder, texts, options.workers)
    print(f"{options.encoder}: {len(texts)} texts in {len(datasets)} datasets, {new} encoded now")
    if any(dataset.task == "paradigms" for dataset in datasets):
        words = write_vocabulary(options.out, encoder)
        if words is not None:
            print(f"{options.encoder}: {words} words in its vocabulary, for nearest neighbours")
    if counts := measure_coverage(encoder, datasets, options.out):
        tokens = sum(count["tokens"] for count in counts)
        unknown = sum(count["out_of_vocabulary"] for count in counts) / max(1, tokens)
        print(f"{options.encoder}: {unknown:.1%} of {tokens} tokens are not in its vocabulary")
