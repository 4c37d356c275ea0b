"""The layout: which room may import which, how long modules are, what tools see."""

import re
import subprocess
import sys
from collections import Counter

import pytest
from imports import PACKAGES, REPOSITORY, imported, modules

# From the lowest to the highest: a room may import those that come before it, and no other.
ROOMS = (
    "corpora_recipes.running",
    "corpora_recipes.hashing",
    "corpora_recipes.casing",
    "corpora_recipes.records",
    "corpora_recipes.parquet",
    "corpora_recipes.text",
    "corpora_recipes.facts",
    "corpora_recipes.recipe",
    "corpora_recipes.params",
    "corpora_recipes.entries",
    "corpora_recipes.formats",
    "corpora_recipes.fetching",
    "corpora_recipes.reading",
    "corpora_recipes.corpora",
    "corpora_recipes.listing",
    "builders.sampling",
    "builders.tasks",
    "builders.plan",
    "builders.store",
    "builders.building",
    "builders.composing",
    "builders.auditing",
    "builders.packaging",
    "evaluation.arrays",
    "evaluation.encoders",
    "evaluation.entries",
    "evaluation.measures",
    "evaluation.data",
    "evaluation.embedding",
    "evaluation.results",
    "evaluation.probing",
    "evaluation.ranking",
    "evaluation.paradigms",
    "evaluation.reporting",
    "evaluation.listing",
    "evaluation.commands",
    "evaluation.stage_code",
    "evaluation.repro",
)


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
    """Above 500 lines a module gives the reason in its docstring: a line "Long because …"."""
    long = {
        module
        for module, file in modules().items()
        if len(file.read_text("utf-8").splitlines()) > 500
        and "Long because" not in file.read_text("utf-8").split('"""')[1]
    }
    assert long == set()


def test_every_test_file_is_collected() -> None:
    """A folder named `build` or `dist`, say, would be passed over without a word."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    collected = set(re.findall(r"^(tests/\S+?\.py)", done.stdout, re.MULTILINE))
    files = {
        file.relative_to(REPOSITORY).as_posix() for file in REPOSITORY.glob("tests/**/test_*.py")
    }
    # These need torch; `make test-torch` runs them.
    assert files - collected == {name for name in files if name.startswith("tests/with_torch/")}


def test_names_of_test_files_differ() -> None:
    """Without packages among the tests, pytest knows a file by its name alone."""
    names = Counter(file.name for file in REPOSITORY.glob("tests/**/*.py"))
    names.subtract(Counter({"conftest.py": names["conftest.py"] - 1}))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("command", [["ruff", "check", "--show-files"], ["mypy", "-v"]])
def test_linters_see_every_module(command: list[str]) -> None:
    pytest.importorskip(command[0])
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=REPOSITORY, capture_output=True, text=True
    )
    seen = done.stdout + done.stderr
    missing = [
        file for file in modules().values() if file.relative_to(REPOSITORY).as_posix() not in seen
    ]
    assert missing == []
