"""Probeta: benchmarks of sentence encoders from raw corpora, and probes of encoders.

    from probeta import score
    print(score("char_hash", data="dist/hub"))

``score`` scores an encoder on datasets, ``compare`` compares two such scores, ``load`` returns the
rows of a dataset, ``benchmark`` gives mteb the datasets as tasks, ``evaluator`` scores a model that
sentence-transformers trains, ``audit`` measures the gates on datasets of others, and ``InputError``
is what they raise. ``Scores`` is what ``score`` returns.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from builders.auditing.auditing import audit as audit
    from corpora_recipes.running.errors import InputError as InputError
    from evaluation.data.finding import load as load
    from evaluation.exchange import benchmark as benchmark
    from evaluation.results.compared import Comparison as Comparison
    from evaluation.results.compared import compare as compare
    from evaluation.results.scores import Scores as Scores
    from evaluation.scoring import evaluator as evaluator
    from evaluation.scoring import score as score

_MODULES = {
    "Comparison": "evaluation.results.compared",
    "Scores": "evaluation.results.scores",
    "audit": "builders.auditing.auditing",
    "benchmark": "evaluation.exchange",
    "compare": "evaluation.results.compared",
    "evaluator": "evaluation.scoring",
    "load": "evaluation.data.finding",
    "score": "evaluation.scoring",
}
_ERRORS = ("InputError", "RawError", "ParamsError", "OutputError", "LostWorkers", "NoWorkers")
_MODULES |= dict.fromkeys(_ERRORS, "corpora_recipes.running.errors")
_PACKAGES = ("builders", "corpora_recipes", "evaluation")


def __getattr__(name: str) -> Any:
    """Import what `__all__` names when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _check_packages()
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*_MODULES]


def main() -> int:
    """Run the command `probeta` and return its exit code."""
    _check_packages()
    from evaluation.commands import main

    return main()


def _check_packages() -> None:
    """Refuse a folder of the user that Python takes for one of our packages."""
    # This is a module beside them in a checkout, and a package beside them where it is installed.
    file = Path(__file__).resolve()
    beside = file.parent.parent if file.stem == "__init__" else file.parent
    for name in _PACKAGES:
        spec = find_spec(name)
        found = Path(spec.origin).resolve() if spec and spec.origin else None
        if found != beside / name / "__init__.py":
            raise ImportError(
                f"package {name}\n  expected: that of Probeta, in {beside}\n"
                f"  found:    {found or 'none'}\n"
                "  to do:    rename your folder or module of this name, or run from another folder"
            )


if __name__ == "__main__":
    sys.exit(main())
