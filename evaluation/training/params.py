"""The section `trained` of params.yaml: encoders to train, each an encoder of the run, too."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from corpora_recipes.params import check_name, known_keys
from corpora_recipes.running.errors import InputError

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

    Attributes:
        vocabulary: number of words at most, the most frequent.
        embedding: length of a word's vector.
        hidden: of the GRU in each direction; a sentence's vector is twice as long.
        drawn: words drawn for each batch as negatives, of a softmax over the word vectors; 0 for
            a softmax over the whole vocabulary with weights of its own.
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


@dataclass(frozen=True)
class Training:
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

    corpus: str
    objectives: dict[Objective, float]
    setting: str = "small"
    model: str = ""
    seed: int = 1
    epochs: int = 1
    batch: int = 128
    sentences: int = 0


_LEAST = {"seed": 0, "epochs": 0, "batch": 2, "sentences": 0}


def trained_params(params: Mapping[str, Any], path: Path) -> dict[str, Training]:
    """Return `trained`: name to how the encoder is trained.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Raises:
        InputError: a key or value is unknown, or there is no such corpus.
    """
    return {
        name: _training(entry, params["corpora"], f"{path}: trained.{name}")
        for name, entry in params["trained"].items()
    }


def training_of(params: Mapping[str, Any], path: Path, name: str) -> Training:
    """Return one entry of `trained`; see ``trained_params``.

    Raises:
        InputError: there is no such entry, or it is wrong.
    """
    known = trained_params(params, path)
    if name not in known:
        raise InputError(
            path,
            expected=f"an entry of `trained`: {', '.join(known) or 'it has no entries'}",
            found=repr(name),
            todo="add it, such as trained: {mine: {corpus: wikipedia, objectives: {nsp: 1}}}",
        )
    return known[name]


def _training(entry: object, corpora: Mapping[str, Any], where: str) -> Training:
    given = known_keys(entry, where, tuple(Training.__dataclass_fields__))
    corpus = given.get("corpus")
    check_name(corpus, f"{where}.corpus")
    if corpus not in corpora:
        raise InputError(
            f"{where}.corpus",
            expected=f"an entry of `corpora`: {', '.join(corpora) or 'it has no entries'}",
            found=repr(corpus),
            todo="name the corpus to learn from",
        )
    for key, least in _LEAST.items():
        value = given.get(key, least)
        if type(value) is not int or not least <= value < 2**31:
            raise _wrong(f"{where}.{key}", f"an integer, {least} or more", value)
    if given.get("setting", "small") not in SETTINGS:
        raise _wrong(f"{where}.setting", f"one of {', '.join(SETTINGS)}", given["setting"])
    if not isinstance(given.get("model", ""), str):
        raise _wrong(f"{where}.model", "a folder, or an id of the Hub", given["model"])
    if given.get("model") and "setting" in given:
        raise InputError(
            where,
            expected="`setting`, for a new encoder, or `model`, to train one further",
            found="both",
            todo="remove one of the two",
        )
    objectives = _objectives(given.get("objectives"), f"{where}.objectives")
    return Training(**given | {"objectives": objectives})


def _objectives(given: object, where: str) -> dict[Objective, float]:
    names = get_args(Objective)
    if not isinstance(given, dict) or not given or not given.keys() <= set(names):
        raise _wrong(where, f"weights of {', '.join(names)}, such as {{nsp: 1, nl: 0.5}}", given)
    for name, weight in given.items():
        if type(weight) not in (int, float) or not 0 < weight < 1e6:
            raise _wrong(f"{where}.{name}", "a weight above 0", weight)
    # In one order, so that the order in the file decides nothing.
    return {name: float(given[name]) for name in names if name in given}


def _wrong(where: str, expected: str, found: object) -> InputError:
    return InputError(where, expected=expected, found=repr(found), todo="correct the value")
