"""Encoders from functions that turn texts into vectors: named in params.yaml, or at hand."""

import ast
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from traceback import extract_tb, format_exception_only
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import InputError
from evaluation.encoders.encoder import Form, Postprocessed, Prompts, check_prompts

if TYPE_CHECKING:
    from evaluation.arrays import Reals

FORMS = ("natural", "tokens")
# Largest distance between a text's vectors in a batch and alone, as a share of the length: more
# than the rounding of bfloat16.
ALIKE = 0.05
# The first text, for the number of layers and the dimension.
SHORT_TEXT = "Hola ."
# What a user's code may raise: a script that ends itself would end the run as if all were done.
_FAULTS = (Exception, SystemExit)
# Folders of packages that are installed.
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True, eq=False)
class Called:
    """A function that turns texts into vectors, see ``FunctionEncoder``.

    With a prompt, it is also given ``prompt=``. ``where`` names the encoder in messages.
    """

    function: Callable[..., Any]
    where: str

    @cached_property
    def shape(self) -> tuple[tuple[str, ...], int]:
        """The names of the layers, ("output",) or "0", "1" …; and the dimension."""
        vectors = self._call([SHORT_TEXT])
        layers = ("output",) if vectors.ndim == 2 else tuple(map(str, range(vectors.shape[1])))
        return layers, vectors.shape[-1]

    def check_prompts(self, prompts: Prompts) -> None:
        """Check that the function has an argument ``prompt``, if there are prompts."""
        try:
            arguments = signature(self.function).parameters
        except (TypeError, ValueError):
            return  # Of some functions in C, Python does not know the arguments.
        if prompts and "prompt" not in arguments:
            expected = "a function with an argument `prompt`, as there are prompts"
            todo = "write it as `def encode(texts, prompt=None)`, or remove the prompts"
            found = f"the arguments {', '.join(arguments)}"
            raise InputError(self.where, expected, found, todo)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, see ``FunctionEncoder.encode``."""
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
            returned = self.function(texts, **({} if prompt is None else {"prompt": prompt}))
            vectors: np.ndarray[Any, Any] = np.asarray(returned)
        except InputError:
            raise
        except _FAULTS as error:
            todo = "correct the function; the vectors encoded before are kept"
            raise InputError(self.where, "vectors", f"{_told(error)}, {batch}", todo) from error
        if np.issubdtype(vectors.dtype, np.integer):
            vectors = vectors.astype(np.float32)
        is_right = np.issubdtype(vectors.dtype, np.floating) and vectors.ndim in (2, 3)
        if not is_right or len(vectors) != len(texts) or not vectors.size:
            expected = f"floats [{len(texts)}, dimension] or [{len(texts)}, layers, dimension]"
            found = f"{vectors.dtype} of shape {list(vectors.shape)}, {batch}"
            raise InputError(self.where, expected, found, "return such an array from the function")
        return vectors

    def _check_alone(self, text: str, prompt: str | None, vectors: "Reals") -> None:
        """Check that the last text of a batch has the same vector as alone."""
        alone = self._call([text], prompt)[0]
        # Other shapes and numbers that are not finite are refused elsewhere.
        if alone.shape != vectors.shape[1:] or not np.isfinite([alone, vectors[-1]]).all():
            return
        if np.linalg.norm(alone - vectors[-1]) > ALIKE * np.linalg.norm(alone):
            found = f"one vector for {text!r} alone, and another among {len(vectors)} texts"
            todo = "remove from the function all randomness, and all that depends on other texts"
            raise InputError(self.where, "vectors that depend only on their text", found, todo)


@dataclass(frozen=True)
class FunctionEncoder(Postprocessed):
    """The vectors of a user's function.

    The function takes a list of texts and returns an array of floats, [texts, dimension], or
    [texts, layers, dimension] with the layers from the lowest to the highest. The vector of a text
    must not depend on the other texts of the call. The function is called in one process only;
    it should load its model once (``functools.cache``). ``evaluation/encoders/examples/`` has two.

    Attributes:
        function: "module:function" or "module:object.attribute"; the module may be in the current
            directory. Of an object with a method `encode`, that is called.
        revision: to be changed whenever the function returns other vectors although its file and
            the modules beside it are the same: with another model, or another installed package.
        form: the texts it takes, "natural", or "tokens" joined by spaces.
        prompts: for a function that has an argument `prompt`, see ``Prompts``.
    """

    function: str
    revision: str = "1"
    form: Form = "natural"
    prompts: Prompts = field(default_factory=dict)
    name: ClassVar[str] = "callable"
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = False

    def __post_init__(self) -> None:
        module, colon, function = self.function.partition(":")
        if not (module and colon and function) or self.form not in FORMS:
            raise ValueError(f"function: 'module:function', form: {' or '.join(FORMS)}")
        check_prompts(self.prompts)

    @property
    def called(self) -> Called:
        """The function, imported."""
        return _called(self.function)

    @property
    def dimension(self) -> int:
        """Length of the vector of a short text."""
        return self.called.shape[1]

    @property
    def layers(self) -> tuple[str, ...]:
        """("output",), or "0", "1" … if the function returns layers."""
        return self.called.shape[0]

    @property
    def layer(self) -> str:
        """The last layer."""
        return self.layers[-1]

    @property
    def options(self) -> dict[str, Any]:
        """Function, form, and a digest of the function's module and what it imports there."""
        return {"function": self.function, "form": self.form, "file": _digest(self.function)}

    def check(self) -> None:
        """See ``Encoder.check``."""
        self.called.check_prompts(self.prompts)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension]."""
        self.called.check_prompts(self.prompts)
        return self.called.encode(texts, prompt)


@dataclass(frozen=True, eq=False)
class GivenEncoder(FunctionEncoder):
    """The vectors of a function at hand. It is not in ``ENCODERS``: no file can name it.

    ``function`` is its name, for results; ``revision`` is "" if vectors are not to be kept.
    """

    revision: str = ""
    given: Called = field(kw_only=True)

    def __post_init__(self) -> None:
        """Take any name for the function."""

    @property
    def called(self) -> Called:
        """The function."""
        return self.given

    @property
    def options(self) -> dict[str, Any]:
        """The name of the function, and the form."""
        return {"function": self.function, "form": self.form}


def function_of(given: object) -> Callable[..., Any] | None:
    """Return the method `encode` of an object, or what can be called itself; else None."""
    function = getattr(given, "encode", given)
    return function if callable(function) else None


def _told(error: BaseException) -> str:
    """Return an exception, with the place where the user's code raised it."""
    places = [
        f" ({Path(frame.filename).name}, line {frame.lineno})"
        for frame in extract_tb(error.__traceback__)
        if frame.filename not in (__file__, importlib.__file__)
        and not frame.filename.startswith("<frozen importlib")
    ]
    # Unlike str(), it never raises an exception of its own.
    return "".join([format_exception_only(error)[-1].strip(), *places[-1:]])


@cache
def _digest(name: str) -> str:
    """Return 16 hexadecimal digits that change with a function's module; "" without a file."""
    file = _file(name)
    if not file:
        return ""
    root = Path(file).parents[name.partition(":")[0].count(".")]
    digests = {path: sha256(path.read_bytes()).hexdigest() for path in _imported(Path(file), root)}
    if len(digests) == 1:
        return digests[Path(file)][:16]
    lines = [f"{path.relative_to(root)} {digest}" for path, digest in digests.items()]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def _imported(file: Path, root: Path) -> list[Path]:
    """Return a module's file and those below a folder that it imports, directly or not; sorted."""
    files, waiting = {file}, [file]
    while waiting:
        new = {
            path
            for module in _modules_of(waiting.pop(), root)
            for path in (module.with_suffix(".py"), module / "__init__.py")
            if path.is_file() and path.is_relative_to(root)
        } - files
        files |= new
        waiting += new
    return sorted(files)


def _modules_of(file: Path, root: Path) -> Iterator[Path]:
    """Yield the paths, without ending, that the imports of a file may mean."""
    try:
        nodes = list(ast.walk(ast.parse(file.read_bytes())))
    except (SyntaxError, ValueError):  # its import says what is wrong
        return
    for node in nodes:
        folder, names = root, []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = file.parents[node.level - 1] if node.level else root
            base = node.module or ""
            names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
        for name in names:
            module = folder.joinpath(*name.split("."))
            if not _INSTALLED.intersection(module.parts):
                yield module


def _file(name: str) -> str | None:
    """Return the file of a function's module, without importing it, which may load a model."""
    module = name.partition(":")[0]
    _look_here()
    try:
        spec = find_spec(module)
    except _FAULTS:  # anything that importing the package of the module raises
        spec = None
    if spec is None:
        # It says what is wrong, unless the module was made by a program.
        _called(name)
        return importlib.import_module(module).__file__
    return spec.origin if spec.has_location else None


@cache
def _called(name: str) -> Called:
    """Import a function; InputError if there is no such module or function."""
    where = f"encoder callable, {name}"
    module_name, _, path = name.partition(":")
    here = _look_here()
    try:
        target: Any = importlib.import_module(module_name)
    except _FAULTS as error:
        expected = f"a module {module_name}, in {here} or installed"
        todo = "correct the name of the module, or install the missing package"
        raise InputError(where, expected, _told(error), todo) from error
    file = getattr(target, "__file__", module_name)
    expected = f"a function {path} in {file}, or an object with a method `encode`"
    todo = "correct the name of the function"
    try:
        for part in path.split("."):
            target = getattr(target, part)
        function = function_of(target)
    except _FAULTS as error:
        raise InputError(where, expected, _told(error), todo) from error
    if function is None:
        raise InputError(where, expected, type(target).__name__, todo)
    return Called(function, where)


def _look_here() -> str:
    """Look for modules in the current folder too, and return it."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    return here
