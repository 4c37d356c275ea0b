"""How alike sentences are: exact values, and the weight of rare words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.sampling.likeness import Likeness

SENTENCES = ["El río crece.", "El río baja.", "El mar crece.", "La casa arde."]


def test_rare_words_count_more() -> None:
    likeness = Likeness(SENTENCES)
    el, rio, crece, baja = math.log(4 / 3), math.log(2), math.log(2), math.log(4)
    norm = math.sqrt((el + rio + crece) * (el + rio + baja))
    assert likeness.of("el río CRECE", ["el río baja"]) == pytest.approx((el + rio) / norm)
    rare = likeness.of("baja algo", ["baja todo"])
    assert rare > likeness.of("el algo", ["el todo"])


def test_the_mean_over_the_others() -> None:
    likeness = Likeness(SENTENCES)
    same, other = "La casa arde.", "El mar crece."
    assert likeness.of(same, [same]) == pytest.approx(1)
    assert likeness.of(same, [same, other]) == pytest.approx(0.5)
    assert likeness.of("…", [same]) == 0


@given(st.lists(st.text("abc .", max_size=12), min_size=2, max_size=6))
def test_it_is_a_share_and_symmetric(sentences: list[str]) -> None:
    likeness = Likeness(sentences)
    first, second = sentences[:2]
    value = likeness.of(first, [second])
    assert 0 <= value <= 1 + 1e-9
    assert value == likeness.of(second, [first])
