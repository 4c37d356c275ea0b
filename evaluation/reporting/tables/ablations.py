"""Scores with fewer features or a simpler probe, beside those with all."""

from evaluation.probing.ablations import ABLATIONS
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import Cell, Row, Table, headings, percent_cell
from evaluation.reporting.tables.marks import dataset_cell


def ablations(inputs: Inputs) -> list[Table]:
    """Return the ablations of the encoders that were probed with them."""
    rows = []
    for group, datasets in inputs.groups.items():
        for dataset in datasets:
            own = inputs.datasets[dataset]
            ablation = ABLATIONS.get(inputs.any_score(dataset).task)
            if ablation is None or not any(ablation.name in s.measures for s in own.values()):
                continue
            cells = []
            for name in inputs.names:
                score = own.get(name)
                cells.append(percent_cell(score.value if score else None))
                cells.append(percent_cell(score.measures.get(ablation.name) if score else None))
            named = (dataset_cell(inputs, dataset), Cell(ablation.name))
            rows.append(Row((*named, *cells), group=group.abbreviation))
    columns = [f"{name}{what}" for name in inputs.names for what in ("", ": ablated")]
    about = (
        "Chen et al. (2019), Tables 4 and 6: sentence position without context sees only the moved "
        "sentence; discourse coherence without a hidden layer is probed by logistic regression on "
        "the six embeddings. Test accuracy in per cent, before and after."
    )
    header = headings("Dataset", "Ablation", *columns)
    table = Table("ablations", "Ablations", header, tuple(rows), (about,), texts=2)
    return [table] if rows else []
