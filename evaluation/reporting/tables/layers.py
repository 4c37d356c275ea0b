"""Scores of an encoder's layers."""

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layers import Profile, profiles
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    columns_of,
    lay_out,
    paragraphs,
    percent_cell,
)
from evaluation.reporting.tables.scores import metric_of

MEAN_OF_LAYERS = ", the mean of all layers' vectors,"


def layers(inputs: Inputs) -> list[Table]:
    """Return a table for every encoder that was probed on several layers."""
    return [layer_table(profile) for profile in profiles(inputs)]


def layer_table(profile: Profile) -> Table:
    """Return the scores of an encoder's layers, the best layers of each dataset in bold."""

    def score(column: int, row: int) -> Cell:
        best = row in profile.best[column]
        return percent_cell(float(profile.values[row, column]), strong=best)

    columns = columns_of(
        range(len(profile.datasets)), score, lambda column: profile.datasets[column]
    )
    return lay_out(
        "layers",
        range(len(profile.rows)),
        [Column("Layer", lambda row: profile.rows[row]), *columns],
        name=f"layers-{profile.name}",
        kind="encoder",
        words=_words(profile, "In bold"),
    )


def about_layers(profile: Profile, marked: str) -> str:
    """Return an explanation of the layers' scores.

    Args:
        profile: the scores.
        marked: the mark of the best layers, such as "In bold".
    """
    return " ".join(paragraphs("layers", _words(profile, marked)))


def _words(profile: Profile, marked: str) -> dict[str, str]:
    apart = "".join(
        f" {name}{MEAN_OF_LAYERS if name == 'avg' else ''} is separate: it is not marked, even "
        "where it is better, and does not count as a layer."
        for name in profile.apart
    )
    return {
        "encoder": profile.encoder,
        "metric": metric_of(profile.groups),
        "marked": marked,
        "apart": apart,
        "best_layers": best_layers(profile),
    }


def best_layers(profile: Profile) -> str:
    """Return a sentence on the average best layer."""
    found = (f"{value:.1f} over {name}" for name, value in profile.average_bests().items())
    last = profile.layers[-1]
    return f"Average best layer, of {profile.layers[0]} to {last}: {', '.join(found)}."
