"""The interface of encoders: a description, and texts to vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast, runtime_checkable

from pydantic import StrictBool

from corpora_recipes.running.errors import InputError
from corpora_recipes.validation import Checked

if TYPE_CHECKING:
    from evaluation.arrays import Floats


Form = Literal["natural", "tokens"]
Postprocess = Literal["none", "centre", "abtt", "component_removal", "whitening"]
"""What is done to vectors before they are compared, see ``evaluation.embedding.embedding``."""
Prompts = dict[str, str]
"""Prompts of texts, for encoders that are trained with them: name of a dataset, abbreviation of a
group, or "default", to the prompt of its texts. The first of these that is there counts."""


@dataclass(frozen=True)
class Vectors(Checked):
    """How vectors are stored: the option `vectors` of an encoder.

    Attributes:
        dtype: `float32`; or `float16`, with an exponent for each vector, compressed.
        keep: whether `embed` encodes; or else the stages that score, a dataset at a time.
    """

    dtype: Literal["float32", "float16"] = "float32"
    keep: StrictBool = True

    @property
    def as_option(self) -> dict[str, Any]:
        """What vectors depend on, among other options; empty by default."""
        return {} if self.dtype == "float32" else {"vectors": {"dtype": self.dtype}}

    def bytes_of(self, dimension: int) -> int:
        """Return what a stored vector takes on the disk, at most."""
        return 4 * dimension if self.dtype == "float32" else 2 * dimension + 4


class Described(Protocol):
    """The description of an encoder, available without encoding."""

    @property
    def name(self) -> str:
        """Its name in ``ENCODERS``."""

    @property
    def revision(self) -> str:
        """A version that changes whenever the same text would get another vector."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the vectors that each text gets; ``("output",)`` if it gets one."""

    @property
    def layer(self) -> str:
        """The main layer, for tables with one score per encoder."""

    @property
    def form(self) -> Form:
        """The form of texts that it encodes: natural, or spaCy tokens joined by spaces."""

    @property
    def options(self) -> dict[str, Any]:
        """All other options that its vectors depend on, with the defaults; JSON values."""

    @property
    def prompts(self) -> Prompts:
        """The prompts; empty if it has none. They are part of the key of each vector."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages whose versions may change the rounding of its vectors."""

    @property
    def postprocessing(self) -> Postprocess:
        """What is done to its vectors; the store holds them without it."""

    @property
    def vectors(self) -> Vectors:
        """How the store holds them."""


class Encoder(Described, Protocol):
    """A fixed map from texts to vectors: small, picklable, and without state that changes."""

    @property
    def dimension(self) -> int:
        """Length of a vector; may load a model."""

    @property
    def parallel(self) -> bool:
        """Whether several processes of a machine encode; not large models, a GPU, fast encoders."""

    def check(self) -> None:
        """Check its requirements, as far as possible without loading a model."""

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), len(layers), dimension].

        Row i depends only on text i: to the bit or, if ``options`` has a ``batch`` or a server
        encodes, up to rounding. A library whose rounding varies with the batch must be called text
        by text, or with a ``batch`` that is recorded. Encoders with prompts have a second argument:
        `TakesPrompts`.
        """


class TakesPrompts(Encoder, Protocol):
    """An encoder with the option `prompts`."""

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), len(layers), dimension], of the texts with a prompt."""


@runtime_checkable
class HasWords(Protocol):
    """An encoder with a vocabulary of words."""

    def vocabulary(self) -> Iterator[tuple[list[str], "Floats"]]:
        """Yield all words and their vectors, float32 [words, dimension], in blocks."""

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the numbers of "tokens" and of those "out_of_vocabulary"."""


@dataclass(frozen=True, kw_only=True)
class Postprocessed:
    """The options that all encoders have, see ``Described``."""

    postprocessing: Postprocess = "none"
    vectors: Vectors = Vectors()


@dataclass(frozen=True, kw_only=True)
class OneVector(Postprocessed):
    """Base of most encoders: a frozen dataclass that gives a natural text one vector.

    A subclass adds ``name``, ``revision``, ``dimension`` and ``encode``, and overrides the rest.
    """

    form: ClassVar[Form] = "natural"
    layers: ClassVar[tuple[str, ...]] = ("output",)
    layer: ClassVar[str] = "output"
    prompts: ClassVar[Prompts] = {}
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    parallel: ClassVar[bool] = False

    @property
    def options(self) -> dict[str, Any]:
        """The other fields, which are the options in params.yaml, with the defaults."""
        common = {each.name for each in fields(Postprocessed)}
        return {name: value for name, value in asdict(self).items() if name not in common}

    def check(self) -> None:
        """See ``Encoder.check``."""


# Texts of a call of a user's function, which may be slow: how long the rest takes is seen early.
CALL_TEXTS = 256


def encode_checked(
    encoder: Encoder,
    texts: Sequence[str],
    prompt: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> "Floats":
    """Return ``encoder.encode(texts)``, with a prompt if there is one, after checking its form.

    ``progress`` is called with a number of texts done.
    """
    import numpy as np

    if encoder.name == "callable" and len(texts) > CALL_TEXTS:
        calls = (texts[start : start + CALL_TEXTS] for start in range(0, len(texts), CALL_TEXTS))
        return np.concatenate([encode_checked(encoder, one, prompt, progress) for one in calls])

    def wrong(expected: str, found: str) -> InputError:
        names = (encoder.options.get(key) for key in ("function", "model"))
        where = ", ".join([f"encoder {encoder.name}", *filter(None, names)])
        todo = "correct the encoder, and run it again"
        return InputError(where, expected, found, todo)

    if prompt is None:
        vectors = np.asarray(encoder.encode(texts))
    else:
        vectors = np.asarray(cast("TakesPrompts", encoder).encode(texts, prompt))
    shape = (len(texts), len(encoder.layers), encoder.dimension)
    if vectors.shape != shape or not np.issubdtype(vectors.dtype, np.floating):
        batch = f"in the batch that begins with {texts[0]!r}"
        found = f"{vectors.dtype} of shape {vectors.shape}, {batch}"
        raise wrong(f"floats of shape {shape}: texts, layers, dimension", found)
    # Through float32 first: a float64 beyond its range becomes infinite.
    with np.errstate(over="ignore"):
        vectors = vectors.astype(np.float32, copy=False)
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=(1, 2)))
    if bad.size:
        found = f"NaN, or an infinite or too large number, for {texts[bad[0]]!r}"
        raise wrong("finite numbers, in the range of float32", found)
    if progress:
        progress(len(texts))
    return vectors


def check_prompts(prompts: object) -> None:
    """Check the option `prompts` of an encoder, but not the names in it."""
    if not isinstance(prompts, dict) or any(
        not isinstance(text, str) for item in prompts.items() for text in item
    ):
        raise ValueError('prompts: texts, such as {default: "query: ", SP: "sentence: "}')


def check_templates(prompts: object) -> None:
    """Check prompts that stand before a text, or have `{}` in its place."""
    check_prompts(prompts)
    for prompt in cast("Prompts", prompts).values():
        if {"{", "}"} & {*prompt} and prompt.count("{}") != 1:
            raise ValueError("prompts: `{}` once for the text, or no braces, for a prefix")


def fill_prompt(prompt: str, text: str) -> str:
    """Return a text with its prompt: in the place of `{}`, or else after it."""
    return prompt.replace("{}", text) if "{}" in prompt else prompt + text


def option_field(name: str, default: Any, compare: bool = True) -> Any:
    """Return a dataclass field for an option whose name is also that of a property."""
    return field(default=default, metadata={"option": name}, compare=compare)


def settings_of(encoder: Encoder) -> dict[str, Any]:
    """Return the fields that an encoder's scores depend on: those that are compared."""
    kind = cast("Any", encoder)
    compared = {field.name for field in fields(kind) if field.compare}
    return {name: value for name, value in asdict(kind).items() if name in compared}


@dataclass(frozen=True)
class Description:
    """The description of an encoder, computed once; see ``Described``."""

    name: str
    revision: str
    layers: tuple[str, ...]
    layer: str
    form: Form
    options: dict[str, Any]
    prompts: Prompts
    packages: tuple[str, ...]
    postprocessing: Postprocess = "none"
    vectors: Vectors = Vectors()


def describe(encoder: Described) -> Description:
    """Return a copy of the encoder's description.

    The encoder may have to digest a file of several GiB, or to load a model, for each property.
    """
    names = (field.name for field in fields(Description))
    return Description(**{name: getattr(encoder, name) for name in names})
