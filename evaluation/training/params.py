"""The section `trained` of params.yaml: encoders to train, each an encoder of the run, too."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Strict, StrictInt

from corpora_recipes.checking import Checked, checked, described, one_of
from corpora_recipes.params import Name
from corpora_recipes.running.errors import ParamsError

Objective = Literal["nsp", "nl", "spp", "sdt"]
OBJECTIVES: dict[Objective, str] = {
    "nsp": "neighbouring sentences",
    "nl": "nesting level of the section",
    "spp": "sentence and paragraph position",
    "sdt": "section and document title",
}


@dataclass(frozen=True)
class Sizes:
    """Sizes of an encoder of words and a GRU, and how its bags of words are decoded.

    ``hidden`` is the size of the GRU in each direction: a sentence's vector is twice as long.
    ``drawn``: words drawn for each batch as negatives, of a softmax over the word vectors; 0 for a
    softmax over the whole vocabulary with weights of its own.
    """

    vocabulary: int
    embedding: int
    hidden: int
    drawn: int


SETTINGS = {
    "small": Sizes(vocabulary=20_000, embedding=128, hidden=128, drawn=2000),
    # The defaults of Chen et al.'s released code, except for the size of a batch (20 there).
    "published": Sizes(vocabulary=50_000, embedding=300, hidden=300, drawn=0),
}


Weight = Annotated[float, Strict(), described("a weight above 0", gt=0, lt=1e6)]
# In one order, so that the order in the file decides nothing.
Weights = Annotated[
    dict[Objective, Weight],
    described("weights of nsp, nl, spp, sdt, such as {nsp: 1, nl: 0.5}", min_length=1),
    AfterValidator(lambda given: {name: given[name] for name in OBJECTIVES if name in given}),
]
Count = Annotated[StrictInt, described("an integer, 0 or more", ge=0, lt=2**31)]


@dataclass(frozen=True)
class Training(Checked):
    """How an encoder is trained: an entry of `trained`.

    Attributes:
        corpus: name of a corpus of documents.
        objectives: what is learnt, each with the weight of its loss.
        setting: a key of ``SETTINGS``; without a meaning if there is a model.
        model: pretrained model to train further, a folder or an id of the Hub; "" for a new
            encoder of words and a GRU.
        seed: of all that is random.
        epochs: how often each sentence is seen; with 0, the encoder stays untrained.
        batch: number of sentences of a step.
        sentences: read at most, the first of the records; 0 for all.
    """

    corpus: Name
    objectives: Weights
    setting: Literal["small", "published"] = "small"
    model: Annotated[str, described("a folder, or an id of the Hub")] = ""
    seed: Count = 1
    epochs: Count = 1
    batch: Annotated[StrictInt, described("an integer, 2 or more", ge=2, lt=2**31)] = 128
    sentences: Count = 0


def trained_params(params: Mapping[str, Any], path: Path) -> dict[str, Training]:
    """Return `trained` of what ``load_params`` returned for a path: name to how it is trained."""
    trained = {}
    for name, given in params["trained"].items():
        where = f"{path}: trained.{name}"
        trained[name] = training = checked(Training, given, where)
        one_of(training.corpus, params["corpora"], f"{where}.corpus", " (entries of `corpora`)")
        if training.model and "setting" in given:
            expected = "`setting`, for a new encoder, or `model`, to train one further"
            raise ParamsError(where, expected, "both", "remove one of the two")
    return trained
