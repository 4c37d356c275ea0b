"""What the project's modules import, read from their source: for tests of layout and of stages."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("corpora_recipes", "builders", "evaluation", "probeta")


# Stage to the modules whose code is in the keys of its entries; recipes are found by their names.
WORKING = {
    "read": ("corpora_recipes.reading",),
    "build": ("builders.building",),
    "compose": ("builders.composing",),
    "audit": ("builders.auditing.auditing", "builders.auditing.instances"),
    "package": ("builders.packaging.hub",),
    "train": ("evaluation.training.training",),
    "embed": ("evaluation.embedding.embedding",),
    "probe": ("evaluation.probing.probing", "evaluation.probing.transfer"),
    "rank": ("evaluation.ranking",),
    "paradigms": ("evaluation.paradigms",),
    "report": ("probeta.report.writing",),
}


@cache
def modules() -> dict[str, Path]:
    """Return every module of the packages: full name to file."""
    found = {}
    for package in PACKAGES:
        for file in sorted((REPOSITORY / package).rglob("*.py")):
            parts = file.relative_to(REPOSITORY).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = file
    return found


@cache
def imported(module: str, *, for_types: bool = False) -> frozenset[str]:
    """Return the project's modules that a module imports, wherever in its source.

    Importing a module also runs the ``__init__`` of the packages that hold it.
    """
    tree = ast.parse(modules()[module].read_text("utf-8"))
    found: set[str] = set()
    for node in _imports(tree, for_types):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
        for name in names:
            parts = name.split(".")
            found.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return frozenset(found & modules().keys() - {module})


def reached(*entries: str) -> set[str]:
    """Return the modules that some modules import, and all that these import."""
    found: set[str] = set()
    waiting = list(entries)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imported(module)
    return found


def _imports(node: ast.AST, for_types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not for_types:
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, for_types)
