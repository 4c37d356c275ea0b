"""Bigram shift and n-gram shift: are neighbouring words swapped?

Bigram shift is of Conneau et al. (2018), section 2.
"""

from itertools import pairwise

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree
from builders.tasks.task import Column
from builders.tasks.treebank_task import ORIGIN, TreebankTask, offered
from corpora_recipes.casing import lower_case

# In many languages, an adjective stands before or after its noun.
_EITHER_ORDER = {"ADJ", "NOUN"}


def _shifted(tree: Tree, draw: Draw, size: int) -> Candidate | str:
    """Return the sentence with two neighbouring groups of words swapped.

    The place is drawn among those where no word begins the sentence, covers several syntactic words
    or touches punctuation, the parts of speech of the groups differ, and no word comes to stand
    beside an equal one. An adjective and its noun are not swapped.

    Args:
        tree: of the sentence.
        draw: the dataset's.
        size: the number of words in each group.
    """
    forms = [token.form for token in tree.tokens]
    kinds = [tree.words[first].upos for first in tree.first_of]
    spaced = [tree.is_word(n) and token.space_after for n, token in enumerate(tree.tokens)]
    places = []
    for start in range(tree.begin + 1, len(forms) - 2 * size + 1):
        middle, end = start + size, start + 2 * size
        around = [forms[start - 1], *forms[middle:end], *forms[start:middle], *forms[end : end + 1]]
        if (
            all(spaced[start : end - 1])
            and tree.is_word(end - 1)
            and kinds[start:middle] != kinds[middle:end]
            and {*kinds[start:end]} != _EITHER_ORDER
            and all(one != two for one, two in pairwise(map(lower_case, around)))
        ):
            places.append(start)
    if not places:
        return "without_place"
    start = places[draw.choice(len(places), tree.sentence.id, "place")]
    middle, end = start + size, start + 2 * size
    swapped = [*forms[:start], *forms[middle:end], *forms[start:middle], *forms[end:]]
    return offered(
        tree,
        changed=tree.with_forms(swapped),
        columns={"position": start + 1, "swapped": " ".join(swapped[start:end])},
    )


def _bigram(tree: Tree, draw: Draw) -> Candidate | str:
    return _shifted(tree, draw, 1)


def _ngram(tree: Tree, draw: Draw) -> Candidate | str:
    return _shifted(tree, draw, 2)


_COLUMNS = ORIGIN | {
    "position": Column(
        "integer", "the number of the first token that was moved, null if none was moved"
    ),
    "swapped": Column("string", "the moved tokens in their new order, null if none was moved"),
}

BIGRAM = TreebankTask(
    name="bigram_shift",
    question="Are two neighbouring words of the sentence swapped?",
    labels=("original", "shifted"),
    unchanged="original",
    needs="two neighbouring words of different parts of speech, after the first word",
    example="""\
| sentence | class |
|---|---|
| La marea bajo dejó el puente la arena seca. | **shifted** |""",
    provenance=_COLUMNS,
    find=_bigram,
)
NGRAM = TreebankTask(
    name="ngram_shift",
    question="Are two neighbouring pairs of words swapped, such as the third and fourth with the "
    "fifth and sixth?",
    labels=("original", "shifted"),
    unchanged="original",
    needs="four neighbouring words, after the first word",
    example="""\
| sentence | class |
|---|---|
| La marea el puente dejó bajo la arena seca. | **shifted** |""",
    provenance=_COLUMNS,
    find=_ngram,
)
