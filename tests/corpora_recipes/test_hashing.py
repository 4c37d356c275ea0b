"""Keyed hashing: pinned values, uniformity, no dependence on the process."""

from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.hashing import keyed_choice, keyed_hash, keyed_uniform


def test_a_pinned_value_in_every_process() -> None:
    assert keyed_hash(1111, "sp_wiki", "42", "position") == 13157702080280889873
    assert keyed_hash(1112, "sp_wiki", "42", "position") != 13157702080280889873


def test_parts_are_not_run_together() -> None:
    assert keyed_hash(1, "ab", "c") != keyed_hash(1, "a", "bc")


@given(st.integers(1, 1000), st.text(max_size=8))
def test_choice_and_uniform_stay_in_range(count: int, part: str) -> None:
    assert 0 <= keyed_choice(count, 1, part) < count
    assert 0 <= keyed_uniform(1, part) < 1


def test_choice_is_uniform() -> None:
    counts = [0] * 5
    for number in range(5000):
        counts[keyed_choice(5, 1, str(number))] += 1
    # Five binomial counts of mean 1000 and standard deviation 28.
    assert all(880 < count < 1120 for count in counts)
