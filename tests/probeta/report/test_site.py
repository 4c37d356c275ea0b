"""`probeta site`: what it needs; `make site` builds it, and mkdocs refuses links to nowhere."""

from pathlib import Path

import pytest

from probeta.cli import main


def test_what_a_site_needs_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    for path, words in (
        ("mkdocs.yml", "run it in a clone"),
        ("reports/index.html", "probeta repro"),
        ("site", "probeta[site]"),
    ):
        assert main(["site"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"error: {path}\n")
        assert words in said
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
