"""Probeta: benchmarks of sentence encoders from raw corpora, and probes of encoders.

    from probeta import score
    print(score("char_hash", data="dist/hub"))

``score`` scores an encoder on datasets and returns ``Scores``, ``compare`` compares two of these,
``load`` returns the rows of a dataset, ``benchmark`` gives mteb the datasets as tasks,
``evaluator`` scores a model while sentence-transformers trains it, and ``audit`` measures the gates
on third-party data. All raise ``InputError``.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corpora_recipes.running.errors import InputError as InputError
    from probeta.auditing import audit as audit
    from probeta.data import load as load
    from probeta.exchange import benchmark as benchmark
    from probeta.scores import Comparison as Comparison
    from probeta.scores import Scores as Scores
    from probeta.scores import compare as compare
    from probeta.scoring import evaluator as evaluator
    from probeta.scoring import score as score

_MODULES = {
    "Comparison": "probeta.scores",
    "Scores": "probeta.scores",
    "audit": "probeta.auditing",
    "benchmark": "probeta.exchange",
    "compare": "probeta.scores",
    "evaluator": "probeta.scoring",
    "load": "probeta.data",
    "score": "probeta.scoring",
}
_ERRORS = ("InputError", "RawError", "ParamsError", "OutputError", "LostWorkers", "NoWorkers")
_MODULES |= dict.fromkeys(_ERRORS, "corpora_recipes.running.errors")
_PACKAGES = ("builders", "corpora_recipes", "evaluation")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _refuse_shadowed_packages()
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*_MODULES]


def main() -> int:
    """Run the command `probeta` and return its exit code."""
    _refuse_shadowed_packages()
    from probeta.cli import main

    return main()


def _refuse_shadowed_packages() -> None:
    """Refuse to run if a folder of the user hides one of our packages."""
    root = Path(__file__).resolve().parents[1]
    for name in _PACKAGES:
        spec = find_spec(name)
        path = Path(spec.origin).resolve() if spec and spec.origin else None
        if path != root / name / "__init__.py":
            raise ImportError(
                f"package {name}\n  expected: that of Probeta, in {root}\n"
                f"  found:    {path or 'none'}\n"
                "  to do:    rename your folder or module of this name, or run from another folder"
            )
