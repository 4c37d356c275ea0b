"""How the three command lines end: quietly, or with a user's error and no traceback."""

import sys
from collections.abc import Callable

from corpora_recipes.errors import InputError


def run(command: Callable[[], None]) -> int:
    """Run a command and return its exit code.

    Returns:
        0, or 1 on an InputError, whose message is printed to standard error.
    """
    try:
        command()
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough.
        sys.stderr.close()
    return 0
