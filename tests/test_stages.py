"""The stages: dvc.yaml follows the list, and depends on all that decides an output; containers."""

import json
import re
import shutil
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from imports import PACKAGES, REPOSITORY, WORKING, imported, modules

from corpora_recipes.recipe import recipe_names
from corpora_recipes.running import code
from corpora_recipes.running.code import LIBRARIES
from probeta.cli import STAGES, VERBS

# --- stages --------------------------------------------------------------------------------------

TEXT = (REPOSITORY / "dvc.yaml").read_text("utf-8")
OF_DVC: dict[str, Any] = yaml.safe_load(TEXT)["stages"]
ENVIRONMENT = "data/environment.json"


def outputs(stage: str) -> dict[str, dict[str, Any]]:
    """Return the outputs of a stage of dvc.yaml, with their options."""
    listed = chain.from_iterable(OF_DVC[stage].get(key, ()) for key in ("outs", "metrics", "plots"))
    return {name: how for one in listed for name, how in one.items()}


def test_dvc_has_the_stages_of_the_list() -> None:
    assert list(OF_DVC) == [stage.name for stage in STAGES]
    assert [body["cmd"] for body in OF_DVC.values()] == [f"probeta {s.name}" for s in STAGES]
    assert {stage.name for stage in STAGES} < VERBS.keys()
    assert len(STAGES) <= 12
    assert TEXT.count("\n") <= 90


def test_what_a_run_changes_behind_dvc_is_looked_at_always() -> None:
    always = {name for name, body in OF_DVC.items() if body.get("always_changed")}
    assert always == {"read", "embed", "check"}
    assert [name for name, body in OF_DVC.items() if ENVIRONMENT in body["deps"]] == [
        name for name in OF_DVC if name not in always
    ]


@pytest.mark.slow
def test_the_graph_fits_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "dvc.yaml").write_text(TEXT, "utf-8")
    for command in ("init --no-scm --quiet", "dag"):
        done = subprocess.run(
            [sys.executable, "-m", "dvc", *command.split()],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
    assert {name for name in OF_DVC if f" {name} " not in done.stdout} == set()
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_outputs_are_left_in_place() -> None:
    """The memory answers for them; DVC would remove them before a stage."""
    for stage in OF_DVC:
        assert all(how["persist"] for how in outputs(stage).values()), stage
    names = [name for stage in OF_DVC for name in outputs(stage)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage.name != "check"])
def test_a_stage_depends_on_its_code(stage: Any) -> None:
    # A recipe is found by its name; its facts are read where its code is not run.
    recipes = [f"corpora_recipes.corpora.{name}.recipe" for name in recipe_names()]
    reached = code.reached(*WORKING[stage.name], *recipes) | {VERBS[stage.name].module}
    assert {name.split(".")[0] for name in reached} <= set(OF_DVC[stage.name]["deps"])
    assert stage.name in {*LIBRARIES, "embed"}


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_are_found_as_python_finds_them(module: str) -> None:
    """The code of an entry is found by reading lines; here the syntax tree tells."""
    parents = {module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)}
    assert code.imported(module) - parents == imported(module) - parents


def test_the_files_of_code() -> None:
    audit = code.code_files("builders.auditing.auditing")
    assert "corpora_recipes/text/damage.yaml" in audit
    theses, tass = (
        code.code_files(f"corpora_recipes.corpora.{name}.recipe") for name in ("theses", "tass")
    )
    assert "corpora_recipes/text/abbreviations.yaml" in theses
    assert "corpora_recipes/text/abbreviations.yaml" not in tass
    assert not any(name.startswith("corpora_recipes/running/") for name in {**audit, **theses})


@pytest.mark.parametrize(
    ("file", "old", "changed"),
    [
        ("corpora_recipes/parquet.py", '"compression_level": 3', {"read", "build", "probe"}),
        ("corpora_recipes/recipe.py", "def is_sample(", {"read", "build", "probe"}),
        ("builders/tasks/tasks.yaml", "[body, summary]", {"build", "probe"}),
        ("corpora_recipes/running/limits.py", "LARGEST_FILE = 64", set()),
    ],
)
def test_a_change_of_code_changes_what_it_reaches(
    tmp_path: Path, file: str, old: str, changed: set[str]
) -> None:
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, tmp_path / package)
    before = digests(tmp_path)
    text = (tmp_path / file).read_text("utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, f"{old} "), "utf-8")
    after = digests(tmp_path)
    assert {name for name in before if before[name] != after[name]} == changed


def digests(project: Path) -> dict[str, str]:
    """Return stage to the digest of the code that works in it, in a copy of the project."""
    working = {stage: WORKING[stage][0] for stage in ("read", "build", "probe")}
    call = "import sys; from corpora_recipes.running.code import code_digest as of; "
    call += "print(*map(of, sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", call, *working.values()],
        cwd=project,
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(zip(working, done.stdout.split(), strict=True))


# --- container -----------------------------------------------------------------------------------


def test_the_dev_container_makes_the_environment_of_the_gate(repository: Path) -> None:
    container = json.loads((repository / ".devcontainer/devcontainer.json").read_text("utf-8"))
    workflow = yaml.safe_load((repository / ".github/workflows/test.yml").read_text("utf-8"))
    versions = workflow["jobs"]["gate"]["strategy"]["matrix"]["python"]
    assert container["image"] in [f"python:{version}" for version in versions]
    target = container["postCreateCommand"].removeprefix("make ")
    assert re.search(rf"^{re.escape(target)}:", (repository / "Makefile").read_text(), re.MULTILINE)


def test_the_container_has_every_package(repository: Path) -> None:
    copied = re.findall(r"^COPY (\w+) \1$", (repository / "Dockerfile").read_text("utf-8"), re.M)
    assert {*PACKAGES} <= {*copied}
