"""From instances to scores: embed sentences, probe the embeddings, report.

``from probeta import score`` is the way in from Python, and ``benchmark`` that from mteb.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.exchange import benchmark
    from evaluation.results.scores import Scores
    from evaluation.scoring import score

__all__ = ["Scores", "benchmark", "score"]
_MODULES = {
    "Scores": "evaluation.results.scores",
    "benchmark": "evaluation.exchange",
    "score": "evaluation.scoring",
}


def __getattr__(name: str) -> Any:
    """Import what `__all__` names when it is asked for: no stage depends on it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
