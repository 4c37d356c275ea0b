"""Every benchmark runs on its smallest input, and prints its columns; times are not looked at."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from imports import REPOSITORY

BENCHMARKS = REPOSITORY / "benchmarks"
SAMPLES = REPOSITORY / "corpora_recipes" / "corpora"
TREEBANKS = SAMPLES / "universal_dependencies" / "sample"
# Modules that others use.
HELPERS = {"classic_engine", "dump_generator", "made_records", "made_vectors"}
HELPERS |= {"measuring", "simple_encoders"}
# A run with a dataset for each kind of score that a stage makes.
PARAMS = {
    "seed": 1111,
    "sources": "sample",
    "corpora": {
        "sqc": {
            "corpus": {"recipe": "sqc", "language": "es"},
            "datasets": {"sqc": {"task": "sentence_classification"}},
        },
        "roc_stories": {
            "corpus": {"recipe": "roc_stories", "language": "en"},
            "datasets": {"bso_roc": {"task": "sentence_ordering"}},
        },
    },
    "encoders": {"char_hash": {}},
}
# Benchmark to its arguments in the folder of the run, and words of its columns.
CASES = {
    "full": (
        "--work full --scale 0.001 --params params.yaml --only read samples make build audit",
        "wall s",
        "audit",
    ),
    "intervals": ("1", "| documents | rows |", "| 600 | sizes |"),
    "languages": (f"{TREEBANKS}", "refused 0.00", "accepted as"),
    "probes": ("--tasks bso_roc --encoder char_hash", "classic to", "bso_roc"),
    "ranking": (
        f"--evalrank {SAMPLES / 'evalrank/sample/sent_evalrank'}",
        "times as fast as",
        "146 of 146",
    ),
    "sentences": (f"{TREEBANKS}", "times spaCy", "es_gsd"),
    "stages": ("params.yaml 1", "first time", "dvc repro, first"),
    "training": ("--sentences 256 --setting small", "CPU s for 1,000", "small"),
    "treebanks": (f"{TREEBANKS}", "of sentences", "unsupported:"),
    "validity": (". .", "| agreement |", "| bso_roc |"),
    "wikipedia": ("--times 1", "without  to reach", "documents/s"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished run of two small datasets."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "params.yaml").write_text(yaml.safe_dump(PARAMS), "utf-8")
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
    printed = start([sys.executable, str(BENCHMARKS / f"{name}.py"), *arguments.split()], folder)
    assert [word for word in words if word not in printed] == [], printed


def test_every_benchmark_is_started_and_those_of_the_documentation_exist() -> None:
    assert {path.stem for path in BENCHMARKS.glob("*.py")} == CASES.keys() | HELPERS
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]
    cited = {
        name
        for page in pages
        for name in re.findall(r"benchmarks/(\w+)\.py", page.read_text("utf-8"))
    }
    assert {"treebanks", "validity", "intervals"} <= cited <= CASES.keys() | {"simple_encoders"}
