"""The lines of stages without the times that they took."""

import re


def untimed(printed: str) -> str:
    """Return what was printed without the times at the end of lines."""
    return re.sub(r" \((\d+ s|\d+:\d\d min)\)$", "", printed, flags=re.MULTILINE)
