"""`probeta new`: the files of a corpus or of a task, which work, to be changed into one's own."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.outputs import write_whole
from probeta.cli.init import TEMPLATES, render_template

_NEXT = {
    "corpus": """\
next: mend each line with TODO, and put a small corpus in the source's format into sample/
  mkdir ../{name} && cp {name}.yaml ../{name}/params.yaml
  (cd ../{name} && probeta repro)
  make samples
  pytest tests/corpora_recipes -k {name}""",
    "task": """\
next: mend each line with TODO, and try it on documents of your own, see docs/own_domain.md
  pytest tests/builders/tasks/test_{name}.py tests/probeta/report/test_report_files.py""",
}
# What makes the tests of all corpora, and of all tasks, pass with the new one too.
_FINISH = {
    "corpus": ("-c", "import test_every_recipe as t; t.write_golden({name!r})"),
    "task": ("-m", "probeta", "schema", "--out", "docs/params.schema.json"),
}
# What that writes.
_MADE = {"corpus": "tests/corpora_recipes/corpora/samples.json", "task": "docs/params.schema.json"}


def run_new(options: argparse.Namespace) -> None:
    """Write the files, and print their names and what is to do next."""
    for path in write_files(options.kind, options.name, Path.cwd()):
        print(f"wrote {path.relative_to(Path.cwd())}")
    print(_NEXT[options.kind].format(name=options.name))


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
    changed = [*files, *(_list_task(values, root) if kind == "task" else ()), root / _MADE[kind]]
    paths = (root, root / "tests", root / "tests" / "support")
    subprocess.run(
        [sys.executable, *(word.format(name=name) for word in _FINISH[kind])],
        cwd=root / "tests" / "corpora_recipes" / "corpora" if kind == "corpus" else root,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        check=True,
    )
    return changed


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
