"""Words in a casing."""

import numpy as np

from evaluation.embedding.vocabulary import Vocabulary
from evaluation.measures.similarity import norms_of
from evaluation.paradigms.vocabulary import cased, forms_of


def test_casings() -> None:
    words = ["el", "París", "nada", "parís", "\udcf1and\udcfa"]
    vectors = np.array([[1, 0], [0, 1], [0, 0], [3, 4], [1, 1]], np.float32)
    found = Vocabulary(words, vectors, norms_of(vectors))
    as_is, lower = forms_of(found, "as_is"), forms_of(found, "lower")
    assert as_is.rows == {"el": 0, "París": 1, "parís": 3, "\udcf1and\udcfa": 4}
    # The first stands.
    assert lower.rows == {"el": 0, "parís": 1, "\udcf1and\udcfa": 4}
    assert lower.words.tolist() == [0, 1, 4]
    assert as_is.without == lower.without == {"nada"}


def test_a_form_that_one_word_has_a_vector_for_has_one() -> None:
    vectors = np.array([[0], [2]], np.float32)
    forms = forms_of(Vocabulary(["Sol", "sol"], vectors, np.array([0.0, 2.0])), "lower")
    assert forms.rows == {"sol": 1}
    assert forms.without == set()


def test_a_turkish_capital_finds_the_word_in_lower_case() -> None:
    vectors = np.eye(2, dtype=np.float32)
    forms = forms_of(Vocabulary(["İsveç", "izlanda"], vectors, np.ones(2)), "lower")
    assert forms.rows == {"isveç": 0, "izlanda": 1}
    assert cased("İzlanda", "lower") == "izlanda"
