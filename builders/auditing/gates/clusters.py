"""Gates 7 and 8, of clusters of terms."""

from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, count_check, stated
from builders.auditing.target import Target
from builders.tasks.examples import FEWEST_TERMS
from corpora_recipes.text.tokens import lower_case


def _terms(target: Target) -> Iterator[Check]:
    """Check that no cluster repeats a term, and state how many clusters are small."""
    rows = [row for part in target.parts.values() for row in part.texts]
    few = sum(len(row) < FEWEST_TERMS for row in rows)
    # No limit: they were published so, and score 0 by definition.
    yield stated("labels", "clusters of fewer than three terms, which score 0", few)
    repeated = sum(len(row) - len(set(row)) for row in rows)
    yield count_check("labels", "terms repeated in a cluster", repeated)


def _sizes(target: Target) -> Iterator[Check]:
    """State the number of clusters and of their terms, as written and in lower case."""
    rows = [row for part in target.tested() for row in part.texts]
    terms = [term for row in rows for term in row]
    yield stated("size", "clusters", len(rows))
    yield stated("size", "terms", len(terms))
    yield stated("size", "different terms", len(set(terms)))
    yield stated("size", "different terms in lower case", len(set(map(lower_case, terms))))
    capital = sum(term != lower_case(term) for term in terms)
    yield stated("size", "terms with a capital letter", capital)


CLUSTERS = Gate("labels", _terms, lambda target: target.kind == "clusters")
CLUSTER_SIZES = Gate("size", _sizes, lambda target: target.kind == "clusters" and target.has_test)
