"""Post-processing of vectors before they are compared, fitted on vectors of the same encoder.

Each is a map x -> (x - centre) A with a symmetric matrix A that does not depend on the signs of
eigenvectors, nor on their choice where some are equal, unless the last that is taken out and the
first that stays are. A is diagonal in the eigenvectors of a second moment of the vectors:

    centre             A is the identity.
    abtt               "all but the top" (Mu and Viswanath 2018, algorithm 1): centred, and
                       the D principal components of the largest variance taken out, D = d / 100 of
                       dimension d, rounded, and 1 at least.
    component_removal  the first singular direction taken out, not centred (Arora, Liang and Ma
                       2017, "A simple but tough-to-beat baseline for sentence embeddings",
                       algorithm 1).
    whitening          centred, and all components brought to variance 1 (Su et al. 2021, "Whitening
                       sentence representations for better semantics and faster retrieval"). Their
                       map ends in a rotation more, which changes neither cosine nor distance.
                       Components that vary by no more than rounding, as many do where there are
                       fewer texts than dimensions, are taken out: nothing is known of them.

A vector of zeros, which an encoder gives to what it does not know, is not fitted on and stays zero.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from evaluation.arrays import Doubles, Floats
from evaluation.data.features import Lookup
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompt_of, unique_texts
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders.encoder import Description, Postprocess

_BLOCK_TEXTS = 4096
# What is shorter than this share of the vectors is their rounding (float32: 2 ** -24, and less of
# a mean of many), or that of float64 (2 ** -53) in what is taken from them.
_ROUNDING = 2.0**-40


def fitted_on(encoder: Description, dataset: Dataset) -> str:
    """Return on which texts of a dataset an encoder's post-processing is fitted, "" without any.

    On those of "train", or where there is none, or folds, on all its "own".
    """
    if encoder.postprocessing == "none":
        return ""
    return "train" if "train" in dataset.files and not dataset.folds else "own"


def open_lookup(encoder: Description, store: Path, dataset: Dataset, layer: str) -> Lookup:
    """Return what looks up the vectors of a dataset's texts in a layer; within ``one_thread``.

    They are post-processed, if the encoder asks for it. For errors see ``EmbeddingStore``.
    """
    opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
    lookup = partial(opened.lookup, layer=layer)
    if not (on := fitted_on(encoder, dataset)):
        return lookup
    texts = sorted(unique_texts(dataset, encoder.form, ["train"] if on == "train" else ()))
    fitted = Fitting(lookup(texts)).fit(encoder.postprocessing)
    return lambda texts: fitted.apply(lookup(texts))


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """A map that was fitted.

    Attributes:
        centre: what is subtracted first, float64 [dimension].
        matrix: what the rest is multiplied by, float64 [dimension, dimension]; None for 1.
        gain: the most that it can lengthen a vector.
    """

    centre: Doubles
    matrix: Doubles | None
    gain: float

    def apply(self, vectors: Floats) -> Floats:
        """Return the vectors' images, float32 of the same shape.

        An image that is rounding alone is 0, so that it has no direction: that of a vector which is
        the mean, or all of whose components were removed. One beyond the range of float32 is
        infinite.
        """
        images = np.empty(vectors.shape, np.float32)
        centre = np.linalg.norm(self.centre)
        for start in range(0, len(vectors), _BLOCK_TEXTS):
            wide = vectors[start : start + _BLOCK_TEXTS].astype(np.float64)
            lengths = np.linalg.norm(wide, axis=1)
            wide -= self.centre
            if self.matrix is not None:
                wide = wide @ self.matrix
            rounding = _ROUNDING * self.gain * (lengths + centre)
            wide[(np.linalg.norm(wide, axis=1) <= rounding) | (lengths == 0)] = 0
            with np.errstate(over="ignore"):
                images[start : start + _BLOCK_TEXTS] = wide
        return images


class Fitting:
    """Post-processings fitted on the same vectors: what several need is computed once."""

    def __init__(self, vectors: Floats) -> None:
        """Fit nothing yet; all that follows within ``one_thread``.

        Args:
            vectors: float32 [texts, dimension], one text or more; may be memory-mapped.
        """
        self._vectors = vectors

    def postprocess(self, name: Postprocess) -> Floats:
        """Return the vectors after a post-processing that is fitted on all of them."""
        return self._vectors if name == "none" else self.fit(name).apply(self._vectors)

    def fit(self, name: Postprocess) -> Postprocessing:
        """Return a post-processing other than "none"."""
        dimension = self._vectors.shape[1]
        if name == "centre":
            return Postprocessing(self._mean, None, 1.0)
        if name == "component_removal":
            centre = np.zeros(dimension)
            variances, components = self._moment(centre)
        else:
            centre = self._mean
            variances, components = self._covariance
        if name == "whitening":
            squared_lengths = variances.sum() + centre @ centre
            varies = variances > _ROUNDING * squared_lengths
            scales = np.zeros(dimension)
            scales[varies] = variances[varies] ** -0.5
        else:
            removed = 1 if name == "component_removal" else max(1, round(dimension / 100))
            scales = np.ones(dimension)
            scales[dimension - removed :] = 0
        return Postprocessing(centre, (components * scales) @ components.T, float(scales.max()))

    @cached_property
    def _count(self) -> int:
        return max(1, sum(map(len, _blocks(self._vectors))))

    @cached_property
    def _mean(self) -> Doubles:
        centre = np.zeros(self._vectors.shape[1])
        for block in _blocks(self._vectors):
            centre += block.sum(axis=0)
        return centre / self._count

    @cached_property
    def _covariance(self) -> tuple[Doubles, Doubles]:
        return self._moment(self._mean)

    def _moment(self, centre: Doubles) -> tuple[Doubles, Doubles]:
        """Return the second moment about a centre: its eigenvalues, ascending, and eigenvectors."""
        moment = np.zeros((len(centre), len(centre)))
        for block in _blocks(self._vectors):
            block -= centre
            moment += block.T @ block
        variances, components = np.linalg.eigh(moment / self._count)
        return variances, components


def _blocks(vectors: Floats) -> Iterator[Doubles]:
    """Yield the vectors that are not 0."""
    for start in range(0, len(vectors), _BLOCK_TEXTS):
        block = vectors[start : start + _BLOCK_TEXTS]
        yield block[block.any(axis=1)].astype(np.float64)
