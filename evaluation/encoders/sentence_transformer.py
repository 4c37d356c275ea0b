"""Models of sentence-transformers: of the Hugging Face Hub, or of a local folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from evaluation.encoders.pretrained import (
    Revision,
    Source,
    check_packages,
    find_model,
    is_local,
    label,
    load_packages,
    prepare_torch,
)

if TYPE_CHECKING:
    import numpy as np


# Without __eq__ and __repr__: they would look for the model.
@dataclass(frozen=True, eq=False, repr=False)
class SentenceTransformer:
    """A model of sentence-transformers, with the pooling and normalisation that it comes with.

    Vectors vary by rounding with the device, the number of threads and the versions of the
    libraries, none of which is part of ``options``.

    Attributes:
        model: id on the Hugging Face Hub, downloaded if it is not in the Hub's cache, or folder
            with modules.json.
        revision: of the Hub: branch, tag or commit. Reads as the commit that it is, or as a digest
            of the folder's files.
        prompt: put before each text, for models that were trained so, such as "query: " for e5;
            without one, the model's own default, if it has any.
        batch: number of texts that are encoded together, of nearly the same length.
    """

    model: str
    revision: Revision = Revision()  # noqa: RUF009 (a descriptor)
    prompt: str = ""
    batch: int = 32
    name: ClassVar[str] = "sentence_transformers"
    form: ClassVar[Literal["natural"]] = "natural"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers", "sentence-transformers")
    parallel: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError("batch >= 1")

    @property
    def source(self) -> Source:
        """The model, once it is found."""
        return find_model(self.model, vars(self)["asked_revision"], "modules.json")

    @property
    def dimension(self) -> int:
        """Length of a vector; the model is loaded for it."""
        return int(_load(self.source).get_embedding_dimension())

    @property
    def options(self) -> dict[str, Any]:
        """All options that the vectors depend on."""
        return {"model": label(self.model), "prompt": self.prompt, "batch": self.batch}

    def check(self) -> None:
        """See ``Encoder.check``."""
        check_packages("sentence_transformers", "torch", "sentence_transformers")
        if is_local(self.model):
            _ = self.source

    def encode(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return float32 [len(texts), 1, dimension].

        Raises:
            InputError: a package is missing, or the model is not one that can be used.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, 1, self.dimension), np.float32)
        vectors: np.ndarray[Any, np.dtype[np.float32]] = _load(self.source).encode(
            list(texts),
            batch_size=self.batch,
            prompt=self.prompt or None,
            show_progress_bar=False,
        )
        return vectors.astype(np.float32)[:, None]


@lru_cache(maxsize=1)
def _load(source: Source) -> Any:
    torch, library = load_packages("sentence_transformers", "torch", "sentence_transformers")
    device = prepare_torch(torch)
    model = source.load(library.SentenceTransformer, device=str(device)).eval()
    # Of static word vectors it is of another class, which cannot be empty.
    if hasattr(model.tokenizer, "all_special_tokens"):
        source.check_vocabulary(model.tokenizer)
    return model
