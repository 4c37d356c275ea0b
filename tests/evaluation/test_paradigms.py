"""ParaLex: neighbours, suggestion and coherence, scores of whole datasets."""

import shutil
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from paradigm_files import Layered, static, write_paradigms_dataset, write_words
from paralex_loop import suggestion_loop
from stores import fill_for

import evaluation.paradigms as module
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from evaluation.arrays import Floats
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.store import Vocabulary, write_vocabulary
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Encoder
from evaluation.encoders.static import StaticVectors
from evaluation.measures import leave_out_means, norms_of, score_interval
from evaluation.paradigms import (
    Neighbours,
    Outcome,
    apply_casing,
    count_coherent_pairs,
    count_found_targets,
    evaluate_paradigms,
    find_nearest,
    forms_of,
    run_tests,
)
from evaluation.results.scores import ParadigmResults, ParadigmScore

TABLES = read_tables(__file__)

# --- paradigm evaluating -------------------------------------------------------------------------

# Ten directions of words, so that a word's 30 nearest are those of its own direction.
DIRECTIONS = 10
# Of each direction 30 and a few more.
FILLERS = 31
WHOLE: dict[str, Any] = {"seed": 7, "coherence_threshold": 2, "casings": ["as_is", "lower"]}


def directed(word: int, direction: int) -> list[float]:
    """Return a vector that is near to the others of its direction, at a place of its own."""
    vector = np.zeros(DIRECTIONS + 1)
    vector[direction], vector[-1] = 1, word / 1000
    return [*map(float, vector)]


def evaluated(
    encoder: Encoder, datasets: list[Dataset], store: Path, **options: Any
) -> ParadigmResults:
    fill_for(store, encoder, datasets)
    write_vocabulary(store, encoder)
    return evaluate_paradigms("own_name", encoder, datasets, store, **(WHOLE | options))[0]


def by_key(results: ParadigmResults) -> dict[tuple[str, str, str, str], ParadigmScore]:
    return {(s.dataset, s.vocabulary, s.casing, s.layer): s for s in results.scores}


def test_both_vocabularies_and_casings(tmp_path: Path) -> None:
    days = [f"día{i}" for i in range(4)]
    vectors = {f"relleno{d}_{i}": directed(100 + i, d) for d in range(3) for i in range(FILLERS)}
    vectors |= {day: directed(i, 0) for i, day in enumerate(days)}
    # As it is, this one stands apart; in lower case, with the others.
    vectors |= {"Roma": directed(1, 5), "parís": directed(2, 6), "París": directed(3, 6)}
    vectors |= {"roma": directed(4, 6), "berlín": directed(5, 6), "nada": [0.0] * 11}
    encoder = static(tmp_path / "v.vec", vectors)
    datasets = [
        write_words(tmp_path / "i" / "words_es", ["nada", *(w for w in vectors if "relleno" in w)]),
        write_paradigms_dataset(
            tmp_path / "i" / "paralex_es",
            [
                ("weekdays", [*days, "nada", "desconocido", "fuera de todo"]),
                ("cities", ["París", "parís", "Roma", "berlín"]),
                ("empty", []),
            ],
        ),
    ]
    results = evaluated(encoder, datasets, tmp_path / "store")
    scores = by_key(results)
    assert list(scores) == [
        ("paralex_es", vocabulary, casing, "output")
        for vocabulary in ("own", "shared")
        for casing in ("as_is", "lower")
    ]
    assert results.main == results.scores
    assert results.left_out == {}
    of_file, folded, shared, shared_folded = results.scores
    # The file's 103 words less `nada`; folded, `roma` and `parís` come twice.
    assert (of_file.words, folded.words) == (102, 100)
    # 93 fillers and the days, and the terms that have a vector; the others have none.
    assert (shared.words, shared_folded.words) == (93 + 4 + 4, 93 + 4 + 3)
    assert [len(score.vocabulary_digest) for score in results.scores] == [0, 0, 64, 64]
    assert shared.vocabulary_digest == shared_folded.vocabulary_digest
    assert [
        (score.words_left_out["no_vector"], score.words_left_out["same_form"])
        for score in (of_file, folded, shared)
    ] == [(1, 0), (1, 2), (3, 0)]
    cities, empty, weekdays = of_file.clusters
    assert [c.cluster for c in of_file.clusters] == ["cities", "empty", "weekdays"]
    assert (empty.terms, empty.left, empty.suggestion) == (0, 0, 0.0)
    assert (weekdays.terms, weekdays.left) == (7, 4)
    unknown = ["desconocido", "fuera de todo"]
    assert weekdays.left_out == {"no_vector": ["nada"], "out_of_vocabulary": unknown}
    # Every day has the three others as its nearest.
    assert (weekdays.suggestion, weekdays.deviation, weekdays.coherence) == (1, 0, 1)
    # All but Roma are each other's nearest: three pairs find one of two, three the two others.
    assert (cities.terms, cities.left) == (4, 4)
    assert (cities.suggestion, cities.deviation, cities.coherence) == (0.75, 0.25, 0.5)
    # Folded there is one París, and the first Roma of the file stands.
    cities = folded.clusters[0]
    assert (cities.terms, cities.left_out) == (3, {})
    assert (cities.suggestion, cities.coherence) == (2 / 3, 1 / 3)
    assert cities.deviation == pytest.approx(2**0.5 / 3)
    # What is encoded in lower case is the other roma.
    assert shared_folded.clusters[0].suggestion == 1
    # The shared one is encoded: a text without known words has no vector.
    assert shared.clusters[2].left_out["no_vector"] == ["nada", *unknown]
    assert of_file.skipped == 1
    for what in ("suggestion", "coherence"):
        mean = np.mean([getattr(cluster, what) for cluster in of_file.clusters])
        assert getattr(of_file, what) == pytest.approx(mean)


def test_intervals_are_of_the_clusters(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    words = [f"p{i}" for i in range(300)]
    vectors = {word: generator.normal(size=9).round(3).tolist() for word in words}
    clusters = [(f"c{i}", generator.choice(words, 6, replace=False).tolist()) for i in range(9)]
    datasets = [
        write_words(tmp_path / "i" / "words", words),
        write_paradigms_dataset(tmp_path / "i" / "paralex", clusters),
    ]
    encoder = static(tmp_path / "v.vec", vectors)
    score = evaluated(encoder, datasets, tmp_path / "store", casings=["lower"]).scores[0]
    names = np.array([cluster.cluster for cluster in score.clusters])
    for value, measure, ends in (
        (score.suggestion, "suggestion", score.suggestion_interval),
        (score.coherence, "coherence", score.coherence_interval),
    ):
        of_clusters = np.array([getattr(cluster, measure) for cluster in score.clusters])
        assert len(set(of_clusters)) > 3
        (left_out,) = leave_out_means(of_clusters[None], names)
        assert ends == score_interval("accuracy", value, left_out, names)
        assert ends[0] < value < ends[1]


def test_layers_share_a_vocabulary_in_the_first_casing(tmp_path: Path) -> None:
    terms = ["A", "B", "C"]
    fillers = [f"x{i}" for i in range(60)]
    # In the other layer all vectors are equal: the first rows are the nearest of all.
    told = {word: [1.0, i / 60] for i, word in enumerate(fillers)}
    told |= {term: [-1.0, i / 60] for i, term in enumerate(terms)}
    told |= {term.lower(): [-1.0, i / 60] for i, term in enumerate(terms)}
    datasets = [
        write_paradigms_dataset(tmp_path / "i" / "paralex", [("abc", terms)]),
        write_words(tmp_path / "i" / "words", fillers[:40]),
        write_words(tmp_path / "i" / "more_words", fillers[30:]),
    ]
    results = evaluated(Layered(told), datasets, tmp_path / "store")
    found = {key[1:]: score.suggestion for key, score in by_key(results).items()}
    assert found == {
        ("shared", "as_is", "same"): 0.0,
        ("shared", "as_is", "told"): 1.0,
        ("shared", "lower", "told"): 1.0,
    }
    assert [score.layer for score in results.scores] == ["same", "told", "told"]
    assert [score.casing for score in results.main] == ["as_is", "lower"]
    assert results.encoder["layers"] == ["same", "told"]
    # 60 words of two rankings and three terms, whatever the casing: none of them fall together.
    assert {score.words for score in results.scores} == {63}


def test_an_encoder_of_tokens_gets_tokens_and_is_asked_for_words(tmp_path: Path) -> None:
    split = {"del-A": "del - A", "al-B": "al - B"}
    texts = ["del - A", "al - B", "del - a", "al - b", "c", "d"]
    told = {text: [1.0, i / 9] for i, text in enumerate(texts)}
    datasets = [
        write_paradigms_dataset(
            tmp_path / "i" / "paralex", [("x", ["del-A", "al-B", "c"])], tokens=split
        ),
        write_words(tmp_path / "i" / "words", ["al-B", "d"], tokens=split),
    ]
    encoder = Layered(told, form="tokens")
    results = evaluated(encoder, datasets, tmp_path / "store")
    assert [score.words for score in results.scores] == [4, 4, 4]
    assert [score.clusters[0].left_out for score in results.scores] == [{}] * 3
    assert [score.suggestion for score in results.scores] == [1, 1, 1]


def test_a_language_without_words_is_left_out_unless_the_encoder_has_its_own(
    tmp_path: Path,
) -> None:
    words = ["uno", "dos", "tres", "one", "two", "three"]
    datasets = [
        write_words(tmp_path / "i" / "words_es", words[:3]),
        write_paradigms_dataset(tmp_path / "i" / "paralex_es", [("numbers", words[:3])]),
        write_paradigms_dataset(
            tmp_path / "i" / "paralex_en", [("numbers", words[3:])], language="en"
        ),
    ]
    natural = make_encoder("char_hash", {})
    results = evaluated(natural, datasets, tmp_path / "natural")
    assert {score.dataset for score in results.scores} == {"paralex_es"}
    assert "(there are some in: es)" in results.left_out["paralex_en"]
    left_out = evaluated(natural, datasets[2:], tmp_path / "natural").left_out
    assert "(there are some in: none)" in left_out["paralex_en"]
    encoder = static(tmp_path / "v.vec", {word: [1, i] for i, word in enumerate(words)})
    results = evaluated(encoder, datasets, tmp_path / "static", casings=["lower"])
    assert [key[:2] for key in by_key(results)] == [
        ("paralex_en", "own"),
        ("paralex_es", "own"),
        ("paralex_es", "shared"),
    ]
    assert results.left_out == {}
    # In any order.
    again = evaluated(encoder, datasets[::-1], tmp_path / "static", casings=["lower"])
    assert again == results


@pytest.mark.usefixtures("empty_folder")
def test_only_what_changed_is_scored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bytes of a run without a cache."""
    vectors = {f"{letter}{i}": directed(i, d) for d, letter in enumerate("abc") for i in range(40)}
    encoder = static(Path("v.vec"), vectors)
    instances, store, cache = Path("i"), Path("store"), Cache("completed/n")
    clusters = [("a", ["a1", "a2", "a3"]), ("b", ["b1", "b2", "c3"])]
    for language in ("es", "en"):
        write_words(instances / f"words_{language}", sorted(vectors), language=language)
        write_paradigms_dataset(instances / f"p_{language}", clusters, language=language)

    def scored(**changes: Any) -> int:
        """Return how many parts are scored now, with the vectors of the present datasets."""
        datasets, before = find_datasets(instances), cache.written
        fill_for(store, encoder, datasets)
        write_vocabulary(store, encoder)
        options = WHOLE | changes
        results, _ = evaluate_paradigms("n", encoder, datasets, store, **options, cache=cache)
        assert results == evaluate_paradigms("n", encoder, datasets, store, **options)[0]
        return cache.written - before

    assert scored() == 8
    assert scored() == 0
    # Another word ranking of the language, another dataset, a ranking less.
    write_words(instances / "words_more", ["d1"], language="en")
    assert scored() == 4
    write_paradigms_dataset(instances / "p_es", clusters[:1], language="es")
    assert scored() == 4
    shutil.rmtree(instances / "words_es")
    assert scored() == 2
    # A dataset that is skipped, and a casing more, leave the others as they are.
    write_paradigms_dataset(instances / "p_sw", clusters, language="sw")
    assert scored(casings=["as_is"]) == 1
    assert scored() == 4
    for changes in ({"seed": 8}, {"coherence_threshold": 1}):
        assert scored(**changes) == 8
    # Other vectors of an encoder that says that it is the same one.
    encode = StaticVectors.encode
    monkeypatch.setattr(StaticVectors, "encode", lambda self, texts: encode(self, texts) + 1)
    shutil.rmtree(store)
    assert scored(coherence_threshold=1) == 8
    assert scored(coherence_threshold=1) == 0


@pytest.mark.parametrize(("clusters", "message"), TABLES["bad_datasets"])
def test_bad_datasets(tmp_path: Path, clusters: list[tuple[str, list[str]]], message: str) -> None:
    words = write_words(tmp_path / "i" / "words", ["a"])
    dataset = write_paradigms_dataset(tmp_path / "i" / "p", clusters)
    with pytest.raises(InputError, match=message):
        evaluated(Layered(dict.fromkeys("abc", (1.0, 2.0))), [words, dataset], tmp_path / "store")


def test_other_tokens_than_terms(tmp_path: Path) -> None:
    words = write_words(tmp_path / "i" / "words", ["a"])
    dataset = write_paradigms_dataset(tmp_path / "i" / "p", [("x", ["a", "b", "c"])])
    table = pq.read_table(dataset.files["test"][0])
    column = pa.array([["a", "b"]])
    place = table.column_names.index("tokens")
    pq.write_table(table.set_column(place, "tokens", column), dataset.files["test"][0])
    encoder = Layered(dict.fromkeys("abc", (1.0, 2.0)), form="tokens")
    with pytest.raises(InputError, match="expected: as many tokens as terms, 3\n  found:    2"):
        evaluated(encoder, [words, dataset], tmp_path / "store")


def test_the_vocabulary_has_to_be_there_if_there_are_paradigms(tmp_path: Path) -> None:
    encoder = static(tmp_path / "v.vec", {"a": [1, 2]})
    dataset = write_paradigms_dataset(tmp_path / "i" / "p", [("x", ["a", "b", "c"])])
    fill_for(tmp_path / "store", encoder, [dataset])
    with pytest.raises(InputError, match="store/vocabulary\n"):
        evaluate_paradigms("n", encoder, [dataset], tmp_path / "store", **WHOLE)
    words = write_words(tmp_path / "i" / "words", ["a", "b"])
    results, new = evaluate_paradigms("n", encoder, [words], tmp_path / "store", **WHOLE)
    assert (results.scores, results.left_out, new) == ((), {}, 0)


# --- paradigm neighbours -------------------------------------------------------------------------


def brute_force(vectors: Floats, words: list[int], row: int, count: int) -> list[int]:
    """Return the nearest of the words in float64, ties by row."""
    wide = vectors.astype(np.float64)
    norms = np.sqrt(np.square(wide).sum(axis=1))
    scored = [
        (-(wide[row] * wide[other]).sum() / (norms[row] * norms[other]), other)
        for other in words
        if other != row
    ]
    return [other for _, other in sorted(scored)[:count]]


def found(vectors: Floats, words: list[int], asked: list[int], count: int) -> list[list[int]]:
    numbers = np.array(words, np.int64)
    rows = find_nearest(vectors, norms_of(vectors), numbers, np.array(asked, np.int64), count)
    lists: list[list[int]] = rows.tolist()
    return lists


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(2, 60),
    dimension=st.integers(1, 40),
    count=st.integers(1, 12),
    block=st.integers(1, 50),
    # 0: as they are drawn; 1: many equal and opposite ones; 2: nearly equal ones, of all sizes.
    kind=st.integers(0, 2),
)
def test_equal_to_a_brute_force_in_float64(
    seed: int, rows: int, dimension: int, count: int, block: int, kind: int
) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(rows, dimension)).astype(np.float32)
    if kind == 1:
        vectors = generator.integers(-1, 2, size=(rows, dimension)).astype(np.float32)
        vectors[:, 0] += 2
    if kind == 2:
        vectors = (1 + vectors * 1e-6).astype(np.float32)
        vectors *= (10.0 ** generator.integers(-30, 30, size=(rows, 1))).astype(np.float32)
    words = sorted(generator.choice(rows, generator.integers(1, rows + 1), replace=False).tolist())
    asked = words[:: 1 + seed % 3][: seed % 40]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_WORDS", block)
        patch.setattr(module, "_BLOCK_NUMBERS", block * dimension)
        got = found(vectors, words, asked, count)
    assert got == [brute_force(vectors, words, row, count) for row in asked]


def test_a_constant_encoder_stays_within_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    products = []
    exact = module._products

    def watched(*arguments: Any) -> Any:
        products.append(len(arguments[2]))
        return exact(*arguments)

    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 1000)
    monkeypatch.setattr(module, "_products", watched)
    vectors = np.ones((500, 3), np.float32)
    assert found(vectors, list(range(500)), list(range(10)), 4)[0] == [1, 2, 3, 4]
    assert max(products) <= 1000


def test_lengths_that_float32_cannot_square() -> None:
    vectors = np.array([[3e38, 3e38], [1e-40, 0], [0, 0], [3, 4]], np.float32)
    assert norms_of(vectors) == pytest.approx([3e38 * 2**0.5, 1e-40, 0, 5], rel=1e-5)


def test_words_are_asked_for_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(7, 4, dtype=np.float32) + np.float32(0.1))
    vectors = np.load(tmp_path / "v.npy", mmap_mode="r")
    asked: list[list[int]] = []
    original = find_nearest

    def watched(*arguments: Any) -> Any:
        asked.append(arguments[3].tolist())
        return original(*arguments)

    monkeypatch.setattr(module, "find_nearest", watched)
    monkeypatch.setattr(module, "_BLOCK_QUERIES", 2)
    neighbours = Neighbours(vectors, norms_of(vectors), np.arange(7))
    neighbours.look_up([5, 0, 5, 3])
    neighbours.look_up([3, 5, 1])
    neighbours.look_up([0, 1])
    assert asked == [[0, 3], [5], [1]]
    assert sorted(neighbours) == [0, 1, 3, 5]
    # Of the rows 4 to 6 all numbers are the same.
    assert neighbours[5] == [4, 6, 0, 1, 2, 3]


def test_words_in_a_casing() -> None:
    words = ["el", "París", "nada", "parís", "\udcf1and\udcfa", "Sol", "sol", "İsveç"]
    vectors = np.ones((8, 2), np.float32)
    vectors[[2, 5]] = 0
    vocabulary = Vocabulary(words, vectors, norms_of(vectors))
    as_is, lower = forms_of(vocabulary, "as_is"), forms_of(vocabulary, "lower")
    assert as_is.rows == {word: row for row, word in enumerate(words) if row not in (2, 5)}
    # The first stands, of those that have a vector.
    assert lower.rows == {"el": 0, "parís": 1, "\udcf1and\udcfa": 4, "sol": 6, "isveç": 7}
    assert lower.words.tolist() == [0, 1, 4, 6, 7]
    assert (as_is.without, lower.without) == ({"nada", "Sol"}, {"nada"})
    assert apply_casing("İzlanda", "lower") == "izlanda"


# --- paradigm suggestion -------------------------------------------------------------------------


class Told:
    """Neighbours that are told, and what was asked of them, round by round."""

    def __init__(self, told: Mapping[int, Iterable[int]]) -> None:
        self.told = {row: list(near) for row, near in told.items()}
        self.known: set[int] = set()
        self.rounds: list[list[int]] = []

    def __contains__(self, row: int) -> bool:
        return row in self.known

    def __getitem__(self, row: int) -> list[int]:
        assert row in self.known
        return self.told.get(row, [])

    def look_up(self, rows: Iterable[int]) -> None:
        new = set(rows) - self.known
        self.known |= new
        if new:
            self.rounds.append(sorted(new))


def told(neighbours: Mapping[int, Iterable[int]]) -> Neighbours:
    return cast("Neighbours", Told(neighbours))


@pytest.mark.parametrize(("near", "terms", "threshold", "targets"), TABLES["seeds"])
def test_targets_are_found_by_way_of_seeds_that_enough_support(
    near: dict[int, list[int]], terms: list[int], threshold: int, targets: int
) -> None:
    assert count_found_targets([terms], told(near), threshold)[0][0] == targets


@pytest.mark.parametrize(("steps", "targets"), [(3, 1), (4, 0)])
def test_three_iterations_after_the_first_suggestions(steps: int, targets: int) -> None:
    # Two words lead to the next two, and the last to the target.
    between = [[10 * step, 10 * step + 1] for step in range(1, steps + 1)]
    near = {word: after for words, after in pairwise([[1, 2], *between, [3]]) for word in words}
    assert count_found_targets([[1, 2, 3]], told(near), 2)[0][0] == targets


@pytest.mark.parametrize(("many", "targets"), [(199, 2), (200, 1)])
def test_more_than_200_suggestions_end_the_search_with_the_score_before(
    many: int, targets: int
) -> None:
    # The target 3 is found at first; with it come `many` words, and the target 4.
    near = {1: [3], 3: [4, *range(1000, 1000 + many)]}
    assert count_found_targets([[1, 2, 3, 4, 5]], told(near), 2)[0][0] == targets


def test_nothing_is_asked_for_once_there_are_too_many() -> None:
    # 3 and 4 join; what the pair (3, 1) was told of 3 makes asking for others needless.
    near = Told({1: [3, 20], 2: [20], 3: range(1000, 1300), 20: [5]})
    near.look_up([3])
    assert count_found_targets([[1, 2, 3, 5]], cast("Neighbours", near), 2)[0][0] == 1
    assert 20 not in near


def test_all_pairs_go_on_side_by_side() -> None:
    near = Told({1: [2, 3, 4], 5: [10], 6: [10], 10: [7]})
    found = count_found_targets([[1, 2, 3, 4], [5, 6, 7]], cast("Neighbours", near), 2)
    assert found == [[2, 2, 2, 0, 0, 0], [1, 0, 0]]
    assert near.rounds == [[1, 2, 3, 4, 5, 6, 7], [10]]


def test_scores_by_hand() -> None:
    near = {1: [2, 3, 4]}
    tested = run_tests([[1, 2, 3, 4], [1, 2], [], [5, 6, 7]], told(near), 2)
    assert tested == [Outcome(6 / 12, 0.5, 3 / 12), *[Outcome(0, 0, 0)] * 3]
    assert count_coherent_pairs([[1, 2, 3, 4], [1, 2]], told({1: [2], 2: [1]})) == [2, 2]


def test_recall_is_of_counts_and_never_of_rounded_parts() -> None:
    terms = list(range(13))
    tested = run_tests([terms], told({0: [1]}), 2)[0]
    # Of the 78 pairs the 11 with 0 but without 1 find one of their 11 targets.
    assert tested.suggestion == 11 / (78 * 11)
    assert tested.coherence == 1 / (13 * 12)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    words=st.integers(40, 400),
    dimension=st.integers(2, 12),
    threshold=st.integers(1, 4),
)
def test_equal_to_a_loop_that_asks_each_time(
    seed: int, words: int, dimension: int, threshold: int
) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(words, dimension)).astype(np.float32)
    clusters = [
        generator.choice(words, generator.integers(3, 9), replace=False).tolist() for _ in range(3)
    ]
    for terms in clusters[:2]:
        vectors[terms] += 2 * generator.normal(size=dimension).astype(np.float32)
    units = vectors.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)

    def nearest(row: int) -> list[int]:
        near = units @ units[row]
        near[row] = -np.inf
        chosen: list[int] = np.argsort(-near)[: min(30, words - 1)].tolist()
        return chosen

    neighbours = Neighbours(vectors, norms_of(vectors), np.arange(words))
    found = count_found_targets(clusters, neighbours, threshold)
    looped = suggestion_loop(clusters, nearest, threshold)
    shares = [
        [count / (len(terms) - 2) for count in counts]
        for terms, counts in zip(clusters, found, strict=True)
    ]
    assert shares == looped
    tested = run_tests(clusters, neighbours, threshold)
    for test, recall, terms in zip(tested, looped, clusters, strict=True):
        assert test.suggestion == pytest.approx(np.mean(recall), abs=1e-12)
        assert test.deviation == pytest.approx(np.std(recall), abs=1e-12)
        near = sum(b in nearest(a) for a in terms for b in terms if a != b)
        assert test.coherence == near / (len(terms) * (len(terms) - 1))
