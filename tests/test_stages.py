"""DVC never lies: what decides the output of a stage is among the stage's dependencies."""

import ast
import importlib.util
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from imports import PACKAGES, REPOSITORY, modules, reached
from projects import run

from evaluation.commands import VERBS

STAGES: dict[str, Any] = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))["stages"]
# What never decides an output, and the stages that run code of recipes, imported by name.
RUNNING = "corpora_recipes/running"
WITH_RECIPES = ("fetch", "read", "audit")


def body(stage: str) -> dict[str, Any]:
    found: dict[str, Any] = STAGES[stage].get("do", STAGES[stage])
    return found


def deps(stage: str) -> list[str]:
    """Return the dependencies of a stage that are code: those of a recipe as a pattern."""
    return [
        re.sub(r"\\\$\\\{.*?\\\}", "[^/]+", re.escape(path))
        for path in body(stage)["deps"]
        if path.split("/")[0] in PACKAGES
    ]


def is_covered(path: str, patterns: list[str]) -> bool:
    return any(re.match(rf"{pattern}(/|$)", path) for pattern in [*patterns, re.escape(RUNNING)])


def decides(path: str) -> bool:
    """Tell whether a file can decide anything: a module of a docstring alone cannot."""
    if not path.endswith(".py"):
        return True
    return len(ast.parse((REPOSITORY / path).read_text("utf-8")).body) > 1


def test_every_stage_is_one_verb() -> None:
    for name in STAGES:
        assert re.fullmatch(rf"probeta ({'|'.join(VERBS)}) [^;&|]+", body(name)["cmd"])
        assert body(name)["cmd"].split()[1] == name


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_what_it_imports(stage: str) -> None:
    """It starts at the verb's module: how a verb is found decides nothing."""
    recipes = [
        name for name in modules() if re.fullmatch(r"corpora_recipes\.corpora\.\w+\.recipe", name)
    ]
    entries = [VERBS[stage].module, *(recipes if stage in WITH_RECIPES else [])]
    files = {modules()[name].relative_to(REPOSITORY).as_posix() for name in reached(*entries)}
    missing = {file for file in files if decides(file) and not is_covered(file, deps(stage))}
    assert missing == set()


@pytest.mark.parametrize("stage", STAGES)
def test_the_dependencies_of_a_stage_are_there_and_imported(stage: str) -> None:
    recipes = [name for name in modules() if name.startswith("corpora_recipes.corpora.")]
    entries = [VERBS[stage].module, *recipes]
    files = [modules()[name].relative_to(REPOSITORY).as_posix() for name in reached(*entries)]
    for pattern in deps(stage):
        assert any(re.match(rf"{pattern}(/|$)", file) for file in files), pattern


def test_a_stage_depends_on_the_files_that_it_opens(project: Path) -> None:
    """What a run on the samples has opened: modules, and the data files beside them."""
    corpora = yaml.safe_load((project / "params.yaml").read_text("utf-8"))["corpora"]
    traces = sorted(project.with_name("traces").iterdir())
    assert {trace.name.split()[0] for trace in traces} == set(STAGES)
    for trace in traces:
        stage, name = trace.name.split()
        patterns = deps(stage)
        if name in corpora and "foreach" in STAGES[stage]:
            recipe = corpora[name]["corpus"]["recipe"]
            patterns = [pattern.replace("[^/]+", recipe) for pattern in patterns]
        opened = set()
        for line in set(trace.read_text("utf-8").splitlines()):
            path = Path(line)
            if path.suffix == ".pyc":
                path = Path(importlib.util.source_from_cache(line))
            if path.is_relative_to(project) and path.is_file():
                opened.add(path.relative_to(project).as_posix())
        code = {path for path in opened if path.split("/")[0] in PACKAGES and decides(path)}
        # How a verb is found decides nothing; it imports no other module of ours but `running`.
        code.discard("evaluation/commands.py")
        assert len(code) > 5
        assert {path for path in code if not is_covered(path, patterns)} == set(), trace.name


ALL = {
    f"{stage}@" if "foreach" in STAGES[stage] else stage: body(stage)["deps"] for stage in STAGES
}


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        (
            "corpora_recipes/parquet.py",
            '"compression_level": 3',
            '"compression_level": 9',
            {*ALL} - {"embed@", "paradigms@"},
        ),
        (
            "corpora_recipes/recipe.py",
            "def is_sample(",
            "def  is_sample(",
            {"fetch@", "read@", "build@", "compose@", "audit", "package"},
        ),
        (
            "corpora_recipes/text/abbreviations.yaml",
            "núm.",
            "númm.",
            {"fetch@", "read@", "audit"},
        ),
        (
            "builders/tasks/section_prediction.py",
            '"body", "summary"',
            '"body", "abstract"',
            {*ALL} - {"fetch@", "read@"},
        ),
    ],
)
def test_a_change_makes_stale_what_it_reaches(
    project: Path, tmp_path: Path, file: str, old: str, new: str, stale: set[str]
) -> None:
    folder = tmp_path / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), "utf-8")
    status = json.loads(run("dvc status --json", folder).stdout)
    changed = {
        stage
        for stage, reasons in status.items()
        if any(
            path.split("/")[0] in PACKAGES
            for reason in reasons
            if isinstance(reason, dict)
            for path in reason.get("changed deps", {})
        )
    }
    assert {re.sub(r"@.*", "@", stage) for stage in changed} == stale
