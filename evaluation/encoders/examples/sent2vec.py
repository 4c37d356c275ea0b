"""Sent2Vec (Pagliardini et al. 2018, NAACL) as a function for the encoder ``callable``.

The module ``sent2vec`` is that of github.com/epfml/sent2vec (`pip install .` in a clone of it), not
the package of the same name on PyPI. Copy this file as ``my_sent2vec.py``, set ``MODEL``, and say
in params.yaml:

    sent2vec: {encoder: callable, function: "my_sent2vec:encode", form: tokens}
"""

from functools import cache
from typing import Any

# A model trained on lower-cased tokens.
MODEL = "sent2vec_es.bin"


@cache
def model() -> Any:
    """Load the model once."""
    from sent2vec import Sent2vecModel

    loaded = Sent2vecModel()
    loaded.load_model(MODEL)
    return loaded


def encode(texts: list[str]) -> Any:
    """Return float32 [len(texts), dimension]."""
    return model().embed_sentences([text.lower() for text in texts])
