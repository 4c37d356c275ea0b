"""`probeta new`: what it writes passes its tests and is built as it is; nothing is overwritten."""

import shutil
from pathlib import Path

import pytest
from imports import REPOSITORY
from projects import copy_of_project, run
from recipe_reading import refused

from probeta.cli.new import write_files

CORPUS, TASK = "haikus", "sentence_gap"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone with a new corpus and a new task."""
    folder = copy_of_project(tmp_path_factory.mktemp("new") / "probeta")
    made = ("tests/corpora_recipes/corpora/samples.json", "docs/params.schema.json")
    for (kind, name), file in zip((("corpus", CORPUS), ("task", TASK)), made, strict=True):
        printed = succeed(f"probeta new {kind} {name}", folder)
        assert f"/{name}" in printed
        assert f"wrote {file}\n" in printed
        assert "next: mend each line with TODO" in printed
    return folder


def succeed(command: str, folder: Path) -> str:
    """Run a command, and return what it prints."""
    done = run(command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_written_passes_its_tests_and_is_built(clone: Path) -> None:
    code = f"corpora_recipes/corpora/{CORPUS} builders/tasks tests"
    succeed(f"ruff check {code}", clone)
    succeed(f"ruff format --check {code}", clone)
    tests = f"tests/corpora_recipes/corpora/{CORPUS} tests/builders/tasks/test_{TASK}.py"
    assert "7 passed" in succeed(f"python -m pytest -v -n 0 {tests}", clone)
    succeed(f"probeta read --params {CORPUS}.yaml", clone)
    succeed(f"probeta build --params {CORPUS}.yaml", clone)
    assert [*clone.glob(f"data/instances/corpora/{CORPUS}/{CORPUS}_classes/*.parquet")]
    for file in (f"corpora_recipes/corpora/{CORPUS}/corpus.yaml", "builders/tasks/tasks.yaml"):
        assert (clone / file).read_text("utf-8").count("TODO") > 3


@pytest.mark.slow
def test_the_tests_of_all_corpora_and_tasks_pass_too(clone: Path) -> None:
    # After `make lint`, mypy has a cache. What is new imports no higher package.
    if (cache := REPOSITORY / ".mypy_cache").exists():
        shutil.copytree(cache, clone / cache.name)
    succeed(f"mypy -p corpora_recipes.corpora.{CORPUS} -p builders.tasks", clone)
    # Those that walk over all. The numbers of rows in test_init.py change: a task on documents
    # takes some from the others.
    walks = f"{CORPUS} or test_layout or test_words or task_of_passages or translated or braces"
    walks += " or schema or list_shows"
    paths = "corpora_recipes test_layout.py test_words.py test_docs.py probeta/cli/test_verbs.py"
    paths = " ".join(
        f"tests/{path}" for path in (*paths.split(), "probeta/report/test_report_files.py")
    )
    succeed(f'python -m pytest -n 0 -m "not slow" {paths} -k "{walks}"', clone)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("corpus", CORPUS, "a name that no corpus has yet"),
        ("corpus", "sqc", "a name that no corpus has yet"),
        ("task", TASK, "a name that no task has yet"),
        ("task", "Sentence-Gap", "small letters"),
    ],
)
def test_nothing_is_overwritten(clone: Path, kind: str, name: str, message: str) -> None:
    with refused("", message):
        write_files(kind, name, clone)


def test_a_folder_that_is_no_clone(tmp_path: Path) -> None:
    with refused(str(tmp_path), "clone the project"):
        write_files("task", TASK, tmp_path)
    assert [*tmp_path.iterdir()] == []
