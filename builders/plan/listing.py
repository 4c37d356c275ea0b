"""The datasets of params.yaml, for `probeta list`."""

from pathlib import Path

from builders.plan.groups import load_groups
from builders.plan.inherited import check_inherited, inherited_of
from corpora_recipes.params import load_params


def datasets_listing(path: Path) -> str:
    """Return one line per dataset of params.yaml, the file ``path``: its task and its corpora."""
    groups = load_groups(path)
    names = [dataset.name for group in groups for dataset in group.datasets]
    check_inherited(inherited_of(load_params(path), path, groups), names, path)
    lines = []
    for group in groups:
        sources = ", ".join(origin.corpus.name for origin in group.origins)
        for dataset in group.datasets:
            collection = f" ({dataset.collection})" if dataset.collection else ""
            task = dataset.task.name.replace("_", " ")
            lines.append(f"  {dataset.name}: {task}, from {sources}{collection}")
    return "\n".join(lines)
