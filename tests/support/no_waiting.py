"""What the tests of fetching share, once they import it."""

from pathlib import Path

import pytest

from corpora_recipes.running import patience


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let attempts follow each other at once, and each test have a folder of its own."""
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)
