"""Encoders from functions of the user: named in params.yaml, or passed in memory."""

import ast
import importlib
import os
import re
import sys
import sysconfig
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from importlib.util import find_spec, source_from_cache
from inspect import signature
from pathlib import Path
from tempfile import gettempdir
from traceback import extract_tb, format_exception_only, walk_stack
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.cache import digest_file
from corpora_recipes.running.code import PACKAGES, ROOT
from corpora_recipes.running.errors import InputError
from evaluation.encoders.encoder import Form, Postprocessed, Prompts, check_prompts

if TYPE_CHECKING:
    from evaluation.arrays import Reals

FORMS = ("natural", "tokens")
# The largest distance between a text's vectors in a batch and alone, as a share of the length: more
# than the rounding of bfloat16.
MAX_BATCH_DISTANCE = 0.05
# The first text, for the number of layers and the dimension.
SHORT_TEXT = "Hola ."
# Folders of packages that are installed.
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True, eq=False)
class CheckedFunction:
    """A function from texts to vectors, see ``FunctionEncoder``; what it returns is checked.

    With a prompt, it also gets ``prompt=``. ``label`` names the encoder in messages.
    """

    function: Callable[..., Any]
    label: str

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
            raise InputError(self.label, expected, found, todo)

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
            with _noting_files(self.label):
                returned = self.function(texts, **({} if prompt is None else {"prompt": prompt}))
            vectors: np.ndarray[Any, Any] = np.asarray(returned)
        except (InputError, KeyboardInterrupt):
            raise
        # A script that ends itself would end the run as if all were done.
        except BaseException as error:
            todo = "correct the function, and run it again"
            raise InputError(
                self.label, "vectors", f"{_format_exception(error)}, {batch}", todo
            ) from error
        if np.issubdtype(vectors.dtype, np.integer):
            vectors = vectors.astype(np.float32)
        is_right = np.issubdtype(vectors.dtype, np.floating) and vectors.ndim in (2, 3)
        if not is_right or len(vectors) != len(texts) or not vectors.size:
            expected = f"floats [{len(texts)}, dimension] or [{len(texts)}, layers, dimension]"
            found = f"{vectors.dtype} of shape {list(vectors.shape)}, {batch}"
            raise InputError(self.label, expected, found, "return such an array from the function")
        return vectors

    def _check_alone(self, text: str, prompt: str | None, vectors: "Reals") -> None:
        """Check that the last text of a batch has the same vector as alone."""
        alone = self._call([text], prompt)[0]
        # Other shapes and numbers that are not finite are refused elsewhere.
        if alone.shape != vectors.shape[1:] or not np.isfinite([alone, vectors[-1]]).all():
            return
        if np.linalg.norm(alone - vectors[-1]) > MAX_BATCH_DISTANCE * np.linalg.norm(alone):
            found = f"one vector for {text!r} alone, and another among {len(vectors)} texts"
            todo = "remove from the function all randomness, and all that depends on other texts"
            raise InputError(self.label, "vectors that depend only on their text", found, todo)


@dataclass(frozen=True)
class FunctionEncoder(Postprocessed):
    """The vectors of a user's function.

    The function takes a list of texts and returns an array of floats, [texts, dimension], or
    [texts, layers, dimension] with the layers from the lowest to the highest. The vector of a text
    must not depend on the other texts of the call. The function is called in one process only;
    it should load its model once (``functools.cache``). ``evaluation/encoders/examples/`` has some.

    Attributes:
        function: "module:function" or "module:object.attribute"; the module may be in the current
            directory. Of an object with a method `encode`, that is called.
        revision: to be changed whenever the function returns other vectors although its file, the
            modules beside it and the files that it opens are the same, see ``opened_files``.
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
    def checked_function(self) -> CheckedFunction:
        """The function, imported."""
        return _import_function(self.function)

    @property
    def dimension(self) -> int:
        """Length of the vector of a short text."""
        return self.checked_function.shape[1]

    @property
    def layers(self) -> tuple[str, ...]:
        """("output",), or "0", "1" … if the function returns layers."""
        return self.checked_function.shape[0]

    @property
    def layer(self) -> str:
        """The last layer."""
        return self.layers[-1]

    @property
    def options(self) -> dict[str, Any]:
        """Function, form, and a digest of the function's module and what it imports there."""
        return {"function": self.function, "form": self.form, "file": _digest_module(self.function)}

    def opened_files(self) -> dict[str, str | None]:
        """Return the files that the function has opened so far in this process, and not written.

        Their paths, from the current folder on if they are in it, to their SHA-256 when they were
        opened, None of a file that was missing. Without those of which ``options`` has a digest,
        and those of Python, installed packages and the system; neither temporary nor hidden ones.
        """
        sources = {*map(str, _find_sources(self.function)[1] if "file" in self.options else ())}
        files, queue = set[str](), [self.checked_function.label, *sources]
        while queue:
            new = _opened[queue.pop()] - files
            files |= new
            queue += new
        here = f"{Path.cwd()}{os.sep}"
        paths = sorted(files - sources - _written)
        return {path.removeprefix(here): _digests[path] for path in paths}

    def check(self) -> None:
        """See ``Encoder.check``."""
        self.checked_function.check_prompts(self.prompts)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension]."""
        self.checked_function.check_prompts(self.prompts)
        return self.checked_function.encode(texts, prompt)


@dataclass(frozen=True, eq=False)
class InMemoryEncoder(FunctionEncoder):
    """The vectors of a function in memory. It is not in ``ENCODERS``: no file can name it.

    ``function`` is its name, for results; ``revision`` is "" if vectors are not to be stored.
    """

    revision: str = ""
    in_memory: CheckedFunction = field(kw_only=True)

    def __post_init__(self) -> None:
        """Take any name for the function."""

    @property
    def checked_function(self) -> CheckedFunction:
        """The function."""
        return self.in_memory

    @property
    def options(self) -> dict[str, Any]:
        """The name of the function, and the form."""
        return {"function": self.function, "form": self.form}


def function_of(encoder: object) -> Callable[..., Any] | None:
    """Return the method `encode` of an object, or the object if it can be called; else None."""
    function = getattr(encoder, "encode", encoder)
    return function if callable(function) else None


def _format_exception(error: BaseException) -> str:
    """Return an exception, with the line where the user's code raised it."""
    lines = [
        f" ({Path(frame.filename).name}, line {frame.lineno})"
        for frame in extract_tb(error.__traceback__)
        if frame.filename not in (__file__, importlib.__file__)
        and not frame.filename.startswith("<frozen importlib")
    ]
    # Unlike str(), it never raises an exception of its own.
    return "".join([format_exception_only(error)[-1].strip(), *lines[-1:]])


@cache
def _digest_module(name: str) -> str:
    """Return 16 hexadecimal digits that change with a function's module; "" without a file."""
    root, files = _find_sources(name)
    digests = {path: sha256(path.read_bytes()).hexdigest() for path in files}
    if len(digests) <= 1:
        return "".join(digests.values())[:16]
    lines = [f"{path.relative_to(root)} {digest}" for path, digest in digests.items()]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def _find_sources(name: str) -> tuple[Path, list[Path]]:
    """Return the folder of imports, the file of a function's module, and those it imports there."""
    file = _module_file(name)
    if not file:
        return Path(), []
    root = Path(file).parents[name.partition(":")[0].count(".")]
    return root, _imported_files(Path(file), root)


def _imported_files(file: Path, root: Path) -> list[Path]:
    """Return a module's file and those below a folder that it imports, directly or not; sorted."""
    files, queue = {file}, [file]
    while queue:
        imports = {
            path
            for module in _import_paths(queue.pop(), root)
            for path in (module.with_suffix(".py"), module / "__init__.py")
            if path.is_file() and path.is_relative_to(root)
        } - files
        files |= imports
        queue += imports
    return sorted(files)


def _import_paths(file: Path, root: Path) -> Iterator[Path]:
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


def _module_file(name: str) -> str | None:
    """Return the file of a function's module, without importing it, which may load a model."""
    module = name.partition(":")[0]
    _add_current_folder()
    try:
        spec = find_spec(module)
    except KeyboardInterrupt:
        raise
    except BaseException:  # anything that importing the package of the module raises
        spec = None
    if spec is None:
        # It says what is wrong, unless the module was made by a program.
        _import_function(name)
        return importlib.import_module(module).__file__
    return spec.origin if spec.has_location else None


@cache
def _import_function(name: str) -> CheckedFunction:
    """Import a function; InputError if there is no such module or function."""
    label = f"encoder callable, {name}"
    module_name, _, path = name.partition(":")
    folder = _add_current_folder()
    try:
        with _noting_files(label):
            target: Any = importlib.import_module(module_name)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        expected = f"a module {module_name}, in {folder} or installed"
        todo = "correct the name of the module, or install the missing package"
        if module_name.endswith(".py"):
            todo = f"write {module_name.removesuffix('.py').replace('/', '.')}:{path}"
        raise InputError(label, expected, _format_exception(error), todo) from error
    file = getattr(target, "__file__", module_name)
    expected = f"a function {path} in {file}, or an object with a method `encode`"
    todo = "correct the name of the function"
    try:
        for part in path.split("."):
            target = getattr(target, part)
        function = function_of(target)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(label, expected, _format_exception(error), todo) from error
    if function is None:
        raise InputError(label, expected, type(target).__name__, todo)
    return CheckedFunction(function, label)


def _add_current_folder() -> str:
    """Let modules be imported from the current folder too, and return it."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    return folder


# What libraries open in native code, which Python does not see: all of these in the folder of a
# file that it sees, such as the configuration of a model.
_NATIVE = re.compile(r".+\.(bin|ftz|gguf|h5|model|onnx|pb|pth?|safetensors)|tokenizer\.json")
# Folders of what decides no vector, or has a version; and the files with tokens of the Hub.
_SYSTEM = [*map(Path, ("/dev", "/etc", "/proc", "/sys")), Path(sysconfig.get_path("stdlib")).parent]
_SYSTEM += [ROOT / package for package in PACKAGES]
_TOKENS = {"token", "stored_tokens"}
# Of this process: the labels of the functions that run now; label or file of code to the files that
# were opened while it ran; their digests just before; and the files that were written.
_running: list[str] = []
_opened: defaultdict[str, set[str]] = defaultdict(set)
_digests: dict[str, str | None] = {}
_written: set[str] = set()


# Label of a function that has changed the current folder to that folder.
_folders: dict[str, Path] = {}


@contextmanager
def _noting_files(label: str) -> Iterator[None]:
    """Note the files that a function opens, also in threads of its own.

    If it changes the current folder, that holds for the function alone.
    """
    _add_hook()
    _running.append(label)
    here = Path.cwd()
    os.chdir(_folders.get(label, here))
    try:
        yield
    finally:
        _running.remove(label)
        if (folder := Path.cwd()) != here:
            _folders[label] = folder
            os.chdir(here)
    if sys.stdout.closed:
        todo = "let it print, or redirect it with contextlib.redirect_stdout"
        raise InputError(label, "a function that leaves standard output open", "it is closed", todo)


@cache
def _add_hook() -> None:
    sys.addaudithook(_note_event)


def _note_event(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the file of an event of Python's audit (PEP 578)."""
    if not _running or event not in ("open", "os.rename") or isinstance(arguments[0], int):
        return
    # The user's code meets the error itself, if it is one.
    with suppress(OSError, ValueError, TypeError):
        path = Path(os.path.normpath(Path.cwd() / os.fsdecode(arguments[event == "os.rename"])))
        if event == "os.rename" or arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            _written.add(str(path))
            return
        if path.suffix == ".pyc":
            path = Path(source_from_cache(path))
        if not _may_decide(path):
            return
        names = {*_running, *(frame.f_code.co_filename for frame, _ in walk_stack(None))}
        for file in (str(path), *_native_files(path.parent)):
            for name in names:
                _opened[name].add(file)
            if file not in _digests:
                # First, as the digest opens the file, too.
                _digests[file] = None
                _digests[file] = digest_opened(file)


@cache
def _native_files(folder: Path) -> list[str]:
    return [str(file) for file in folder.glob("*") if _NATIVE.fullmatch(file.name)]


def _may_decide(path: Path) -> bool:
    """Return whether a file may decide vectors: one of the user's, not hidden, not temporary."""
    ignored = _SYSTEM if path.is_relative_to(Path.cwd()) else [*_SYSTEM, Path(gettempdir())]
    return not (
        path.name.startswith(".")
        or path.name in _TOKENS
        or _INSTALLED.intersection(path.parts)
        or any(path.is_relative_to(folder) for folder in ignored)
    )


def digest_opened(path: str) -> str | None:
    """Return the SHA-256 of a file; None if it is missing, or cannot be read."""
    file = Path(path)
    return digest_file(file) if file.is_file() and os.access(file, os.R_OK) else None
