"""Models of sentence-transformers, from the Hugging Face Hub or a local folder."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import check_packages, load_packages
from evaluation.encoders.encoder import Prompts, check_prompts
from evaluation.encoders.transformer import Pretrained, Source, is_local, model_label, prepare_torch

if TYPE_CHECKING:
    from evaluation.arrays import Floats

WORD_GRU = "word_gru.WordGru"
"""How modules.json names the module of ``evaluation/encoders/word_gru.py``."""


@dataclass(frozen=True, eq=False, repr=False)
class SentenceTransformer(Pretrained):
    """A model of sentence-transformers, with its pooling and normalisation.

    Vectors vary by rounding with the device, the number of threads and the versions of the
    libraries, none of which is part of ``options``.

    Attributes:
        model: id on the Hugging Face Hub, downloaded if it is not in the Hub's cache, or folder
            with modules.json.
        revision_option: the option `revision`: branch, tag or commit of the Hub.
        prompts: for models trained with them, such as {default: "query: "} for e5; see ``Prompts``.
            Other texts get the default of the model, if it has one.
        batch: number of texts that are encoded together, of nearly the same length.
    """

    prompts: Prompts = field(default_factory=dict)
    batch: int = 32
    name: ClassVar[str] = "sentence_transformers"
    file: ClassVar[str] = "modules.json"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers", "sentence-transformers")

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError("batch >= 1")
        check_prompts(self.prompts)

    @property
    def dimension(self) -> int:
        """Length of a vector; the model is loaded for it."""
        return int(load_model(self.source).get_embedding_dimension())

    @property
    def options(self) -> dict[str, Any]:
        """All options that the vectors depend on."""
        return {"model": model_label(self.model), "batch": self.batch}

    def check(self) -> None:
        """See ``Encoder.check``."""
        check_packages("encoder sentence_transformers", "torch", "sentence_transformers")
        if is_local(self.model):
            _ = self.source

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), 1, dimension], of the texts with a prompt."""
        if not texts:
            return np.zeros((0, 1, self.dimension), np.float32)
        vectors: Floats = load_model(self.source).encode(
            list(texts), batch_size=self.batch, prompt=prompt, show_progress_bar=False
        )
        return vectors.astype(np.float32)[:, None]


@lru_cache(maxsize=1)
def load_model(source: Source) -> Any:
    """Return the model, which stays in memory until ``release``."""
    torch, library = load_packages(
        "encoder sentence_transformers", "torch", "sentence_transformers"
    )
    device = prepare_torch(torch)
    load = _load_word_gru if _is_word_gru(source) else library.SentenceTransformer
    model = source.load(load, device=str(device)).eval()
    # The tokeniser of static word vectors is of another class, which cannot be empty.
    if hasattr(model.tokenizer, "all_special_tokens"):
        source.check_vocabulary(model.tokenizer)
    return model


def _is_word_gru(source: Source) -> bool:
    modules = source.config
    return isinstance(modules, list) and bool(modules) and modules[0].get("type") == WORD_GRU


def _load_word_gru(folder: str, device: str) -> Any:
    """Return a model that `probeta train` has made, by our code and not by that in its folder."""
    from sentence_transformers import SentenceTransformer as Model
    from sentence_transformers.sentence_transformer.modules import Pooling

    from evaluation.encoders.word_gru import WordGru

    modules = [WordGru.load(folder), Pooling.load(folder, subfolder="1_Pooling")]
    return Model(modules=modules, device=device)
