"""The results of the stage `invariance`."""

from pathlib import Path
from typing import Any

from evaluation.results.stored import read_stored

FORMAT = 1


def read_invariance(path: Path) -> dict[str, Any]:
    """Read what ``measure`` wrote.

    Raises:
        InputError: the file is missing, or in another format.
    """
    return read_stored(path, FORMAT, dict, "invariance")
