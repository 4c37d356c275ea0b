"""How the three command lines end: quietly, or with a user's error and no traceback."""

import sys
from collections.abc import Callable

from corpora_recipes.errors import InputError


def run(main: Callable[[], None]) -> None:
    """Run a command; on an InputError print its message to standard error and exit with 1."""
    try:
        main()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough.
        sys.stderr.close()
