"""Scores with fewer features or a simpler probe, beside those with all."""

from itertools import product

from evaluation.probing.ablations import ABLATIONS
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Column, Table, columns_of
from evaluation.reporting.tables.marks import by_dataset


def ablations(inputs: Inputs) -> list[Table]:
    """Return the ablations of the encoders that were probed with them."""
    ablated = {
        dataset: ablation.name
        for dataset, scores in inputs.datasets.items()
        if (ablation := ABLATIONS.get(inputs.any_score(dataset).task))
        and any(ablation.name in score.measures for score in scores.values())
    }

    def share(column: tuple[str, str], dataset: str) -> float | None:
        encoder, simpler = column
        score = inputs.datasets[dataset].get(encoder)
        if score is None:
            return None
        return score.measures.get(ablated[dataset]) if simpler else score.value

    columns = columns_of(product(inputs.names, ("", ": ablated")), share, "".join)
    return by_dataset(inputs, "ablations", [Column("Ablation", ablated.get), *columns], ablated)
