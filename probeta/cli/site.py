"""`probeta site`: the documentation and the report as one static site."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.extras import check_packages
from corpora_recipes.running.outputs import whole_folder
from probeta.report.site import REPORT_PAGE

_NEEDED = {
    Path("mkdocs.yml"): "run it in a clone: what is installed has no documentation",
    REPORT_PAGE: "run `probeta repro`, which writes it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of `probeta site`."""
    told = "folder to write, replaced if it is there (default: site)"
    parser.add_argument("--out", type=Path, default=Path("site"), metavar="DIR", help=told)


def run(options: argparse.Namespace) -> None:
    """Build the site."""
    for path, todo in _NEEDED.items():
        if not path.is_file():
            raise InputError(path, "a file", "none", todo)
    check_packages("site", "material", "mkdocs", "mkdocstrings")
    with whole_folder(options.out) as folder:
        command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
        if subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode:
            raise InputError("docs", "no warning of mkdocs", "those above", "mend the pages")
    print(f"site: {options.out / 'index.html'}")
