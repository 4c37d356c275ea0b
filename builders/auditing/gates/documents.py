"""Gate 9: no document is in two splits; see also rankings and trees."""

from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, count_check
from builders.exchange.target import Target


def _measure(target: Target) -> Iterator[Check]:
    """Count the documents that are in two splits or folds."""
    holders: dict[str, set[str]] = {}
    for name, part in target.apart().items():
        for document in part.documents or ():
            holders.setdefault(document, set()).add(name)
    twice = {document: names for document, names in holders.items() if len(names) > 1}
    folds = "folds" if target.folds else "splits"
    found = (
        (part, row, f"document {document} is in {', '.join(sorted(twice[document]))}")
        for part in target.apart().values()
        for row, document in enumerate(part.documents or ())
        if document in twice
    )
    yield count_check("documents", f"documents in two {folds}", len(twice), found)


DOCUMENTS = Gate("documents", _measure, lambda target: target.has_documents)
