"""The headings of sections whose content only the page has."""

from evaluation.reporting.inputs import Inputs
from evaluation.reporting.instances import FAR, LIMIT, LONGEST
from evaluation.reporting.layers import profiles
from evaluation.reporting.layout import Table


def figure(inputs: Inputs) -> list[Table]:
    """Return the heading of the figure of all scores."""
    return [Table("figure", "Figure", (), ())]


def heatmaps(inputs: Inputs) -> list[Table]:
    """Return the heading of the heatmaps of layers, if an encoder was probed on several."""
    return [Table("by-layer", "Layers", (), ())] if profiles(inputs) else []


def browser(inputs: Inputs) -> list[Table]:
    """Return the heading of the browser of instances."""
    about = (
        "Test rows of each dataset (in a dataset with folds, each row is in test once), with the "
        f"answer of every encoder. At most {LIMIT} rows per dataset are shown, "
        "sampled by a hash of the seed and their ids; texts are cut after "
        f"{LONGEST:,} characters. With several random starts, the most frequent answer is shown. "
        "Beside a score is the share of all answers, or of all gold scores, that are lower; "
        f"where the two shares differ by more than {100 * FAR:.0f} points, the answer counts as "
        "far off.",
        "Every text has the licence of its source, shown below it: read it before you "
        "redistribute this page.",
    )
    return [Table("instances", "Instances", (), (), about)]
