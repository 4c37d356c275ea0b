"""Holds a file to its pin: size, SHA-256, SHA-1 or git blob id."""

from hashlib import file_digest, sha1
from pathlib import Path

from corpora_recipes.facts import Pin

# Nothing is known of the file.
ANY = Pin()


def matches(path: Path, pin: Pin, sha256: str) -> bool:
    """Return whether a file is what its pin says.

    Args:
        path: the file.
        pin: what it must be.
        sha256: its SHA-256, which who wrote the file knows already.
    """
    return (
        pin.size in (None, path.stat().st_size)
        and pin.sha256 in (None, sha256)
        and (pin.sha1 is None or pin.sha1 == _sha1(path))
        and (pin.git_blob is None or pin.git_blob == _git_blob(path))
    )


def described(pin: Pin) -> str:
    """Return a pin in words, for messages."""
    named = {"SHA-256": pin.sha256, "SHA-1": pin.sha1, "git blob": pin.git_blob}
    known = [f"{name} {digest}" for name, digest in named.items() if digest]
    known += [] if pin.size is None else [f"{pin.size} bytes"]
    return ", ".join(known) or "any bytes"


def found(path: Path, pin: Pin, sha256: str) -> str:
    """Return what a file is, in the terms of the pin that it does not match, for messages."""
    return described(
        Pin(
            size=path.stat().st_size,
            sha256=sha256 if pin.sha256 or not pin.has_digest else None,
            sha1=_sha1(path) if pin.sha1 else None,
            git_blob=_git_blob(path) if pin.git_blob else None,
        )
    )


def _sha1(path: Path, begin: bytes = b"") -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: sha1(begin, usedforsecurity=False)).hexdigest()


def _git_blob(path: Path) -> str:
    return _sha1(path, b"blob %d\0" % path.stat().st_size)
