"""The documentation: its commands run, its examples work, and what it names is there."""

import re
import shlex
import shutil
import socket
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import corpus_of, read_blocks
from documentation import PAGES, anchors, blocks, without_blocks
from imports import REPOSITORY
from projects import run
from test_layout import ROOMS

from builders.tasks import TASKS
from builders.tasks.passage_task import PassageTask
from evaluation.commands import VERBS, main
from evaluation.encoders import ENCODERS, make_encoder, options_of
from evaluation.probing.protocols import PROTOCOLS
from evaluation.training.params import OBJECTIVES, SETTINGS, Training, trained_params

# What is run in place of a command. The tests run in the environment that uv makes; another test
# makes the run that `make` and `dvc repro` would make.
INSTEAD = {
    r"^\. \.venv/bin/activate$": ":",
    r"^uv (sync|pip install) .*": ":",
    r"^make ": "make --dry-run ",
    r"^dvc repro": "dvc repro --dry",
    r"^dvc commit --force$": "dvc commit --help",
    r"^pytest ": "pytest --collect-only ",
}
SAMPLE_REPORT = REPOSITORY / "docs" / "sample_report"


def commands(block: str) -> list[str]:
    """Return the commands of a console block, as a test runs them."""
    found = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    for command, other in INSTEAD.items():
        found = [re.sub(command, other, line) for line in found]
    return found


@pytest.fixture(scope="module")
def copy(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the finished run, which commands may change."""
    folder = tmp_path_factory.mktemp("docs") / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    # What `rank` then keeps: the command is the same, and takes no time.
    shutil.copytree(folder / "data" / "rankings" / "char_hash", folder / "ranked")
    return folder


@pytest.mark.parametrize("page", sorted({block.page for block in blocks("console")}))
def test_commands_run(copy: Path, page: str) -> None:
    texts = [block.text for block in blocks("console", page=page) if " &\n" not in block.text]
    script = "\n".join(["set -e", *(line for text in texts for line in commands(text))])
    done = run(f"bash -c {shlex.quote(script)}", copy)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"


def test_the_cluster_gives_the_bytes_of_one_worker(copy: Path) -> None:
    (block,) = [block.text for block in blocks("console") if " &\n" in block.text]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    # One dataset is enough. Whatever fails, what runs in the background ends.
    shutil.copytree(copy / "dist" / "hub" / "fac", copy / "one" / "fac")
    lines = [line.replace("dist/hub", "one") for line in commands(block)]
    script = "\n".join(["trap 'kill $(jobs -p)' EXIT", *lines]).replace("8786", port)
    done = run(f"bash -emc {shlex.quote(script)}", copy)
    assert done.returncode == 0, done.stdout + done.stderr
    made = ("wiki.parquet", "vectors", "scores")
    for name in made:
        (copy / name).rename(copy / f"cluster-{name}")
    for line in (line for line in lines if line.startswith("probeta ")):
        assert run(f"{line} --workers 1", copy).returncode == 0
    for name in made:
        assert tree(copy / name) == tree(copy / f"cluster-{name}")


def tree(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else path.iterdir()
    return {file.name.removeprefix("cluster-"): file.read_bytes() for file in files}


def test_python_runs(copy: Path) -> None:
    # In one process, as `datasets` takes seconds to import, and each with names of its own.
    examples = [(block.text, block.page) for block in blocks("python")]
    script = f"for text, page in {examples!r}: exec(compile(text, page, 'exec'), {{}})"
    done = run(f"python -c {shlex.quote(script)}", copy, HF_HOME=str(copy / ".hf"))
    assert done.returncode == 0, done.stderr
    for block in blocks("py"):
        # These need a cluster, or an extra: tests/with_harnesses runs those.
        compile(block.text, block.page, "exec")


@pytest.mark.parametrize(
    "text", [pytest.param(block.text, id=block.page) for block in blocks("yaml")]
)
def test_entries_of_params_are_valid(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    given = yaml.safe_load(text)
    for name, options in given.pop("encoders", {}).items():
        # Their models and files are not here.
        assert make_encoder(name, options).name == options["encoder"]
    # Nor is torch.
    trained_params(params | {"trained": given.pop("trained", {})}, Path("params.yaml"))
    for key, entries in given.items():
        params[key] |= entries
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    monkeypatch.chdir(REPOSITORY)
    assert main(["list", "--params", str(path)]) == 0, capsys.readouterr().err


def test_the_ranking_is_composed(copy: Path, tmp_path: Path) -> None:
    (entry,) = [block.text for block in blocks("yaml") if block.text.startswith("rankings:")]
    params = yaml.safe_load((copy / "params.yaml").read_text("utf-8"))
    params["rankings"] |= yaml.safe_load(entry)["rankings"]
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    (name,) = yaml.safe_load(entry)["rankings"]
    command = f"probeta compose {name} --params {path} --records data/records"
    done = run(f"{command} --out {tmp_path / name}", copy)
    assert done.returncode == 0, done.stderr
    assert "used 10" in done.stdout


def test_documents_can_be_read(tmp_path: Path) -> None:
    (block,) = blocks("json")
    (tmp_path / "documents.jsonl").write_text(block.text, "utf-8")
    result = read_blocks(tmp_path, corpus_of("jsonl"))
    assert len(result.records) == len(block.text.splitlines()) == 2


def test_every_encoder_is_explained() -> None:
    page = PAGES["docs/encoders.md"]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \|$", page, re.MULTILINE))
    assert rows.keys() == ENCODERS.keys()
    for name, options in rows.items():
        named = set(re.findall(r"`(\w+)`", re.sub(r"extra `\w+`", "", options)))
        assert named == {*options_of(ENCODERS[name])}


def test_every_option_of_training_is_explained() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGES["docs/training.md"], re.MULTILINE)
    settings = {*SETTINGS}
    assert {*named} - settings == {*Training.__dataclass_fields__} | {*OBJECTIVES}


def test_every_protocol_and_every_task_of_passages_is_explained() -> None:
    named = re.findall(r"^- `(\w+)`: ", PAGES["docs/encoders.md"], re.MULTILINE)
    assert set(named) == PROTOCOLS.keys()
    named = re.findall(r"^\| `(\w+_\w+)` \|", PAGES["docs/own_domain.md"], re.MULTILINE)
    made = {name for name, task in TASKS.items() if isinstance(task, PassageTask)}
    assert set(named) == {name for name in made if "documents" in TASKS[name].records}


def test_every_dataset_is_listed() -> None:
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    datasets = [name for entry in params["corpora"].values() for name in entry.get("datasets", {})]
    pages = PAGES["docs/datasets.md"] + PAGES["docs/rankings.md"]
    assert {name for name in [*datasets, *params["rankings"]] if f"`{name}`" not in pages} == set()


def test_extras_are_there() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    for name, page in PAGES.items():
        extras = re.findall(r"--extra (\w+)|'\.\[(\w+)\]'|extra `(\w+)`", page)
        assert {one for found in extras for one in found if one} <= set(
            project["optional-dependencies"]
        ), name


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]*)\)", PAGES[name]):
        path, _, anchor = target.partition("#")
        there = (REPOSITORY / name).parent / path if path else REPOSITORY / name
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("name", PAGES)
def test_files_and_verbs_are_there(name: str) -> None:
    page = without_blocks(PAGES[name])
    for path in re.findall(r"`((?:corpora_recipes|builders|evaluation|tests|docs)/[^`]*)`", page):
        assert (REPOSITORY / path).exists() or "NAME" in path, path
    assert set(re.findall(r"probeta ([a-z]+)", page)) <= VERBS.keys()


def test_the_architecture_names_every_room() -> None:
    named = set(re.findall(r"`([a-z_]+(?:\.py|/))`", PAGES["docs/architecture.md"]))
    rooms = {room.split(".")[1] for room in ROOMS}
    assert {room for room in rooms if not {f"{room}/", f"{room}.py"} & named} == set()


def test_the_sample_report_is_that_of_the_samples(project: Path) -> None:
    """Except the scores, which may differ in the last place on another machine."""
    shown, made = (
        re.findall(r"^(#.*|\|.*?\|)", (folder / "report.md").read_text("utf-8"), re.MULTILINE)
        for folder in (SAMPLE_REPORT, project / "reports")
    )
    assert shown == made, "copy reports/report.md and reports/figures/scores.svg there"


def test_versions_are_the_same() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert f"\n## {project['version']} " in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")


def test_pins_are_named_as_they_are() -> None:
    pipeline = (REPOSITORY / "tests" / "test_pipeline.py").read_text("utf-8")
    for name in ("PINNED_ROWS", "PINNED_CONTENT"):
        assert name in PAGES["CONTRIBUTING.md"]
        assert f"\n{name} = " in pipeline
