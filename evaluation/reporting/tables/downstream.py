"""How scores without a probe correlate with probed ones."""

from evaluation.reporting.downstream import (
    LEAST,
    SIMILARITY_MEAN,
    Relation,
    Scores,
    downstream_means,
    downstream_scores,
    intrinsic_scores,
    relate,
)
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
    NONE,
    Cell,
    Row,
    Table,
    bracketed,
    headings,
    percent_cell,
)
from evaluation.reporting.tables.marks import dataset_cell


def downstream(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of groups of probed tasks.

    As Tables 3 and 6 of Wang, Kuo and Li (2022). With fewer than three encoders the table has a
    note instead of rows; without scores of either kind there is no table.
    """
    intrinsic = _intrinsic(inputs)
    datasets = downstream_scores(inputs.encoders)
    if not intrinsic or not datasets:
        return []
    title = "Which scores correlate with downstream tasks"
    if len(inputs.encoders) < LEAST:
        count = ("one", "two")[len(inputs.encoders) - 1]
        few = f"This table needs three probed encoders or more; this report has {count}."
        return [Table("downstream", title, (), (), (few,))]
    means = downstream_means(inputs.encoders, inputs.averages)
    members = [
        (average, sum(name in datasets for name in average.datasets))
        for average in inputs.averages
        if average.what in means
    ]
    several = len({average.benchmark for average, _ in members}) > 1
    average = f" ({SIMILARITY_MEAN}: its average over datasets)"
    about = (
        "As in Wang, Kuo and Li (2022), Tables 3 and 6: Spearman's correlation × 100, over "
        "encoders, between a score that needs no probe and the mean score of a group of tasks "
        "(in brackets the number of its datasets that a probe is trained for). n is the "
        f"number of encoders with both scores; in brackets the {COVERED} interval by Bonett and "
        "Wright (2000), which needs six encoders or more, and orders neither equal nor opposite. "
        "In bold are correlations whose interval excludes 0. Each interval is that of a single "
        "correlation: of twenty unrelated pairs, one is expected to seem significant.",
        "The score of similarity is Pearson's correlation"
        + (average if SIMILARITY_MEAN in intrinsic else "")
        + "; of EvalRank, the MRR by cosine; of ParaLex, suggestion and coherence with the shared "
        "vocabulary, in lower case if that was measured.",
    )
    rows = [
        Row((Cell(what), *(_relation(relate(own, means[average.what])) for average, _ in members)))
        for what, own in intrinsic.items()
    ]
    header = (
        Cell("Score"),
        *(
            Cell(
                f"{average.group.abbreviation} ({count})" + f", {average.benchmark}" * several,
                title=average.title,
            )
            for average, count in members
            if average.group
        ),
    )
    return [Table("downstream", title, header, tuple(rows), about)]


def downstream_datasets(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe correlate with those of each probed dataset."""
    intrinsic = _intrinsic(inputs)
    datasets = downstream_scores(inputs.encoders)
    if len(inputs.encoders) < LEAST or not intrinsic or not datasets:
        return []
    rows = [
        Row(
            (
                dataset_cell(inputs, dataset),
                *(_relation(relate(own, datasets[dataset])) for own in intrinsic.values()),
            ),
            group=group.abbreviation,
        )
        for group, names in inputs.groups.items()
        for dataset in names
        if dataset in datasets
    ]
    header = headings("Dataset", *intrinsic)
    return [Table("downstream-datasets", "Downstream tasks by dataset", header, tuple(rows))]


def _intrinsic(inputs: Inputs) -> Scores:
    return intrinsic_scores(inputs.encoders, inputs.rankings, inputs.paradigms, inputs.shipped)


def _relation(found: Relation | None) -> Cell:
    if found is None:
        return Cell(NONE)
    beside = f"n = {found.encoders}"
    strong = False
    if found.interval:
        low, high = found.interval
        beside = f"{bracketed(found.interval)} {beside}"
        strong = not low <= 0 <= high
    return percent_cell(found.correlation, beside, strong=strong)
