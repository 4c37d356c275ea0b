"""An encoder from any Python function that turns texts into vectors."""

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, ClassVar

from corpora_recipes.running.errors import InputError

if TYPE_CHECKING:
    from evaluation.arrays import Reals
    from evaluation.encoders.encoder import Form

FORMS = ("natural", "tokens")
# Largest distance between a text's vectors in a batch and alone, as a share of the length: more
# than the rounding of bfloat16.
ALIKE = 0.05
# The first text, for the number of layers and the dimension.
SHORT_TEXT = "Hola ."


@dataclass(frozen=True)
class FunctionEncoder:
    """The vectors of a user's function.

    The function takes a list of texts and returns an array of floats, [texts, dimension], or
    [texts, layers, dimension] with the layers from the lowest to the highest. The vector of a text
    must not depend on the other texts of the call. The function is called in one process only;
    it should load its model once (``functools.cache``). ``evaluation/encoders/examples/`` has two.

    Attributes:
        function: "module:function"; the module may be in the current directory.
        revision: to be changed whenever the function returns other vectors although its file is
            the same: with another model, or another version of a module that it uses.
        form: the texts it takes, "natural", or "tokens" joined by spaces.
    """

    function: str
    revision: str = "1"
    form: "Form" = "natural"
    name: ClassVar[str] = "callable"
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = False

    def __post_init__(self) -> None:
        module, colon, function = self.function.partition(":")
        if not (module and colon and function) or self.form not in FORMS:
            raise ValueError(f"function: 'module:function', form: {' or '.join(FORMS)}")

    @property
    def dimension(self) -> int:
        """Length of the vector of a short text."""
        return _shape(self.function)[1]

    @property
    def layers(self) -> tuple[str, ...]:
        """("output",), or "0", "1" … if the function returns layers."""
        return _shape(self.function)[0]

    @property
    def layer(self) -> str:
        """The last layer."""
        return self.layers[-1]

    @property
    def options(self) -> dict[str, Any]:
        """Function, form, and a digest of the file that the function is in."""
        return {"function": self.function, "form": self.form, "file": _digest(self.function)}

    def check(self) -> None:
        """See ``Encoder.check``."""
        _function(self.function)

    def encode(self, texts: Sequence[str]) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension].

        Raises:
            InputError: there is no such function, it fails, it returns another type or shape, or a
                vector depends on the batch.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, len(self.layers), self.dimension), np.float32)
        vectors = _call(self.function, list(texts))
        if len(texts) > 1:
            _check_alone(self.function, texts[-1], vectors)
        return vectors[:, None] if vectors.ndim == 2 else vectors


@cache
def _digest(name: str) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of the module's file; "" without a file."""
    file = _file(name)
    return sha256(Path(file).read_bytes()).hexdigest()[:16] if file else ""


def _file(name: str) -> str | None:
    """Return the file of a function's module, without importing it, which may load a model."""
    module = name.partition(":")[0]
    _look_here()
    try:
        spec = find_spec(module)
    # Anything that importing the package of the module raises.
    except Exception:
        spec = None
    if spec is None:
        # It says what is wrong, unless the module was made by a program.
        _function(name)
        return importlib.import_module(module).__file__
    return spec.origin if spec.has_location else None


@cache
def _shape(name: str) -> tuple[tuple[str, ...], int]:
    """Return the names of the layers, and the dimension."""
    vectors = _call(name, [SHORT_TEXT])
    layers = ("output",) if vectors.ndim == 2 else tuple(map(str, range(vectors.shape[1])))
    return layers, vectors.shape[-1]


def _call(name: str, texts: list[str]) -> "Reals":
    import numpy as np

    function = _function(name)
    batch = f"in the batch of {len(texts)} texts that begins with {texts[0]!r}"
    if texts == [SHORT_TEXT]:
        batch = f"when tried on {SHORT_TEXT!r}"
    try:
        vectors: np.ndarray[Any, Any] = np.asarray(function(texts))
    except InputError:
        raise
    except Exception as error:
        raise _error(
            name,
            expected="vectors",
            found=f"{_said(error)}, {batch}",
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
        raise _error(
            name,
            expected=f"floats [{len(texts)}, dimension] or [{len(texts)}, layers, dimension]",
            found=f"{vectors.dtype} of shape {list(vectors.shape)}, {batch}",
            todo="return such an array from the function",
        )
    return vectors


def _check_alone(name: str, text: str, vectors: "Reals") -> None:
    """Check that the last text of a batch has the same vector as alone."""
    import numpy as np

    alone = _call(name, [text])[0]
    # Other shapes and numbers that are not finite are refused elsewhere.
    if alone.shape != vectors.shape[1:] or not np.isfinite([alone, vectors[-1]]).all():
        return
    if np.linalg.norm(alone - vectors[-1]) > ALIKE * np.linalg.norm(alone):
        raise _error(
            name,
            expected="vectors that depend only on their text",
            found=f"one vector for {text!r} alone, and another among {len(vectors)} texts",
            todo="remove from the function all randomness, and all that depends on other texts",
        )


@cache
def _function(name: str) -> Callable[[list[str]], Any]:
    module_name, _, function_name = name.partition(":")
    here = _look_here()
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise _error(
            name,
            expected=f"a module {module_name}, in {here} or installed",
            found=_said(error),
            todo="correct `function:` in params.yaml, or install the missing package",
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        there = type(function).__name__ if hasattr(module, function_name) else "no such name"
        raise _error(
            name,
            expected=f"a function {function_name} in {module.__file__}",
            found=there,
            todo="correct `function:` in params.yaml",
        )
    found: Callable[[list[str]], Any] = function
    return found


def _look_here() -> str:
    """Look for modules in the current folder too, and return it."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    return here


def _said(error: Exception) -> str:
    """Return an exception, with the place where the user's code raised it."""
    places = [
        f" ({Path(frame.filename).name}, line {frame.lineno})"
        for frame in extract_tb(error.__traceback__)
        if frame.filename not in (__file__, importlib.__file__)
        and not frame.filename.startswith("<frozen importlib")
    ]
    return f"{type(error).__name__}: {error}{''.join(places[-1:])}"


def _error(name: str, *, expected: str, found: str, todo: str) -> InputError:
    return InputError(f"encoder callable, {name}", expected=expected, found=found, todo=todo)
