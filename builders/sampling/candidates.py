"""Samples single examples: splits and folds of labelled ones, and candidates of treebanks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeVar

from builders.sampling.passages import Draw
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import (
    SPLITS,
    Example,
    ParsedSentence,
    Split,
    Word,
    connected_groups,
    link_groups,
    text_of,
)
from corpora_recipes.text.language import writing_of
from corpora_recipes.text.tokens import lower_case, sentence_hash, telling_hashes

TextKey = tuple[int, ...]
T = TypeVar("T")
# As SentEval's cross-validation (Conneau and Kiela 2018, section 4, "10-fold").
N_FOLDS = 10
# One for test, one to choose the regularisation of a probe, one for train.
MIN_FOLDS = 3
# A small dataset has fewer folds than ``N_FOLDS``, so that each has rows of all classes.
ROWS_PER_FOLD = 20
# Fewer folds are not tried once they could give hardly more rows.
NEARLY_ALL = 0.98
# Of a text in two source splits, the copy in the later one is used: the tested one comes first.
_DEDUPLICATION_ORDER = (*reversed(SPLITS), None)


def filter_examples(
    examples: Sequence[Example], deduplicate: bool, min_class_size: int
) -> tuple[list[Example], dict[str, int]]:
    """Drop repeated texts if ``deduplicate``, then classes of fewer than ``min_class_size``.

    Of examples with the same texts, in any order, the one in the last source split is used, and of
    several there, the one with the first id. Returns the examples, in their order, and how many
    were dropped as "repeated_text" and "rare_class".
    """
    remaining = list(examples)
    dropped = {}
    if deduplicate:
        by_text: dict[TextKey, Example] = {}
        for example in sorted(remaining, key=lambda e: (_DEDUPLICATION_ORDER.index(e.split), e.id)):
            by_text.setdefault(tuple(sorted(text_key(example))), example)
        ids = {example.id for example in by_text.values()}
        dropped["repeated_text"] = len(remaining) - len(ids)
        remaining = [example for example in remaining if example.id in ids]
    if min_class_size:
        sizes = Counter(example.label for example in remaining)
        frequent = [example for example in remaining if sizes[example.label] >= min_class_size]
        dropped["rare_class"] = len(remaining) - len(frequent)
        remaining = frequent
    return remaining, dropped


def assign_splits(
    examples: Sequence[Example],
    seed: int,
    collection: str,
    *,
    trained: bool,
    n_folds: int = N_FOLDS,
) -> tuple[dict[str, Split], dict[str, int]]:
    """Return the split of each example of a collection by id, and its fold by id if it has one.

    The last source split is test, the first is train, any between is validation; without one, a
    tenth of train is held out as validation. With one source split or none, rows are dealt to
    folds, and their split is "train". If no probe is ``trained``, all examples are test. The seed
    and the collection's name decide, so that all datasets of a collection have the same splits.

    No sentence of six words or more is in two of the parts that are dealt here: an example is left
    out if its sentence could not link (``assign_folds``) and more examples of another part have it.
    """
    if not trained:
        return {example.id: "test" for example in examples}, {}
    source_splits = _source_splits(examples)
    test_split = source_test_split(examples)
    if test_split is None:
        folds = assign_folds(examples, seed, collection, n_folds)
        folds = _keep_in_one_part(examples, folds)
        return dict.fromkeys(folds, "train"), folds
    split_names: dict[Split | None, Split] = {source_splits[0]: "train", test_split: "test"}
    splits = {example.id: split_names.get(example.split, "validation") for example in examples}
    if len(source_splits) == 2:
        train = [example for example in examples if splits[example.id] == "train"]
        folds = assign_folds(train, seed, collection)
        in_train = _keep_in_one_part(train, {id_: int(fold > 0) for id_, fold in folds.items()})
        splits = {id_: split for id_, split in splits.items() if split == "test"}
        splits |= {id_: "train" if stays else "validation" for id_, stays in in_train.items()}
    return splits, {}


def _keep_in_one_part(examples: Sequence[Example], parts: Mapping[str, int]) -> dict[str, int]:
    """Return id to part without the examples with a sentence that is mostly in another part."""
    sizes = Counter((text, parts[e.id]) for e in examples for text in _linking(e))
    part_of = {
        text: part for (text, part), _ in sorted(sizes.items(), key=lambda s: (s[1], -s[0][1]))
    }
    return {
        e.id: parts[e.id] for e in examples if all(part_of[t] == parts[e.id] for t in _linking(e))
    }


def source_test_split(examples: Sequence[Example]) -> Split | None:
    """Return the source split that is tested: the last one; None if there are fewer than two."""
    source_splits = _source_splits(examples)
    return source_splits[-1] if len(source_splits) > 1 else None


def _source_splits(examples: Sequence[Example]) -> list[Split]:
    """Return the splits of the source that the examples have, in order."""
    present = {example.split for example in examples}
    return [split for split in SPLITS if split in present]


def assign_folds(
    examples: Sequence[Example], seed: int, collection: str, n_folds: int = N_FOLDS
) -> dict[str, int]:
    """Return the fold of each example of a collection by id: grouped and stratified.

    Examples of one document, or with the same text (or pair), form a group, which is in one fold.
    Groups that share a sentence of six words or more are one, unless it would be larger than half
    of a fold. A group's class is that of its example with the first id. Groups are dealt to the
    folds in turn, class by class, in keyed-hash order, so that the numbers of groups per class
    differ by at most one between folds.
    """
    ranked_groups: dict[str, list[tuple[int, list[Example]]]] = {}
    groups = connected_groups(examples, lambda e: (e.document_id, text_key(e)))
    for group in link_groups(groups, _linking, len(examples) // (2 * n_folds)):
        first = min(group, key=lambda example: example.id)
        rank = keyed_hash(seed, collection, first.id, "fold")
        ranked_groups.setdefault(first.label or "", []).append((rank, group))
    in_order = [
        group
        for label in sorted(ranked_groups)
        for _, group in sorted(ranked_groups[label], key=lambda ranked: ranked[0])
    ]
    return {
        example.id: index % n_folds for index, group in enumerate(in_order) for example in group
    }


def text_key(example: Example) -> TextKey:
    """Return a key that is equal for examples with the same text, or pair of texts."""
    return tuple(map(sentence_hash, example.texts))


def _linking(example: Example) -> frozenset[int]:
    """Return the keys of the sentences that link a pair to others; for one text, see text_key."""
    return telling_hashes(example.texts) if len(example.texts) > 1 else frozenset()


class Tree:
    """The tree of a sentence; words and tokens are numbered from 0.

    Attributes:
        sentence: the record, of which words, tokens and text are.
        root: the number of the root.
        children: for each word the numbers of its dependents, in text order.
        token_of: for each word the number of its token.
        first_of: for each token the number of its first word.
        begin: the number of the first token with a letter or a digit.
        spaces: whether its language, that of the treebank, has spaces between words.
    """

    def __init__(self, sentence: ParsedSentence) -> None:
        """Look at a sentence."""
        self.sentence, self.text = sentence, sentence.text
        self.words, self.tokens = sentence.words, sentence.tokens
        self.root = 0
        self.children: list[list[int]] = [[] for _ in self.words]
        for number, word in enumerate(self.words):
            if word.head:
                self.children[word.head - 1].append(number)
            else:
                self.root = number
        self.token_of: list[int] = []
        self.first_of: list[int] = []
        for number, token in enumerate(self.tokens):
            self.first_of.append(len(self.token_of))
            self.token_of += [number] * token.words
        begins = (n for n, token in enumerate(self.tokens) if any(map(str.isalnum, token.form)))
        self.begin = next(begins, 0)
        self.spaces = writing_of(sentence.treebank.partition("_")[0]).spaces

    @property
    def main(self) -> Word:
        """The word that is the root."""
        return self.words[self.root]

    def related(self, head: int, *relations: str) -> list[int]:
        """Return the dependents of a word with one of some relations.

        A relation without a subtype stands for all of its subtypes.
        """
        return [
            child
            for child in self.children[head]
            if (relation := self.words[child].relation) in relations
            or relation.partition(":")[0] in relations
        ]

    def subtree(self, top: int) -> list[int]:
        """Return the numbers of a word and of all words below it, in text order."""
        numbers = [top]
        for number in numbers:
            numbers += self.children[number]
        return sorted(numbers)

    def depth(self) -> int:
        """Return the number of words, not punctuation, on the longest way from the root."""
        depth, level = 0, [self.root]
        while level:
            depth += 1
            below = [child for number in level for child in self.children[number]]
            level = [child for child in below if self.words[child].relation != "punct"]
        return depth

    def is_word(self, token: int) -> bool:
        """Return whether a token is a single word, with a letter or a digit."""
        word = self.words[self.first_of[token]]
        return (
            self.tokens[token].words == 1
            and word.upos not in ("PUNCT", "SYM", "X")
            and any(map(str.isalnum, word.form))
        )

    def with_forms(self, forms: Iterable[str]) -> str:
        """Return the text with other forms in the places of its tokens."""
        tokens = zip(forms, self.tokens, strict=True)
        return text_of(token._replace(form=form) for form, token in tokens)


def is_finite(word: Word) -> bool:
    """Return whether a word is a finite verb, by what its treebank annotates.

    That is the form of the verb; or else a mood, a tense or a person, which other forms lack. The
    active participle of the past stands for a finite verb, as in Czech and Croatian.
    """
    if word.upos not in ("VERB", "AUX"):
        return False
    if form := word.feature("VerbForm"):
        past = word.feature("Tense") == "Past" and word.feature("Voice") == "Act"
        return form == "Fin" or (form == "Part" and past)
    return any(map(word.feature, ("Mood", "Tense", "Person")))


class WordCounts:
    """Counts of words by kind (part of speech and features), and of neighbours in lower case."""

    def __init__(self) -> None:
        """Count nothing yet."""
        self.of_kind: dict[str, Counter[str]] = {}
        self._numbers: dict[str, int] = {}
        self._pairs: Counter[int] = Counter()

    def add_word(self, kind: str, form: str) -> None:
        """Count a word of a kind."""
        self.of_kind.setdefault(kind, Counter())[form] += 1

    def add_neighbours(self, forms: list[str]) -> None:
        """Count each pair of neighbouring tokens of a sentence."""
        numbers_by_word = self._numbers
        numbers = [
            numbers_by_word.setdefault(lower_case(form), len(numbers_by_word)) for form in forms
        ]
        # One integer a pair takes a third of the memory of a tuple.
        self._pairs.update(first << 32 | second for first, second in pairwise(numbers))

    def together(self, first: str, second: str) -> int:
        """Return how often two words are neighbours, in this order and any case."""
        left, right = self._numbers.get(lower_case(first)), self._numbers.get(lower_case(second))
        return 0 if left is None or right is None else self._pairs[left << 32 | right]


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


def as_candidate(tree: Tree, **fields: Any) -> Candidate:
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


def labelled_by_word(tree: Tree, word: int, label: str, stratum: str = "") -> Candidate:
    """Return the sentence of a tree as one whose class a word, given by its number, tells."""
    form = tree.words[word].form
    columns = {"word": form, "position": tree.token_of[word] + 1}
    forms = (lower_case(form),)
    return as_candidate(tree, label=label, forms=forms, stratum=stratum, columns=columns)


def deal_to_folds(
    candidates: Sequence[Candidate], n_folds: int, draw: Draw, *, by_length: bool = True
) -> list[Candidate]:
    """Give each candidate one of some folds, so that no document and no form is in two of them.

    Where documents and forms would link more than half of a fold's share, candidates that link are
    left out. The others are dealt group by group: those with the rarest class first, of these the
    largest first, otherwise in drawn order. Empty folds come first; then a group goes to the fold
    where its classes are most lacking in their cells, so that ``balance_classes`` loses few; of
    equal folds to the smallest.
    """
    frequency = Counter(candidate.label for candidate in candidates)
    groups = connected_groups(
        in_drawn_order(candidates, draw),
        lambda c: (c.document_id, *((form,) for form in c.forms)),
        max_merged=len(candidates) // (2 * n_folds),
    )
    groups.sort(key=lambda group: (min(frequency[c.label] for c in group), -len(group)))
    assigned: list[Candidate] = []
    sizes: Counter[int | Cell | tuple[Cell, str]] = Counter()

    def surplus(candidate: Candidate, fold: int) -> int:
        """Return what its cell has of its class beyond an equal share, times the classes."""
        cell = candidate.cell(fold, by_length=by_length)
        return len(frequency) * sizes[cell, candidate.label] - sizes[cell]

    for group in groups:
        choices = (
            (sizes[fold] > 0, sum(surplus(c, fold) for c in group), sizes[fold], fold)
            for fold in range(n_folds)
        )
        *_, fold = min(choices)
        for candidate in group:
            cell = candidate.cell(fold, by_length=by_length)
            sizes.update((fold, cell, (cell, candidate.label)))
            assigned.append(replace(candidate, fold=fold))
    return assigned


def balance_classes(
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
    remaining = []
    for of_class in cells.values():
        min_size = min(len(of_class.get(name, ())) for name in classes)
        remaining += [
            candidate for name in classes for candidate in of_class.get(name, ())[:min_size]
        ]
    return remaining


def draw_classes(
    candidates: Sequence[Candidate], classes: Sequence[str], draw: Draw
) -> list[Candidate]:
    """Draw one of two classes for each candidate, equally often in each fold and stratum.

    Inside a bin of length the two differ by one at most. Of an odd number in a fold and stratum,
    one is left out.
    """
    cells: dict[Cell, list[Candidate]] = {}
    for candidate in in_drawn_order(candidates, draw):
        cells.setdefault(candidate.cell(candidate.fold), []).append(candidate)
    odd_ones: dict[Cell, list[Candidate]] = {}
    for (fold, stratum, _), of_cell in cells.items():
        if len(of_cell) % 2:
            odd_ones.setdefault((fold, stratum, 0), []).append(of_cell.pop())
    for odd in odd_ones.values():
        del odd[len(odd) // 2 * 2 :]
    return [
        replace(candidate, label=classes[drawn])
        for chosen_cell in (*cells.values(), *odd_ones.values())
        for candidate, drawn in zip(
            chosen_cell, draw.classes(2, [c.id for c in chosen_cell]), strict=True
        )
    ]


def limit_folds(n_rows: int, n_classes: int) -> int:
    """Return the largest useful number of folds, given the rows that there are without folds."""
    return max(MIN_FOLDS, min(N_FOLDS, n_rows // ROWS_PER_FOLD, n_rows // max(n_classes, 1)))


def choose_classes(
    candidates: Sequence[Candidate], least_share: float, draw: Draw
) -> tuple[list[str], int]:
    """Return the labels worth asking for, and the number of folds.

    A rare class costs many rows, since all classes are made as rare, in every fold and bin of
    length. So there are as many classes, two or more, and then as many folds, as leave
    ``least_share`` of the rows that the best numbers of classes and of folds leave.
    """
    frequency = Counter(candidate.label for candidate in candidates)
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    numbers = range(2, len(ranked) + 1)
    # Folds only take rows away from these.
    bounds = {n: len(balance_classes(candidates, ranked[:n], draw)) for n in numbers}
    n_rows: dict[tuple[int, int], int] = {}
    best = 0
    for n_classes in sorted(numbers, key=lambda n: -bounds[n]):
        bound = bounds[n_classes]
        if bound <= least_share * best:
            break
        labels, limit = ranked[:n_classes], limit_folds(bound, n_classes)
        asked = [candidate for candidate in candidates if candidate.label in labels]
        left = 0
        # More folds than are useful, if fewer of them leave no rows.
        for n_folds in (*range(limit, MIN_FOLDS - 1, -1), *range(limit + 1, N_FOLDS + 1)):
            if left >= NEARLY_ALL * bound or (left and n_folds > limit):
                break
            rows = balance_classes(deal_to_folds(asked, n_folds, draw), labels, draw)
            if len({candidate.fold for candidate in rows}) >= MIN_FOLDS:
                left = n_rows[n_classes, n_folds] = len(rows)
                best = max(best, bound if left >= NEARLY_ALL * bound else left)
    enough = (numbers for numbers, left in n_rows.items() if left >= least_share * best)
    n_classes, n_folds = max(enough, default=(2, MIN_FOLDS))
    return sorted(ranked[:n_classes]), n_folds


def in_drawn_order(candidates: Sequence[Candidate], draw: Draw) -> list[Candidate]:
    """Return the candidates in the order in which they are taken."""
    return sorted(candidates, key=lambda c: (draw.hash(c.id, "select"), c.id))
