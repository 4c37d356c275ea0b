"""What `fetch` notes: in a raw folder, what it puts there, and whether it has ended."""

import json
from collections.abc import Callable, Iterable, Set
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

# The files that a fetch has put into its folder, to distinguish them from files of the user.
MANIFEST = ".fetched.json"
# Missing files that a message names.
NAMED = 10
_T = TypeVar("_T")


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
    todo = f"remove {folder}, and run fetch again"
    # Earlier versions did not note the end of a fetch.
    return read_note(folder / MANIFEST, lambda found: Fetched(**{"complete": False, **found}), todo)


def write_fetched(folder: Path, fetched: Fetched) -> None:
    """Write the manifest of a folder."""
    write_note(folder / MANIFEST, asdict(fetched))


def read_note(path: Path, make: Callable[[Any], _T], todo: str) -> _T | None:
    """Return what ``make`` makes of the JSON in a file that fetch wrote; None without it.

    Raises:
        InputError: it is damaged; ``todo`` is the advice then.
    """
    try:
        return make(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        expected = "the JSON that fetch wrote"
        raise InputError(path, expected=expected, found=str(error), todo=todo) from None


def write_note(path: Path, note: object, indent: int | None = None) -> None:
    """Write JSON for ``read_note``; with an indent, sorted too, for people."""
    with whole_file(path) as temporary:
        text = json.dumps(note, ensure_ascii=False, indent=indent, sort_keys=indent is not None)
        temporary.write_text(text + "\n", "utf-8")


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
    there = {path.relative_to(raw).as_posix() for path in raw.rglob("*") if path.is_file()}
    wanted = [file for file in fetched.files if file not in there]
    missing = [file for file in wanted if not any(matches(name, {file}) for name in there)]
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    names = f"; missing: {', '.join(missing[:NAMED])}{more}" if missing else ""
    raise InputError(
        raw,
        expected=f"all raw files of {corpus}",
        found=f"a fetch that has not ended{names}",
        todo=f"run `probeta fetch --only {corpus}`, which goes on where it stopped; to read "
        f"only what is there, remove {raw / MANIFEST}",
    )


def matches(name: str, patterns: Set[str]) -> bool:
    """Return whether a name is among some, of which those with a star are patterns."""
    starred = (pattern for pattern in patterns if "*" in pattern)
    return name in patterns or any(fnmatchcase(name, pattern) for pattern in starred)
