"""Cache of stage outputs. An entry is reused only if its key and its files are unchanged.

A stage makes one entry after the other, such as the records of a corpus. The file
``data/memory/STAGE/ENTRY/made.json`` holds the entry's key (a digest for each part of what
determines it: code, parameters, inputs, versions), the SHA-256 of each output file, and facts on
the entry:

    with open_cache():
        cache = Cache("build")
        facts = cache.get("sqc", key)
        if facts is None:
            facts = ...  # make the files
            cache.put("sqc", key, [folder], facts)

File digests are cached too, with the size, times and inode of each file, so that a run does not
read gigabytes again; ``open_cache(verify=True)`` does.
"""

import json
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from corpora_recipes.running.outputs import MEMORY, WRITTEN, clear, locked_folder, write_whole

# Part of what determines an entry, such as "code", to JSON values.
Key = Mapping[str, Any]

# The times of a file are that coarse: a change this soon after the last one may not show in them,
# so a digest read that soon is not trusted.
TIME_RESOLUTION_NS = 2 * 10**9
_STATS_FILE = "stats.json"
# Path to size, mtime, ctime, inode, time of reading, SHA-256. None outside ``open_cache``.
_stats: dict[str, list[Any]] | None = None


@contextmanager
def open_cache(*, verify: bool = False) -> Iterator[None]:
    """Lock the cache of the current folder, after waiting for any other run there.

    Leftovers of killed runs are removed, also beside the outputs. With ``verify``, every file is
    read again, even if its size and times are unchanged.
    """
    global _stats
    if _stats is not None:
        yield
        return
    with locked_folder(MEMORY, "run", wait=True):
        for folder in {part.parent for path in WRITTEN for part in Path().glob(f"{path}/.*.part")}:
            clear(folder)
        _stats = {} if verify else _read_json(MEMORY / _STATS_FILE)
        try:
            yield
        finally:
            stats = {path: stat for path, stat in _stats.items() if Path(path).exists()}
            _stats = None
            write_whole(MEMORY / _STATS_FILE, json.dumps(stats))


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; an unchanged file is not read again."""
    stat = path.stat()
    current = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    name = os.path.realpath(path)
    last_change = max(stat.st_mtime_ns, stat.st_ctime_ns)
    match (_stats or {}).get(name):
        case [*stored, int(read_at), str(digest)]:
            if stored == current and read_at - last_change > TIME_RESOLUTION_NS:
                return digest
    read_at = time.time_ns()
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if _stats is not None:
        _stats[name] = [*current, read_at, digest]
    return digest


def digest_files(paths: Iterable[Path]) -> dict[str, str]:
    """Return path to SHA-256 of files, and of all files in folders except hidden ones."""
    digests: dict[str, str] = {}
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            is_hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.is_file() and not is_hidden:
                digests[file.as_posix()] = digest_file(file)
    return digests


class Cache:
    """The cached entries of a stage; ``written`` counts those put since it was opened."""

    def __init__(self, stage: str) -> None:
        """Open the cache of a stage, which is a folder of that name."""
        self._folder = MEMORY / stage
        self.written = 0

    def folder(self, entry: str) -> Path:
        """Return the folder of an entry; a stage may store files of its own there."""
        return self._folder / entry

    def get(self, entry: str, key: Key) -> Any:
        """Return the facts on an entry; None if the entry must be made."""
        record = self._read(entry)
        if record is None or record["key"] != _digest_key(key):
            return None
        try:
            unchanged = digest_files(map(Path, record["outputs"])) == record["files"]
        except OSError:
            return None
        return record["facts"] if unchanged else None

    def has(self, entry: str) -> bool:
        """Return whether an entry was stored; it may have changed since."""
        return self._record_file(entry).exists()

    def files(self, entry: str) -> dict[str, str]:
        """Return path to SHA-256 of an entry's files when they were made; they may differ now."""
        return dict((self._read(entry) or {}).get("files", {}))

    def put(self, entry: str, key: Key, outputs: Iterable[Path] = (), facts: Any = True) -> None:
        """Store an entry.

        ``outputs`` are files, and folders that contain only files of this entry; ``facts`` are JSON
        other than null.
        """
        paths = [path.as_posix() for path in outputs]
        files = digest_files(map(Path, paths))
        record = {"key": _digest_key(key), "outputs": paths, "files": files, "facts": facts}
        text = json.dumps({"digest": _digest_json(record), "made": record}, ensure_ascii=False)
        self.written += 1
        write_whole(self._record_file(entry), text)

    def delete(self, entry: str) -> None:
        """Delete an entry, if it is there."""
        shutil.rmtree(self.folder(entry), ignore_errors=True)

    def prune(self, entries: Collection[str]) -> None:
        """Delete all entries but these."""
        with suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                if path.name not in entries:
                    self.delete(path.name)

    def _record_file(self, entry: str) -> Path:
        return self.folder(entry) / "made.json"

    def _read(self, entry: str) -> dict[str, Any] | None:
        """Return what ``put`` stored; None if it is missing or damaged."""
        stored = _read_json(self._record_file(entry))
        record = stored.get("made")
        sound = isinstance(record, dict) and stored.get("digest") == _digest_json(record)
        return record if sound else None


def _digest_key(key: Key) -> dict[str, str]:
    return {part: _digest_json(value)[:16] for part, value in key.items()}


def _digest_json(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file; an empty one if the file is missing or damaged."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
