"""The example InferSent on files of the same form as those of its authors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evaluation.encoders import make_encoder
from evaluation.encoders.examples import infersent
from evaluation.encoders.static import load_model

WORDS = {"<s>": 0, "el": 1, "perro": 2, "</s>": 3}


class Whole(torch.nn.Module):
    """Stands for the network of the authors, whose weights have the names of its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.enc_lstm = torch.nn.LSTM(4, 3, 1, bidirectional=True)


def states(x: Any, weights: Any, suffix: str) -> Any:
    """Return the states of one direction by the equations of Hochreiter and Schmidhuber."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w, u, b, c = (weights[f"enc_lstm.{name}_l0{suffix}"].numpy() for name in names)
    state, cell, found = np.zeros(3), np.zeros(3), []
    for word in x:
        i, f, g, o = np.split(w @ word + u @ state + b + c, 4)
        cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        state = np.tanh(cell) / (1 + np.exp(-o))
        found.append(state)
    return np.array(found)


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.usefixtures("empty_folder")
def test_infersent_reads_the_authors_files(zipped: bool) -> None:
    """As old versions of torch wrote them, and as new ones do."""
    torch.manual_seed(2)
    weights = Whole().state_dict()
    vectors = np.random.default_rng(4).normal(size=(4, 4)).astype(np.float32)
    torch.save(weights, "infersent1.pkl", _use_new_zipfile_serialization=zipped)
    lines = (f"{word} {' '.join(map(str, vectors[row]))}\n" for word, row in WORDS.items())
    Path("glove.840B.300d.txt").write_text("".join(lines), "utf-8")
    infersent.network.cache_clear()
    load_model.cache_clear()
    function = {"function": "evaluation.encoders.examples.infersent:encode", "form": "tokens"}
    encoder = make_encoder("callable", function)
    found = encoder.encode(["el perro azul", "azul"])[:, 0]
    x = vectors.astype(np.float64)
    for text, rows in enumerate([[0, 1, 2, 3], [0, 3]]):
        backward = states(x[rows[::-1]], weights, "_reverse")
        expected = np.concatenate([states(x[rows], weights, "").max(0), backward.max(0)])
        assert found[text].tolist() == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.usefixtures("empty_folder")
def test_infersent_runs_nothing_of_a_file() -> None:
    torch.save(Whole(), "infersent1.pkl")
    infersent.network.cache_clear()
    with pytest.raises(Exception, match="Weights only load failed"):
        infersent.network()
