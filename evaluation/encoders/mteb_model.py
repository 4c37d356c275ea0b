"""The encoder `mteb`: models of its registry, with the prompts that it gives them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from builders.tasks.benchmarks import AN, CAT, EVALRANK, GROUPS, PARALEX, SPC, SS
from corpora_recipes.running.errors import InputError, ParamsError, check_packages, load_packages
from evaluation.encoders.encoder import OneVector
from evaluation.encoders.transformer import describe_error, prepare_torch

if TYPE_CHECKING:
    from evaluation.arrays import Floats

WHERE = "encoder mteb"
SIMILARITY = "STS"
TASK_TYPES: dict[str, str] = {
    "default": SIMILARITY,  # single words, whose neighbours are looked for
    **{group.abbreviation: "Classification" for group in GROUPS},
    SPC.abbreviation: "PairClassification",
    **{group.abbreviation: SIMILARITY for group in (SS, EVALRANK, PARALEX, AN, CAT)},
}
"""Group of tasks, or "default", to the type that mteb would give them: models choose their prompts
by it."""


# Without __eq__ and __repr__, which would look for the model.
@dataclass(frozen=True, eq=False, repr=False)
class MtebModel(OneVector):
    """A model of mteb's registry, loaded and called as mteb does: open weights, or an API.

    The "prompt" of a text is the type of its task in mteb, from which the model makes its own.
    Vectors vary by rounding with the device, the number of threads and the versions of the
    libraries, none of which is part of ``options``, except for the version of mteb: it has the
    prompts.

    Attributes:
        model: its name in mteb.
        batch: number of texts that are encoded together.
    """

    model: str
    batch: int = 32
    name: ClassVar[str] = "mteb"
    prompts: ClassVar[dict[str, str]] = TASK_TYPES
    packages: ClassVar[tuple[str, ...]] = ("mteb", "torch", "transformers", "sentence-transformers")

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError("batch >= 1")

    @property
    def revision(self) -> str:
        """The commit on the Hub that mteb names, or the version of an API."""
        return str(_find_meta(self.model).revision)

    @property
    def dimension(self) -> int:
        """Length of a vector; the model is loaded for it."""
        return int(self.encode(["Hola ."]).shape[2])

    @property
    def options(self) -> dict[str, Any]:
        """All options that the vectors depend on, and the version of mteb."""
        (mteb,) = load_packages(WHERE, "mteb")
        return {"model": self.model, "batch": self.batch, "mteb": mteb.__version__}

    def check(self) -> None:
        """See ``Encoder.check``."""
        check_packages(WHERE, "mteb")

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), 1, dimension], of texts of a type of task."""
        if not texts:
            return np.zeros((0, 1, self.dimension), np.float32)
        model, metadata = load_model(self.model), _task_metadata(prompt or SIMILARITY)
        return encode_with(model, texts, metadata, "test", batch_size=self.batch)[:, None]


def encode_with(
    model: Any, texts: Sequence[str], metadata: Any, split: str, **options: Any
) -> "Floats":
    """Return the vectors of a ``mteb.EncoderProtocol``, float32 [len(texts), dimension].

    They are encoded for a task, of which there is a ``mteb.TaskMetadata``, and one of its splits,
    with options for ``model.encode``, among them ``batch_size``.
    """
    from datasets import Dataset
    from torch.utils.data import DataLoader

    vectors = model.encode(
        DataLoader(Dataset.from_dict({"text": list(texts)}), batch_size=options["batch_size"]),
        task_metadata=metadata,
        hf_split=split,
        hf_subset="default",
        **{"show_progress_bar": False} | options,
    )
    if hasattr(vectors, "cpu"):
        vectors = vectors.detach().cpu().float().numpy()
    return np.asarray(vectors).astype(np.float32)


def instruction(task_type: str) -> str:
    """Return mteb's instruction for a type of task, for models that follow instructions."""
    prompt: str = getattr(import_module("mteb.abstasks"), f"AbsTask{task_type}").abstask_prompt
    return prompt


@cache
def _task_metadata(task_type: str) -> Any:
    """Return the metadata of a task of a type, from which models choose their prompts."""
    (mteb,) = load_packages(WHERE, "mteb")
    return mteb.TaskMetadata(
        name="Probeta",
        description="Texts of Probeta's datasets.",
        type=task_type,
        prompt=instruction(task_type),
        dataset={"path": "probeta", "revision": "1"},
        eval_langs=["spa-Latn"],
        main_score="accuracy",
    )


@cache
def _find_meta(model: str) -> Any:
    (mteb,) = load_packages(WHERE, "mteb")
    try:
        return mteb.get_model_meta(model)
    except KeyError as error:
        expected = "the name of a model that mteb knows (mteb.get_model_metas lists them)"
        todo = "correct `model:`; for another model, write `encoder: sentence_transformers`"
        raise ParamsError(f"model {model}", expected, str(error.args[0]), todo) from None


@lru_cache(maxsize=1)
def load_model(model: str) -> Any:
    """Return the model, which stays in memory until ``release``."""
    meta = _find_meta(model)
    (torch,) = load_packages(WHERE, "torch")
    device = prepare_torch(torch)
    try:
        return meta.load_model(device=str(device))
    # Each model has code of its own.
    except Exception as error:
        expected, found = "a model that mteb can load", describe_error(error)
        todo = "install what the message asks for, go online once, or choose another model"
        raise InputError(f"model {model}", expected, found, todo) from error
