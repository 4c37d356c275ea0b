"""The datasets of params.yaml, for `probeta list`."""

from pathlib import Path

from builders.plan.datasets import ExampleDataset, check_inherited
from builders.plan.groups import load_groups
from builders.plan.inherited import inherited_params
from corpora_recipes.params import load_params


def datasets_listing(path: Path) -> str:
    """Return one line per dataset: its task and its corpora.

    Args:
        path: of params.yaml.

    Raises:
        InputError: an entry of `corpora`, `rankings` or `audit.inherited` is invalid.
    """
    groups = load_groups(path)
    names = [dataset.name for group in groups for dataset in group.datasets]
    check_inherited(inherited_params(load_params(path), path), names, path)
    lines = []
    for group in groups:
        sources = ", ".join(origin.corpus.name for origin in group.origins)
        for dataset in group.datasets:
            collection = f" ({dataset.collection})" if isinstance(dataset, ExampleDataset) else ""
            task = dataset.task.name.replace("_", " ")
            lines.append(f"  {dataset.name}: {task}, from {sources}{collection}")
    return "\n".join(lines)
