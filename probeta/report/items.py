"""The rows of tests as items: how many encoders answer each one, and whether the better ones do."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.arrays import Counts, Doubles, Flags
from evaluation.results.probes import Predictions

# Of two encoders, the discrimination of a row is 1, -1 or nothing.
LEAST = 3
COLUMNS = ("dataset", "row", "hits", "encoders", "discrimination")
_DECIMALS = 3


def items_of(answers: Mapping[str, Sequence[Predictions]]) -> pd.DataFrame:
    """Return a row with ``COLUMNS`` for each row of datasets, likely label errors first.

    Where the best encoders miss a row and the worst ones hit it, look at its label first (Rodriguez
    et al. 2021, "Evaluation Examples are not Equally Informative", ACL). Rows are sorted by
    discrimination, then by hits, dataset and id.

    Args:
        answers: dataset of classes to the answers of encoders, all of the same rows.

    Returns:
        "row" is an id, "hits" the number of encoders right in more than half of their random
        starts, "encoders" their number, "discrimination" that of ``discriminations``.
    """
    tables = [pd.DataFrame(columns=list(COLUMNS))]
    for dataset, given in answers.items():
        hits = np.array([(each.predicted == each.gold).mean(axis=0) > 0.5 for each in given])
        facts = (dataset, given[0].ids, hits.sum(axis=0), len(given), discriminations(hits))
        tables.append(pd.DataFrame(dict(zip(COLUMNS, facts, strict=True))))
    order = ["discrimination", "hits", "dataset", "row"]
    return pd.concat(tables[1:] or tables).sort_values(order, ignore_index=True)


def discriminations(hits: Flags) -> Doubles:
    """Return how well each row tells good encoders from bad ones, float64 [rows], -1 … 1.

    It is the correlation, over encoders, of being right on the row with the number of other rows
    that they are right on (item-rest correlation; Henrysson 1963, "Correction of item-total
    correlations in item analysis", Psychometrika 28), to ``_DECIMALS``; 0 where one does not vary.

    Args:
        hits: whether an encoder is right, bool [encoders, rows].
    """
    right = hits.astype(np.int64)
    rest = right.sum(axis=1, keepdims=True) - right

    def product(one: Counts, other: Counts) -> Counts:
        """The covariance times the square of the number of encoders: exact."""
        total: Counts = len(hits) * (one * other).sum(axis=0) - one.sum(axis=0) * other.sum(axis=0)
        return total

    spread = np.sqrt(product(right, right)) * np.sqrt(product(rest, rest))
    found = np.divide(product(right, rest), spread, out=np.zeros(len(spread)), where=spread > 0)
    # Without negative zeros.
    rounded: Doubles = found.round(_DECIMALS) + 0.0
    return rounded
