"""The datasets of params.yaml, for `probeta list`."""

from collections.abc import Mapping
from pathlib import Path

from builders.plan.groups import load_groups
from builders.plan.inherited import check_inherited, inherited_of
from corpora_recipes.params import load_params


def datasets_listing(path: Path, said: Mapping[str, str] | None = None) -> str:
    """Return one line per dataset of params.yaml, the file ``path``: its task and its corpora.

    ``said``: dataset to what stands after these, if there is anything.
    """
    groups = load_groups(path)
    names = [dataset.name for group in groups for dataset in group.datasets]
    check_inherited(inherited_of(load_params(path), path, groups), names, path)
    lines = []
    for group in groups:
        sources = ", ".join(origin.corpus.name for origin in group.origins)
        for dataset in group.datasets:
            collection = f" ({dataset.collection})" if dataset.collection else ""
            task = dataset.task.name.replace("_", " ")
            more = (said or {}).get(dataset.name, "")
            lines.append(f"  {dataset.name}: {task}, from {sources}{collection}{more}")
    return "\n".join(lines)
