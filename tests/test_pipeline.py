"""The whole pipeline on the samples, through DVC and outside git; and every README command."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import REPOSITORY

NOT_SHIPPED = shutil.ignore_patterns(
    ".git", ".venv", ".uv", "data", "dist", "reports", "dvc.lock", "tmp", "__pycache__", ".*_cache"
)
README = (REPOSITORY / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a project folder, with this environment's Python first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=os.environ | {"PATH": path, "HF_HUB_OFFLINE": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def stages_run(output: str) -> set[str]:
    return set(re.findall(r"Running stage '([^']+)'", output))


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, without git, in which `dvc repro` has run on the samples."""
    folder = tmp_path_factory.mktemp("project") / "probeta"
    shutil.copytree(REPOSITORY, folder, ignore=NOT_SHIPPED)
    shutil.rmtree(folder / ".dvc" / "cache", ignore_errors=True)
    done = run("dvc repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def digests(folder: Path) -> dict[tuple[str, str], tuple[int, str]]:
    lines = run("python -m builders digest dist/hub", folder).stdout.splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {(row[0], row[1]): (int(row[2]), row[4]) for row in rows}


def test_the_samples_give_these_rows(project: Path) -> None:
    found = {f"{config} {split}": rows for (config, split), (rows, _) in digests(project).items()}
    assert found == PINNED_ROWS


def test_the_samples_give_this_content(project: Path) -> None:
    last = {config: f"{config} {split}" for config, split in digests(project)}
    content = {f"{config} {split}": c for (config, split), (_, c) in digests(project).items()}
    assert {name: content[name] for name in last.values()} == PINNED_CONTENT


PINNED_ROWS = {
    "bso_mlsum train": 30,
    "bso_mlsum validation": 8,
    "bso_mlsum test": 8,
    "bso_thesis train": 44,
    "bso_thesis validation": 14,
    "bso_thesis test": 12,
    "bso_wiki train": 44,
    "bso_wiki validation": 22,
    "bso_wiki test": 12,
    "dc_gdd train": 24,
    "dc_gdd validation": 24,
    "dc_gdd test": 26,
    "dc_opus train": 86,
    "dc_opus validation": 48,
    "dc_opus test": 6,
    "dc_wiki train": 24,
    "dc_wiki validation": 8,
    "dc_wiki test": 10,
    "dr_rst train": 125,
    "dr_rst validation": 26,
    "dr_rst test": 49,
    "sp_mlsum train": 25,
    "sp_mlsum validation": 10,
    "sp_mlsum test": 10,
    "sp_thesis train": 40,
    "sp_thesis validation": 15,
    "sp_thesis test": 10,
    "sp_wiki train": 45,
    "sp_wiki validation": 20,
    "sp_wiki test": 10,
    "ssp_mlsum train": 16,
    "ssp_mlsum validation": 8,
    "ssp_mlsum test": 12,
}
# Of the test split: a change here is a change of the rows, and wants a new version of the dataset.
PINNED_CONTENT = {
    "bso_mlsum": "88aaf38957b504295d0dee968fd6a9303b29741f11c32d5b171196172c3d3258",
    "bso_thesis": "9d0caec188cd3667aad92bd253eae72463f8bf39ee193027cb03de51b3973c9e",
    "bso_wiki": "e36423b445fe7d235b0f1a4a9def5218e7559e8afaf7db8fca53c359846bc22f",
    "dc_gdd": "da2bf5a0e76854ce5c105c74666b36cf2709669ae99c7c88b077d2f5e7bbfad0",
    "dc_opus": "639cb2076a2156d7c67d8c9cd79bf8996563d37d1019523ea7ca64f8028867ea",
    "dc_wiki": "285f6ba33a515771f2abdad8cdd40baa053b4ebeed298f6c6066c22dcd9299fc",
    "dr_rst": "fa3dee2e2170d1cc923029254847b03e6506791751ae3cf268263cd74d3bed05",
    "sp_mlsum": "d7437208a92c74ddc68aa64e21933714aa00f8da1067892db40b64cab5068010",
    "sp_thesis": "b521e6dbe4ee8de32bd8e96cef02de65254723d8fd3f63366209203c57c46fb3",
    "sp_wiki": "c586452013ea7fa75b0a7bcf1aca11b95e69cc74e7216afe8eb02bbe2a4d6432",
    "ssp_mlsum": "4ba4b5160bbf1f563381998d336d27015dbe196770ceb8350c23e08c7e55cd85",
}


def test_a_second_run_has_nothing_to_do(project: Path) -> None:
    done = run("dvc repro", project)
    assert done.returncode == 0
    assert stages_run(done.stdout) == set()


def test_the_report_has_every_dataset_and_encoder(project: Path) -> None:
    report = (project / "reports" / "report.md").read_text("utf-8")
    metrics = json.loads((project / "reports" / "metrics.json").read_text("utf-8"))
    params = yaml.safe_load((project / "params.yaml").read_text("utf-8"))
    names = {name for corpus in params["corpora"].values() for name in corpus["datasets"]}
    assert set(metrics) == names
    for name in names:
        assert name in report
        assert set(metrics[name]) == set(params["encoders"])
        assert all(-1 <= score <= 1 for score in metrics[name].values())
    for figure in ("scores.png", "scores.svg"):
        assert (project / "reports" / figure).stat().st_size > 1000


def test_the_readme_shows_this_report(project: Path) -> None:
    shown = (REPOSITORY / "evaluation" / "sample_report" / "report.md").read_text("utf-8")
    made = (project / "reports" / "report.md").read_text("utf-8")
    tables = [
        re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0].splitlines() for text in (shown, made)
    ]
    assert "\n".join(tables[0]) in README
    # All but the scores, which may differ in the last place on another machine.
    assert tables[0][0] == tables[1][0]
    assert [line.split("|")[1] for line in tables[0]] == [line.split("|")[1] for line in tables[1]]


def test_every_gate_is_met(project: Path) -> None:
    report = json.loads((project / "data" / "audit" / "audit.json").read_text("utf-8"))
    assert len(report["datasets"]) == 32
    assert {n: f["failures"] for n, f in report["datasets"].items() if f["failures"]} == {}
    invariance = json.loads((project / "data" / "invariance.json").read_text("utf-8"))
    assert len(invariance["datasets"]) == 32


def test_a_missed_gate_stops_the_run(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    del params["audit"]["inherited"]["paws_es"]["documents"]
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    done = run("dvc repro", folder)
    assert done.returncode != 0
    assert "paws_es, gate 9. Documents and trees are whole: documents in two splits" in done.stderr
    assert stages_run(done.stdout) == {"audit"}


def test_a_new_domain_runs_its_own_stages(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    (entry,) = [block for block in blocks("yaml") if "recipe: jsonl" in block]
    params["corpora"] |= yaml.safe_load(entry)
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    done = run("dvc repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (name,) = yaml.safe_load(entry)
    assert stages_run(done.stdout) == {
        *(f"{stage}@{name}" for stage in ("fetch", "read", "build")),
        *(f"{stage}@{encoder}" for stage in ("embed", "probe") for encoder in params["encoders"]),
        "audit",
        "package",
        "invariance",
        "report",
    }
    before, after = digests(project), digests(folder)
    assert {key: after[key] for key in before} == before
    assert {config for config, _ in after} - {config for config, _ in before} == set(
        yaml.safe_load(entry)[name]["datasets"]
    )
    own = folder / yaml.safe_load(entry)[name]["path"]
    edited = own.with_name("edited")
    edited.write_text("".join(own.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    edited.replace(own)
    done = run(f"dvc repro build@{name}", folder)
    assert stages_run(done.stdout) >= {f"read@{name}", f"build@{name}"}, done.stdout


def test_an_interrupted_run_is_finished_by_the_next(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    shutil.rmtree(folder / "data" / "instances" / "theses")
    done = run("dvc repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert stages_run(done.stdout) <= {"build@theses"}
    assert digests(folder) == digests(project)


def test_the_readmes_python_runs(project: Path) -> None:
    for block in blocks("python"):
        done = run(f"python -c {shlex.quote(block)}", project, HF_HOME=str(project / ".hf"))
        assert done.returncode == 0, done.stderr


def test_the_readmes_commands_run(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    commands = [line for block in blocks("console") for line in block.splitlines()]
    commands = [line.removeprefix("$ ") for line in commands if line.startswith("$ ")]
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command, comments=True)
        if words == [".", ".venv/bin/activate"]:
            # That is this environment.
            continue
        if words[:3] == ["uv", "run", "--locked"]:
            # The tests run in that environment already.
            words = words[3:]
        if words[0] == "make":
            # What the target would run; the run itself is this test session, or the fixture.
            words.insert(1, "--dry-run")
        if words[0] == "pytest":
            words.append("--collect-only")
        done = run(shlex.join(words), folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("package", ["corpora_recipes", "builders", "evaluation"])
def test_help_has_examples_and_loads_nothing_heavy(package: str) -> None:
    done = run(f"python -X importtime -m {package} --help", REPOSITORY)
    assert done.returncode == 0
    assert "examples:" in done.stdout
    for heavy in ("pyarrow", "spacy", "sklearn", "pandas", "datasets", "matplotlib", "requests"):
        assert not re.search(rf"\| +{heavy}$", done.stderr, re.MULTILINE), heavy


def test_stages_are_one_command_of_the_three_packages() -> None:
    stages = yaml.safe_load((REPOSITORY / "dvc.yaml").read_text("utf-8"))["stages"]
    for stage in stages.values():
        command = stage.get("do", stage)["cmd"]
        assert re.fullmatch(r"python -m (corpora_recipes|builders|evaluation) [^;&|]+", command)
