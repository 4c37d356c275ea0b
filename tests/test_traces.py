"""What the commands of a run on the samples open: modules of ours, data, packages imported."""

import ast
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from imports import PACKAGES, REPOSITORY

STAGES: dict[str, Any] = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))["stages"]

# sklearn imports scipy and pandas.
SKLEARN = {"audit", "embed char_hash", "invariance"}
# What takes long to import, and which verbs, or verbs with a name, import it on the samples. CPU
# seconds: spacy 1.7, sklearn 1.5 or more, matplotlib 1.3, pandas 1, scipy 0.3 or more, datasets 3.
IMPORTED: dict[str, set[str]] = {
    "dask": set(),
    "datasets": set(),
    "distributed": set(),
    "huggingface_hub": set(),
    "matplotlib": {"report"},
    "pandas": SKLEARN,
    "scipy": SKLEARN | {"probe"},
    "sklearn": SKLEARN,
    "spacy": {"package"},
    "torch": set(),
}


def packages(trace: Path) -> set[str]:
    """Return the packages of the environment whose ``__init__`` a command has opened."""
    found = set()
    for line in trace.read_text("utf-8").splitlines():
        parts = Path(line).parts
        if "site-packages" in parts and parts[-1].startswith("__init__."):
            found.add(parts[parts.index("site-packages") + 1])
    return found


def test_what_takes_long_is_imported_by_few(project: Path) -> None:
    found: dict[str, set[str]] = {package: set() for package in IMPORTED}
    for trace in project.with_name("traces").iterdir():
        verb = trace.name.split()[0]
        for package in packages(trace) & IMPORTED.keys():
            found[package].add(trace.name if trace.name in IMPORTED[package] else verb)
    assert found == IMPORTED


def test_the_first_stage_imports_no_package(project: Path) -> None:
    """All others need numpy and pyarrow, which the run on the samples imports before them."""
    (trace,) = project.with_name("traces").glob("code *")
    assert packages(trace) & {*IMPORTED, "numpy", "pyarrow"} == set()


@cache
def decides(path: str) -> bool:
    """Tell whether a file can decide anything: a module of a docstring alone cannot."""
    if not path.endswith(".py"):
        return True
    return len(ast.parse((REPOSITORY / path).read_text("utf-8")).body) > 1


def listing(output: str | dict[str, Any]) -> list[str]:
    """Return the paths of an entry of `outs`."""
    return [output] if isinstance(output, str) else list(output)


def is_below(path: str, places: list[str]) -> bool:
    return any(f"{path}/".startswith(f"{place}/") for place in places)


def test_a_stage_depends_on_the_files_that_it_opens(project: Path) -> None:
    """What a run on the samples has opened: modules, the data files beside them, outputs."""
    corpora = yaml.safe_load((project / "params.yaml").read_text("utf-8"))["corpora"]
    traces = sorted(project.with_name("traces").iterdir())
    # None is trained by default.
    run = {name for name, stage in STAGES.items() if stage.get("foreach") != "${trained}"}
    assert {trace.name.split()[0] for trace in traces} == run
    lists = {
        path.relative_to(project).as_posix(): path.read_text("utf-8")
        for path in (project / "data" / "code").rglob("*")
        if path.is_file()
    }
    for trace in traces:
        stage, name = trace.name.split()
        if stage == "code":
            continue
        recipe = (
            corpora[name]["corpus"]["recipe"]
            if "foreach" in STAGES[stage] and name in corpora
            else ""
        )
        body = STAGES[stage].get("do", STAGES[stage])
        deps, outs = (
            [one.replace("${item.corpus.recipe}", recipe).replace("${key}", name) for one in paths]
            for paths in (body["deps"], (out for found in body["outs"] for out in listing(found)))
        )
        listed = {
            line.split(" ", 1)[1]
            for path, lines in lists.items()
            if is_below(path, deps)
            for line in lines.splitlines()
        }
        opened = set()
        for line in set(trace.read_text("utf-8").splitlines()):
            path = Path(line)
            if path.suffix == ".pyc":
                path = Path(importlib.util.source_from_cache(line))
            if path.is_relative_to(project) and path.is_file():
                opened.add(path.relative_to(project).as_posix())
        used = {path for path in opened if path.split("/")[0] in PACKAGES and decides(path)}
        # How a verb is found decides nothing, nor does the way in from Python, nor how things run.
        used -= {"evaluation/__init__.py", "evaluation/commands.py"}
        used = {path for path in used if not path.startswith("corpora_recipes/running/")}
        made = {path for path in opened if path.startswith(("data/", "dist/"))}
        assert {path for path in made if not is_below(path, [*deps, *outs])} == set(), trace.name
        assert len(used) > 5
        assert used - listed == set(), trace.name
