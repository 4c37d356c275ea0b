"""The stages of a run, in their order: the one list, which dvc.yaml follows."""

from typing import NamedTuple


class Stage(NamedTuple):
    """A stage: a verb of the command line that walks its entries of params.yaml.

    Attributes:
        name: of the verb.
        module: full name of the module with its command.
        sections: of params.yaml, whose entries ``--only`` can name; none if it has no such option.
    """

    name: str
    module: str
    sections: tuple[str, ...] = ()


_ENCODERS = ("encoders", "trained")
STAGES = (
    Stage("read", "corpora_recipes.reading.command", ("corpora",)),
    Stage("build", "builders.building.command", ("corpora",)),
    Stage("compose", "builders.composing.command", ("rankings",)),
    Stage("audit", "probeta.cli.audit"),
    Stage("package", "builders.packaging.command"),
    Stage("train", "evaluation.training.command", ("trained",)),
    Stage("embed", "evaluation.embedding.command", _ENCODERS),
    Stage("probe", "evaluation.probing.command", _ENCODERS),
    Stage("rank", "evaluation.ranking.command", _ENCODERS),
    Stage("paradigms", "evaluation.paradigms.command", _ENCODERS),
    Stage("report", "probeta.cli.report"),
    Stage("check", "probeta.cli.check"),
)
