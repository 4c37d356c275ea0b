"""Candidates: the sentences of a treebank that a task may take, balanced by class and length."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from builders.sampling.draw import Draw
from builders.sampling.tree import Tree
from corpora_recipes.casing import lower_case
from corpora_recipes.records import SPLITS, Split

# Width of the bins of sentence length, in tokens.
BIN = 3
# A form that occurs in all splits goes to train twice as often as to each of the others.
WEIGHTS: Mapping[Split, int] = {"train": 2, "validation": 1, "test": 1}
# A split, a stratum and a bin of length: classes are balanced in each.
Cell = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may become a row; its ``length`` is in tokens.

    Attributes:
        label: the class; "" as long as it is not decided.
        changed: the text after the change that the task asks about; "" if it asks about none.
        forms: the words that tell the class, in lower case; each belongs to one split, so none for
            a word that every split needs, such as "no".
        stratum: a further property that must not tell the class.
        columns: where the answer stands, or what was changed: columns of the row.
        material: what the task needs to decide about the candidate when it knows all.
    """

    id: str
    treebank: str
    document_id: str
    licence: str
    split: Split
    text: str
    length: int
    label: str = ""
    changed: str = ""
    forms: tuple[str, ...] = ()
    stratum: str = ""
    columns: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    material: Any = None

    @property
    def bin(self) -> int:
        """The bin of its length."""
        return self.length // BIN


def offered(tree: Tree, **fields: Any) -> Candidate:
    """Return the sentence of a tree as a candidate with further fields."""
    sentence = tree.sentence
    return Candidate(
        id=sentence.id,
        treebank=sentence.treebank,
        document_id=sentence.document_id,
        licence=sentence.licence,
        split=sentence.split,
        text=tree.text,
        length=len(tree.tokens),
        **fields,
    )


def told_by(tree: Tree, word: int, label: str) -> Candidate:
    """Return the sentence of a tree as one whose class a word, given by its number, tells."""
    form = tree.words[word].form
    columns = {"word": form, "position": tree.token_of[word] + 1}
    return offered(tree, label=label, forms=(lower_case(form),), columns=columns)


def with_forms_of_one_split(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Leave out candidates until no form is in two splits.

    The split of a form is drawn among those in which it occurs, so that a form of one split loses
    nothing, and a small test keeps its rare words.
    """
    places: dict[str, set[Split]] = {}
    for candidate in candidates:
        for form in candidate.forms:
            places.setdefault(form, set()).add(candidate.split)
    owner = {form: split_of(form, splits, draw) for form, splits in places.items()}
    return [c for c in candidates if all(owner[form] == c.split for form in c.forms)]


def split_of(form: str, splits: Iterable[Split], draw: Draw) -> Split:
    """Return which of some splits a form, in lower case, is in, by weighted rendezvous hashing."""
    return min(
        sorted(splits, key=SPLITS.index),
        key=lambda split: -math.log1p(-draw.uniform(form, split, "form")) / WEIGHTS[split],
    )


def balanced(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw, *, by_length: bool = True
) -> list[Candidate]:
    """Leave out candidates until every class is equally frequent in each cell.

    A cell is a split and stratum, and a bin of length if ``by_length``. Which candidates stay is
    decided by keyed hash, so that leaving one out changes one other of each class at most.
    Candidates of other classes are left out.
    """
    cells: dict[Cell, dict[str, list[Candidate]]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cell = (candidate.split, candidate.stratum, candidate.bin if by_length else 0)
        cells.setdefault(cell, {}).setdefault(candidate.label, []).append(candidate)
    kept = []
    for of_class in cells.values():
        least = min(len(of_class.get(name, ())) for name in classes)
        kept += [candidate for name in classes for candidate in of_class.get(name, ())[:least]]
    return kept


def with_drawn_classes(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw
) -> list[Candidate]:
    """Draw one of two classes for each candidate, equally often in each split and stratum.

    Inside a bin of length the two differ by one at most. Of an odd number in a split and stratum,
    one is left out.
    """
    cells: dict[Cell, list[Candidate]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cell = (candidate.split, candidate.stratum, candidate.bin)
        cells.setdefault(cell, []).append(candidate)
    left: dict[Cell, list[Candidate]] = {}
    for (split, stratum, _), of_cell in cells.items():
        if len(of_cell) % 2:
            left.setdefault((split, stratum, 0), []).append(of_cell.pop())
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
    two or more, as leave rows in every split, and at least half of the rows that the best number of
    classes leaves.
    """
    frequency = Counter(candidate.label for candidate in candidates)
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    rows = {}
    for count in range(2, len(ranked) + 1):
        kept = balanced(candidates, ranked[:count], draw)
        if {candidate.split for candidate in kept} == {*SPLITS}:
            rows[count] = len(kept)
    most = max(rows.values(), default=0)
    return ranked[: max((count for count, n in rows.items() if 2 * n >= most), default=0)]


def in_drawn_order(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Return the candidates in the order in which they are taken."""
    return sorted(candidates, key=lambda c: (draw.hash(c.id, "select"), c.id))
