"""`probeta report`, `probeta study` and `probeta site`; mkdocs calls ``on_…`` (see mkdocs.yml)."""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.params import load_params
from corpora_recipes.running.cache import Cache, digest_files, open_cache
from corpora_recipes.running.code import code_digest, stage_versions
from corpora_recipes.running.console import announce, end_stage
from corpora_recipes.running.errors import InputError, check_packages
from corpora_recipes.running.outputs import (
    COMPLETED,
    PACKAGE,
    PEOPLE,
    PROBED,
    RANKED,
    REPORT,
    whole_folder,
)
from corpora_recipes.running.stage import read_skipped
from evaluation.params import encoders_params
from probeta.cli import STAGES
from probeta.data import data_of_results
from probeta.report.texts import in_language, language
from probeta.scores import find_results

if TYPE_CHECKING:
    from probeta.report.layout import Table
    from probeta.report.tables.study import Study


def run_report(options: argparse.Namespace) -> None:
    """Write the report on the encoders of a run, or on given results."""
    with in_language(options.language):
        if options.results:
            from probeta.report.submissions import (
                facts_of_params,
                find_submitted,
                verify_submissions,
            )
            from probeta.report.writing import write_report

            named = list(map(find_results, options.results))
            submitted, no_results = find_submitted(named)
            instances = data_of_results(options.data, submitted)
            # Results that are named are the user's choice; what a folder has is not.
            of_folders = not {*submitted}.issubset(named) and options.params.exists()
            like = options.like or (options.params if of_folders else None)
            expected = facts_of_params(like) if like else None
            checked = verify_submissions(submitted, instances, expected, no_results)
            for path, reason in checked.refused.items():
                announce(f"refused: {path}: {reason}")
            write_report(
                checked.results,
                instances,
                options.out,
                checked.rankings,
                checked.paradigms,
                refused=checked.refused,
            )
            print(f"report: {options.out / 'index.html'}")
            return
        names, results, rankings, paradigms = find_run_results(options.params)
        people = sorted(PEOPLE.glob("*.json"))
        reasons = {
            f"{stage.name} {name}": skipped.why
            for stage in STAGES
            for name, skipped in read_skipped(stage.name).items()
            if not skipped.asked_for
        }
        with open_cache(verify=options.check):
            key = {
                "inputs": digest_files([*results, *rankings, *paradigms, *people, PACKAGE]),
                "parameters": [names, reasons, language(), str(options.out)],
                "code": code_digest("probeta.report.writing"),
                "versions": stage_versions("report"),
            }
            cache = Cache("report")
            is_reused = cache.get("all", key) is not None
            if not is_reused:
                from probeta.report.writing import write_report

                paths = results, PACKAGE, options.out, rankings, paradigms
                write_report(*paths, reasons, people)
                cache.put("all", key, [options.out])
        end_stage(f"report: {options.out / 'index.html'}{', reused' if is_reused else ''}")


def find_run_results(params: Path) -> tuple[list[str], list[Path], list[Path], list[Path]]:
    """Return the encoders of a run, and where their results, rankings and paradigms are."""
    names = list(encoders_params(load_params(params), params))
    results = [PROBED / name for name in names if (PROBED / name).is_dir()]
    if not results:
        expected = "the results of an encoder of params.yaml"
        todo = "run `probeta probe` first; read the messages of the stages before"
        raise InputError(PROBED, expected, "none", todo)
    rankings = [RANKED / name for name in names if (RANKED / name).is_dir()]
    paradigms = [file for name in names if (file := COMPLETED / f"{name}.json").is_file()]
    return names, results, rankings, paradigms


SCORES_COLUMNS = ("folder", "model", "task", "dataset", "measure", "value")


def run_study(options: argparse.Namespace) -> None:
    """Print the tables."""
    from probeta.report.formats import CORRELATIONS, table_lines
    from probeta.report.layout import lay_out
    from probeta.report.tables.study import correlations

    if options.scores:
        study = read_scores(options.scores)
        frame = correlations(study, {task: [task] for task in study.trained})
        tables = lay_out(CORRELATIONS, frame)
    else:
        tables = _tables_of_run(options.params)
    if not tables:
        expected = "measures and scores of tasks of three encoders or more"
        raise InputError(options.scores or options.params, expected, "fewer", "score others")
    if not tables[0].name.startswith(CORRELATIONS.key):
        announce("no correlations: they take three encoders or more with scores of both kinds")
    for table in tables:
        print("\n".join(table_lines(table)))


def _tables_of_run(params: Path) -> "list[Table]":
    from probeta.report.formats import STUDY
    from probeta.report.layout import lay_out
    from probeta.report.writing import open_report

    _, results, rankings, paradigms = find_run_results(params)
    report, _ = open_report(results, PACKAGE, rankings, paradigms)
    return [table for make, layout in STUDY for table in lay_out(layout, make(report))]


def read_scores(path: Path) -> "Study":
    """Read a file of scores, see `probeta study --help`."""
    from corpora_recipes.formats.tables import parse_number, table_rows
    from probeta.report.tables.study import Study

    intrinsic: dict[str, dict[str, float]] = {}
    trained: dict[str, dict[str, float]] = {}
    for row in table_rows(path.read_bytes(), str(path), SCORES_COLUMNS, header=True):
        if row.fault:
            raise row.fault
        folder, model, task, dataset, measure, text = (row.fields[name] for name in SCORES_COLUMNS)
        if math.isnan(value := parse_number(text)):
            raise row.error("a number in the column value", repr(text), "correct the line")
        name = dataset if task == "classification" else f"{folder} {dataset or task} {measure}"
        measures = trained if task == "classification" else intrinsic
        measures.setdefault(name, {}).setdefault(model, value)
    return Study(intrinsic, trained)


REPORT_PAGE = REPORT / "index.html"
_PAGES_ABOVE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "CITATION.cff")
_NEEDED_FILES = {
    Path("mkdocs.yml"): "run it in a clone: what is installed has no documentation",
    REPORT_PAGE: "run `probeta repro`, which writes it",
}


def run_site(options: argparse.Namespace) -> None:
    """Build the site."""
    for path, todo in _NEEDED_FILES.items():
        if not path.is_file():
            raise InputError(path, "a file", "none", todo)
    check_packages("site", "material", "mkdocs")
    with whole_folder(options.out) as folder:
        command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
        if subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode:
            raise InputError("docs", "no warning of mkdocs", "those above", "mend the pages")
    print(f"site: {options.out / 'index.html'}")


def notebook_page(text: str) -> str:
    """Return a Jupyter notebook (JSON) as Markdown; what its cells print are blocks of text."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        if printed := "".join(line for out in cell.get("outputs", ()) for line in out["text"]):
            parts.append(f"```text\n{printed}```")
    return "\n\n".join(parts) + "\n"


def on_files(files: Any, config: Any) -> Any:
    """Add the files above docs/, a page for each notebook, and the report."""
    from mkdocs.structure.files import File

    root = Path(config.config_file_path).parent
    for name in _PAGES_ABOVE:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    for path in sorted((root / "docs/notebooks").glob("*.ipynb")):
        page = notebook_page(path.read_text("utf-8"))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    report = re.sub(
        r'(href="\.\.)/docs/(\w+)\.md', r"\1/\2.html", (root / REPORT_PAGE).read_text("utf-8")
    )
    files.append(File.generated(config, "report/index.html", content=report))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Mend links: docs/ and the folder above are one folder of the site, notebooks are pages."""
    markdown = re.sub(r"(\]\([^)]*)\.ipynb\)", r"\1.md)", markdown)
    return markdown if "/" in page.file.src_uri else re.sub(r"\]\((docs|\.\.)/", "](", markdown)
