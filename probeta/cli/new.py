"""`probeta new`: the files of a corpus or of a task, which work, to be changed into one's own."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.outputs import write_whole
from corpora_recipes.yaml_files import load_yaml
from probeta.cli.init import TEMPLATES, render_template

_KINDS = load_yaml(TEMPLATES / "new" / "kinds.yaml")


def run_new(options: argparse.Namespace) -> None:
    """Write the files, and print their names and what is to do next."""
    for path in write_files(options.kind, options.name, Path.cwd()):
        print(f"wrote {path.relative_to(Path.cwd())}")
    print(_KINDS[options.kind]["next"].format(name=options.name))


def write_files(kind: str, name: str, root: Path) -> list[Path]:
    """Write what a corpus or a task consists of, and return the files; none is overwritten.

    Args:
        kind: "corpus" or "task".
        name: of the recipe, or of the task.
        root: a clone of the project.
    """
    if not (root / "tests" / "samples.tsv").is_file():
        todo = "clone the project, and run it in that folder"
        raise InputError(root, "a clone of the project", "none in this folder", todo)
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise ParamsError(f"probeta new {kind}", "small letters, digits and underscores", name)
    values = {"name": name, "title": name.replace("_", " ").capitalize()}
    folder = TEMPLATES / "new" / kind
    files = {
        root / path.relative_to(folder).as_posix().removesuffix(".jinja").replace("NAME", name): (
            path.relative_to(TEMPLATES).as_posix()
        )
        for path in sorted(folder.rglob("*.jinja"))
    }
    for path in files:
        if path.exists():
            raise ParamsError(path, f"a name that no {kind} has yet", name, "choose another name")
    for path, template in files.items():
        write_whole(path, render_template(template, **values) + "\n")
    facts, listed = _KINDS[kind], _list_task(values, root) if kind == "task" else ()
    paths = (root, root / "tests", root / "tests" / "support")
    subprocess.run(
        [sys.executable, *(word.format(name=name) for word in facts["finish"])],
        cwd=root / "tests" / "corpora_recipes" / "corpora" if kind == "corpus" else root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        check=True,
    )
    return [*files, *listed, root / facts["made"]]


def _list_task(values: dict[str, str], root: Path) -> list[Path]:
    """Add a task to the table of tasks, to their facts and texts, and to the page of tasks."""

    def added(template: str) -> str:
        return render_template(f"new/added/{template}.jinja", **values) + "\n"

    name = values["name"]
    table, last = "builders/tasks/__init__.py", "        *discourse_relations.TASKS,\n"
    spanish = "probeta/report/texts/es.yaml"
    additions = [
        (table, last, f"        {name}.TASK,\n{last}"),
        ("builders/tasks/tasks.yaml", r"\Z", added("tasks.yaml")),
        (spanish, "^names:\n", "names:\n" + added("es.yaml")),
        (spanish, "^classes: {", "classes: {" + added("es_classes.yaml") + "  "),
        ("docs/own_domain.md", r"(^\| `connective` .*\n)", r"\1" + added("own_domain.md")),
    ]
    for file, place, text in additions:
        old = (root / file).read_text("utf-8")
        new = re.sub(re.escape(place) if file == table else place, text, old, count=1, flags=re.M)
        if file == table:
            imports = re.search(r"import \(\n(.*?)\)", new, re.DOTALL)
            assert imports, "it imports the modules of tasks"
            lines = sorted([*imports[1].splitlines(keepends=True), f"    {name},\n"])
            new = new.replace(imports[1], "".join(lines), 1)
        write_whole(root / file, new)
    return [root / file for file in dict.fromkeys(file for file, _, _ in additions)]
