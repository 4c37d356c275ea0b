"""Lets a test change code that the process has read already."""

from corpora_recipes.running import code


def forget_code() -> None:
    """Read the project's files anew."""
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()
