"""An encoder from a function or an object that a Python program has at hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from evaluation.encoders.calling import Called
from evaluation.encoders.encoder import Prompts

if TYPE_CHECKING:
    from evaluation.arrays import Reals


@dataclass(frozen=True, eq=False)
class GivenEncoder:
    """The vectors of a function, see ``Called``. It is not in ``ENCODERS``: no file can name it.

    Attributes:
        called: the function.
        function: its name, for results.
        revision: what the caller says of its vectors; "" if they are not to be kept.
        prompts: for a function that has an argument `prompt`, see ``Prompts``.
    """

    called: Called
    function: str
    revision: str = ""
    prompts: Prompts = field(default_factory=dict)
    name: ClassVar[str] = "callable"
    form: ClassVar[Literal["natural"]] = "natural"
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = False

    @property
    def dimension(self) -> int:
        """Length of the vector of a short text."""
        return self.called.shape[1]

    @property
    def layers(self) -> tuple[str, ...]:
        """("output",), or "0", "1" … if the function returns layers."""
        return self.called.shape[0]

    @property
    def layer(self) -> str:
        """The last layer."""
        return self.layers[-1]

    @property
    def options(self) -> dict[str, Any]:
        """The name of the function, and the form."""
        return {"function": self.function, "form": self.form}

    def check(self) -> None:
        """See ``Encoder.check``."""
        self.called.check_prompts(self.prompts)

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Reals":
        """Return the vectors of the function, floats [len(texts), layers, dimension].

        Raises:
            InputError: see ``Called.encode``.
        """
        return self.called.encode(texts, prompt)
