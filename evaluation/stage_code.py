"""`probeta code`: write down the code of every stage, for DVC to depend on."""

import argparse
from pathlib import Path

HELP = """\
examples:
  probeta code --out data/code
  probeta code --params params.yaml --out data/code

One file for each verb and each recipe: the digests of the modules and data files that decide what
it does, found from its imports. A stage of dvc.yaml depends on the files of its verb and recipe.
With --params, the names in the file are checked first.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta code`."""
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--params", type=Path, metavar="FILE", help="first check the names in this file"
    )


def run(options: argparse.Namespace) -> None:
    """Write the lists: ``<verb>`` and ``recipes/<recipe>``, a line per file, "SHA-256 path"."""
    from corpora_recipes.params import load_params
    from corpora_recipes.recipe import RECIPES
    from corpora_recipes.running.code import CORPORA, code_files
    from corpora_recipes.running.outputs import whole_folder
    from evaluation.commands import VERBS

    if options.params is not None:
        load_params(options.params)
    modules = {verb: entry.module for verb, entry in VERBS.items()}
    for recipe in sorted(RECIPES.glob("*/recipe.py")):
        name = recipe.parent.name
        modules[f"recipes/{name}"] = f"{CORPORA}.{name}.recipe"
    with whole_folder(options.out) as folder:
        (folder / "recipes").mkdir()
        for name, module in modules.items():
            lines = [f"{digest} {path}\n" for path, digest in code_files(module).items()]
            (folder / name).write_text("".join(lines), "utf-8")
    print(f"code of {len(modules)} verbs and recipes: {options.out}")
