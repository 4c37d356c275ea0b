"""What the three command lines share: how they end on an error, and types of arguments."""

import argparse
import sys
from collections.abc import Callable

from corpora_recipes.errors import InputError


def run(command: Callable[[], None]) -> int:
    """Run a command and return its exit code.

    Returns:
        0; 1 on an InputError, whose message is printed to standard error; 130 if interrupted.
    """
    try:
        command()
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on where it can", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough.
        sys.stderr.close()
    return 0


def positive(text: str) -> int:
    """Return the positive integer of an argument; for argparse, as a type."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)
