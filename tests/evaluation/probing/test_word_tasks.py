"""Analogies and purity of clusters, against plain scripts of their own."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_files import row, write_dataset
from paradigm_files import static
from sklearn.cluster import AgglomerativeClustering

from builders.statistics import name_clusters
from corpora_recipes.records import TWO_DOCUMENTS
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.embedding.store import write_vocabulary
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Encoder
from evaluation.features import read_questions
from evaluation.measures import leave_out, one_thread, score_interval
from evaluation.probing import words
from evaluation.probing.controls import without_controls
from evaluation.probing.probing import Probing, probe_datasets
from evaluation.probing.words import cluster_words, solve_analogies
from evaluation.results.scores import parse_predictions, write_results
from probeta.scoring import score
from probeta.verifying import Verification, verify_probes

N_WORDS, DIMENSION, N_CLASSES = 2000, 30, 12


@pytest.fixture(scope="module")
def vectors() -> Any:
    """Return vectors of 2,000 words in pairs of relations and in classes, some of them of zeros."""
    random = np.random.default_rng(1)
    stems = random.normal(size=(N_WORDS // 2, DIMENSION))
    stems += 1.2 * random.normal(size=(N_CLASSES, DIMENSION))[np.arange(len(stems)) % N_CLASSES]
    relation = 1.5 * random.normal(size=DIMENSION)
    others = stems + relation + 0.9 * random.normal(size=stems.shape)
    made = np.concatenate([stems, others]).astype(np.float32)
    made[[7, 1500]] = 0
    return made


def questions() -> Any:
    random = np.random.default_rng(2)
    half = N_WORDS // 2
    first, second = random.integers(0, half, size=(2, 1500))
    asked = np.stack([first, first + half, second, second + half], axis=1)[first != second]
    asked[:3, 0] = 7  # without a vector
    asked[3:5, 1] = -1  # not in the vocabulary
    return asked


def plain_answers(vectors: Any, asked: Any) -> dict[str, list[int]]:
    """Return the answers of each question by loops over words."""
    lengths = [float(np.sqrt(sum(float(x) ** 2 for x in vector))) for vector in vectors]
    units = np.array([v / (n or 1) for v, n in zip(vectors.astype(float), lengths, strict=True)])
    found: dict[str, list[int]] = {"3CosAdd": [], "3CosMul": []}
    for a, b, c in asked.tolist():
        if min(a, b, c) < 0 or not (lengths[a] and lengths[b] and lengths[c]):
            for answers in found.values():
                answers.append(-1)
            continue
        to_a, to_b, to_c = (units @ units[word] for word in (a, b, c))
        moved = [(to + 1) / 2 for to in (to_a, to_b, to_c)]
        scores = {"3CosAdd": units @ (units[b] - units[a] + units[c])}
        scores["3CosMul"] = moved[1] * moved[2] / (moved[0] + 0.001)
        for name, of_words in scores.items():
            candidates = [w for w in range(len(units)) if w not in (a, b, c) and lengths[w]]
            found[name].append(max(candidates, key=of_words.__getitem__))
    return found


def test_analogies_are_those_of_a_plain_script(vectors: Any, monkeypatch: Any) -> None:
    asked = questions()
    expected = plain_answers(vectors, asked[:, :3])
    with one_thread():
        found = solve_analogies(vectors, asked[:, :3])
        assert {name: answers.tolist() for name, answers in found.items()} == expected
        # Some are right, some wrong; none is a word of its question.
        assert 0.2 < np.mean(found["3CosAdd"] == asked[:, 3]) < 0.95
        assert (found["3CosAdd"][:5] == -1).all()
        monkeypatch.setattr(words, "_BLOCK_WORDS", 77)
        monkeypatch.setattr(words, "_BLOCK_QUESTIONS", 13)
        assert solve_analogies(vectors, asked[:, :3])["3CosMul"].tolist() == expected["3CosMul"]
        assert solve_analogies(vectors, np.full((2, 3), -1))["3CosAdd"].tolist() == [-1, -1]


def purity(clusters: Any, classes: Any) -> float:
    counts = [Counter(classes[clusters == cluster]) for cluster in np.unique(clusters)]
    return sum(max(count.values()) for count in counts) / len(classes)


def plain_k_means(units: Any, start: Sequence[int]) -> tuple[float, Any]:
    centres = units[list(start)]
    for _ in range(30):
        distances = np.linalg.norm(units[:, None] - centres, axis=2)
        nearest = distances.argmin(axis=1)
        centres = np.array([units[nearest == n].mean(axis=0) for n, centre in enumerate(centres)])
    return float(np.square(units - centres[nearest]).sum()), nearest


def test_purity_is_that_of_a_plain_script(vectors: Any) -> None:
    made = vectors[vectors.any(axis=1)].astype(float)
    classes = (np.flatnonzero(vectors.any(axis=1)) % (N_WORDS // 2)) % N_CLASSES
    units = made / np.linalg.norm(made, axis=1, keepdims=True)
    random = np.random.default_rng(3)
    starts = np.stack([random.permutation(len(units))[:N_CLASSES] for _ in range(3)])
    with one_thread():
        found = cluster_words(units, N_CLASSES, starts)

    def plain(metric: str, linkage: str) -> float:
        clustering = AgglomerativeClustering(N_CLASSES, metric=metric, linkage=linkage)
        return purity(clustering.fit_predict(units), classes)

    expected = {"ward": plain("euclidean", "ward"), "complete": plain("cosine", "complete")}
    expected["average, distances"] = plain("euclidean", "average")
    expected["average, cosines"] = plain("cosine", "average")
    # Distances of vectors of length 1 have the order of their cosines.
    assert plain("euclidean", "complete") == pytest.approx(expected["complete"])
    runs = [plain_k_means(units, start) for start in starts]
    expected["k-means"] = purity(min(runs, key=lambda run: run[0])[1], classes)
    for name, clusters in found.items():
        assert len(np.unique(clusters)) == N_CLASSES
        right = name_clusters(clusters, classes) == classes
        assert right.mean() == pytest.approx(expected[name], abs=1e-9)
    assert len({*expected.values()}) >= 4
    assert min(expected.values()) < 0.9


PAIRS = [("perro", "perros"), ("gato", "gatos"), ("Pez", "peces"), ("sol", "soles")]
VECTORS = {
    **{word: [1, n + 1, 0.2, 0.1 * n] for n, (word, _) in enumerate(PAIRS)},
    **{word: [1, n + 1, 2.2, 0.1 * n] for n, (_, word) in enumerate(PAIRS)},
    "pez": [1, 3, 0.2, 0.25],
    "soles.": [1, 4, 2.2, 0.3],
    "perros.": [9, -1, 0.2, 3],
}


@pytest.fixture
def datasets(tmp_path: Path) -> list[Dataset]:
    """Return analogies of four pairs, and words of two categories, of which one is not known."""
    asked = [
        row(
            n,
            None,
            document=TWO_DOCUMENTS.join((f"plural/{a}:{b}", f"plural/{c}:{d}")),
            **{f"word{place}": word for place, word in enumerate((a, b, c, d), 1)},
        )
        for n, ((a, b), (c, d)) in enumerate(permutations(PAIRS, 2))
    ]
    for each in asked:
        each |= {f"tokens{n}": each[f"word{n}"] for n in range(1, 5)}
    write_dataset(tmp_path / "hub/c/plurals", "analogies", {"test": asked})
    of_words = [row(n, n % 2, word=word) for n, pair in enumerate(PAIRS) for word in pair]
    of_words = [each | {"id": f"w{n}", "tokens": each["word"]} for n, each in enumerate(of_words)]
    of_words[-1] |= {"word": "zzz", "tokens": "zzz"}
    labels = ["even", "odd"]
    write_dataset(tmp_path / "hub/c/kinds", "categories", {"test": of_words}, labels=labels)
    return find_datasets(tmp_path / "hub")


def probe(encoder: Encoder, datasets: list[Dataset], folder: Path, **options: Any) -> Any:
    embed_datasets(folder, encoder, datasets)
    write_vocabulary(folder, encoder)
    probing = Probing(**options)
    return probe_datasets("mine", encoder, datasets, folder, seed=7, probing=probing)[:2]


def test_words_of_an_encoder_with_a_vocabulary(datasets: list[Dataset], tmp_path: Path) -> None:
    encoder = static(tmp_path / "words.txt", VECTORS)
    results, tables = probe(encoder, datasets, tmp_path / "store")
    kinds, plurals = results.scores
    of_set, numbers = read_questions(datasets[1], "natural")
    assert list(of_set) == sorted(word for pair in PAIRS for word in pair)
    table = np.array([VECTORS[word] for word in of_set], np.float32)
    expected = np.array(plain_answers(table, numbers[:, :3])["3CosAdd"])
    predictions = parse_predictions(tables[1], tmp_path)
    assert predictions.predicted[0].tolist() == expected.tolist()
    assert predictions.gold.tolist() == numbers[:, 3].tolist()
    assert plurals.value == np.mean(expected == numbers[:, 3]) == plurals.measures["accuracy"]
    # Among all words of the file there are others that are nearer.
    every = list(VECTORS)
    asked = np.array([[every.index(word) for word in of_set][n] for n in numbers.ravel()])
    asked = asked.reshape(numbers.shape)
    own = plain_answers(np.array([*VECTORS.values()], np.float32), asked[:, :3])
    for name, answers in own.items():
        assert plurals.measures[f"{name}, own words"] == np.mean(answers == asked[:, 3])
    assert plurals.measures["out of vocabulary, own words"] == 0
    assert plurals.test_documents == 4
    assert (kinds.measures["out of vocabulary"], kinds.rows) == (1 / 8, {"test": 8})
    assert kinds.value <= 7 / 8
    assert parse_predictions(tables[0], tmp_path).predicted[0][-1] == -1
    assert kinds.measures["best of six"] >= 0.5
    assert kinds.majority == 0.5


@pytest.mark.usefixtures("empty_folder")
def test_a_score_has_the_measures_of_the_stages(datasets: list[Dataset]) -> None:
    results, _ = probe(static(Path("words.txt"), VECTORS), datasets[1:], Path("store"))
    scores = score("words.txt", data="hub", datasets="plurals", cache="cache")
    assert "3CosAdd, own words" in results.scores[0].measures
    assert [each.measures for each in scores.results.scores] == [results.scores[0].measures]


def test_words_that_a_vocabulary_lacks_are_counted(datasets: list[Dataset], tmp_path: Path) -> None:
    """The file has Pez in lower case only, and no soles and gatos."""
    lacking = ("Pez", "soles", "soles.", "gatos")
    known = {word: v for word, v in VECTORS.items() if word not in lacking}
    results, _ = probe(static(tmp_path / "words.txt", known), datasets[1:], tmp_path / "store")
    (score,) = results.scores
    # Of 12 questions, 2 have neither pair. No answer is not right where the word is not there.
    for where in ("", ", own words"):
        assert score.measures[f"out of vocabulary{where}"] == 10 / 12
    assert max(score.value, score.measures["3CosAdd, own words"]) <= 2 / 12


def test_results_are_verified_and_do_not_depend_on_the_store(
    datasets: list[Dataset], tmp_path: Path
) -> None:
    encoder = make_encoder("char_hash", {"dimension": 64})
    results, tables = probe(encoder, datasets, tmp_path / "store", controls=True)
    assert all(each.controls == without_controls("nothing is trained") for each in results.scores)
    again, _ = probe(encoder, datasets[::-1], tmp_path / "other", controls=True)
    assert again.scores == results.scores
    assert not any("own" in name for name in results.scores[1].measures)
    write_results(results, tables, tmp_path / "out")
    named = {dataset.name: dataset for dataset in datasets}
    verification = Verification(results, tmp_path / "out", named, [*named])
    verify_probes(verification, results, tmp_path / "out")
    assert (verification.differences, verification.recomputed) == ([], 2)


def two_pairs(n: int) -> Any:
    return np.array([TWO_DOCUMENTS.join((f"p{a}", f"p{b}")) for a, b in permutations(range(n), 2)])


def test_a_question_is_left_out_with_either_of_its_pairs() -> None:
    documents = two_pairs(6)
    random = np.random.default_rng(4)
    right = random.integers(0, 2, len(documents)).astype(float)
    gold = np.ones(len(documents))
    (replicates,) = leave_out("accuracy", gold, right[None], documents)
    both = [document.split(TWO_DOCUMENTS) for document in documents]
    expected = [
        np.mean([r for r, pairs in zip(right, both, strict=True) if f"p{n}" not in pairs])
        for n in range(6)
    ]
    assert replicates == pytest.approx(expected)


def test_intervals_of_analogies_cover_the_accuracy_of_other_pairs() -> None:
    """Both pairs of a question decide it; the interval of the asked pairs alone is too narrow."""
    n_pairs, n_runs, covered, n_narrow = 24, 200, 0, 0
    first, asked = np.array([*permutations(range(n_pairs), 2)]).T
    documents = two_pairs(n_pairs)
    random = np.random.default_rng(5)
    # Of pairs without end, which have the same distribution.
    ease = random.normal(size=(2, 4000))
    truth = float(np.mean(ease[0] + ease[1] + random.normal(size=4000) > 0))
    for _ in range(n_runs):
        known = random.normal(size=n_pairs)
        noise = random.normal(size=(n_pairs, n_pairs))
        right = known[first] + known[asked] + noise[first, asked] > 0
        value, gold = float(right.mean()), np.ones(len(right))
        for of, wide in ((documents, True), (asked, False)):
            (replicates,) = leave_out("accuracy", gold, 1.0 * right[None], of)
            low, high = score_interval("accuracy", value, replicates, of)
            covered += wide and low <= truth <= high
            n_narrow += not wide and low <= truth <= high
    assert covered / n_runs > 0.9 > n_narrow / n_runs
