"""`probeta embed`: encode the sentences of all instances, each once."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.commands import add_executor, add_params
from evaluation.entries import add_encoder, add_instances

if TYPE_CHECKING:
    from evaluation.embedding.done import Done
    from evaluation.encoders.encoder import Encoder

HELP = """\
examples:
  probeta embed char_hash --instances dist/hub --out data/embeddings/char_hash
  probeta embed use_multilingual --instances dist/hub \\
      --out data/embeddings/use_multilingual --workers 2

Every sentence is encoded once, however many datasets have it. A run that was killed goes on where
it stopped; a run with nothing new ends at once. The vectors do not depend on the number of workers.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta embed`."""
    add_encoder(parser)
    add_instances(parser)
    add_params(parser)
    add_executor(parser, "blocks of texts encoded")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the encoder's store"
    )


def run(options: argparse.Namespace) -> None:
    """Encode new texts, and print their number."""
    from evaluation.embedding.done import inputs_digest, read_done, write_done
    from evaluation.entries import encoder_of

    encoder = encoder_of(options.params, options.encoder)
    inputs = inputs_digest(options.instances, encoder)
    done, new = read_done(options.out, inputs, encoder), 0
    if done is None:
        done, new = _embed(options, encoder)
        write_done(options.out, inputs, done)
    print(f"{options.encoder}: {done.texts} texts in {done.datasets} datasets, {new} encoded now")
    if done.words is not None:
        print(f"{options.encoder}: {done.words} words in its vocabulary, for nearest neighbours")
    if done.tokens is not None:
        unknown = done.out_of_vocabulary / max(1, done.tokens)
        print(f"{options.encoder}: {unknown:.1%} of {done.tokens} tokens are not in its vocabulary")


def _embed(options: argparse.Namespace, encoder: "Encoder") -> "tuple[Done, int]":
    """Bring the store up to date; return what was counted, and the number of texts encoded."""
    from evaluation.data.instances import find_datasets
    from evaluation.data.prompts import check_prompt_names, prompted_texts
    from evaluation.embedding.coverage import measure_coverage
    from evaluation.embedding.done import Done
    from evaluation.embedding.embedding import embed
    from evaluation.embedding.vocabulary import write_vocabulary
    from evaluation.embedding.zeros import check_zeros

    datasets = find_datasets(options.instances)
    check_prompt_names(encoder, (dataset.name for dataset in datasets))
    texts = prompted_texts(encoder, datasets)
    # First, so that a store with all vectors has the counts, too.
    counts = measure_coverage(encoder, datasets, options.out)
    new = sum(
        embed(options.out, encoder, own, options.workers, prompt, options.executor)
        for prompt, own in texts.items()
    )
    check_zeros(options.out, encoder, texts)
    words = None
    if any(dataset.task == "paradigms" for dataset in datasets):
        words = write_vocabulary(options.out, encoder)
    done = Done(
        sum(map(len, texts.values())),
        len(datasets),
        words,
        sum(count["tokens"] for count in counts) if counts else None,
        sum(count["out_of_vocabulary"] for count in counts),
    )
    return done, new
