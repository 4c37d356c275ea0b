"""The exception for faults in a user's input, and the form of its message."""

from collections.abc import Collection, Iterable
from pathlib import Path

# Characters of a part of the message: of those that quote the input, and of those that list names.
LONGEST_SHOWN, LONGEST_SAID = 1000, 4000


class InputError(Exception):
    """An input of Probeta is not as expected.

    The message names the place, what was expected, what was found and what to do next; the command
    line prints it without a traceback. Whatever the input, it is of bounded length, and printable.
    Its subclasses have an advice of their own, for where nothing better can be said.
    """

    advice = "correct it, and run the same command again"

    def __init__(self, where: Path | str, expected: str, found: str, todo: str = "") -> None:
        self.where = _shown(str(where), LONGEST_SHOWN)
        self.expected = _shown(expected, LONGEST_SAID)
        self.found = _shown(found, LONGEST_SHOWN)
        self.todo = _shown(todo or self.advice, LONGEST_SAID)
        super().__init__(self.where, self.expected, self.found, self.todo)

    def __str__(self) -> str:
        return (
            f"{self.where}\n  expected: {self.expected}\n  found:    {self.found}\n"
            f"  to do:    {self.todo}"
        )


class RawError(InputError):
    """A raw file is not as its publisher gives it."""

    advice = "use the publisher's original file: fetch it again, or correct this one"


class ParamsError(InputError):
    """A value in params.yaml or on the command line is not one that it can be."""

    advice = "correct the value"


class OutputError(InputError):
    """A file that Probeta has written is missing, damaged, or does not fit the others."""

    advice = "make it again: `probeta repro`, which makes what is missing or damaged"


class LostWorkers(InputError):
    """Workers were lost in the same work again and again: another run may succeed."""


class NoWorkers(InputError):
    """Where work should run, it cannot: what ``--executor`` names is wrong, or does not answer."""


# Their names in tracebacks, and where `probeta` finds them.
for _kind in (InputError, RawError, ParamsError, OutputError, LostWorkers, NoWorkers):
    _kind.__module__ = "probeta"


def nearest(names: Iterable[str], known: Collection[str]) -> str:
    """Return the known names that are most like some misspelt ones; "" without any."""
    from difflib import get_close_matches

    lower = {name.lower(): name for name in known}
    like = [match for name in names for match in get_close_matches(name.lower(), lower)]
    return ", ".join(dict.fromkeys(lower[match] for match in like))


def _shown(text: str, most: int) -> str:
    """Return a text that can be printed: cut, with escapes in place of control characters."""
    if len(text) > most:
        length = f" … ({len(text):,} characters)"
        text = text[: most - len(length)] + length
    if text.isprintable():
        return text
    shown = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return "".join(shown)
