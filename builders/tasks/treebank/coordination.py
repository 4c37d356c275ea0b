"""Coordination inversion: were the two clauses of the sentence swapped?

Conneau et al. (2018), section 2.
"""

from collections.abc import Sequence

from builders.sampling.balance import in_drawn_order
from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree, is_finite
from builders.sampling.word_counts import WordCounts
from builders.tasks.task import Column
from builders.tasks.treebank_task import ORIGIN, TreebankTask, offered
from corpora_recipes.records import SPLITS, Token, Word, text_of

_FIRST, _SECOND, _EQUAL = "first longer", "second longer", "equal"
_QUOTES_AND_BRACKETS = frozenset("\"'«»“”„‘’()[]{}—–")


def _inverted(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with its two clauses swapped.

    Its root has one conjunct and one conjunction between them; each of the two is a finite verb,
    or has one as auxiliary or copula; both have a subject of their own, or none has.
    """
    del draw
    joined = tree.related(tree.root, "conj")
    if len(joined) != 1:
        return "without_two_clauses"
    second = joined[0]
    links = tree.related(second, "cc")
    if len(links) != 1 or tree.related(tree.root, "cc"):
        return "without_one_conjunction"
    if not (_has_finite(tree, tree.root) and _has_finite(tree, second)):
        return "without_two_finite_verbs"
    if _has_subject(tree, tree.root) != _has_subject(tree, second):
        return "with_one_subject"
    parts = _parts(tree, second, links[0])
    if parts is None:
        return "with_entangled_clauses"
    link, begin, end = parts
    first, after = tree.tokens[tree.begin : link], tree.tokens[begin:end]
    changed = (
        *tree.tokens[: tree.begin],
        *_ended(_capital(after), first[-1].space_after),
        *tree.tokens[link:begin],
        *_ended(_lowered(first, tree.words[tree.first_of[tree.begin]]), after[-1].space_after),
        *tree.tokens[end:],
    )
    longer = _EQUAL
    if len(first) != len(after):
        longer = _FIRST if len(first) > len(after) else _SECOND
    return offered(
        tree,
        changed=text_of(changed),
        stratum=longer,
        columns={"first_tokens": len(first), "second_tokens": len(after)},
    )


def _has_finite(tree: Tree, top: int) -> bool:
    verbs = [top, *tree.related(top, "aux", "cop")]
    return any(is_finite(tree.words[verb]) for verb in verbs)


def _has_subject(tree: Tree, top: int) -> bool:
    return bool(tree.related(top, "nsubj", "csubj"))


def _parts(tree: Tree, second: int, conjunction: int) -> tuple[int, int, int] | None:
    """Return where the clauses are, or None if they are not two runs of tokens.

    Returns:
        Where the first clause ends and what links the two begins (a comma, the conjunction), where
        the second begins, and where it ends.
    """
    if _QUOTES_AND_BRACKETS.intersection(tree.text):
        return None
    wordy = [any(map(str.isalnum, token.form)) for token in tree.tokens]
    end = len(wordy) - wordy[::-1].index(True)
    link = tree.token_of[conjunction]
    begin = link + 1
    while not wordy[link - 1]:
        link -= 1
    own = sorted({token for word in tree.subtree(second) if (token := tree.token_of[word]) < end})
    together = own == list(range(own[0], end)) and link <= own[0]
    if not together or not tree.begin < link or not begin < end:
        return None
    if not wordy[begin] or tree.tokens[begin - 1].words > 1:
        return None
    return link, begin, end


def _capital(tokens: Sequence[Token]) -> Sequence[Token]:
    first, *rest = tokens
    return (first._replace(form=first.form[:1].upper() + first.form[1:]), *rest)


def _lowered(tokens: Sequence[Token], word: Word) -> Sequence[Token]:
    """Return tokens without the capital of their first word, unless it has one everywhere."""
    first, *rest = tokens
    if word.upos == "PROPN" or word.lemma[:1].isupper() or first.form[1:2].isupper():
        return tokens
    return (first._replace(form=first.form[:1].lower() + first.form[1:]), *rest)


def _ended(tokens: Sequence[Token], space_after: bool) -> Sequence[Token]:
    return (*tokens[:-1], tokens[-1]._replace(space_after=space_after))


def _both_orders(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Leave out candidates until, in each split, either clause is as often the longer one.

    Half of each are inverted, so that the order of the lengths does not tell the class.
    """
    del counts
    kept = [candidate for candidate in candidates if candidate.stratum == _EQUAL]
    ordered = in_drawn_order(candidates, draw)
    for split in SPLITS:
        groups = [
            [c for c in ordered if c.split == split and c.stratum == longer]
            for longer in (_FIRST, _SECOND)
        ]
        least = min(map(len, groups)) // 2 * 2
        kept += [candidate for group in groups for candidate in group[:least]]
    return kept


COORDINATION = TreebankTask(
    name="coordination_inversion",
    question="Were the two coordinated main clauses of the sentence swapped?",
    labels=("original", "inverted"),
    unchanged="original",
    needs="two coordinated main clauses, both with a subject or both without",
    example="""\
| sentence | class |
|---|---|
| El aceite se acabó el lunes y el pan era de ayer. | **inverted** |""",
    provenance=ORIGIN
    | {
        "first_tokens": Column(
            "integer", "tokens of the clause that came first, null if they were not swapped"
        ),
        "second_tokens": Column("integer", "tokens of the other one"),
    },
    find=_inverted,
    settle=_both_orders,
)
