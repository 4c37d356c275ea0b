"""Models of sentence-transformers, from the Hugging Face Hub or a local folder."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import ParamsError, check_packages, load_packages
from evaluation.encoders.encoder import fill_prompt
from evaluation.encoders.transformer import (
    Pretrained,
    Source,
    describe_error,
    find_model,
    is_local,
    prepare_torch,
    seeded,
)

if TYPE_CHECKING:
    from evaluation.arrays import Floats

WORD_GRU = "word_gru.WordGru"
"""How modules.json names the module of ``evaluation/encoders/word_gru.py``."""
_SETTINGS = "config_sentence_transformers.json"
_DENSE = "SentenceTransformer"
# Types of other models of the library, and what they give in place of a vector of a text. The class
# of dense models loads them all, as the mean over the tokens of their body.
_OTHERS = {
    "SparseEncoder": "a value for each word of its vocabulary, too many for store and probes",
    "CrossEncoder": "a score for two texts together",
    **dict.fromkeys(("MultiVectorEncoder", "ColBERT"), "a vector for each token"),
}


@dataclass(frozen=True, eq=False, repr=False)
class SentenceTransformer(Pretrained):
    """A model of sentence-transformers, with its pooling and normalisation.

    Vectors vary by rounding with the device, the number of threads and the versions of the
    libraries, none of which is part of ``options``.

    Attributes:
        model: id on the Hugging Face Hub, downloaded if it is not in the Hub's cache, or folder
            with modules.json.
        revision_option: the option `revision`: branch, tag or commit of the Hub.
        prompts: for models trained with them, such as {default: "query: "} for e5; see ``Prompts``
            and ``fill_prompt``. Other texts get the default of the model, if it has one.
        batch: number of texts that are encoded together, of nearly the same length.
        weights: `trained`, or `random`: all weights of all modules drawn anew, from the seed.
        dtype: of weights and computations: `auto` (as the model was saved), or see ``Transformer``.
        device_map: see ``Transformer``.
        quantisation: see ``Transformer``.
    """

    dtype: str = "auto"

    name: ClassVar[str] = "sentence_transformers"
    file: ClassVar[str] = "modules.json"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers", "sentence-transformers")

    @property
    def dimension(self) -> int:
        """Length of a vector; the model is loaded for it."""
        model = load_model(self.source, self.loading, self.draw)
        return int(model.get_embedding_dimension() or len(model.encode(".")))

    @property
    def options(self) -> dict[str, Any]:
        """All options that the vectors depend on."""
        return super().options | ({} if self.dtype == "auto" else {"dtype": self.dtype})

    def check(self) -> None:
        """See ``Encoder.check``."""
        check_packages("encoder sentence_transformers", "torch", "sentence_transformers")
        if is_local(self.model):
            _check_type(self.source)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), 1, dimension], of the texts with a prompt."""
        if not texts:
            return np.zeros((0, 1, self.dimension), np.float32)
        if prompt and "{}" in prompt:
            # No prompt of the model's own either.
            texts, prompt = [fill_prompt(prompt, text) for text in texts], ""
        vectors: Floats = load_model(self.source, self.loading, self.draw).encode(
            list(texts), batch_size=self.batch, prompt=prompt, show_progress_bar=False
        )
        return vectors.astype(np.float32)[:, None]


@lru_cache(maxsize=1)
def load_model(source: Source, loading: str, draw: int | None = None) -> Any:
    """Return the model, which stays in memory until ``release``.

    ``loading``: see ``Pretrained``; ``draw``: the seed of random weights, or None.
    """
    torch, transformers, library = load_packages(
        "encoder sentence_transformers", "torch", "transformers", "sentence_transformers"
    )
    _check_type(source, transformers)
    device, keywords = str(prepare_torch(torch)), json.loads(loading)
    if source.config and source.config[0].get("type") == WORD_GRU:
        model = source.load(_load_word_gru, device=device)
    else:
        place = None if "device_map" in keywords else device
        model = source.load(library.SentenceTransformer, device=place, model_kwargs=keywords)
    model = model.eval()
    # The tokeniser of static word vectors is of another class, which cannot be empty.
    if hasattr(model.tokenizer, "all_special_tokens"):
        source.check_vocabulary(model.tokenizer)
    if draw is not None:
        with seeded(torch, draw):
            _draw_weights(model, transformers.PreTrainedModel)
    else:
        for body in model.modules():
            if isinstance(body, transformers.PreTrainedModel):
                # The library's mark of a weight that was in a file; quantised matrices lose it.
                dimensions = 1 if getattr(body, "hf_quantizer", None) else 9
                weights = ((n, w) for n, w in body.named_parameters() if w.dim() <= dimensions)
                source.check_missing(
                    [n for n, w in weights if not hasattr(w, "_is_hf_initialized")]
                )
    # A module may be missing, or the model must be told what a text is: a query, a document.
    try:
        model.encode(["."], show_progress_bar=False)
    except Exception as error:
        expected, found = "a model that gives a text a vector", describe_error(error)
        todo = "save the model again, or write a function that calls it (`encoder: callable`)"
        raise source.error(expected, found, todo) from error
    return model


def _check_type(source: Source, transformers: Any = None) -> None:
    """Check that a model gives texts dense vectors: its type, modules and architecture."""
    kind = _read_if_there(source, _SETTINGS).get("model_type", _DENSE)
    modules = source.config
    for module in modules:
        if other := re.search(r"\b(sparse|cross|multi_vector)_encoder\b", str(module)):
            kind = other[0].title().replace("_", "")
    if kind != _DENSE:
        expected = f"a {_DENSE}, which gives a text one vector of some hundred numbers"
        todo = (
            "score a sentence encoder, or a function (`encoder: callable`) that makes such a vector"
        )
        raise source.error(expected, f"{kind}: {_OTHERS.get(kind, 'another type')}", todo)
    if modules and str(modules[0].get("type")).endswith("Transformer"):
        config = _read_if_there(source, str(Path(modules[0].get("path", ""), "config.json")))
        source.check_architecture(config, transformers)


def _read_if_there(source: Source, file: str) -> Any:
    """Return what a JSON file of a model says, {} without it: older models lack some."""
    try:
        return find_model(source.model, source.commit or "main", file).config
    except ParamsError:
        return {}


def _draw_weights(model: Any, pretrained: type[Any]) -> None:
    """Draw all weights anew: of a pretrained model as its library does, of others as torch does."""
    drawn = set()
    for part in model.modules():  # those that hold others first
        if part in drawn:
            continue
        if isinstance(part, pretrained):
            part.load_state_dict(type(part)(part.config).state_dict())
            drawn |= {*part.modules()}
        elif reset := getattr(part, "reset_parameters", None):
            reset()


def _load_word_gru(folder: str, device: str) -> Any:
    """Return a model that `probeta train` has made, by our code and not by that in its folder."""
    from sentence_transformers import SentenceTransformer as Model
    from sentence_transformers.sentence_transformer.modules import Pooling

    from evaluation.encoders.word_gru import WordGru

    modules = [WordGru.load(folder), Pooling.load(folder, subfolder="1_Pooling")]
    return Model(modules=modules, device=device)
