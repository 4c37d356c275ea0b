"""The runs of the documentation that need no finished run: in a clone, and in an empty folder."""

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from documentation import PAGES, blocks
from imports import REPOSITORY
from projects import copy_of_project, run
from test_docs import RUNS, run_page


@pytest.mark.slow
def test_runs_and_experiments(tmp_path: Path) -> None:
    """The commands of docs/runs.md, in a clone with one dataset and one encoder."""
    folder = copy_of_project(tmp_path / "probeta")
    corpus = {"recipe": "theses", "language": "es"}
    theses = {"corpus": corpus, "datasets": {"bso_thesis": {"task": "sentence_ordering"}}}
    params = {"seed": 1111, "corpora": {"theses": theses}, "encoders": {"char_hash": {}}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    who = {
        f"GIT_{role}_{what}": "me" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for command in ("git init --quiet", "git add .", "git commit --quiet --message start"):
        assert run(command, folder, **who).returncode == 0
    said = run_page(RUNS, folder, **who)
    assert re.search(r"params.yaml +seed +1111 +2\n", said)
    assert re.search(r"metrics.spanish_discoeval.json +char_hash( +-?[\d.]+){3}\n", said)
    assert (folder / "dvc_plots" / "index.html").exists()
    # The last command of the page is for those without git.
    assert run("dvc config --local --unset core.no_scm", folder).returncode == 0
    shown = run("dvc exp show --csv", folder).stdout
    seeds = [line["seed"] for line in csv.DictReader(shown.splitlines())]
    assert seeds == ["2", "1111", "3", "2"]
    assert run("git status --porcelain", folder).stdout.split() == [
        "M",
        "dvc.lock",
        "M",
        "params.yaml",
    ]


@pytest.mark.slow
def test_the_readme_works_in_an_empty_folder(tmp_path: Path) -> None:
    """Its first example prints what it says; its commands work beside documents alone."""
    sample = REPOSITORY / "corpora_recipes" / "corpora" / "documents" / "sample"
    shutil.copytree(sample, tmp_path / "my_documents")
    example, printed = (blocks(language, page="README.md")[0] for language in ("python", "text"))
    (scored,) = re.findall(r"^\| `(probeta score .*?)`", PAGES["README.md"], re.MULTILINE)
    commands = [block.text for block in blocks("sh", page="README.md")]
    script = "\n".join([f"python -c {shlex.quote(example.text)} > printed", scored, *commands])
    where = {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = run(f"bash -ec {shlex.quote(script)}", tmp_path, **where)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "printed").read_text("utf-8") == printed.text
    assert printed.text in done.stdout
    assert "own datasets" in done.stdout
    assert (tmp_path / "reports" / "index.html").is_file()


def test_a_domain_of_ones_own_is_that_of_the_notebook() -> None:
    """Which is run, so that the page need not be."""
    (block,) = blocks("sh", page="docs/own_domain.md")
    notebook = "docs/notebooks/your_documents.ipynb"
    run_there = "".join(found.text for found in blocks("python", page=notebook))
    assert all(f"!{line} --quiet\n" in run_there for line in block.text.splitlines())
