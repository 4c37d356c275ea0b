"""The encoders, and their out-of-vocabulary words."""

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    NONE,
    Cell,
    Column,
    Table,
    columns_of,
    lay_out,
    named,
    percent_cell,
    spaced,
)
from evaluation.reporting.tables.marks import by_dataset
from evaluation.results.probes import Results


def encoders(inputs: Inputs) -> list[Table]:
    """Return the encoders with their layers and options."""
    columns = [
        Column("Name", lambda results: named(results.name)),
        Column("Encoder", lambda results: results.encoder["encoder"]),
        Column("Revision", lambda results: results.encoder["revision"] or NONE),
        Column("Layer", _layers),
        Column("Text", lambda results: results.encoder["form"]),
        Column("Options", _options),
        Column("Dimensions", _dimension),
    ]
    return [lay_out("encoders", inputs.encoders, columns, kind="encoder")]


def _layers(results: Results) -> str:
    layers = results.encoder["layers"]
    probed = f" (probed: {', '.join(layers)})" if len(layers) > 1 else ""
    return f"{results.encoder['layer']}{probed}"


def _options(results: Results) -> str:
    options = results.encoder["options"].items()
    return ", ".join(f"{spaced(key)} {value}" for key, value in options) or NONE


def _dimension(results: Results) -> Cell | None:
    """Return the cell of an encoder's dimension; a language model has none."""
    dimension = results.encoder.get("dimension")
    return None if dimension is None else Cell(f"{dimension:,}", value=dimension)


def vocabulary(inputs: Inputs) -> list[Table]:
    """Return the share of out-of-vocabulary words by dataset and encoder with a vocabulary."""
    coverage = {
        (results.name, score.dataset): score.coverage
        for results in inputs.encoders
        for score in results.main
        if score.coverage
    }

    def unknown(encoder: str, dataset: str) -> Cell | None:
        counts = coverage.get((encoder, dataset))
        if counts is None:
            return None
        words, tokens = counts["out_of_vocabulary"], counts["tokens"]
        return percent_cell(words / max(1, tokens), f"({words:,} of {tokens:,})")

    names = list(dict.fromkeys(name for name, _ in coverage))
    rows = inputs.datasets if names else ()
    return by_dataset(inputs, "vocabulary", columns_of(names, unknown), rows)
