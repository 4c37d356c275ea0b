"""Words without a probe: analogies, and the purity of clusters.

Of a : b = c : ?, the answer is the word x of a vocabulary, except a, b and c, with the highest
cos(x, b) - cos(x, a) + cos(x, c), 3CosAdd (Mikolov, Yih and Zweig 2013), or the highest cos(x, b)
cos(x, c) / (cos(x, a) + 0.001) of cosines moved to 0 … 1, 3CosMul (Levy and Goldberg 2014). The
vocabulary has the words of the dataset, in the order of their code points: it is the same for all
encoders, and depends on no other dataset. An encoder's own words, if it has any, are searched too.

Words of categories are clustered into as many clusters: purity is the share of words whose category
is the most frequent one in their cluster. The clustering is Ward's, of vectors of length 1. The
best of six is measured too: the answers themselves choose it, so that it is too high. What has no
vector is wrong and counted; of the six, it has the mean vector.
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from builders.statistics import name_clusters
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.text.tokens import lower_case
from evaluation.arrays import Doubles, Floats, Rows, Values
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import Fitting
from evaluation.embedding.store import read_vocabulary
from evaluation.encoders.encoder import Description
from evaluation.features import Lookup, ProbeRows, read_questions
from evaluation.measures import norms_of

BEST, UNKNOWN, OWN = "best of six", "out of vocabulary", "own words"
# In memory at a time: scores of so many words, for so many questions.
_BLOCK_WORDS, _BLOCK_QUESTIONS = 4096, 512
# Starts of k-means; the one whose centres are nearest counts. And the steps of each.
_N_STARTS, _N_STEPS = 10, 30

_METHODS: Mapping[str, Callable[[Doubles, Doubles, Doubles], Doubles]] = {
    "3CosAdd": lambda a, b, c: b - a + c,
    "3CosMul": lambda a, b, c: (b + 1) / 2 * (c + 1) / 2 / ((a + 1) / 2 + 0.001),
}


def solve_analogies(vectors: Floats, questions: Rows) -> dict[str, Rows]:
    """Return method to answers, rows of the vocabulary, int64 [questions]; -1 for lack of a vector.

    Args:
        vectors: of the vocabulary, float32 [words, dimension]; may be memory-mapped.
        questions: rows of a, b, c, int64 [questions, 3]; -1 of a word that it lacks.
    """
    norms = norms_of(vectors)
    directed = np.flatnonzero((questions >= 0).all(axis=1) & (norms[questions] > 0).all(axis=1))
    asked, index = np.unique(questions[directed], return_inverse=True)
    index = index.reshape(-1, 3)
    queries = vectors[asked].astype(np.float64) / norms[asked, None]
    answers = {name: np.full(len(questions), -1) for name in _METHODS}
    highest = {name: np.full(len(questions), -np.inf) for name in _METHODS}
    for first in range(0, len(vectors) if len(directed) else 0, _BLOCK_WORDS):
        lengths = norms[first : first + _BLOCK_WORDS]
        block = vectors[first : first + _BLOCK_WORDS].astype(np.float64)
        cosines = queries @ (block / np.where(lengths > 0, lengths, 1)[:, None]).T
        for start in range(0, len(directed), _BLOCK_QUESTIONS):
            rows = directed[start : start + _BLOCK_QUESTIONS]
            a, b, c = cosines[index[start : start + _BLOCK_QUESTIONS].T]
            excluded = questions[rows] - first
            row, column = np.nonzero((excluded >= 0) & (excluded < len(lengths)))
            for name, combine in _METHODS.items():
                scores = combine(a, b, c)
                scores[:, lengths == 0] = -np.inf
                scores[row, excluded[row, column]] = -np.inf
                best = scores.argmax(axis=1)
                values = scores[np.arange(len(rows)), best]
                better = values > highest[name][rows]
                highest[name][rows[better]] = values[better]
                answers[name][rows[better]] = first + best[better]
    return answers


def _score_analogies(
    dataset: Dataset,
    _rows: ProbeRows,
    lookup: Lookup,
    encoder: Description,
    store: Path,
    _seed: int,
) -> tuple[Values, dict[str, float]]:
    """Return the answers by 3CosAdd among the dataset's words, and the other measures."""
    words, questions = read_questions(dataset, encoder.form)
    measures: dict[str, float] = {}

    def answer(vectors: Floats, rows: Rows, where: str = "") -> Rows:
        asked = rows[questions]
        answers = solve_analogies(vectors, asked[:, :3])
        unknown = (asked < 0).any(axis=1) | (norms_of(vectors)[asked] == 0).any(axis=1)
        for name, found in answers.items():
            measures[name + where] = float(np.mean((found == asked[:, 3]) & ~unknown))
        measures[UNKNOWN + where] = float(unknown.mean())
        return np.where(unknown, -1, answers["3CosAdd"])

    predicted = answer(lookup(list(words.values())), np.arange(len(words)))
    del measures["3CosAdd"]
    if vocabulary := read_vocabulary(store, encoder):
        row_of = {word: row for row, word in enumerate(vocabulary.words)}
        rows = [row_of.get(word, row_of.get(lower_case(word), -1)) for word in words]
        vectors = Fitting(vocabulary.vectors).postprocess(encoder.postprocessing)
        answer(vectors, np.array(rows), f", {OWN}")
    return predicted, measures


def cluster_words(units: Doubles, n_clusters: int, starts: Rows) -> dict[str, Rows]:
    """Return clustering to the number of each word's cluster, int64 [words].

    Args:
        units: vectors of length 1, float64 [words, dimension].
        n_clusters: not more than words.
        starts: rows of the first centres of k-means, int64 [starts, clusters].
    """
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.cluster.vq import kmeans2
    from scipy.spatial.distance import squareform

    cosines = np.maximum(1 - squareform(units @ units.T, checks=False), 0)
    distances = np.sqrt(2 * cosines)
    linked = {
        "ward": linkage(distances, "ward"),
        "average, distances": linkage(distances, "average"),
        "average, cosines": linkage(cosines, "average"),
        "complete": linkage(cosines, "complete"),  # distances have the same order: the sixth
    }
    clusters = {name: cut_tree(tree, n_clusters)[:, 0] for name, tree in linked.items()}
    with warnings.catch_warnings(action="ignore"):  # of clusters that lose their last word
        runs = [kmeans2(units, units[start], _N_STEPS, minit="matrix") for start in starts]
    _, nearest = min(runs, key=lambda run: float(np.square(units - run[0][run[1]]).sum()))
    return clusters | {"k-means": nearest}


def _score_categories(
    dataset: Dataset,
    rows: ProbeRows,
    lookup: Lookup,
    _encoder: Description,
    _store: Path,
    seed: int,
) -> tuple[Values, dict[str, float]]:
    """Return the categories that Ward's clusters have, and the other measures."""
    vectors = rows.features(lookup).astype(np.float64)
    lengths, n_clusters = norms_of(vectors), len(np.unique(rows.y))
    directed = lengths > 0
    units = vectors / np.where(directed, lengths, 1)[:, None]
    mean = units.sum(axis=0) if directed.any() else np.ones(units.shape[1])
    units[~directed] = mean / np.linalg.norm(mean)

    def first_centres(start: int) -> list[int]:
        keys = [keyed_hash(seed, dataset.name, id_, f"k-means {start}") for id_ in rows.ids]
        return sorted(range(len(keys)), key=keys.__getitem__)[:n_clusters]

    starts = np.array([first_centres(start) for start in range(_N_STARTS)])
    clusterings = cluster_words(units, n_clusters, starts)
    answers = {name: name_clusters(clusters, rows.y) for name, clusters in clusterings.items()}
    best = max(float(np.mean(each == rows.y)) for each in answers.values())
    return np.where(directed, answers["ward"], -1), {BEST: best, UNKNOWN: float(np.mean(~directed))}


WORD_TASKS: Mapping[str, Callable[..., tuple[Values, dict[str, float]]]] = {
    "analogies": _score_analogies,
    "categories": _score_categories,
}
"""Task to what returns its predictions, [rows], and its measures besides their accuracy."""
