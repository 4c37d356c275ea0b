"""What the files of a folder hold, and changes of it."""

import json
from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """Return path in the folder to content, of all files in it and below."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def flip_bit(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def forge_cache(entry: Path, name: str, number: float) -> None:
    """Give the first of the facts on a cached entry another number; its digest does not fit."""
    record = json.loads((entry / "made.json").read_bytes())
    record["made"]["facts"][0][name] = number
    (entry / "made.json").write_text(json.dumps(record), "utf-8")
