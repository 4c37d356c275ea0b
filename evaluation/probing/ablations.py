"""What is left of a task with fewer features or a simpler probe (Chen et al. 2019, Tables 4, 6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builders.tasks.sentence_position import COUNT
from corpora_recipes.records import Split
from evaluation.arrays import Floats
from evaluation.data.instances import Dataset
from evaluation.data.rows import ProbeRows

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

    def of(
        self, dataset: Dataset, parts: Mapping[Split, ProbeRows]
    ) -> tuple[Dataset, dict[Split, ProbeRows]]:
        """Return a dataset and its rows as the ablation sees them."""
        left = {split: replace(part, x=self.features(part.x)) for split, part in parts.items()}
        return replace(dataset, task=self.task, name=f"{dataset.name} {self.name}"), left


ABLATIONS: Mapping[str, Ablation] = {
    # Only the moved sentence, of [x1, x1-x2, …].
    "sentence_position": Ablation(
        "without context", "sentence_position", lambda x: x[:, : x.shape[1] // COUNT]
    ),
    "discourse_coherence": Ablation("without hidden layer", PLAIN, lambda x: x),
}
"""Task to its ablation."""
