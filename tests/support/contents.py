"""What the files of a folder hold, changes of it, and what a process knows of them."""

import json
import os
from pathlib import Path

from corpora_recipes.running import code


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


def leave_unfinished(path: Path) -> None:
    """Leave half an output as a killed run would that wrote ``path``."""
    place = path.with_name(f".{path.name}.abcd1234.part")
    place.mkdir()
    (place / "lock").touch()
    (place / f"new.{path.name}").write_bytes(b"half")


def forget_code() -> None:
    """Read the project's files anew."""
    for cached in vars(code).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def another_hash_seed() -> str:
    """Return a value of PYTHONHASHSEED that this process, whose seed may be random, has not."""
    return "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
