"""The environment: every library that a stage imports is in its key, or decides nothing there."""

import ast
import json
import platform
import sys
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from imports import PACKAGES, WORKING, _imports, modules

from corpora_recipes.recipe import recipe_names
from corpora_recipes.running.code import (
    LIBRARIES,
    reached,
    stage_versions,
    versions_of,
    write_environment,
)
from corpora_recipes.running.outputs import ENVIRONMENT
from evaluation.encoders import ENCODERS

EVALUATION = {"train", "embed", "probe", "rank", "paradigms", "report"}
# Package to the stages that import it, and why it decides nothing there.
DECIDE_NOTHING = {
    # What is downloaded is an input, by its digest.
    **{package: {"read"} for package in ("requests", "urllib3", "httpx2")},
    "huggingface-hub": {"read", *EVALUATION},
    # Only `evaluation` takes arrays from tables; embedding leaves numbers to the encoders.
    "numpy": {"read", "build", "compose", "package", "embed"},
    "pyarrow": {"train", "embed"},  # reads values
    "pydantic": {*WORKING},  # checks values, and leaves them as they are
    "pyyaml": {*WORKING} - {"package"},  # reads values
    "safetensors": {"train"},  # writes the weights that torch has
    # Beside what these stages call, in the same module.
    "scipy": {"package", "embed", "train"},  # intervals; the audit has measured
    "scikit-learn": {"package"},  # the audit's trivial baselines
    "py3langid": {"build", "compose", "package", *EVALUATION},  # tells languages, for the audit
    "spacy": {"read", "audit", *EVALUATION},  # tokens, which package writes
    "shtab": {"report"},  # completes commands
    "markupsafe": {"audit", "package", "train", "report"},  # marks what is escaped
    "tqdm": {"read", "train"},
}
# What is imported by nobody: it is run as a command, and comes with sentence-transformers.
NOT_IMPORTED = {"read": {"wikiextractor"}, "train": {"transformers"}}


@cache
def roots_of(module: str) -> set[str]:
    """Return what a module imports, up to the first point of each name."""
    roots = set()
    for node in _imports(ast.parse(modules()[module].read_text("utf-8")), False):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else node.names
        roots.update(str(getattr(name, "name", name)).partition(".")[0] for name in names)
    return roots


def libraries_of(stage: str) -> set[str]:
    """Return the packages that a stage imports, anywhere; encoders name their own."""
    entries = [*WORKING[stage]]
    if stage == "read":
        entries += [f"corpora_recipes.corpora.{name}.recipe" for name in recipe_names()]
    entered = [
        module for module in reached(*entries) if not module.startswith("evaluation.encoders")
    ]
    packages = packages_distributions()
    names = set().union(*map(roots_of, entered)) - {*PACKAGES, *sys.stdlib_module_names}
    return {packages.get(name, [name])[0].lower().replace("_", "-") for name in names}


@pytest.mark.slow
def test_what_stages_import_is_in_their_keys_or_decides_nothing() -> None:
    undecided: dict[str, set[str]] = {}
    idle = {}
    for stage in WORKING:
        found, listed = libraries_of(stage), set(LIBRARIES.get(stage, ()))
        for package in found - listed:
            undecided.setdefault(package, set()).add(stage)
        if listed - found:
            idle[stage] = listed - found
    assert (undecided, idle) == (DECIDE_NOTHING, NOT_IMPORTED)


def test_the_file_that_dvc_sees(empty_folder: Path) -> None:
    versions = versions_of(["pyarrow", "a-package-that-nobody-has"])
    assert versions == {"python": platform.python_version(), "pyarrow": version("pyarrow")}
    assert list(stage_versions("build")) == ["python", "pyarrow", "spacy"]
    write_environment()
    text = ENVIRONMENT.read_bytes()
    found = json.loads(text)
    for stage in LIBRARIES:
        assert stage_versions(stage).items() <= found.items()
    for encoder in ENCODERS.values():
        assert versions_of(encoder.packages).items() <= found.items()
    write_environment()
    assert ENVIRONMENT.read_bytes() == text
