"""InferSent (Conneau et al. 2017, EMNLP) as a function for ``callable``; needs the extra torch.

Its weights, of github.com/facebookresearch/InferSent, are infersent1.pkl with glove.840B.300d.txt,
or infersent2.pkl with crawl-300d-2M.vec and ``ENDS = ("<p>", "</p>")``. DisSent (Nie et al. 2019,
ACL) is the same network: its code (github.com/windweller/DisExtract) writes such a file by
``torch.save(torch.load("dis-model.pickle").encoder.state_dict(), "dissent.pkl")``. Copy this file
as ``my_infersent.py``, and say in params.yaml:

    infersent: {encoder: callable, function: "my_infersent:encode", form: tokens}
"""

from functools import cache
from typing import Any

import numpy as np

from evaluation.encoders.static import load_model

WEIGHTS, VECTORS, ENDS = "infersent1.pkl", "glove.840B.300d.txt", ("<s>", "</s>")


@cache
def network() -> Any:
    """Load the weights once; nothing but arrays is taken from the file."""
    import torch

    loaded = torch.load(WEIGHTS, map_location="cpu", weights_only=True)
    weights = {name.removeprefix("enc_lstm."): values for name, values in loaded.items()}
    sizes = weights["weight_ih_l0"].shape[1], weights["weight_hh_l0"].shape[1]
    lstm = torch.nn.LSTM(*sizes, bidirectional=True)
    lstm.load_state_dict(weights)
    return lstm.requires_grad_(False)


def encode(texts: list[str]) -> Any:
    """Return float32 [len(texts), 2 × units], the maxima over the words that have a vector."""
    from torch import from_numpy

    table, encoded = load_model(VECTORS, 0, 0), []
    for text in texts:
        words = f"{ENDS[0]} {text} {ENDS[1]}".split(" ")
        rows = [table.rows[word] for word in words if word in table.rows]
        states, _ = network()(from_numpy(table.matrix[rows or [table.rows[ENDS[1]]]]))
        encoded.append(states.max(dim=0).values.numpy())
    return np.stack(encoded)
