"""What the three command lines share: how they end on an error, and types of arguments."""

import argparse
import sys
from collections.abc import Callable

from corpora_recipes.errors import InputError
from corpora_recipes.outputs import FULL_DISK


def run(command: Callable[[], None]) -> int:
    """Run a command and return its exit code.

    Returns:
        0; 1 on an InputError or a full disk, with a message on standard error; 130 if interrupted.
    """
    try:
        command()
        sys.stdout.flush()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: run it again; a download goes on where it stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough.
        sys.stderr.close()
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        message = InputError(
            error.filename or "the disk",
            expected="room for what is written",
            found=str(error.strerror or error),
            todo="free some space, or raise the limit; the same command goes on where it can",
        )
        print(f"error: {message}", file=sys.stderr)
        return 1
    return 0


def positive(text: str) -> int:
    """Return the positive integer of an argument; for argparse, as a type."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return int(text)
