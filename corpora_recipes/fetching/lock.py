"""sources.lock: what the files were that corpus.yaml has no digest of, when they were fetched."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from corpora_recipes.running.workplaces import release, try_lock

# In the working folder, beside params.yaml.
LOCK = Path("sources.lock")


@dataclass(frozen=True, slots=True)
class Locked:
    """A file as it was when it was fetched for the first time.

    Attributes:
        date: of that fetch, as YYYY-MM-DD.
        file: its upstream name.
        size: in bytes.
        sha256: its SHA-256, in hexadecimal; "" if its SHA-1 is known.
        sha1: its SHA-1, if its publisher says it.
        came_from: the address that gave it; "" if it is the one under which the lock has it.
    """

    date: str
    file: str
    size: int
    sha256: str = ""
    sha1: str = ""
    came_from: str = ""


def read_lock() -> dict[str, Locked]:
    """Return the first address of each locked file, and the file.

    Raises:
        InputError: the lock is damaged.
    """
    try:
        return {url: Locked(**entry) for url, entry in json.loads(LOCK.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            LOCK,
            expected="the JSON that fetch wrote",
            found=str(error),
            todo="restore the file, or remove it to accept what the servers have now",
        ) from None


def add_to_lock(url: str, file: Locked) -> None:
    """Lock a file.

    Raises:
        InputError: the lock is damaged.
    """
    # Read again: fetches of other corpora may have written to it in the meantime.
    writing = try_lock(LOCK.with_name(f".{LOCK.name}.writing"), wait=True)
    try:
        entries = {url: asdict(entry) for url, entry in (read_lock() | {url: file}).items()}
        with whole_file(LOCK) as temporary:
            text = json.dumps(entries, ensure_ascii=False, indent=2, sort_keys=True)
            temporary.write_text(text + "\n", "utf-8")
    finally:
        release(writing)
