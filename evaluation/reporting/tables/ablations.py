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

    return by_dataset(
        inputs,
        "ablations",
        "Ablations",
        [
            Column("Ablation", ablated.get),
            *columns_of(product(inputs.names, ("", ": ablated")), share, "".join),
        ],
        "Chen et al. (2019), Tables 4 and 6: sentence position without context sees only the moved "
        "sentence; discourse coherence without a hidden layer is probed by logistic regression on "
        "the six embeddings. Test accuracy in per cent, before and after.",
        rows=ablated,
        texts=2,
    )
