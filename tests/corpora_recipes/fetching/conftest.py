"""What the tests of fetching share: no waiting between attempts, and a folder of their own."""

from pathlib import Path

import pytest

from corpora_recipes.fetching import patience


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)
