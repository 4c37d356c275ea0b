"""The exception for faults in a user's input, and the form of its message."""

from pathlib import Path


class InputError(Exception):
    """An input of Probeta is not as expected.

    The message names the place, what was expected, what was found and what to do next; the command
    line prints it without a traceback.
    """

    def __init__(
        self,
        where: Path | str,
        *,
        expected: str,
        found: str,
        todo: str,
    ) -> None:
        super().__init__(where, expected, found, todo)
        self.where = str(where)
        self.expected = expected
        self.found = found
        self.todo = todo

    def __str__(self) -> str:
        return (
            f"{self.where}\n  expected: {self.expected}\n  found:    {self.found}\n"
            f"  to do:    {self.todo}"
        )

    def __reduce__(self) -> tuple[object, tuple[str, str, str, str]]:
        # Keyword-only arguments do not survive the default pickling between processes.
        return _rebuild, (self.where, self.expected, self.found, self.todo)


def _rebuild(where: str, expected: str, found: str, todo: str) -> InputError:
    return InputError(where, expected=expected, found=found, todo=todo)
