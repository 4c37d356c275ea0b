"""Calls of a user's function that turns texts into vectors, and checks of what it returns."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.encoders.encoder import Prompts

if TYPE_CHECKING:
    from evaluation.arrays import Reals

# Largest distance between a text's vectors in a batch and alone, as a share of the length: more
# than the rounding of bfloat16.
ALIKE = 0.05
# The first text, for the number of layers and the dimension.
SHORT_TEXT = "Hola ."


def function_of(given: object) -> Callable[..., Any] | None:
    """Return the method `encode` of an object, or what can be called itself; else None."""
    function = getattr(given, "encode", given)
    return function if callable(function) else None


def said(error: Exception) -> str:
    """Return an exception, with the place where the user's code raised it."""
    places = [
        f" ({Path(frame.filename).name}, line {frame.lineno})"
        for frame in extract_tb(error.__traceback__)
        if Path(frame.filename).parent != Path(__file__).parent
        and frame.filename != importlib.__file__
        and not frame.filename.startswith("<frozen importlib")
    ]
    return f"{type(error).__name__}: {error}{''.join(places[-1:])}"


@dataclass(frozen=True, eq=False)
class Called:
    """A function that turns texts into vectors.

    Attributes:
        function: takes a list of texts, returns floats [texts, dimension], or [texts, layers,
            dimension] with the layers from the lowest to the highest. The vector of a text must not
            depend on the other texts of the call. With a prompt, it is also given ``prompt=``.
        where: the name of the encoder in messages.
    """

    function: Callable[..., Any]
    where: str

    @cached_property
    def shape(self) -> tuple[tuple[str, ...], int]:
        """The names of the layers, ("output",) or "0", "1" …; and the dimension.

        Raises:
            InputError: see ``encode``.
        """
        vectors = self._call([SHORT_TEXT])
        layers = ("output",) if vectors.ndim == 2 else tuple(map(str, range(vectors.shape[1])))
        return layers, vectors.shape[-1]

    def check_prompts(self, prompts: Prompts) -> None:
        """Check that the function takes prompts, if there are some.

        Raises:
            InputError: it has no argument ``prompt``.
        """
        try:
            known = "prompt" in signature(self.function).parameters
        except (TypeError, ValueError):
            # Of some functions in C, Python does not know the arguments.
            known = True
        if prompts and not known:
            raise InputError(
                self.where,
                expected="a function with an argument `prompt`, as there are prompts",
                found=f"the arguments {', '.join(signature(self.function).parameters)}",
                todo="write it as `def encode(texts, prompt=None)`, or remove the prompts",
            )

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension].

        Raises:
            InputError: the function fails, it returns another type or shape, or a vector depends
                on the batch.
        """
        if not texts:
            layers, dimension = self.shape
            return np.zeros((0, len(layers), dimension), np.float32)
        vectors = self._call(list(texts), prompt)
        if len(texts) > 1:
            self._check_alone(texts[-1], prompt, vectors)
        return vectors[:, None] if vectors.ndim == 2 else vectors

    def _call(self, texts: list[str], prompt: str | None = None) -> "Reals":
        batch = f"in the batch of {len(texts)} texts that begins with {texts[0]!r}"
        if texts == [SHORT_TEXT]:
            batch = f"when tried on {SHORT_TEXT!r}"
        try:
            found = self.function(texts, **({} if prompt is None else {"prompt": prompt}))
            vectors: np.ndarray[Any, Any] = np.asarray(found)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                self.where,
                expected="vectors",
                found=f"{said(error)}, {batch}",
                todo="correct the function; the vectors encoded before are kept",
            ) from error
        if np.issubdtype(vectors.dtype, np.integer):
            vectors = vectors.astype(np.float32)
        if not (
            np.issubdtype(vectors.dtype, np.floating)
            and vectors.ndim in (2, 3)
            and len(vectors) == len(texts)
            and vectors.size
        ):
            raise InputError(
                self.where,
                expected=f"floats [{len(texts)}, dimension] or [{len(texts)}, layers, dimension]",
                found=f"{vectors.dtype} of shape {list(vectors.shape)}, {batch}",
                todo="return such an array from the function",
            )
        return vectors

    def _check_alone(self, text: str, prompt: str | None, vectors: "Reals") -> None:
        """Check that the last text of a batch has the same vector as alone."""
        alone = self._call([text], prompt)[0]
        # Other shapes and numbers that are not finite are refused elsewhere.
        if alone.shape != vectors.shape[1:] or not np.isfinite([alone, vectors[-1]]).all():
            return
        if np.linalg.norm(alone - vectors[-1]) > ALIKE * np.linalg.norm(alone):
            raise InputError(
                self.where,
                expected="vectors that depend only on their text",
                found=f"one vector for {text!r} alone, and another among {len(vectors)} texts",
                todo="remove from the function all randomness, and all that depends on other texts",
            )
