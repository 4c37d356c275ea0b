"""The layout: which room may import which, how long modules are, what tools see."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from case_tables import read_tables
from imports import PACKAGES, REPOSITORY, imported, modules

TABLES = read_tables(__file__)

# From the lowest to the highest: a room may import those that come before it, and no other.
ROOMS = TABLES["rooms"]


def room_of(module: str) -> str:
    """Return the folder below a package that a module is in, or the module itself."""
    return ".".join(module.split(".")[:2])


def test_every_room_is_listed() -> None:
    rooms = {room_of(module) for module in modules()} - set(PACKAGES)
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_lower_rooms(room: str) -> None:
    lower = {*ROOMS[: ROOMS.index(room) + 1], *PACKAGES}
    wrong = {
        f"{module} imports {other}"
        for module in modules()
        if room_of(module) == room
        for other in imported(module, for_types=True)
        if room_of(other) not in lower
    }
    assert wrong == set()


def test_recipes_do_not_import_each_other() -> None:
    inside = "corpora_recipes.corpora."
    wrong = [
        (module, other)
        for module in modules()
        if module.startswith(inside)
        for other in imported(module, for_types=True)
        if other.startswith(inside) and other.split(".")[2] != module.split(".")[2]
    ]
    assert wrong == []


def test_the_inside_of_a_room_has_no_cycle() -> None:
    """Modules of a room import each other in one direction, as rooms do."""
    left = {
        module: {
            other
            for other in imported(module, for_types=True)
            if room_of(other) == room_of(module) and not module.startswith(f"{other}.")
        }
        for module in modules()
    }
    while free := [module for module, others in left.items() if not others & left.keys()]:
        for module in free:
            del left[module]
    assert left == {}


def test_no_module_is_long() -> None:
    """Above 700 lines a module gives the reason in its docstring: a line "Long because …"."""
    long = {
        module
        for module, file in modules().items()
        if len(file.read_text("utf-8").splitlines()) > 700
        and "Long because" not in file.read_text("utf-8").split('"""')[1]
    }
    assert long == set()


# Collects the test files, without their tests: to import them all takes seconds.
COLLECT = """
import pytest

class File(pytest.Module):
    def collect(self):
        print(self.nodeid)
        return []

class Files:
    def pytest_pycollect_makemodule(self, module_path, parent):
        return File.from_parent(parent, path=module_path)

pytest.main(["--collect-only", "-q", "-s", "-p", "no:cacheprovider"], plugins=[Files()])
"""


def test_every_test_file_is_collected() -> None:
    """A folder named `build` or `dist`, say, would be passed over without a word."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    collected = set(done.stdout.splitlines())
    files = {
        file.relative_to(REPOSITORY).as_posix() for file in REPOSITORY.glob("tests/**/test_*.py")
    }
    # These need torch, or other harnesses; `make test-torch` and `make test-harnesses` run them.
    elsewhere = ("tests/with_torch/", "tests/with_harnesses/")
    assert files - collected == {name for name in files if name.startswith(elsewhere)}


def test_names_of_test_files_differ() -> None:
    """Without packages among the tests, pytest knows a file by its name alone."""
    names = Counter(file.name for file in REPOSITORY.glob("tests/**/*.py"))
    names.subtract(Counter({"conftest.py": names["conftest.py"] - 1}))
    assert [name for name, count in names.items() if count > 1] == []


def test_ruff_sees_every_module() -> None:
    pytest.importorskip("ruff")
    command = [sys.executable, "-m", "ruff", "check", "--show-files"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert {*map(str, modules().values())} - {*done.stdout.splitlines()} == set()


def test_mypy_sees_every_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is told to check by pyproject.toml; `make lint` lets it check."""
    process_options = pytest.importorskip("mypy.main").process_options
    monkeypatch.chdir(REPOSITORY)
    sources, _ = process_options([])
    assert {*modules().values()} - {
        Path(source.path).resolve() for source in sources if source.path
    } == set()
