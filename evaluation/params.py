"""The sections of params.yaml that evaluation reads: encoders, trained, and those of stages."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Strict, StrictInt

from corpora_recipes.params import Name, load_params
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.running.outputs import TRAINED
from corpora_recipes.running.stage import read_skipped
from corpora_recipes.validation import (
    EMPTY_AS_NONE,
    Checked,
    UniqueList,
    check_choice,
    described,
    validate,
)
from evaluation.encoders.encoder import Postprocess
from evaluation.results.scores import Casing, Similarity

if TYPE_CHECKING:
    from evaluation.encoders.encoder import Encoder


Options = Annotated[
    dict[Any, Any] | None, described("options, such as {dimension: 512}, or nothing"), EMPTY_AS_NONE
]


def encoders_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return the encoders of a run: those of `encoders`, and the models of `trained`.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Returns:
        Name to options.
    """
    named = validate(dict[str, Options], params["encoders"], f"{path}: encoders")
    trained = {
        name: {"encoder": "sentence_transformers", "model": (TRAINED / name).as_posix()}
        for name in params.get("trained", {})
    }
    entries = {name: entry or {} for name, entry in named.items()} | trained
    counts = Counter(name.lower() for name in entries)
    if alike := [name for name in entries if counts[name.lower()] > 1]:
        expected = "names that differ in more than case: some systems have one folder for them"
        raise ParamsError(f"{path}: encoders", expected, ", ".join(alike), "rename one")
    return entries


def encoder_factories(path: Path) -> "dict[str, Callable[[], Encoder]]":
    """Return a factory of each encoder of params.yaml, except those that `train` has skipped.

    Args:
        path: of params.yaml.
    """
    from evaluation.encoders import make_encoder

    skipped = read_skipped("train")
    return {
        name: partial(make_encoder, name, entry, f"{path}: encoders.{name}")
        for name, entry in encoders_params(load_params(path), path).items()
        if name not in skipped
    }


def store_names(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return entry of ``encoders_params`` to the entry under whose name its vectors are stored.

    That is the first entry that differs in `postprocessing` alone, if possible one without it.
    """
    owners: dict[str, str] = {}
    stores = {}
    for name in sorted(entries, key=lambda name: "postprocessing" in entries[name]):
        options = {"encoder": name, **entries[name], "postprocessing": None}
        stores[name] = owners.setdefault(json.dumps(options, sort_keys=True, default=str), name)
    return stores


def embedded_encoders(path: Path) -> "dict[str, tuple[Callable[[], Encoder], str]]":
    """Return the encoders of params.yaml, except those that `embed` has skipped.

    Name to its factory, and the name of its store, see ``store_names``.
    """
    skipped, encoders = read_skipped("embed"), encoder_factories(path)
    stores = store_names(encoders_params(load_params(path), path))
    return {
        name: (make, stores[name])
        for name, make in encoders.items()
        if stores[name] in encoders and stores[name] not in skipped
    }


@dataclass
class EvalRank(Checked):
    """The section `evalrank`."""

    similarities: UniqueList[Similarity] = field(default_factory=lambda: [*get_args(Similarity)])
    postprocessings: UniqueList[Postprocess] = field(
        default_factory=lambda: ["none", "centre", "abtt", "whitening"]
    )


def evalrank_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `evalrank` of what ``load_params`` returned for a path: an ``EvalRank`` as a dict."""
    return vars(validate(EvalRank, params["evalrank"], f"{path}: evalrank"))


@dataclass
class ParaLex(Checked):
    """The section `paralex`; the threshold is that of Sumbler et al. (2018)."""

    casings: UniqueList[Casing] = field(default_factory=lambda: [*get_args(Casing)])
    coherence_threshold: Annotated[
        StrictInt, described("how many seeds must suggest a term, an integer from 1", ge=1)
    ] = 2


def paralex_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `paralex` of what ``load_params`` returned for a path: a ``ParaLex`` as a dict."""
    return vars(validate(ParaLex, params["paralex"], f"{path}: paralex"))


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
    AfterValidator(lambda weights: {name: weights[name] for name in OBJECTIVES if name in weights}),
]
Count = Annotated[StrictInt, described("an integer, 0 or more", ge=0, lt=2**31)]


@dataclass(frozen=True)
class Training(Checked):
    """How an encoder is trained: an entry of `trained`.

    Attributes:
        corpus: name of a corpus of documents.
        objectives: each with the weight of its loss.
        setting: a key of ``SETTINGS``; ignored if there is a model.
        model: pretrained model to train further, a folder or an id of the Hub; "" for a new
            encoder of words and a GRU.
        seed: of all random choices.
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
    for name, entry in params["trained"].items():
        where = f"{path}: trained.{name}"
        trained[name] = training = validate(Training, entry, where)
        check_choice(
            training.corpus, params["corpora"], f"{where}.corpus", " (entries of `corpora`)"
        )
        if training.model and "setting" in entry:
            expected = "`setting`, for a new encoder, or `model`, to train one further"
            raise ParamsError(where, expected, "both", "remove one of the two")
    return trained
