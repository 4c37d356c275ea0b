"""Every benchmark runs on its smallest input, and prints its columns; times are not looked at."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from case_tables import read_tables
from imports import REPOSITORY

from corpora_recipes.recipe import RECIPES

BENCHMARKS = REPOSITORY / "benchmarks"
TREEBANKS = RECIPES / "universal_dependencies" / "sample"
# Modules that others use.
HELPERS = {"classic_engine", "dump_generator", "made_records", "made_vectors"}
HELPERS |= {"measuring", "simple_encoders"}
TABLES = read_tables(__file__)
CASES = TABLES["cases"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run of two small datasets."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "params.yaml").write_text(yaml.safe_dump(TABLES["params"]), "utf-8")
    start([sys.executable, "-m", "probeta", "repro"], folder)
    return folder


def start(command: list[str], folder: Path) -> str:
    """Run a command with the project's modules, and return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_benchmark_runs_and_prints_its_columns(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """``make test-torch`` starts the one that needs torch, where nothing else can be built."""
    if name == "training" and find_spec("torch") is None:
        pytest.skip("needs the extra torch")
    folder = tmp_path if name == "training" else request.getfixturevalue("finished")
    arguments, *words = CASES[name]
    arguments = arguments.format(samples=RECIPES, treebanks=TREEBANKS)
    printed = start([sys.executable, str(BENCHMARKS / f"{name}.py"), *arguments.split()], folder)
    assert [word for word in words if word not in printed] == [], printed


def test_the_page_of_reference_scores_shows_those_that_are_shipped(tmp_path: Path) -> None:
    page = start([sys.executable, str(BENCHMARKS / "reference.py"), "page"], tmp_path)
    assert page == (REPOSITORY / "docs" / "reference_scores.md").read_text("utf-8")


def test_every_benchmark_is_started_and_those_of_the_documentation_exist() -> None:
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == CASES.keys() | HELPERS
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]
    cited = {
        name
        for page in pages
        for name in re.findall(r"benchmarks/(\w+)\.py", page.read_text("utf-8"))
    }
    assert {"treebanks", "validity", "intervals"} <= cited <= CASES.keys() | {"simple_encoders"}
