"""An encoder from any Python function that turns texts into vectors."""

import ast
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora_recipes.running.errors import InputError
from evaluation.encoders.calling import Called, function_of, said
from evaluation.encoders.encoder import Prompts, check_prompts

if TYPE_CHECKING:
    from evaluation.arrays import Reals
    from evaluation.encoders.encoder import Form

FORMS = ("natural", "tokens")
# Folders of packages that are installed.
_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class FunctionEncoder:
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
    form: "Form" = "natural"
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
    def dimension(self) -> int:
        """Length of the vector of a short text."""
        return _called(self.function).shape[1]

    @property
    def layers(self) -> tuple[str, ...]:
        """("output",), or "0", "1" … if the function returns layers."""
        return _called(self.function).shape[0]

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
        _called(self.function).check_prompts(self.prompts)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension].

        Raises:
            InputError: there is no such function, it takes no prompts, it fails, it returns another
                type or shape, or a vector depends on the batch.
        """
        called = _called(self.function)
        called.check_prompts(self.prompts)
        return called.encode(texts, prompt)


@cache
def _digest(name: str) -> str:
    """Return 16 hexadecimal digits that change with the function's module and what it imports.

    Looked at are the module's file and the modules of the same folder and below, as far as imports
    lead to them; what is installed has versions. "" without a file.
    """
    file = _file(name)
    if not file:
        return ""
    root = Path(file).parents[name.partition(":")[0].count(".")]
    files = _imported(Path(file), root)
    if len(files) == 1:
        return sha256(Path(file).read_bytes()).hexdigest()[:16]
    digests = [
        f"{path.relative_to(root)} {sha256(path.read_bytes()).hexdigest()}" for path in files
    ]
    return sha256("\n".join(digests).encode()).hexdigest()[:16]


def _imported(file: Path, root: Path) -> list[Path]:
    """Return a module's file and those below a folder that it imports, directly or not; sorted."""
    found, waiting = {file}, [file]
    while waiting:
        path = waiting.pop()
        try:
            nodes = list(ast.walk(ast.parse(path.read_bytes())))
        except (SyntaxError, ValueError):  # its import says what is wrong
            continue
        for node in nodes:
            folder, names = root, []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                folder = path.parents[node.level - 1] if node.level else root
                base = node.module or ""
                names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
            for name in names:
                module = folder.joinpath(*name.split("."))
                new = {
                    own
                    for own in (module.with_suffix(".py"), module / "__init__.py")
                    if own.is_file() and own.is_relative_to(root)
                } - found
                if not _INSTALLED.intersection(module.parts):
                    found |= new
                    waiting += new
    return sorted(found)


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
        _called(name)
        return importlib.import_module(module).__file__
    return spec.origin if spec.has_location else None


@cache
def _called(name: str) -> Called:
    """Import a function.

    Raises:
        InputError: there is no such module or function.
    """
    where = f"encoder callable, {name}"
    module_name, _, path = name.partition(":")
    here = _look_here()
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise InputError(
            where,
            expected=f"a module {module_name}, in {here} or installed",
            found=said(error),
            todo="correct the name of the module, or install the missing package",
        ) from error
    file = getattr(found, "__file__", module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            raise _no_function(where, path, file, "no such name")
        found = getattr(found, part)
    function = function_of(found)
    if function is None:
        raise _no_function(where, path, file, type(found).__name__)
    return Called(function, where)


def _no_function(where: str, path: str, file: str, found: str) -> InputError:
    return InputError(
        where,
        expected=f"a function {path} in {file}, or an object with a method `encode`",
        found=found,
        todo="correct the name of the function",
    )


def _look_here() -> str:
    """Look for modules in the current folder too, and return it."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    return here
