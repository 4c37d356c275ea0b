"""Keyed hashing: every random choice of the project is a function of a seed and stable names."""

from hashlib import blake2b

_SCALE = 2.0**-64


def keyed_hash(seed: int, *parts: str) -> int:
    """Hash the parts under the seed, with BLAKE2b (RFC 7693) in its keyed mode.

    Args:
        seed: the run's seed, the key of the hash.
        parts: what the choice is about, from the general to the special: usually a dataset or
            corpus name, a stable id and the purpose of the choice.

    Returns:
        An integer, uniform over 0 … 2**64 - 1. It depends on nothing else: not on the order of
        the calls, the process, ``PYTHONHASHSEED`` or the machine.
    """
    # Every part is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
    digest = blake2b(key=str(seed).encode(), digest_size=8)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest(), "big")


def keyed_uniform(seed: int, *parts: str) -> float:
    """Return ``keyed_hash(seed, *parts)`` as a float in [0, 1)."""
    return (keyed_hash(seed, *parts) >> 11) * (_SCALE * 2**11)


def keyed_choice(count: int, seed: int, *parts: str) -> int:
    """Return an integer, uniform over 0 … count - 1 (the bias is below count / 2**64)."""
    return keyed_hash(seed, *parts) * count >> 64
