"""How scores without a probe correlate with probed ones."""

from evaluation.reporting.averages import Average
from evaluation.reporting.downstream import (
    LEAST,
    SIMILARITY_MEAN,
    Relation,
    downstream_means,
    downstream_scores,
    intrinsic_scores,
    relate,
)
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    Cell,
    Column,
    Table,
    bracketed,
    columns_of,
    lay_out,
    percent_cell,
)
from evaluation.reporting.tables.marks import by_dataset


def downstream(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of groups of probed tasks.

    As Tables 3 and 6 of Wang, Kuo and Li (2022). With fewer than three encoders the table has a
    note instead of rows; without scores of either kind there is no table.
    """
    scores = inputs.scores
    intrinsic = intrinsic_scores(scores, inputs.shipped)
    datasets = downstream_scores(scores)
    if not intrinsic or not datasets:
        return []
    if len(inputs.encoders) < LEAST:
        count = ("one", "two")[len(inputs.encoders) - 1]
        few = f"This table needs three probed encoders or more; this report has {count}."
        return [lay_out("downstream", (), (), words={"few": few})]
    means = downstream_means(scores, inputs.averages)
    averages = [average for average in inputs.averages if average.what in means]
    several = len({average.benchmark for average in averages}) > 1

    def heading(average: Average) -> Cell:
        count = sum(name in datasets for name in average.datasets)
        text = f"{average.group.abbreviation if average.group else ''} ({count})"
        return Cell(f"{text}, {average.benchmark}" if several else text, title=average.title)

    columns = [
        Column("Score", Cell),
        *columns_of(
            averages,
            lambda average, score: _relation(relate(intrinsic[score], means[average.what])),
            heading,
        ),
    ]
    mean = f" ({SIMILARITY_MEAN}: its average over datasets)"
    words = {"mean": mean if SIMILARITY_MEAN in intrinsic else ""}
    return [lay_out("relations", intrinsic, columns, name="downstream", words=words)]


def downstream_datasets(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of each probed dataset."""
    intrinsic = intrinsic_scores(inputs.scores, inputs.shipped)
    datasets = downstream_scores(inputs.scores)
    if len(inputs.encoders) < LEAST or not intrinsic:
        return []
    columns = columns_of(
        intrinsic, lambda score, dataset: _relation(relate(intrinsic[score], datasets[dataset]))
    )
    rows = [name for name in inputs.datasets if name in datasets]
    return by_dataset(inputs, "downstream-datasets", columns, rows)


def _relation(relation: Relation | None) -> Cell | None:
    if relation is None:
        return None
    beside = f"n = {relation.encoders}"
    if relation.interval is None:
        return percent_cell(relation.correlation, beside)
    low, high = relation.interval
    beside = f"{bracketed(relation.interval)} {beside}"
    return percent_cell(relation.correlation, beside, strong=not low <= 0 <= high)
