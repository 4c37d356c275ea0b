"""What the files of a folder hold, and changes of it."""

import json
from pathlib import Path

from corpora_recipes.running import cache


def contents(folder: Path) -> dict[str, bytes]:
    """Return path in the folder to content, of all files in it and below."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def flip_bit(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def forge_memory(entry: Path, name: str, number: float) -> None:
    """Give the first of the facts in a memory another number, with a digest that fits."""
    found = json.loads((entry / "made.json").read_bytes())
    found["made"]["facts"][0][name] = number
    found["digest"] = cache._digest_json(found["made"])
    (entry / "made.json").write_text(json.dumps(found), "utf-8")
