"""The manifest of a raw folder: what `fetch` puts into it, and whether it has ended."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

# The files that a fetch has put into its folder, to distinguish them from files of the user.
MANIFEST = ".fetched.json"
# Missing files that a message names.
NAMED = 10


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch puts into its folder.

    Attributes:
        source: their origin, in words.
        files: their names, relative to the folder; or patterns, where only servers know the names.
        complete: whether all of them are there: False until the fetch has ended.
        sha256: name to SHA-256 of files that servers change, which nothing pins.
    """

    source: str
    files: list[str]
    complete: bool
    sha256: dict[str, str] = field(default_factory=dict)


def read_fetched(folder: Path) -> Fetched | None:
    """Return the manifest of a folder, None if no fetch was ever there.

    Raises:
        InputError: it is damaged.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text("utf-8"))
        # Earlier versions did not note the end of a fetch.
        return Fetched(**{"complete": False, **found})
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise InputError(
            path,
            expected="the JSON that fetch wrote",
            found=str(error),
            todo=f"remove {folder}, and run fetch again",
        ) from None


def write_fetched(folder: Path, fetched: Fetched) -> None:
    """Write the manifest of a folder."""
    with whole_file(folder / MANIFEST) as temporary:
        temporary.write_text(json.dumps(asdict(fetched), ensure_ascii=False) + "\n", "utf-8")


def note_digests(folder: Path, files: Iterable[str]) -> None:
    """Write the SHA-256 of files into the manifest of their folder."""
    fetched = read_fetched(folder)
    assert fetched is not None
    write_fetched(folder, replace(fetched, sha256={f: sha256_of(folder / f) for f in files}))


def check_complete(raw: Path, corpus: str) -> None:
    """Refuse a folder in which a fetch has begun and not ended. Other folders are the user's.

    Args:
        raw: the folder.
        corpus: name of the corpus, for messages.

    Raises:
        InputError: it has not ended; the message lists the files that are missing.
    """
    fetched = read_fetched(raw)
    if fetched is None or fetched.complete:
        return
    missing = list(_missing(raw, fetched.files))
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    names = f"; missing: {', '.join(missing[:NAMED])}{more}" if missing else ""
    raise InputError(
        raw,
        expected=f"all raw files of {corpus}",
        found=f"a fetch that has not ended{names}",
        todo=f"run `probeta fetch --only {corpus}`, which goes on where it stopped; to read "
        f"only what is there, remove {raw / MANIFEST}",
    )


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether one of some patterns with a star fits a name."""
    return any("*" in pattern and fnmatchcase(name, pattern) for pattern in patterns)


def _missing(raw: Path, files: Sequence[str]) -> Iterator[str]:
    """Yield the files that are not there, and the patterns that no file fits."""
    there = {path.relative_to(raw).as_posix() for path in raw.rglob("*") if path.is_file()}
    for file in files:
        if file not in there and not any(matches(name, [file]) for name in there):
            yield file
