"""Which datasets of params.yaml could not be made, or not as they should be, and why."""

from collections.abc import Collection, Iterable

from builders.plan.groups import BuildGroup
from corpora_recipes.running.folders import INSTANCES
from corpora_recipes.running.left_out import LeftOut, read_left_out


def left_out_datasets(groups: Iterable[BuildGroup], *stages: str) -> dict[str, LeftOut]:
    """Return the datasets that were not built, or that some stages have left out.

    Args:
        groups: all that params.yaml asks for.
        stages: of "read", "build", "compose" and "audit".
    """
    by_stage = {stage: read_left_out(stage) for stage in stages}
    found: dict[str, LeftOut] = {}
    for group in groups:
        corpora = [origin.corpus.name for origin in group.origins]
        own = [("compose" if group.of_ranking else "build", group.name)]
        for dataset in group.datasets:
            places = [
                *(("read", corpus) for corpus in corpora),
                *own,
                ("build", f"{group.name}: {dataset.name}"),
                ("audit", dataset.name),
            ]
            reasons = [by_stage.get(stage, {}).get(name) for stage, name in places]
            if not (INSTANCES / group.folder / dataset.name).is_dir():
                reasons.append(LeftOut(f"it was not built: `probeta {own[0][0]}`"))
            if reason := next(filter(None, reasons), None):
                found[dataset.name] = reason
    return found


def without(groups: Iterable[BuildGroup], left_out: Collection[str]) -> list[BuildGroup]:
    """Return groups without some datasets, which are given by name."""
    return [
        group._replace(datasets=[own for own in group.datasets if own.name not in left_out])
        for group in groups
    ]
