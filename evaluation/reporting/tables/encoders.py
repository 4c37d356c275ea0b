"""The encoders, and their out-of-vocabulary words."""

from collections.abc import Mapping
from typing import Any

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Row,
    Table,
    headings,
    named,
    percent_cell,
    spaced,
)
from evaluation.reporting.tables.marks import dataset_cell


def encoders(inputs: Inputs) -> list[Table]:
    """Return the encoders with their layers and options."""
    rows = []
    for results in inputs.encoders:
        own = results.encoder
        of_layers = own["layer"]
        if len(own["layers"]) > 1:
            of_layers += f" (probed: {', '.join(own['layers'])})"
        options = ", ".join(f"{spaced(key)} {value}" for key, value in own["options"].items())
        cells = (
            named(results.name),
            Cell(own["encoder"]),
            Cell(own["revision"] or NONE),
            Cell(of_layers),
            Cell(own["form"]),
            Cell(options or NONE),
            _dimension(own),
        )
        rows.append(Row(cells, "encoder"))
    header = ("Name", "Encoder", "Revision", "Layer", "Text", "Options", "Dimensions")
    return [Table("encoders", "Encoders", headings(*header), tuple(rows), texts=6)]


def _dimension(encoder: Mapping[str, Any]) -> Cell:
    """Return the cell of an encoder's dimension; a language model has none."""
    if "dimension" not in encoder:
        return Cell(NONE)
    return Cell(f"{encoder['dimension']:,}", value=encoder["dimension"])


def vocabulary(inputs: Inputs) -> list[Table]:
    """Return the share of out-of-vocabulary words by dataset and encoder with a vocabulary."""
    known = {
        (score.dataset, own.name): score.coverage
        for own in inputs.encoders
        for score in own.main
        if score.coverage
    }
    names = [name for name in inputs.names if any(encoder == name for _, encoder in known)]
    if not names:
        return []
    rows = []
    for group, datasets in inputs.groups.items():
        for dataset in datasets:
            cells = []
            for name in names:
                own = known.get((dataset, name))
                share = own["out_of_vocabulary"] / max(1, own["tokens"]) if own else None
                detail = f"({own['out_of_vocabulary']:,} of {own['tokens']:,})" if own else ""
                cells.append(percent_cell(share, detail=detail))
            rows.append(Row((dataset_cell(inputs, dataset), *cells), group=group.abbreviation))
    about = (
        "Percentage of the tokens in a dataset's texts that are not in the encoder's vocabulary; "
        "each distinct text counts once. With fastText's .bin such words still get a vector, from "
        "their character n-grams; with other word vectors they are left out."
    )
    title = "Words outside the vocabulary"
    return [Table("vocabulary", title, headings("Dataset", *names), tuple(rows), (about,))]
