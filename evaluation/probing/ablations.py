"""What is left of a task with fewer features or a simpler probe (Chen et al. 2019, Tables 4, 6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builders.tasks.sentence_position import COUNT
from evaluation.arrays import Floats
from evaluation.probing.protocols.problem import Problem

# The plain probe of one layer, without a schedule or features of its own.
PLAIN = "sentence_classification"


@dataclass(frozen=True, slots=True)
class Ablation:
    """A change of a task's probe.

    Attributes:
        name: in the results, and in the report.
        task: whose probe is trained.
        features: of the task's features, float32 [rows, features], those that are left.
    """

    name: str
    task: str
    features: Callable[[Floats], Floats]

    def of(self, problem: Problem) -> Problem:
        """Return a problem, in splits or in folds, as the ablation sees it."""
        left = replace(
            problem,
            name=f"{problem.name} {self.name}",
            task=self.task,
            x=self.features(problem.x),
        )
        if problem.validation is None or problem.test is None:
            return left
        x, y = problem.validation
        return replace(left, validation=(self.features(x), y), test=self.features(problem.test))


ABLATIONS: Mapping[str, Ablation] = {
    # Only the moved sentence, of [x1, x1-x2, …].
    "sentence_position": Ablation(
        "without context", "sentence_position", lambda x: x[:, : x.shape[1] // COUNT]
    ),
    "discourse_coherence": Ablation("without hidden layer", PLAIN, lambda x: x),
}
"""Task to its ablation."""
