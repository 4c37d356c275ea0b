"""Which encoder a user means, and where its vectors are kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.running.errors import InputError, nearest
from evaluation.encoders.encoder import check_prompts
from probeta.scores import check_name, name_of

if TYPE_CHECKING:
    from evaluation.encoders.encoder import Encoder

STORES = Path("data/embeddings")
# The types of models that a folder or a repository of the Hub holds, by a file that they have.
_MODELS = {"modules.json": "sentence_transformers", "config.json": "transformers"}


@dataclass(frozen=True, slots=True)
class Found:
    """An encoder, the name of its results, and the folder of its vectors, if they are kept."""

    encoder: "Encoder"
    name: str
    store: Path | None


def find_encoder(
    given: object,
    *,
    name: str | None,
    revision: str | None,
    prompts: Mapping[str, str] | None,
    entries: Mapping[str, dict[str, Any]],
) -> Found:
    """Find an encoder.

    Args:
        given: a string or path: a name in ``entries``, a built-in encoder without options,
            "module:object.attribute", a folder of a model, a file of word vectors, or an id of the
            Hub; or else a function, or an object with a method ``encode``.
        name: of its results; None for one that is derived from ``given``.
        revision: of a function or object, what changes with its vectors, which are then kept; of
            another encoder, its option of that name.
        prompts: the encoder's option of that name.
        entries: `encoders` of params.yaml.
    """
    check_name(name)
    asked = dict(prompts) if isinstance(prompts, Mapping) else prompts
    try:
        check_prompts(asked or {})
    except ValueError as error:
        raise InputError("prompts", str(error), repr(prompts), "write such a mapping") from None
    if not isinstance(given, str | Path):
        return _given(given, name, revision, asked or {})
    given = str(given)
    derived, options = _options(given, revision, entries)
    if revision is not None:
        options["revision"] = revision
    if asked is not None:
        options["prompts"] = asked
    from evaluation.encoders import make_encoder
    from evaluation.entries import stores_of

    where = None if given in entries else f"encoder {given}"
    encoder = make_encoder(derived, options, where)
    encoder.check()
    name = name or name_of(derived)
    if encoder.name == "callable" and given not in entries and revision is None:
        # What its module imports may change without a new revision.
        return Found(encoder, name, None)
    store = STORES / name
    if given in entries and name == given:
        store = STORES / stores_of(entries)[name]
    else:
        _check_store(store, encoder)
    return Found(encoder, name, store)


def _given(given: object, name: str | None, revision: str | None, prompts: dict[str, str]) -> Found:
    """Return a function or object as an encoder."""
    from evaluation.encoders.callable import Called, GivenEncoder, function_of

    function = function_of(given)
    if function is None:
        expected = "a function, an object with a method `encode`, or a string"
        todo = "pass a function that takes a list of texts and returns an array of vectors"
        raise InputError("encoder", expected, type(given).__name__, todo)
    kind = given if hasattr(given, "__qualname__") else type(given)
    label = f"{kind.__module__}.{kind.__qualname__}"
    encoder = GivenEncoder(
        label, revision or "", prompts=prompts, given=Called(function, f"encoder {label}")
    )
    encoder.check()
    name = name or name_of(label.rpartition(".")[2])
    if revision is None:
        return Found(encoder, name, None)
    _check_store(STORES / name, encoder)
    return Found(encoder, name, STORES / name)


def _options(
    given: str, revision: str | None, entries: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return a name for an encoder, and its entry as it would be in params.yaml."""
    from corpora_recipes.running.extras import check_packages
    from evaluation.encoders import ENCODERS, options_required

    ready = [name for name, kind in ENCODERS.items() if not options_required(kind)]
    path = Path(given)
    if given in entries:
        return given, dict(entries[given])
    if given in ready:
        return given, {}
    if given and path.is_dir():
        return path.resolve().name, _model(given, revision)
    if path.is_file():
        return path.name, {"encoder": "static", "path": given}
    if re.fullmatch(r"[\w.]+:[\w.]+", given):
        return given, {"encoder": "callable", "function": given}
    if re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", given):
        # Before the Hub is asked, which takes long without a network.
        check_packages(f"{given}, a model of the Hub", "torch", "transformers")
        return given.partition("/")[2], _model(given, revision)
    known = [*dict.fromkeys([*entries, *ready])]
    like = nearest([given], known)
    expected = f"a name ({', '.join(known)}), module:object.attribute, a folder or file, or an "
    expected += "id of the Hugging Face Hub such as organisation/name"
    todo = f"did you mean {like}?" if like else "correct it, or add it to params.yaml"
    raise InputError(f"encoder {given}", expected, "none of these", todo)


def _model(model: str, revision: str | None) -> dict[str, Any]:
    """Return the entry of a model in a folder or on the Hub."""
    from evaluation.encoders.pretrained import find_model

    for file, kind in _MODELS.items():
        try:
            find_model(model, revision or "main", file)
        except InputError as error:
            missing = error
        else:
            return {"encoder": kind, "model": model}
    raise missing


def _check_store(store: Path, encoder: "Encoder") -> None:
    """Refuse a store of another encoder: its vectors would be removed."""
    from evaluation.embedding.store import fingerprint, read_header

    found, wanted = read_header(store), fingerprint(encoder)

    def options(header: Mapping[str, Any]) -> dict[str, Any]:
        # The file of a function may change, as a revision may.
        return {key: value for key, value in header["options"].items() if key != "file"}

    if found and (found["encoder"], options(found)) != (wanted["encoder"], options(wanted)):
        todo = "choose another name (`name=` in Python, --name in the shell), or remove the folder"
        expected = f"vectors of {wanted}, or no such folder"
        raise InputError(store, expected, f"vectors of {found}", todo)
