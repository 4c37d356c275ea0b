"""Trivial baselines: how well length, overlap, n-grams, words and row order predict the labels.

A dataset about discourse should not be solved without discourse. Each baseline sees one shallow
cue, is fitted on train and scored on test; a score well above chance reveals a cue that an
encoder's score may rest on. "Hypothesis only" is the best known of them (Poliak et al. 2018,
"Hypothesis Only Baselines in Natural Language Inference", *SEM: a model that sees only the second
text beats the majority class on many NLI datasets).

The models are fixed, not tuned on the dataset: a ridge classifier for text, boosted trees for
length and overlap. Datasets of more than ``MANY_CLASSES`` classes get models
that take one pass and little memory: the nearest class mean by cosine (Rocchio) for text and
Gaussian naive Bayes for length and overlap.

If the answer is a score, nothing is fitted: surface similarities of the two texts are correlated
with the score.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from builders.auditing.target import Booleans, Labels
from builders.statistics import Doubles
from corpora_recipes.running.executors import limit_threads
from corpora_recipes.text.tokens import lower_case

Floats = np.ndarray[Any, np.dtype[np.float32]]
Sparse = Any  # scipy.sparse.csr_array or csr_matrix, float32 [rows, features]
TrainTestFeatures = tuple[Sparse, Sparse]  # of train and of test
Counts = dict[str, tuple[dict[str, int], Sparse]]
"""Of each kind of counts the rows of texts in a matrix, and the matrix: trials share them."""

WORD, MARK = r"\w+", r"[^\w\s]"
# Hash buckets of the n-grams of one text, and of words.
NGRAM_BUCKETS, WORD_BUCKETS = 2**17, 2**18
# The penalty of text features of length 1. It is
# within 2.5 points of the best of five (0.3 to 30) on each of nine datasets of 400 to 9,000 rows.
RIDGE_ALPHA = 3.0
RIDGE_TOLERANCE = 1e-3
# Rows on each side of a split of a tree.
MIN_LEAF = 20
TREES: dict[str, Any] = {
    "max_iter": 50,
    "learning_rate": 0.05,
    "max_leaf_nodes": 15,
    "min_samples_leaf": MIN_LEAF,
}
MANY_CLASSES = 50
# Share of a feature's variance that is added to its variance in each class.
NAIVE_SMOOTHING = 0.01
# Rows predicted at a time with many classes, to bound rows x classes.
CHUNK = 4096
# Parts of a file whose labels are compared.
TENTHS = 10
# Texts of a dataset up to which their counts are cached.
CACHED_TEXTS = 20_000


@dataclass(frozen=True, slots=True)
class Texts:
    """One split of a dataset: natural texts, as many in each row, and class numbers, [rows].

    ``directions`` are those of discourse relations, [rows]; empty for other tasks.
    """

    texts: Sequence[Sequence[str]]
    labels: Labels
    directions: Sequence[str] = ()


def trivial_baselines(
    train: Texts, test: Texts, classes: int, counts: Counts | None = None
) -> dict[str, Booleans]:
    """Fit the baselines that make sense for the number of texts in a row, and ask them.

    - ``majority``: the most frequent class of train.
    - ``length``: characters and words of each text, their differences and how uneven they are.
    - ``first_text``, with two texts or more: character n-grams and words of the first text only.
    - ``last_text``, with exactly two texts: the same for the last ("hypothesis only").
    - ``difference``, with exactly two texts: what the first has of character n-grams and word
      endings, less what the second has. Swapped texts get the opposite answer.
    - ``overlap``, with two texts or more: the share of words that texts have in common.
    - ``character_ngrams``: 1 to 4 characters, case kept, separately for each place of a text.
    - ``bag_of_words``: the words of all texts together, regardless of order and place.
    - ``word_endings``: the endings of words, and of neighbouring words such as a determiner and its
      noun, separately for each place of a text.
    - ``punctuation``: the marks, and the tenth of the text in which each stands.
    - ``direction``, of discourse relations: the most frequent class of the same direction.
    - ``connective``, of discourse relations: the first two words of each text, where most
      connectives stand.

    Args:
        train: the rows to fit on.
        test: the rows to predict.
        classes: number of classes.
        counts: those of one dataset, shared by its trials; {} before the first of them.

    Returns:
        Baseline to whether it is right, [rows of test], in the order above. It does not depend on
        the number of threads or ``PYTHONHASHSEED``. A class without rows in train is never
        predicted.
    """
    # Only loaded libraries can be limited to one thread.
    import sklearn.ensemble
    import sklearn.linear_model

    unchecked = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with limit_threads(1), unchecked:
        predicted = predictions(train, test, classes, {} if counts is None else counts)
        return {name: answers == test.labels for name, answers in predicted}


def trivial_similarities(texts: Sequence[Sequence[str]]) -> dict[str, Doubles]:
    """Measure how alike the two texts of pairs look; nothing is fitted.

    - ``overlap``: the Jaccard index of their words, in lower case.
    - ``length``: the ratio of the shorter to the longer, in characters.
    - ``character_ngrams``: the cosine of their n-grams of 1 to 4 characters, case kept, each
      weighed by 1 + log(count).
    - ``bag_of_words``: the same of their words, in lower case.

    Returns:
        Name to similarity, 0 … 1, float64 [pairs], in the order above.
    """
    words, ngrams = (
        [_vectorizers()[kind].transform(row[place] for row in texts) for place in (0, 1)]
        for kind in _COUNTED[:2]
    )
    sets = [matrix.sign() for matrix in words]
    common = _row_sums(sets[0].multiply(sets[1]))
    either = _row_sums(sets[0]) + _row_sums(sets[1]) - common
    sizes = np.array([[len(text) for text in row] for row in texts], np.float64)
    return {
        "overlap": common / np.maximum(1, either),
        "length": sizes.min(axis=1) / np.maximum(1, sizes.max(axis=1)),
        "character_ngrams": _cosines(*ngrams),
        "bag_of_words": _cosines(*words),
    }


def row_order(train_labels: Labels, test_labels: Labels, classes: int) -> dict[str, float]:
    """Return the accuracy on test of labels predicted from row numbers alone.

    By the most frequent class of train at the same ``parity`` of the row's number, at the same
    place of a ``cycle`` as long as there are classes, and at the same ``position``, in tenths.
    """
    scores = {}
    for name, cells in (("parity", 2), ("cycle", classes), ("position", TENTHS)):
        train_cells, test_cells = (
            np.arange(rows) * TENTHS // rows if name == "position" else np.arange(rows) % cells
            for rows in (len(train_labels), len(test_labels))
        )
        counts = np.zeros((cells, classes), np.int64)
        np.add.at(counts, (train_cells, train_labels), 1)
        # A cell without rows of train gets the most frequent class.
        counts[counts.sum(axis=1) == 0] = counts.sum(axis=0)
        scores[name] = float(np.mean(counts.argmax(axis=1)[test_cells] == test_labels))
    return scores


def predictions(
    train: Texts, test: Texts, classes: int, counts: Counts
) -> Iterator[tuple[str, Labels]]:
    """Yield each baseline's name and the class numbers that it predicts, int64 [rows of test]."""
    y, count = train.labels, len(train.texts[0])
    majority = np.bincount(y, minlength=classes).argmax()
    yield "majority", np.full(len(test.texts), majority)

    yield "length", _dense(_lengths(train), y, _lengths(test))

    words, ngrams, endings, marks = (_by_place(kind, train, test, counts) for kind in _COUNTED[:4])
    ngrams, endings = ([_tfidf(counts) for counts in group] for group in (ngrams, endings))
    if count > 1:
        yield "first_text", _linear(_side_by_side([ngrams[0], _tfidf(words[0])]), y)
    if count == 2:
        yield "last_text", _linear(_side_by_side([ngrams[1], _tfidf(words[1])]), y)
        yield "difference", _linear(_side_by_side([_less(*ngrams), _less(*endings)]), y)
    if count > 1:
        overlaps = _overlaps(words)
        yield "overlap", _dense(overlaps[0], y, overlaps[1])
    together = _side_by_side(ngrams)
    del ngrams  # half of the memory in use
    yield "character_ngrams", _linear(together, y)
    del together
    bag = (sum(counts[0] for counts in words), sum(counts[1] for counts in words))
    yield "bag_of_words", _linear(_tfidf(bag), y)
    yield "word_endings", _linear(_side_by_side(endings), y)
    yield "punctuation", _linear(_tfidf(_side_by_side(marks)), y)
    if train.directions:
        yield "direction", _by_direction(train, test, classes)
        openings = _by_place("openings", train, test, counts)
        yield "connective", _linear(_tfidf(_side_by_side(openings)), y)


def _by_direction(train: Texts, test: Texts, classes: int) -> Labels:
    """Return the most frequent class of each row's direction, or of all if train lacks it."""
    directions = np.array(train.directions)
    class_of = {
        direction: np.bincount(train.labels[directions == direction], minlength=classes).argmax()
        for direction in set(train.directions)
    }
    majority = np.bincount(train.labels, minlength=classes).argmax()
    return np.array([class_of.get(direction, majority) for direction in test.directions])


_COUNTED = ("words", "ngrams", "endings", "marks", "openings")


@cache
def _vectorizers() -> dict[str, Any]:
    """Return those of lower-cased words, n-grams, endings, punctuation and the first two words."""
    from sklearn.feature_extraction.text import HashingVectorizer

    shared: dict[str, Any] = {"alternate_sign": False, "norm": None, "dtype": np.float32}
    words = HashingVectorizer(token_pattern=WORD, n_features=WORD_BUCKETS, **shared)
    ngrams = HashingVectorizer(
        analyzer="char",
        ngram_range=(1, 4),
        # N-grams at the ends of a text differ from those within; the case is kept.
        preprocessor="\n{}\n".format,
        n_features=NGRAM_BUCKETS,
        **shared,
    )
    endings, marks = (
        HashingVectorizer(analyzer=analyzer, n_features=NGRAM_BUCKETS, **shared)
        for analyzer in (_endings, _marks)
    )
    openings = HashingVectorizer(analyzer=_opening, n_features=WORD_BUCKETS, **shared)
    return dict(zip(_COUNTED, (words, ngrams, endings, marks, openings), strict=True))


def _opening(text: str) -> list[str]:
    return re.findall(WORD, " ".join(re.findall(WORD, text)[:2]).lower())


def _endings(text: str) -> Iterator[str]:
    """Yield the last one to three characters of each word, and the last three of neighbours."""
    ends = [word[-3:] for word in re.findall(WORD, lower_case(text))]
    for end in ends:
        yield from (end, f"{end[-2:]}$", f"{end[-1:]}$")
    yield from map(" ".join, pairwise(["", *ends, ""]))


def _marks(text: str) -> Iterator[str]:
    """Yield the marks of punctuation, alone and with their places, and the first and last one."""
    marks = [(match[0], match.start()) for match in re.finditer(MARK, text)]
    for mark, start in marks:
        yield from (mark, f"{mark}{TENTHS * start // len(text)}")
    yield " ".join(mark for mark, _ in marks)


def _cosines(first: Sparse, second: Sparse) -> Doubles:
    """Return the cosine of each row of counts of one matrix with that of the other."""
    return _row_sums(_weigh(first).multiply(_weigh(second)))


def _lengths(part: Texts) -> Doubles:
    """Return a row's lengths, [rows, features]."""
    word = re.compile(WORD)
    sizes = [[(len(text), len(word.findall(text))) for text in row] for row in part.texts]
    logs = np.log1p(np.array(sizes, np.float64))
    logs = np.concatenate([logs, logs[:, :, :1] - logs[:, :, 1:]], axis=2)
    rows, count, _ = logs.shape
    blocks = [logs, logs[:, 1:] - logs[:, :1], logs[:, 2:] - logs[:, 1:-1]]
    if count > 2:
        blocks.append(logs.std(axis=1, keepdims=True))
    return np.concatenate([block.reshape(rows, -1) for block in blocks], axis=1)


def _by_place(kind: str, train: Texts, test: Texts, counts: Counts) -> list[TrainTestFeatures]:
    """Return the counts of a kind for the first, second … text of the rows."""
    places, parts = range(len(train.texts[0])), (train.texts, test.texts)
    is_cached = len(places) * sum(map(len, parts)) <= CACHED_TEXTS
    if is_cached:
        texts = {text for part in parts for row in part for text in row}
        rows, matrix = _counts_of(kind, texts, counts)

    def transform(texts: list[str]) -> Sparse:
        if is_cached:
            return matrix[[rows[text] for text in texts]]
        return _vectorizers()[kind].transform(texts)

    transformed = ([transform([row[place] for row in part]) for place in places] for part in parts)
    return list(zip(*transformed, strict=True))


def _counts_of(kind: str, texts: set[str], counts: Counts) -> tuple[dict[str, int], Sparse]:
    """Return at least these texts' counts of a kind, without empty buckets; ``counts`` has them."""
    from scipy.sparse import csr_array

    if kind not in counts or not counts[kind][0].keys() >= texts:
        rows = {text: row for row, text in enumerate(texts)}
        matrix = _vectorizers()[kind].transform(rows)
        filled, columns = np.unique(matrix.indices, return_inverse=True)
        parts = matrix.data, columns.astype(np.int32), matrix.indptr
        counts[kind] = rows, csr_array(parts, (len(rows), len(filled)))
    return counts[kind]


def _tfidf(counts: TrainTestFeatures) -> TrainTestFeatures:
    """Weigh counts by 1 + log(count) and the rarity in train; rows get length 1."""
    rarity = _rarity([counts[0]])
    return _weigh(counts[0], rarity), _weigh(counts[1], rarity)


def _rarity(counts: Sequence[Sparse]) -> Floats:
    """Return the smoothed inverse document frequency of each column in rows, float32."""
    n_rows = sum(matrix.shape[0] for matrix in counts)
    frequency = sum(np.bincount(m.indices, minlength=m.shape[1]) for m in counts)
    rarity: Floats = np.log(np.float32(n_rows + 1) / np.float32(frequency + 1)) + 1
    return rarity


def _weigh(counts: Sparse, rarity: Floats | None = None) -> Sparse:
    """Weigh counts by 1 + log(count), and by the columns' rarity; rows get length 1.

    To the bit as scikit-learn's TfidfTransformer does, whose checks take longer than its work.
    """
    from scipy.sparse import csr_array

    data = np.log(counts.data) + 1
    if rarity is not None:
        data *= rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    data = (data / np.sqrt(np.bincount(rows, data * data))[rows]).astype(np.float32)
    return csr_array((data, counts.indices, counts.indptr), counts.shape)


def _less(one: TrainTestFeatures, other: TrainTestFeatures) -> TrainTestFeatures:
    return one[0] - other[0], one[1] - other[1]


def _side_by_side(blocks: Sequence[TrainTestFeatures]) -> TrainTestFeatures:
    from scipy.sparse import hstack

    train, test = (hstack(of_part, format="csr") for of_part in zip(*blocks, strict=True))
    return train, test


def _overlaps(words: Sequence[TrainTestFeatures]) -> tuple[Doubles, Doubles]:
    """Return how much the words of a row's texts overlap, for train and test, [rows, features]."""
    rarity = _rarity([both[0] for both in words])
    train, test = (_overlaps_of_part([both[part] for both in words], rarity) for part in (0, 1))
    return train, test


def _overlaps_of_part(counts: Sequence[Sparse], rarity: Floats) -> Doubles:
    sets = [matrix.sign() for matrix in counts]
    sizes = [_row_sums(matrix) for matrix in sets]
    weighted = [_weigh(matrix, rarity) for matrix in counts]
    pairs = list(combinations(range(len(counts)), 2))
    values = np.zeros((3, len(pairs), counts[0].shape[0]))
    for number, (i, j) in enumerate(pairs):
        common = _row_sums(sets[i].multiply(sets[j]))
        values[0, number] = common / np.maximum(1, sizes[i] + sizes[j] - common)
        values[1, number] = common / np.maximum(1, np.minimum(sizes[i], sizes[j]))
        values[2, number] = _row_sums(weighted[i].multiply(weighted[j]))
    if len(counts) > 2:
        means = [
            values[:, [place in pair for pair in pairs]].mean(axis=1)
            for place in range(len(counts))
        ]
        values = np.concatenate([values, np.sort(np.stack(means, axis=1), axis=1)], axis=1)
    return values.reshape(-1, values.shape[2]).T


def _row_sums(matrix: Sparse) -> Doubles:
    sums: Doubles = np.asarray(matrix.sum(axis=1), np.float64).ravel()
    return sums


def _dense(train: Doubles, y: Labels, test: Doubles) -> Labels:
    """Fit boosted trees on a few features, [rows, features], and predict test."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.naive_bayes import GaussianNB

    classes = len(np.unique(y))
    varying = np.ptp(train, axis=0) > 0
    few = classes <= MANY_CLASSES and not _can_split(train)
    if classes == 1 or few or not varying.any():
        return np.full(len(test), np.bincount(y).argmax())
    mean, scale = train[:, varying].mean(axis=0), train[:, varying].std(axis=0)
    x, x_test = ((part[:, varying] - mean) / scale for part in (train, test))
    if classes > MANY_CLASSES:
        model = GaussianNB(var_smoothing=NAIVE_SMOOTHING)
    else:
        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0, **TREES)
    with warnings.catch_warnings():
        # Many classes of a few rows each are no mistake.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(x, y)
    parts = [model.predict(x_test[at : at + CHUNK]) for at in range(0, len(x_test), CHUNK)]
    return np.concatenate(parts)


def _can_split(features: Doubles) -> bool:
    """Return whether some threshold of a feature leaves enough rows on both sides for a tree."""
    if len(features) < 2 * MIN_LEAF:
        return False
    ordered = np.sort(features, axis=0)
    return bool((ordered[MIN_LEAF - 1] < ordered[-MIN_LEAF]).any())


def _linear(features: TrainTestFeatures, y: Labels) -> Labels:
    """Fit a linear model on tf-idf features and predict test."""
    from scipy.sparse import csr_array
    from sklearn.preprocessing import normalize

    predicted: Labels
    train, test = features
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        return np.full(test.shape[0], y[0])
    if len(classes) <= MANY_CLASSES:
        targets = np.where(numbers[:, None] == np.arange(len(classes)), 1, -1).astype(np.float32)
        binary = len(classes) == 2
        scores = _ridge(train, targets[:, binary:], test)
        predicted = classes[(scores.ravel() > 0).astype(int) if binary else scores.argmax(axis=1)]
        return predicted
    rows = np.arange(len(y))
    member = csr_array((np.ones(len(y), np.float32), (numbers, rows)), (len(classes), len(y)))
    means = normalize(member @ train).T
    parts = (test[at : at + CHUNK] @ means for at in range(0, test.shape[0], CHUNK))
    predicted = classes[np.concatenate([part.toarray().argmax(axis=1) for part in parts])]
    return predicted


def _ridge(train: Sparse, targets: Floats, test: Sparse) -> Floats:
    """Fit a ridge regression with a bias for each target [rows, targets] and predict test.

    To the bit as ``Ridge(RIDGE_ALPHA, solver="sparse_cg", tol=RIDGE_TOLERANCE)`` of scikit-learn
    does, whose checks take longer than its work: by conjugate gradients in a weight for each row,
    or for each feature where these are fewer.
    """
    transposed, ones = train.T, np.ones(len(targets), np.float32)
    sums = np.bincount(train.indices, train.data, minlength=train.shape[1])
    centre = (sums / len(targets)).astype(np.float32)
    middle = targets.mean(axis=0)

    def forward(weights: Floats) -> Floats:
        product: Floats = train @ weights - weights @ centre
        return product

    def back(residuals: Floats) -> Floats:
        product: Floats = transposed @ residuals - centre * (residuals @ ones)
        return product

    # Cached counts have no empty buckets, and far fewer rows than there were buckets.
    if len(targets) < max(train.shape[1], NGRAM_BUCKETS):
        found = [back(_solve(lambda p: forward(back(p)), y)) for y in (targets - middle).T]
    else:
        found = [_solve(lambda p: back(forward(p)), back(y)) for y in (targets - middle).T]
    weights = np.stack(found, axis=1)
    scores: Floats = test @ weights + (middle - centre @ weights)
    return scores


def _solve(times: Callable[[Floats], Floats], wanted: Floats) -> Floats:
    """Solve (A + RIDGE_ALPHA I) x = wanted by conjugate gradients, given the product with A."""
    found, rest, step = np.zeros_like(wanted), wanted.copy(), np.zeros_like(wanted)
    before: Any = 1
    limit = RIDGE_TOLERANCE * np.linalg.norm(wanted)
    for _ in range(10 * len(wanted)):
        if np.linalg.norm(rest) <= limit:
            break
        square = rest @ rest
        step = rest + square / before * step
        product = times(step) + RIDGE_ALPHA * step
        length = square / (step @ product)
        found += length * step
        rest -= length * product
        before = square
    return found
