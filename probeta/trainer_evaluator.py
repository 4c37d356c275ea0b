"""Evaluator for the trainer of sentence-transformers: scores of a model while it is trained."""

from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from sentence_transformers.base.evaluation import BaseEvaluator

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from probeta.scores import Scores


class ProbetaEvaluator(BaseEvaluator):  # type: ignore[misc]
    """See ``probeta.evaluator``; ``score`` takes the model and a name, and returns its scores."""

    def __init__(self, score: "Callable[..., Scores]", name: str) -> None:
        super().__init__()
        self._score = score
        self.name = name
        self.primary_metric = f"{name}_mean"

    def __call__(
        self,
        model: "SentenceTransformer",
        output_path: str | None = None,
        epoch: float = -1,
        steps: int = -1,
    ) -> dict[str, float]:
        """Return NAME_mean and NAME_DATASET, fractions; save the results in ``output_path``."""
        name = f"{self.name}_{steps}" if steps >= 0 else self.name
        scores = self._score(model, name=name)
        if output_path is not None:
            scores.save(Path(output_path) / name)
        values = {score.dataset: score.value for score in scores.results.main}
        metrics = {f"{self.name}_{key}": value for key, value in values.items()}
        metrics[self.primary_metric] = fmean(values.values())
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics
