"""Suggestion and coherence: by hand, at the limits, and equal to a loop that asks each time."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paralex_loop import suggestion_loop

from evaluation.measures import norms_of
from evaluation.paradigms import (
    Neighbours,
    Outcome,
    count_coherent_pairs,
    count_found_targets,
    run_tests,
)


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


@pytest.mark.parametrize(
    ("near", "terms", "threshold", "targets"),
    [
        # From 1 and 2 both lead to 10, which leads to the target 3; 11 has one supporter alone.
        ({1: [10, 11], 2: [10], 10: [3], 11: [4]}, [1, 2, 3], 2, 1),
        ({1: [10, 11], 2: [10], 10: [3], 11: [4]}, [1, 2, 4], 2, 0),
        ({1: [10, 11], 2: [10], 10: [3], 11: [4]}, [1, 2, 4], 1, 1),
        ({1: [10, 11], 2: [10], 10: [3], 11: [4]}, [1, 2, 3], 3, 0),
        # A found target is a seed with one supporter.
        ({1: [3], 3: [4]}, [1, 2, 3, 4], 2, 2),
        # 10 is suggested by 1 at first, and again by 3 once that is a seed; 10 suggests 4.
        ({1: [3, 10], 3: [10], 10: [4]}, [1, 2, 3, 4], 2, 2),
    ],
)
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
