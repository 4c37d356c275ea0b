"""The headings of sections whose content only the page has."""

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.instances import FAR, LIMIT, LONGEST
from evaluation.reporting.layers import profiles
from evaluation.reporting.layout import Table, lay_out


def figure(inputs: Inputs) -> list[Table]:
    """Return the heading of the figure of all scores."""
    return [lay_out("figure", (), ())]


def heatmaps(inputs: Inputs) -> list[Table]:
    """Return the heading of the heatmaps of layers, if an encoder was probed on several."""
    return [lay_out("by-layer", (), ())] if profiles(inputs) else []


def browser(inputs: Inputs) -> list[Table]:
    """Return the heading of the browser of instances."""
    words = {"limit": LIMIT, "longest": LONGEST, "far": 100 * FAR}
    return [lay_out("instances", (), (), words=words)]
