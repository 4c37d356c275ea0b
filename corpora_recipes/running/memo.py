"""The memory of what stages have made: only what it answers for is kept, and that is checked.

A stage makes one entry after the other, such as the records of a corpus. Of each, the file
``data/memory/STAGE/ENTRY/made.json`` has the key, a digest for each part of what decides it (code,
parameters, inputs, versions), the digests of the files that were made, and facts on them. An entry
is kept if its key is the same and its files are, to the byte, those that were made:

    with remembering():
        memo = Memo("build")
        facts = memo.kept("sqc", key)
        if facts is None:
            facts = ...  # make the files
            memo.keep("sqc", key, [folder], facts)

SHA-256 of files are kept too, with size, times and number of each file, so that gigabytes are not
read in every run; ``remembering(check=True)`` reads all of them again.
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

from corpora_recipes.running.folders import MEMORY, WRITTEN
from corpora_recipes.running.outputs import clear, locked_folder, whole_file

Key = Mapping[str, Any]
"""Part of what decides an entry, such as "code", to JSON values."""

# A file that changes within so many nanoseconds after it was read may keep its times: those of a
# file system are that coarse.
COARSE = 2 * 10**9
_STATS = "stats.json"
# Of a file: size, times of content and of the entry, number; when it was read; SHA-256.
_stats: dict[str, list[Any]] | None = None


@contextmanager
def remembering(*, check: bool = False) -> Iterator[None]:
    """Open the memory of the current folder; waits for another run there to end.

    What killed runs have left is cleared, beside outputs that will be kept, too. With ``check``,
    every file is read again, even if its size and times are as they were.
    """
    global _stats
    if _stats is not None:
        yield
        return
    with locked_folder(MEMORY, "run", wait=True):
        for folder in {part.parent for path in WRITTEN for part in Path().glob(f"{path}/.*.part")}:
            clear(folder)
        _stats = {} if check else _read(MEMORY / _STATS)
        try:
            yield
        finally:
            stats = {path: stat for path, stat in _stats.items() if Path(path).exists()}
            _stats = None
            with whole_file(MEMORY / _STATS) as temporary:
                temporary.write_text(json.dumps(stats), "utf-8")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; it is not read again if it is as it was."""
    stat = path.stat()
    now = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    name = os.path.realpath(path)
    match (_stats or {}).get(name):
        case [*then, int(read), str(digest)] if then == now and read - max(now[1:3]) > COARSE:
            return digest
    read = time.time_ns()
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if _stats is not None:
        _stats[name] = [*now, read, digest]
    return digest


def digests_of(paths: Iterable[Path]) -> dict[str, str]:
    """Return path to SHA-256, of files and of all files in folders; without hidden ones."""
    digests: dict[str, str] = {}
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            is_hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.is_file() and not is_hidden:
                digests[file.as_posix()] = digest_of(file)
    return digests


class Memo:
    """What is remembered of a stage; ``made`` is the number of entries made since."""

    def __init__(self, stage: str) -> None:
        """Open the memory of a stage, which is a folder of its name."""
        self._folder = MEMORY / stage
        self.made = 0

    def place(self, entry: str) -> Path:
        """Return the folder for files that only the memory needs."""
        return self._folder / entry

    def kept(self, entry: str, key: Key) -> Any:
        """Return the facts on an entry; None if it must be made."""
        made = self._made(entry)
        if made is None or made["key"] != _digested(key):
            return None
        try:
            same = digests_of(map(Path, made["outputs"])) == made["files"]
        except OSError:
            return None
        return made["facts"] if same else None

    def files(self, entry: str) -> dict[str, str]:
        """Return path to SHA-256 of the files that were made, the same now or not."""
        return dict((self._made(entry) or {}).get("files", {}))

    def keep(self, entry: str, key: Key, outputs: Iterable[Path] = (), facts: Any = True) -> None:
        """Remember an entry.

        ``outputs`` are files that were made, and folders of which all files were; ``facts`` are
        JSON that is not None.
        """
        paths = [path.as_posix() for path in outputs]
        files = digests_of(map(Path, paths))
        made = {"key": _digested(key), "outputs": paths, "files": files, "facts": facts}
        text = json.dumps({"digest": _digest(made), "made": made}, ensure_ascii=False)
        self.made += 1
        with whole_file(self.place(entry) / "made.json") as temporary:
            temporary.write_text(text, "utf-8")

    def forget(self, entry: str) -> None:
        """Forget an entry."""
        shutil.rmtree(self.place(entry), ignore_errors=True)

    def retain(self, entries: Collection[str]) -> None:
        """Forget all entries but some."""
        with suppress(FileNotFoundError):
            for path in list(self._folder.iterdir()):
                if path.name not in entries:
                    self.forget(path.name)

    def _made(self, entry: str) -> dict[str, Any] | None:
        note = _read(self.place(entry) / "made.json")
        made = note.get("made")
        return made if isinstance(made, dict) and note.get("digest") == _digest(made) else None


def _digested(key: Key) -> dict[str, str]:
    return {part: _digest(value)[:16] for part, value in key.items()}


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Return the JSON of a file; nothing if it is missing or damaged."""
    try:
        note = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}
