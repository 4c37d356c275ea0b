"""Skip-thought (Kiros et al. 2015, NIPS), both models side by side, as a function for ``callable``.

The files are those of github.com/ryankiros/skip-thoughts: dictionary.txt, utable.npy, btable.npy,
uni_skip.npz and bi_skip.npz. Copy this file as ``my_skip_thought.py``, and say in params.yaml:

    skip_thought: {encoder: callable, function: "my_skip_thought:encode", form: tokens}
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path("skip_thoughts")
NETWORKS = (("u", "uni", "encoder"), ("b", "bi", "encoder"), ("b", "bi", "encoder_r"))


@cache
def model() -> tuple[dict[str, int], list[tuple[Any, list[Any]]]]:
    """Load once: the row of each word; of each network, the words' vectors and the weights."""
    words = (FOLDER / "dictionary.txt").read_text("utf-8").split("\n")
    networks = []
    for table, file, prefix in NETWORKS:
        arrays = np.load(FOLDER / f"{file}_skip.npz")
        weights = [arrays[f"{prefix}_{name}"] for name in ("W", "b", "U", "Wx", "bx", "Ux")]
        networks.append((np.load(FOLDER / f"{table}table.npy", "r"), weights))
    return {word.strip(): row for row, word in enumerate(words) if word}, networks


def last_state(x: Any, w: Any, b: Any, u: Any, wx: Any, bx: Any, ux: Any) -> Any:
    """Return the state of a network after the last of some words, float32 [units]."""
    state = np.zeros(len(ux), np.float32)
    for gates, new in zip(x @ w + b, x @ wx + bx, strict=True):
        reset, update = np.split(1 / (1 + np.exp(-(state @ u + gates))), 2)
        state = update * state + (1 - update) * np.tanh(state @ ux * reset + new)
    return state


def encode(texts: list[str]) -> Any:
    """Return float32 [len(texts), 4 × units of a direction], each model's part of length 1."""
    (rows, networks), encoded = model(), []
    for text in texts:
        places = [rows.get(word, rows["UNK"]) for word in text.split(" ")]
        orders = places, places, places[::-1]
        states = [last_state(t[o], *w) for o, (t, w) in zip(orders, networks, strict=True)]
        parts = states[0], np.concatenate(states[1:])
        encoded.append(np.concatenate([part / np.linalg.norm(part) for part in parts]))
    return np.stack(encoded)
