"""The stages of a run, in their order: the one list, which dvc.yaml follows."""

from typing import NamedTuple


class Stage(NamedTuple):
    """A stage: a verb of the command line that walks its entries of params.yaml.

    Attributes:
        name: of the verb.
        module: full name of the module with its command.
    """

    name: str
    module: str


STAGES = (
    Stage("read", "corpora_recipes.reading.command"),
    Stage("build", "builders.building.command"),
    Stage("compose", "builders.composing.command"),
    Stage("audit", "builders.auditing.command"),
    Stage("package", "builders.packaging.command"),
    Stage("train", "evaluation.training.command"),
    Stage("embed", "evaluation.embedding.command"),
    Stage("probe", "evaluation.probing.command"),
    Stage("rank", "evaluation.ranking.command"),
    Stage("paradigms", "evaluation.paradigms.command"),
    Stage("report", "evaluation.reporting.command"),
    Stage("check", "evaluation.checking"),
)
