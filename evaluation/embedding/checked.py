"""An encoder's vectors, once they are known to be what they should be."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.arrays import Floats
from evaluation.encoders.encoder import Encoder, TakesPrompts


def encode_checked(encoder: Encoder, texts: Sequence[str], prompt: str | None = None) -> Floats:
    """Return ``encoder.encode(texts)``, or with a prompt, once it is known to be what it should be.

    Raises:
        InputError: another number of rows, another dimension, or a number that is not finite.
    """
    if prompt is None:
        vectors = np.asarray(encoder.encode(texts))
    else:
        vectors = np.asarray(cast("TakesPrompts", encoder).encode(texts, prompt))
    said = "".join(f", {key} {value}" for key, value in encoder.options.items())
    where = f"encoder {encoder.name}, revision {encoder.revision}{said}"
    todo = "correct the encoder; the vectors encoded before are kept"
    if vectors.shape != (len(texts), len(encoder.layers), encoder.dimension):
        raise InputError(
            where,
            expected=f"{len(texts)} times {len(encoder.layers)} vectors of dimension "
            f"{encoder.dimension}",
            found=f"an array of shape {vectors.shape}, in the batch that begins with {texts[0]!r}",
            todo=todo,
        )
    if not np.issubdtype(vectors.dtype, np.floating):
        raise InputError(
            where,
            expected="vectors of float32",
            found=f"{vectors.dtype}, in the batch that begins with {texts[0]!r}",
            todo=todo,
        )
    # Through float32 first: a float64 beyond its range becomes infinite.
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=(1, 2)))
    if bad.size:
        raise InputError(
            where,
            expected="finite numbers, in the range of float32",
            found=f"NaN, or an infinite or too large number, for {texts[bad[0]]!r}",
            todo=todo,
        )
    return vectors
