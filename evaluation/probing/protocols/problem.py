"""A problem, its ablation, the answers to it, and the protocol that a probe is trained by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from builders.tasks.sentence_position import COUNT
from evaluation.arrays import Floats, Labels, Values
from evaluation.measures.metrics import Metric

# Random starts, where there are any; results have their mean and standard deviation.
SEEDS = 5
# The plain probe of one layer, without a schedule or features of its own.
PLAIN = "sentence_classification"


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows to learn from and rows to answer, in splits or in folds (three or more).

    The dataset's name and the run's seed determine all random choices; a protocol may choose
    features or a schedule by the task. Features of train (x) and test are float32 [rows, features];
    y are class numbers int64 where the metric is "accuracy", else scores float64. Where there are
    folds, each of which is test once, there are no validation (features and targets) and no test.
    Validation is ``held_out`` if it is a part of the source's train, which has nothing else for it.
    """

    name: str
    task: str
    metric: Metric
    x: Floats
    y: Values
    validation: tuple[Floats, Values] | None = None
    test: Floats | None = None
    folds: Labels | None = None
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class Answers:
    """What a protocol answers to the rows of test, or to all rows where there are folds.

    Predictions are class numbers int64 or scores float64, [starts, rows]: ``SEEDS`` random starts,
    or one answer if nothing is random. ``chosen`` has what was chosen for each test fold (and
    start), by the name of the setting; validation is the metric that the choice was made by, the
    mean over folds and starts.
    """

    predictions: Values
    chosen: dict[str, list[float]]
    validation: float


@dataclass(frozen=True, slots=True)
class Protocol:
    """A way to train probes.

    Attributes:
        name: as in params.yaml.
        version: changes whenever the same embeddings could get another score.
        engines: the libraries that can compute it, the default first: "numpy", "torch".
        answer: trains and answers: problem, the run's seed, engine. It is called with the BLAS on
            one thread, in any process, and depends on nothing else.
        scale_matters: whether embeddings times a number could get another score.
        effort: task and number of classes to the nanoseconds, roughly, that a row takes for each
            of its features (measured on a CPU of 2026).
        in_folds: how many times as long it takes, roughly, if rows are in folds.
    """

    name: str
    version: int
    engines: tuple[str, ...]
    answer: Callable[[Problem, int, str], Answers]
    scale_matters: bool = False
    effort: Callable[[str, int], int] = lambda task, classes: int(80 * classes**0.5)
    in_folds: int = 5


@dataclass(frozen=True, slots=True)
class Ablation:
    """A change of a task's probe: to that of another task, or to some of the features."""

    name: str
    task: str
    features: Callable[[Floats], Floats]

    def of(self, problem: Problem) -> Problem:
        """Return a problem, in splits or in folds, as the ablation sees it."""
        name, x = f"{problem.name} {self.name}", self.features(problem.x)
        left = replace(problem, name=name, task=self.task, x=x)
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
