"""A score with its interval and baselines, as an entry of mteb's results."""

from typing import Any

from evaluation.results.probes import Score


def mteb_scores(score: Score) -> dict[str, Any]:
    """Return what mteb keeps of a score.

    Returns:
        The main score under the name of its metric ("accuracy", "pearson"), all other measures;
        low_95 and high_95, the ends of its interval; majority and chance, for classes; rows and
        documents, the numbers of those tested; deviation, where starts are random; and sha256, the
        digest of the dataset's files.
    """
    found = {
        score.metric: score.value,
        **score.measures,
        "low_95": score.interval[0],
        "high_95": score.interval[1],
        "majority": score.majority,
        "chance": score.chance,
        "deviation": score.deviation,
        "rows": score.asked,
        "documents": score.test_documents,
        "sha256": score.digest,
    }
    return {name: value for name, value in found.items() if value is not None}
