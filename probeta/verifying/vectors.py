"""Verifies the vectors that scores name: those of the store, of which some are encoded again."""

from pathlib import Path

import numpy as np

from corpora_recipes.params import load_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import EMBEDDINGS
from corpora_recipes.running.telling import counted
from evaluation.arrays import Floats
from evaluation.data.texts import prompt_of, unique_texts
from evaluation.embedding.store import EmbeddingStore, made_by, text_keys
from evaluation.encoders import release
from evaluation.encoders.encoder import describe, encode_checked
from evaluation.entries import encoders_of, encoders_params, stores_of
from evaluation.results.paradigms import ParadigmScore
from evaluation.results.probes import Results
from evaluation.results.stored import encoder_facts
from probeta.verifying.check import Check
from probeta.verifying.neighbours import word_rankings

# The share of a vector's length by which libraries that form batches may round.
FAR = 1e-5


def verify_vectors(check: Check, params: Path, count: int) -> None:
    """Compare the vectors of a store with the digests in scores, and with the encoder's.

    Args:
        check: gets what differs.
        params: params.yaml, with the encoder under the name of the results.
        count: how many texts of each dataset are encoded again.
    """
    if isinstance(check.results, Results) and not check.results.probed:
        check.notes.append("not encoded again: a language model has no vectors")
        return
    name, encoders = check.results.name, encoders_of(params)
    if name not in encoders:
        expected = f"the encoder {name}, to encode texts again"
        todo = "add it, or name another file with --params, or verify without --encode"
        raise InputError(params, expected, f"the encoders {', '.join(encoders)}", todo)
    encoder = encoders[name]()
    folder = EMBEDDINGS / stores_of(encoders_params(load_params(params), params))[name]
    known = describe(encoder)
    store = EmbeddingStore(folder, known)
    check.compare("results", check.results, {"encoder": encoder_facts(known, store.dimension)})
    digests: dict[str, dict[str, str]] = {}
    furthest = 0.0
    for score in check.scores():
        if not check.asks(score.dataset):
            continue
        words = word_rankings(check, score) if isinstance(score, ParadigmScore) else []
        datasets = [check.datasets[score.dataset], *words]
        for dataset in datasets:
            if dataset.name in digests:
                continue
            texts = sorted(unique_texts(dataset, known.form))
            store = EmbeddingStore(folder, known, prompt_of(known, dataset))
            _, vectors = store.digests(texts)
            digests[dataset.name] = vectors
            # Which texts, all vectors decide: nobody can choose them and make up the others.
            order = np.argsort(text_keys(texts, vectors[known.layer]), kind="stable")
            sample = [texts[row] for row in order[:count]]
            again = encode_checked(encoder, sample, store.prompt)
            for number, layer in enumerate(known.layers):
                far = _apart(again[:, number], store.lookup(sample, layer))
                furthest = max(far, furthest)
                if far > FAR:
                    away = f"encoded again, up to {far:.2g} of their length away"
                    check.differences.append(f"{dataset.name}, {layer}: vectors: {away}")
        stored = [digests[dataset.name].get(score.layer) for dataset in datasets]
        facts = {"vectors": stored if isinstance(score, ParadigmScore) else stored[0]}
        check.compare(f"{score.dataset}, {score.layer}", score, facts)
    release()
    away = f"at most {furthest:.1g} of their length away" if furthest else "the same to the bit"
    check.notes.append(
        f"{counted(count, 'texts')} of each of {counted(len(digests), 'datasets')} encoded again: "
        f"vectors {away}"
    )
    if store.made_by != made_by(encoder):
        check.notes.append(f"the vectors in {folder} were made by other code or libraries")


def _apart(again: Floats, kept: Floats) -> float:
    """Return how far vectors are from others at most, as a share of the length of these."""
    apart = np.linalg.norm(again.astype(np.float64) - kept, axis=1)
    lengths = np.linalg.norm(kept.astype(np.float64), axis=1)
    with np.errstate(divide="ignore"):
        return max((apart[apart > 0] / lengths[apart > 0]).tolist(), default=0.0)
