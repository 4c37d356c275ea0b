"""Gates 7 to 9, of datasets of neighbours: clusters of terms, and rankings."""

from collections.abc import Iterator
from itertools import compress

from builders.auditing.gates.gate import Check, Gate, count_check, stated
from builders.auditing.target import Target
from builders.sampling.passages import has_words
from builders.statistics import standard_error
from builders.tasks.examples import FEWEST_TERMS
from corpora_recipes.text.tokens import lower_case, sentence_hash


def _terms(target: Target) -> Iterator[Check]:
    """Check that no cluster repeats a term, and state how many clusters are small."""
    rows = [row for part in target.parts.values() for row in part.texts]
    few = sum(len(row) < FEWEST_TERMS for row in rows)
    # No limit: they were published so, and score 0 by definition.
    yield stated("labels", "clusters of fewer than three terms, which score 0", few)
    repeated = sum(len(row) - len(set(row)) for row in rows)
    yield count_check("labels", "terms repeated in a cluster", repeated)


def _cluster_sizes(target: Target) -> Iterator[Check]:
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
CLUSTER_SIZES = Gate(
    "size", _cluster_sizes, lambda target: target.kind == "clusters" and target.has_test
)


def _links(target: Target) -> Iterator[Check]:
    """Check the rows of a ranking, and the positives that they list."""
    parts = target.parts.values()
    ids = [row_id for part in parts for row_id in part.columns["id"]]
    texts = [row[0] for part in parts for row in part.texts]
    links = [listed for part in parts for listed in part.columns["positives"]]
    listed_by = dict(zip(ids, map(set, links), strict=True))
    n_unknown = n_own = n_one_sided = n_duplicate = 0
    for row_id, positives in zip(ids, links, strict=True):
        n_own += row_id in positives
        n_duplicate += len(positives) - len(set(positives))
        for positive in positives:
            if positive not in listed_by:
                n_unknown += 1
            else:
                n_one_sided += row_id not in listed_by[positive]
    n_elsewhere = sum(len(part.texts) for split, part in target.parts.items() if split != "test")
    n_wordless = sum(not has_words(row) for row in texts)
    for what, count in (
        ("rankings without a query", int(not any(links))),
        ("rows outside the test split", n_elsewhere),
        ("positives that are not rows of the dataset", n_unknown),
        ("duplicate positives", n_duplicate),
        ("rows that are their own positive", n_own),
        ("one-sided links (A lists B, B does not list A)", n_one_sided),
        ("rows with the id of another row", len(ids) - len(listed_by)),
        ("rows with the text of another row", len(texts) - len(set(texts))),
        ("rows without a letter or a digit", n_wordless),
    ):
        yield count_check("labels", what, count)
    n_alike = len(set(texts)) - len(set(map(sentence_hash, set(texts))))
    what = "rows that differ from another row only in case, punctuation and symbols"
    yield stated("labels", what, n_alike)


def _ranking_sizes(target: Target) -> Iterator[Check]:
    """State the number of queries and of independent groups of texts."""
    (test,) = target.tested()
    positives = test.columns["positives"]
    asking = list(map(bool, positives))
    groups = len(set(compress(test.documents or (), asking)))
    yield stated("size", "queries", sum(asking))
    yield stated("size", "pairs of a query and a positive", sum(map(len, positives)))
    yield stated("size", "groups of texts linked as positives", groups)
    if groups:
        error = standard_error(0.5, groups)
        yield stated("size", "standard error of a hit rate of 50 % on so many groups", error)


def _documents(target: Target) -> Iterator[Check]:
    """Count the positives whose document is not that of the row that lists them."""
    n_elsewhere = 0
    for part in target.parts.values():
        documents = part.documents or ()
        document_of = dict(zip(part.columns["id"], documents, strict=True))
        for document, positives in zip(documents, part.columns["positives"], strict=True):
            n_elsewhere += sum(
                document_of.get(positive, document) != document for positive in positives
            )
    yield count_check("documents", "positives from another document than their row", n_elsewhere)


LINKS = Gate("labels", _links, lambda target: target.kind == "rankings")
RANKING_SIZES = Gate(
    "size", _ranking_sizes, lambda target: target.kind == "rankings" and target.has_test
)
LINKED_DOCUMENTS = Gate("documents", _documents, lambda target: target.kind == "rankings")
