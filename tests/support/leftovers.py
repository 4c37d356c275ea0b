"""What a killed run leaves."""

from pathlib import Path


def leave_unfinished(path: Path) -> None:
    """Leave half an output as a killed run would that wrote ``path``."""
    place = path.with_name(f".{path.name}.abcd1234.part")
    place.mkdir()
    (place / "lock").touch()
    (place / f"new.{path.name}").write_bytes(b"half")
