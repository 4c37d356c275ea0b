"""DVC never lies: what decides the output of a stage is among the stage's dependencies."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from imports import PACKAGES, REPOSITORY, imported, modules, reached
from projects import copy_of_project, run

from corpora_recipes.running import code
from evaluation.commands import VERBS

STAGES: dict[str, Any] = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))["stages"]
RECIPES = sorted(
    file.parent.name for file in REPOSITORY.glob("corpora_recipes/corpora/*/recipe.py")
)


def body(stage: str) -> dict[str, Any]:
    found: dict[str, Any] = STAGES[stage].get("do", STAGES[stage])
    return found


def verb(stage: str) -> str:
    return stage.removesuffix("_trained")


def test_trained_encoders_have_the_stages_of_others() -> None:
    # The model is a dependency of `embed`, so that no parameter has to be.
    assert "params" not in body("embed_trained")
    for name in ("embed", "probe", "rank", "paradigms"):
        given, trained = body(name), body(f"{name}_trained")
        assert (given["cmd"], given["outs"]) == (trained["cmd"], trained["outs"])
        assert {*given["deps"]} == {*trained["deps"]} - {"data/trained/${key}"}
        renamed = [param.replace("encoders.", "trained.") for param in given["params"]]
        assert trained.get("params", renamed) == renamed


def test_every_stage_is_one_verb() -> None:
    for stage in STAGES:
        assert re.fullmatch(rf"probeta ({'|'.join(VERBS)}) [^;&|]+", body(stage)["cmd"])
        assert body(stage)["cmd"].split()[1] == verb(stage)


def test_a_stage_depends_on_the_code_of_its_verb_and_recipes() -> None:
    for stage in STAGES.keys() - {"code"}:
        deps = body(stage)["deps"]
        assert f"data/code/{verb(stage)}" in deps
        # A recipe is found by its name; its facts are read where its code is not run.
        if "corpora_recipes.recipe" in reached(VERBS[verb(stage)].module):
            own = "data/code/recipes/${item.corpus.recipe}"
            assert ("data/code/recipes" in deps) != (own in deps), stage
    assert set(body("code")["deps"]) == set(PACKAGES)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_are_found_as_python_finds_them(module: str) -> None:
    """The code of a stage is found by reading lines; here the syntax tree tells."""
    parents = {module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)}
    assert code.imported(module) - parents == imported(module) - parents


def test_the_code_of_a_stage_is_written_down(tmp_path: Path) -> None:
    lists = written(REPOSITORY, tmp_path / "code")
    assert lists.keys() == {*VERBS, *(f"recipes/{recipe}" for recipe in RECIPES)}
    for name in ("audit", "recipes/theses"):
        for line in lists[name].splitlines():
            digest, path = line.split(" ", 1)
            assert len(digest) == 64
            assert (REPOSITORY / path).is_file()
    assert " builders/auditing/damage.yaml\n" in lists["audit"]
    assert " corpora_recipes/text/abbreviations.yaml\n" in lists["recipes/theses"]
    assert "abbreviations" not in lists["recipes/tass"]
    assert "corpora_recipes/running" not in "".join(lists.values())


def written(project: Path, out: Path) -> dict[str, str]:
    """Return what `probeta code` writes in a copy of the project: name to content."""
    call = "import sys; from evaluation.commands import main; sys.exit(main(sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", call, "code", "--out", str(out)], cwd=project, check=True)
    return {
        path.relative_to(out).as_posix(): path.read_text("utf-8")
        for path in out.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "stale", "recipes"),
    [
        (
            "corpora_recipes/parquet.py",
            '"compression_level": 3',
            '"compression_level": 9',
            {*STAGES} - {"code"},
            {"wikipedia"},
        ),
        (
            "corpora_recipes/recipe.py",
            "def is_sample(",
            "def  is_sample(",
            {"read", "build", "compose", "audit", "package"},
            {*RECIPES},
        ),
        # A stage of one corpus is stale if the code of its recipe changed.
        (
            "corpora_recipes/text/abbreviations.yaml",
            "núm.",
            "númm.",
            {"audit", "compose", "package"},
            {
                "arxiv",
                "jsonl",
                "mlsum",
                "opensubtitles",
                "peerread",
                "roc_stories",
                "theses",
                "wikipedia",
            },
        ),
        (
            "builders/tasks/section_prediction.py",
            '"body", "summary"',
            '"body", "abstract"',
            {*STAGES} - {"code", "read"},
            set(),
        ),
    ],
)
def test_a_change_makes_stale_what_it_reaches(
    tmp_path: Path, file: str, old: str, new: str, stale: set[str], recipes: set[str]
) -> None:
    folder = tmp_path / "probeta"
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, folder / package)
    before = written(folder, tmp_path / "before")
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), "utf-8")
    after = written(folder, tmp_path / "after")
    changed = {f"data/code/{name}" for name in before if before[name] != after[name]}
    found = {
        stage
        for stage in STAGES
        if any(
            dep in changed or any(f.startswith(f"{dep}/") for f in changed)
            for dep in body(stage)["deps"]
        )
    }
    assert found == stale
    assert {recipe for recipe in RECIPES if f"data/code/recipes/{recipe}" in changed} == recipes


def test_names_in_params_reach_no_shell(tmp_path: Path) -> None:
    """DVC writes them into commands; the first stage refuses those that are more than names."""
    folder = copy_of_project(tmp_path / "probeta")
    entry = {"corpus": {"recipe": "sqc", "language": "es"}}
    for section, key in (
        ("corpora", "x; touch here #"),
        ("encoders", "$(touch here)"),
        ("trained", "$(touch here)"),
    ):
        params = {"seed": 1, "corpora": {"sqc": entry}, "encoders": {"char_hash": {}}}
        params |= {"trained": {}}
        params[section][key] = {"corpora": entry, "trained": {"corpus": "sqc"}}.get(section, {})
        (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
        done = run("dvc repro", folder)
        assert done.returncode != 0
        assert f"params.yaml: {section}.{key}" in done.stderr, done.stdout + done.stderr
        assert not list(folder.glob("here*"))
        assert not (folder / "data" / "records").exists()
