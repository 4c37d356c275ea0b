"""What a sentence encoder is, and how one is made from its entry in params.yaml."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

from corpora_recipes.errors import InputError
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.use_multilingual import UseMultilingual

if TYPE_CHECKING:
    import numpy as np

Form = Literal["natural", "tokens"]


class Encoder(Protocol):
    """A fixed map from texts to vectors: small, picklable, and without state that changes."""

    @property
    def name(self) -> str:
        """Its name in ``ENCODERS``."""

    @property
    def revision(self) -> str:
        """Changes whenever the same text would get another vector."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def form(self) -> Form:
        """The form of text it takes: natural, or spaCy tokens joined by blanks."""

    @property
    def options(self) -> dict[str, Any]:
        """The options it was made with, defaults filled in; JSON values."""

    def encode(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return float32 [len(texts), dimension]; row i depends on text i alone, to the bit.

        A library whose rounding varies with the batch has to be called text by text, or vectors
        would depend on what was encoded in the runs before.
        """


ENCODERS: dict[str, type[CharHash] | type[UseMultilingual]] = {
    "char_hash": CharHash,
    "use_multilingual": UseMultilingual,
}


def make_encoder(name: str, params: Mapping[str, Any]) -> Encoder:
    """Make the encoder of one entry of ``encoders`` in params.yaml.

    Args:
        name: the entry's key, the name of its results.
        params: the entry: the options, and ``encoder:`` where the key is not the encoder's name.

    Raises:
        InputError: there is no such encoder, or it has no such option, or not with this value.
    """
    options = dict(params)
    kind = options.pop("encoder", name)
    where = f"params.yaml: encoders.{name}"
    if kind not in ENCODERS:
        raise InputError(
            where,
            expected=f"an encoder of {', '.join(sorted(ENCODERS))}",
            found=repr(kind),
            todo="correct `encoder:`, or add the encoder to evaluation/encoders/",
        )
    encoder = ENCODERS[kind]
    known = {field.name: field.default for field in fields(encoder)}
    for option, value in options.items():
        if option not in known:
            raise InputError(
                f"{where}.{option}",
                expected=f"an option of {kind}: {', '.join(sorted(known)) or 'it has none'}",
                found=repr(option),
                todo="correct or remove the option",
            )
        default = known[option]
        assert default is not MISSING, "every option has a default"
        if type(value) is not type(default):
            raise InputError(
                f"{where}.{option}",
                expected=f"{type(default).__name__}, such as {default!r}",
                found=repr(value),
                todo="correct the value",
            )
    try:
        return encoder(**options)
    except ValueError as error:
        raise InputError(
            where, expected=str(error), found=repr(options), todo="correct the values"
        ) from None
