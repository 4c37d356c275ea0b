"""Scores of whole datasets: both vocabularies, casings and layers, what is left out, bad input."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paradigm_files import Layered, static, write_paradigms_dataset, write_words
from stores import fill_for

from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.store import write_vocabulary
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Encoder
from evaluation.encoders.static import StaticVectors
from evaluation.measures import leave_out_means, score_interval
from evaluation.paradigms import evaluate_paradigms
from evaluation.results.scores import ParadigmResults, ParadigmScore

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
    for value, given, ends in (
        (score.suggestion, "suggestion", score.suggestion_interval),
        (score.coherence, "coherence", score.coherence_interval),
    ):
        of_clusters = np.array([getattr(cluster, given) for cluster in score.clusters])
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


def test_only_what_changed_is_scored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the bytes of a run without a cache."""
    monkeypatch.chdir(tmp_path)
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


def test_without_paradigms_there_is_nothing_to_score(tmp_path: Path) -> None:
    encoder = static(tmp_path / "v.vec", {"a": [1, 2]})
    datasets = [write_words(tmp_path / "i" / "words", ["a", "b"])]
    fill_for(tmp_path / "store", encoder, datasets)
    # No vocabulary was written, and none is needed.
    results, new = evaluate_paradigms("n", encoder, datasets, tmp_path / "store", **WHOLE)
    assert (results.scores, results.left_out, new) == ((), {}, 0)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([], "expected: clusters\n  found:    none"),
        ([("x", ["a", "b", "c"]), ("y", []), ("x", ["a"])], "row 2 x\n  expected: each cluster"),
    ],
)
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


def test_the_vocabulary_has_to_be_there(tmp_path: Path) -> None:
    encoder = static(tmp_path / "v.vec", {"a": [1, 2]})
    dataset = write_paradigms_dataset(tmp_path / "i" / "p", [("x", ["a", "b", "c"])])
    fill_for(tmp_path / "store", encoder, [dataset])
    with pytest.raises(InputError, match="store/vocabulary\n"):
        evaluate_paradigms("n", encoder, [dataset], tmp_path / "store", **WHOLE)
