"""ELMo (Peters et al. 2018, NAACL) as a function for the encoder ``callable``: three layers.

The package is ``elmoformanylangs`` (Che et al. 2018, CoNLL), which has a model of Spanish. Copy
this file as ``my_elmo.py``, set ``FOLDER``, and say in params.yaml:

    elmo: {encoder: callable, function: "my_elmo:encode", form: tokens}
"""

from functools import cache
from typing import Any

import numpy as np

# The folder of the model, which has a config.json.
FOLDER = "elmo_es"


@cache
def embedder() -> Any:
    """Load the model once."""
    from elmoformanylangs import Embedder

    loaded = Embedder(FOLDER, batch_size=1)
    # Otherwise its LSTM would begin each text in the final state of the text before.
    loaded.model.encoder.stateful = False
    return loaded


def encode(texts: list[str]) -> Any:
    """Return float32 [len(texts), 3, dimension], the mean over the tokens in each layer."""
    layers = embedder().sents2elmo([text.split(" ") for text in texts], output_layer=-2)
    return np.stack([layer.mean(axis=1) for layer in layers])
