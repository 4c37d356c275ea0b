"""Python's seeds of hashing, for tests that start another process."""

import os


def another_hash_seed() -> str:
    """Return a value of PYTHONHASHSEED that this process, whose seed may be random, has not."""
    return "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
