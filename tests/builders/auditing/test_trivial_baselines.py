"""Trivial baselines: planted cues are found, by the baselines that can see them and by no other."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from case_tables import read_tables
from contents import another_hash_seed
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from builders.auditing import trivial_baselines as trivial_module
from builders.auditing.gates.words import _same_change
from builders.auditing.trivial_baselines import (
    MANY_CLASSES,
    RIDGE_ALPHA,
    RIDGE_TOLERANCE,
    TREES,
    Texts,
    _can_split,
    _ridge,
    _tfidf,
    row_order,
    trivial_baselines,
    trivial_similarities,
)
from builders.statistics import name_clusters, pearson, standard_error

TABLES = read_tables(__file__)

pytestmark = pytest.mark.filterwarnings("error")

Generator = np.random.Generator
Plant = Callable[[Generator, int], list[str]]
WORDS = [f"{first}{second}" for first in "bcdfglmnprst" for second in ("ala", "ero", "ino", "usa")]
TRAIN, TEST = 500, 300


def accuracies(train: Texts, test: Texts, classes: int) -> dict[str, float]:
    found = trivial_baselines(train, test, classes)
    return {name: float(right.mean()) for name, right in found.items()}


def correlations(texts: list[list[str]], scores: np.ndarray) -> dict[str, float]:
    return {name: pearson(alike, scores) for name, alike in trivial_similarities(texts).items()}


def sentence(generator: Generator, words: int = 9, of: Sequence[str] = WORDS) -> str:
    return " ".join(generator.choice(of, size=words))


def part(plant: Plant, rows: int, classes: int, seed: int) -> Texts:
    """Return rows of random labels and the texts that ``plant`` makes for them."""
    generator = np.random.Generator(np.random.PCG64(seed))
    labels = generator.integers(classes, size=rows)
    return Texts([plant(generator, int(label)) for label in labels], labels)


def scores(plant: Plant, classes: int = 2, train: int = TRAIN) -> dict[str, float]:
    parts = part(plant, train, classes, 1), part(plant, TEST, classes, 2)
    return accuracies(*parts, classes)


def check(found: dict[str, float], telling: set[str], classes: int = 2, least: float = 0.9) -> None:
    """Fail unless exactly these baselines score well, the others within 3 errors of chance."""
    chance = 1 / classes
    for name, accuracy in found.items():
        if name in telling:
            assert accuracy >= least, name
        else:
            assert abs(accuracy - chance) <= 3 * standard_error(chance, TEST), (name, accuracy)


TEXT = ["character_ngrams", "bag_of_words", "word_endings", "punctuation"]


@pytest.mark.parametrize(
    ("texts", "classes", "names"),
    [
        (1, 2, ["majority", "length", *TEXT]),
        (2, 3, ["majority", "length", "first_text", "last_text", "difference", "overlap", *TEXT]),
        (5, 5, ["majority", "length", "first_text", "overlap", *TEXT]),
    ],
)
def test_without_a_cue_every_baseline_is_at_chance(texts, classes, names) -> None:
    found = scores(lambda g, _: [sentence(g) for _ in range(texts)], classes)
    assert list(found) == names
    check(found, set(), classes)


@pytest.mark.parametrize("cue", ["direction", "connective"])
def test_relations_are_told_by_their_direction_or_first_words(cue: str) -> None:
    def plant(g: Generator, label: int) -> list[str]:
        first = ["porque", "aunque"][label] if cue == "connective" else "porque"
        return [sentence(g), f"{first} {sentence(g)} {'porque' if label else 'aunque'} fin"]

    found = []
    for seed, rows in ((1, TRAIN), (2, TEST)):
        texts = part(plant, rows, 2, seed)
        told = texts.labels if cue == "direction" else texts.labels * 0
        found.append(replace(texts, directions=[("1>2", "1<2")[label] for label in told]))
    reached = accuracies(*found, 2)
    assert reached[cue] == 1
    assert min(reached["direction"], reached["connective"]) < 0.6
    # A direction that train lacks gets the most frequent class.
    odd = replace(found[1], directions=["2>1"] * TEST)
    assert accuracies(found[0], odd, 2)["direction"] == reached["majority"]


@pytest.mark.parametrize("texts", [1, 2, 5])
@pytest.mark.parametrize("longer", [True, False])
def test_a_longer_or_more_uneven_class_is_found_by_length(texts: int, longer: bool) -> None:
    def plant(g: Generator, label: int) -> list[str]:
        if longer:
            lengths = [int(g.integers(6, 10))] * texts
            lengths[-1] += 5 * label
        else:
            # The logarithms of 6 and 24 have that of 12 as their mean: neither class is longer.
            lengths = [12] * texts
            lengths[int(g.integers(texts))] = int(g.choice([6, 24])) if label else 12
        # Words of many lengths: else characters and words would differ by a curve of the length.
        return [sentence(g, length, of=[*WORDS, "a", "y", "entretanto"]) for length in lengths]

    assert scores(plant)["length"] > 0.9


def other_words(g: Generator, label: int) -> list[str]:
    """As long in both classes."""
    return [sentence(g, of=[word for word in WORDS if (word[0] in "mnprst") == label])]


def first_of_two(g: Generator, label: int) -> list[str]:
    return [f"{sentence(g)} {('nadie', 'nunca')[label]} {sentence(g, 3)}", sentence(g)]


def last_of_two(g: Generator, label: int) -> list[str]:
    return first_of_two(g, label)[::-1]


def first_of_five(g: Generator, label: int) -> list[str]:
    return [("Son ", "Fue ")[label] + sentence(g), *(sentence(g) for _ in range(4))]


def order(g: Generator, label: int) -> list[str]:
    """It is in the places of texts, and not in the bag."""
    texts = ["Primero " + sentence(g), "Después " + sentence(g)]
    return texts[::-1] if label else texts


def case(g: Generator, label: int) -> list[str]:
    """It is in the n-grams, and not in the bag."""
    return [sentence(g).capitalize() if label else sentence(g)]


def agreement(g: Generator, label: int) -> list[str]:
    """The ending of a noun with the word before it; each is in both classes, at one place."""
    nouns = g.choice(WORDS, 2)
    one, two = [f"{nouns[0]}s", nouns[1]][:: 1 if label else -1]
    return [f"{sentence(g, 3)} los {one} {sentence(g, 2)} el {two} {sentence(g, 2)}"]


def early_or_late(g: Generator, label: int) -> list[str]:
    """Two marks in each class; only the places differ."""
    words = list(g.choice(WORDS, size=9))
    words[6 - 5 * label] += ";"
    words[1 + 5 * label] += ","
    return [" ".join(words)]


def repeated(g: Generator, label: int) -> list[str]:
    words = g.permutation(WORDS)
    last = words[0] if label else words[20]
    return [" ".join(words[:9]), " ".join([*words[9:17], last])]


def foreign(g: Generator, label: int) -> list[str]:
    """One of the texts within is about something else."""
    topic, other = np.split(g.permutation(WORDS), 2)
    texts = [sentence(g, 6, of=topic) for _ in range(6)]
    if label:
        texts[int(g.integers(1, 5))] = sentence(g, 6, of=other)
    return texts


@pytest.mark.parametrize("plant", [repeated, foreign])
def test_what_texts_share_is_found_by_overlap_wherever_it_stands(plant: Plant) -> None:
    # From the pairs alone, without the order of the texts' means, 100 rows teach 82 %.
    found = scores(plant, train=TRAIN if plant is repeated else 100)
    check({name: found[name] for name in ("overlap", "length", "first_text")}, {"overlap"})


PLACED = {"character_ngrams", "bag_of_words", "word_endings"}


@pytest.mark.parametrize(
    ("plant", "telling"),
    [
        (other_words, {"character_ngrams", "bag_of_words"}),
        (first_of_two, PLACED | {"first_text", "difference"}),
        (last_of_two, PLACED | {"last_text", "difference"}),
        (first_of_five, PLACED | {"first_text"}),
        (order, {"first_text", "last_text", "difference", "character_ngrams", "word_endings"}),
        (case, {"character_ngrams"}),
        (agreement, {"word_endings"}),
        (early_or_late, {"punctuation"}),
    ],
)
def test_a_cue_is_found_by_those_that_see_it(plant: Plant, telling: set[str]) -> None:
    check(scores(plant), telling)


@pytest.mark.parametrize(("width", "filled"), [(1000, 20), (1000, 300), (1000, 900), (20, 20)])
def test_ridge_predicts_as_that_of_scikit_learn(
    width: int, filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With weights of rows, also without the buckets that no text has, or of fewer features."""
    monkeypatch.setattr(trivial_module, "NGRAM_BUCKETS", width)
    generator = np.random.default_rng(7)
    train, test = (generator.random((60, width), np.float32) for _ in range(2))
    buckets = np.sort(generator.permutation(width)[:filled])
    for part in (train, test):
        part[:, np.delete(np.arange(width), buckets)] = 0
    targets = generator.choice(np.array([-1, 1], np.float32), (60, 3))
    model = Ridge(alpha=RIDGE_ALPHA, solver="sparse_cg", tol=RIDGE_TOLERANCE)
    expected = model.fit(csr_array(train), targets).predict(csr_array(test))
    found = _ridge(csr_array(train[:, buckets]), targets, csr_array(test[:, buckets]))
    assert_allclose(found, expected, atol=1e-5)


def test_counts_are_weighed_as_by_scikit_learn() -> None:
    generator = np.random.default_rng(8)
    train, test = (csr_array(generator.poisson(0.3, (40, 90)).astype(np.float32)) for _ in "12")
    expected = TfidfTransformer(sublinear_tf=True).fit(train)
    for weighed, counts in zip(_tfidf((train, test)), (train, test), strict=True):
        assert (weighed != expected.transform(counts)).nnz == 0


def test_trees_that_cannot_split_predict_the_majority() -> None:
    """So that they need not be grown; where a threshold leaves enough rows, they may."""
    generator = np.random.Generator(np.random.PCG64(3))
    split = set()
    for rows in range(30, 60, 3):
        x = generator.integers(rows // 12, size=(rows, 2)).astype(float)
        x[: rows // 2, 0] = rows % 2
        y = np.arange(rows) % 2 + (generator.integers(5, size=rows) == 0)
        # Of few rows, threads would wait for each other.
        with threadpool_limits(1):
            grown = HistGradientBoostingClassifier(early_stopping=False, **TREES).fit(x, y)
            same = set(grown.predict(x)) == {np.bincount(y).argmax()}
        assert same or _can_split(x)
        split.add(_can_split(x))
    assert split == {False, True}


def test_counts_that_are_cached_are_those_of_the_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In folds too, where a text of one trial's train is in the next one's test."""
    whole = part(lambda g, label: [f"{sentence(g)}{'!' * label}", sentence(g)], 80, 2, 5)
    halves = Texts(whole.texts[:40], whole.labels[:40]), Texts(whole.texts[40:], whole.labels[40:])
    found = []
    for cached in (0, trivial_module.CACHED_TEXTS):
        monkeypatch.setattr(trivial_module, "CACHED_TEXTS", cached)
        found.append([trivial_baselines(*trial, 2) for trial in (halves, halves[::-1])])
    for uncached, of_cache in zip(*found, strict=True):
        assert uncached.keys() == of_cache.keys()
        assert all((uncached[name] == of_cache[name]).all() for name in uncached)


def test_many_classes_are_told_by_their_word() -> None:
    classes = MANY_CLASSES + 10
    words = [f"{word}x" for word in WORDS] + [f"{word}z" for word in WORDS]

    def plant(g: Generator, label: int) -> list[str]:
        return [f"{sentence(g, 4)} {words[label]} {sentence(g, 4)}"]

    found = scores(plant, classes, train=20 * classes)
    assert found["bag_of_words"] > 0.95
    # The classes' words share most n-grams with other words and have the same length.
    assert found["character_ngrams"] > 0.3
    assert found["length"] < 0.1


def test_many_classes_of_few_rows_give_no_warning() -> None:
    def plant(g: Generator, label: int) -> list[str]:
        return [sentence(g, 4 + int(g.integers(9)))]

    scores(plant, MANY_CLASSES - 10, train=MANY_CLASSES)


def small(texts: int, rows: int, classes: int) -> Texts:
    return part(lambda g, _: [sentence(g, 4) for _ in range(texts)], rows, classes, 3)


@pytest.mark.parametrize(("texts", "blank"), [(1, ""), (2, "   "), (6, "…"), (2, "casa")])
def test_ten_rows_that_are_all_alike(texts: int, blank: str) -> None:
    train = Texts([[blank] * texts] * 10, np.array([0, 1, 1, 1, 0] * 2))
    test = Texts([[blank] * texts] * 4, np.array([1, 1, 1, 0]))
    assert set(accuracies(train, test, 2).values()) == {0.75}


@pytest.mark.parametrize("texts", [1, 2, 6])
def test_one_class_in_train(texts: int) -> None:
    train = Texts(small(texts, 10, 3).texts, np.full(10, 1))
    test = Texts(small(texts, 4, 3).texts, np.array([1, 0, 2, 1]))
    assert set(accuracies(train, test, 3).values()) == {0.5}


@pytest.mark.parametrize("classes", [3, MANY_CLASSES + 5])
def test_a_class_that_train_lacks_is_never_predicted(classes: int) -> None:
    train = small(2, 4 * classes, classes)
    present = np.where(train.labels == 1, 0, train.labels)
    test = Texts(small(2, 20, classes).texts, np.full(20, 1))
    assert set(accuracies(Texts(train.texts, present), test, classes).values()) == {0.0}


@settings(max_examples=15)
@given(
    rows=st.lists(
        st.tuples(st.text(max_size=12), st.text(max_size=12), st.integers(0, 2)),
        min_size=1,
        max_size=12,
    )
)
def test_any_text_gives_accuracies(rows: list[tuple[str, str, int]]) -> None:
    data = Texts([row[:2] for row in rows], np.array([row[2] for row in rows]))
    found = accuracies(data, data, 3)
    assert len(found) == 10
    assert all(0 <= accuracy <= 1 for accuracy in found.values())


def reference() -> dict[str, float]:
    """Return scores of rows with a faint cue, where little things would change a prediction."""

    def plant(g: Generator, label: int) -> list[str]:
        return [sentence(g, int(g.integers(7, 10)) + label * (at == 1)) for at in range(3)]

    return scores(plant, 3)


@pytest.mark.slow
def test_scores_depend_neither_on_threads_nor_on_the_hash_seed() -> None:
    with threadpool_limits(2):
        expected = reference()
    assert reference() == expected
    code = "import json, test_trivial_baselines as tests; print(json.dumps(tests.reference()))"
    environment = {**os.environ, "PYTHONHASHSEED": another_hash_seed(), "OMP_NUM_THREADS": "2"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert json.loads(run.stdout) == expected


@pytest.mark.parametrize(
    ("train", "test", "classes", "accuracies"),
    [
        (np.arange(1000) % 2, np.arange(401) % 2, 2, (1, 1, 0.5 + 0.5 / 401)),
        (np.arange(1000) % 5, np.arange(400) % 5, 5, (0.2, 1, 0.2)),
        (np.repeat([0, 1], 500), np.repeat([0, 1], 200), 2, (0.5, 0.5, 1)),
    ],
)
def test_labels_that_the_order_tells(train, test, classes: int, accuracies) -> None:
    """Alternating ones, in turn, sorted."""
    expected = dict(zip(("parity", "cycle", "position"), accuracies, strict=True))
    assert row_order(train, test, classes) == expected


def test_row_order_learns_from_train_and_a_place_that_train_lacks_gets_the_majority() -> None:
    # Train has the tenths 0, 3 and 6 only; even rows say 1, odd ones 0.
    found = row_order(np.array([1, 0, 1]), np.array([1, 1, 0, 0]), 2)
    # Tenths 0, 2, 5, 7 of test: 1 by train's tenth 0, and 1 by majority for the others.
    assert found == {"parity": 0.5, "cycle": 0.5, "position": 0.5}
    assert row_order(np.array([1]), np.array([1, 0]), 3) == dict.fromkeys(found, 0.5)


@pytest.mark.parametrize(("name", "texts"), TABLES["alike"])
def test_what_is_alike_on_the_surface_correlates(name: str, texts: list[list[str]]) -> None:
    found = correlations(texts, np.arange(len(texts), dtype=np.float64))
    assert list(found) == ["overlap", "length", "character_ngrams", "bag_of_words"]
    assert found[name] > 0.9
    backwards = correlations(texts, -np.arange(len(texts), dtype=np.float64))
    assert backwards == pytest.approx({key: -value for key, value in found.items()})


def test_exact_similarities() -> None:
    found = trivial_similarities([["a b", "a c"], ["", "…"]])
    assert found["overlap"].tolist() == pytest.approx([1 / 3, 0])
    assert found["length"].tolist() == [1, 0]


def test_swapped_texts_get_the_opposite_answer_by_their_difference() -> None:
    train = part(order, TRAIN, 2, 1)
    test = Texts([["Primero ala", "Después ero"], ["Después ero", "Primero ala"]], np.array([0, 0]))
    assert list(trivial_baselines(train, test, 2)["difference"]) == [True, False]


def test_the_change_of_ending_answers_analogies() -> None:
    rows = [
        ["oar", "oars", "mast", "masts"],
        ["city", "cities", "party", "parties"],
        ["city", "cities", "mast", "masts"],  # c lacks the ending
        ["good", "better", "bad", "worse"],
        ["Athens", "Greece", "Paris", "France"],
    ]
    assert _same_change(rows).tolist() == [1, 1, 0, 0, 0]


def test_the_answer_of_a_cluster_is_its_most_frequent_class() -> None:
    named = name_clusters(np.array([2, 2, 2, 0, 0]), np.array([7, 7, 3, 3, 5]))
    assert named.tolist() == [7, 7, 7, 3, 3]
