"""What datasets are called on leaderboards, and eval.yaml, from which the Hub makes one."""

from collections.abc import Mapping

import yaml

from corpora_recipes.records import Split

NAME = "Probeta"
DESCRIPTION = (
    "Discourse, similarity, classification and linguistic probing: benchmarks for sentence "
    "encoders, rebuilt from raw corpora."
)
FRAMEWORK = "mteb"


def task_name(dataset: str) -> str:
    """Return the name of a dataset as a task of mteb, where names of all benchmarks meet."""
    return f"{NAME.lower()}_{dataset}"


def eval_yaml(asked: Mapping[str, Split]) -> str:
    """Return eval.yaml, as the Hub's documentation describes it ("Evaluation results").

    Args:
        asked: dataset with a label or a score, to the split that encoders are scored on.
    """
    content = {
        "name": NAME,
        "description": DESCRIPTION,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": task_name(dataset), "config": dataset, "split": split}
            for dataset, split in asked.items()
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, width=1000)
