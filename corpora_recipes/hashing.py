"""Keyed hashing, which makes every random choice from a seed and stable names; SHA-256 of files."""

from hashlib import blake2b, file_digest
from pathlib import Path

_SCALE = 2.0**-64


def keyed_hash(seed: int, *parts: str) -> int:
    """Hash the parts under the seed, with BLAKE2b (RFC 7693) in its keyed mode.

    Args:
        seed: the run's seed, the key of the hash.
        parts: the subject of the choice, from general to specific: usually a dataset or corpus
            name, a stable id and the purpose of the choice.

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


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
