"""Candidates: the sentences of a treebank that a task may take, balanced by class and length."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from builders.sampling.draw import Draw
from builders.sampling.folds import connected_groups
from builders.sampling.tree import Tree
from corpora_recipes.casing import lower_case

# Width of the bins of sentence length, in tokens.
BIN = 3
# A fold, a stratum and a bin of length: classes are balanced in each.
Cell = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may become a row; its ``length`` is in tokens.

    Attributes:
        label: the class; "" as long as it is not decided.
        changed: the text after the change that the task asks about; "" if it asks about none.
        forms: the words that tell the class, in lower case; each belongs to one fold, so none for
            a word that every fold needs, such as "no".
        stratum: a further property that must not tell the class.
        columns: where the answer stands, or what was changed: columns of the row.
        material: what the task needs to decide about the candidate when it knows all.
        fold: the number of its fold; 0 as long as it is not decided.
    """

    id: str
    treebank: str
    document_id: str
    licence: str
    text: str
    length: int
    label: str = ""
    changed: str = ""
    forms: tuple[str, ...] = ()
    stratum: str = ""
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    material: Any = None
    fold: int = 0

    def cell(self, fold: int, *, by_length: bool = True) -> Cell:
        """Return its cell in a fold; lengths have no bins unless ``by_length``."""
        return fold, self.stratum, self.length // BIN if by_length else 0


def offered(tree: Tree, **fields: Any) -> Candidate:
    """Return the sentence of a tree as a candidate with further fields."""
    sentence = tree.sentence
    return Candidate(
        id=sentence.id,
        treebank=sentence.treebank,
        document_id=sentence.document_id,
        licence=sentence.licence,
        text=tree.text,
        length=len(tree.tokens),
        **fields,
    )


def told_by(tree: Tree, word: int, label: str, stratum: str = "") -> Candidate:
    """Return the sentence of a tree as one whose class a word, given by its number, tells."""
    form = tree.words[word].form
    columns = {"word": form, "position": tree.token_of[word] + 1}
    forms = (lower_case(form),)
    return offered(tree, label=label, forms=forms, stratum=stratum, columns=columns)


def in_folds(
    candidates: Sequence[Candidate], number: int, draw: Draw, *, by_length: bool = True
) -> list[Candidate]:
    """Give each candidate one of some folds, so that no document and no form is in two of them.

    Where documents and forms would link more than half of a fold's share, candidates that link are
    left out. The others are dealt group by group: those with the rarest class first, of these the
    largest first, otherwise in drawn order. Empty folds come first; then a group goes to the fold
    where its classes are most lacking in their cells, so that ``balanced`` loses few; of equal
    folds to the smallest.
    """
    frequency = Counter(candidate.label for candidate in candidates)
    groups = connected_groups(
        in_drawn_order(candidates, draw),
        lambda c: (c.document_id, *((form,) for form in c.forms)),
        max_merged=len(candidates) // (2 * number),
    )
    groups.sort(key=lambda group: (min(frequency[c.label] for c in group), -len(group)))
    dealt: list[Candidate] = []
    sizes: Counter[int | Cell | tuple[Cell, str]] = Counter()

    def beyond(candidate: Candidate, fold: int) -> int:
        """Return what its cell has of its class beyond an equal share, times the classes."""
        cell = candidate.cell(fold, by_length=by_length)
        return len(frequency) * sizes[cell, candidate.label] - sizes[cell]

    for group in groups:
        found = (
            (sizes[fold] > 0, sum(beyond(c, fold) for c in group), sizes[fold], fold)
            for fold in range(number)
        )
        *_, fold = min(found)
        for candidate in group:
            cell = candidate.cell(fold, by_length=by_length)
            sizes.update((fold, cell, (cell, candidate.label)))
            dealt.append(replace(candidate, fold=fold))
    return dealt


def balanced(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw, *, by_length: bool = True
) -> list[Candidate]:
    """Leave out candidates until every class is equally frequent in each cell.

    A cell is a fold and stratum, and a bin of length if ``by_length``. Which candidates stay is
    decided by keyed hash, so that leaving one out changes one other of each class at most.
    Candidates of other classes are left out.
    """
    cells: dict[Cell, dict[str, list[Candidate]]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cell = candidate.cell(candidate.fold, by_length=by_length)
        cells.setdefault(cell, {}).setdefault(candidate.label, []).append(candidate)
    kept = []
    for of_class in cells.values():
        least = min(len(of_class.get(name, ())) for name in classes)
        kept += [candidate for name in classes for candidate in of_class.get(name, ())[:least]]
    return kept


def with_drawn_classes(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw
) -> list[Candidate]:
    """Draw one of two classes for each candidate, equally often in each fold and stratum.

    Inside a bin of length the two differ by one at most. Of an odd number in a fold and stratum,
    one is left out.
    """
    cells: dict[Cell, list[Candidate]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cells.setdefault(candidate.cell(candidate.fold), []).append(candidate)
    left: dict[Cell, list[Candidate]] = {}
    for (fold, stratum, _), of_cell in cells.items():
        if len(of_cell) % 2:
            left.setdefault((fold, stratum, 0), []).append(of_cell.pop())
    for odd in left.values():
        del odd[len(odd) // 2 * 2 :]
    return [
        replace(candidate, label=classes[drawn])
        for some in (*cells.values(), *left.values())
        for candidate, drawn in zip(some, draw.classes(2, [c.id for c in some]), strict=True)
    ]


def worthwhile_classes(candidates: Sequence[Candidate], draw: Draw) -> list[str]:
    """Return the labels worth asking for, the most frequent first.

    A rare class costs many rows, since all classes are made as rare. So there are as many classes,
    two or more, as leave at least half of the rows that the best number of classes leaves.
    """
    frequency = Counter(candidate.label for candidate in candidates)
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    rows = {}
    for count in range(2, len(ranked) + 1):
        kept = balanced(candidates, ranked[:count], draw)
        if kept:
            rows[count] = len(kept)
    most = max(rows.values(), default=0)
    return ranked[: max((count for count, n in rows.items() if 2 * n >= most), default=0)]


def in_drawn_order(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Return the candidates in the order in which they are taken."""
    return sorted(candidates, key=lambda c: (draw.hash(c.id, "select"), c.id))
