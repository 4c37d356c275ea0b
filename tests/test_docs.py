"""The documentation: its commands run, its examples work, and what it names is there."""

import inspect
import re
import shlex
import shutil
import socket
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import corpus_of, read_blocks
from documentation import NOTEBOOKS, PAGES, anchors, blocks, without_blocks
from imports import PACKAGES, REPOSITORY
from projects import run
from test_layout import ROOMS

import probeta
from builders.tasks import TASKS
from builders.tasks.benchmarks import differences
from builders.tasks.task import PassageTask
from evaluation.encoders import ENCODERS, make_encoder, options_of
from evaluation.encoders.encoder import Vectors
from evaluation.params import OBJECTIVES, SETTINGS, Training, trained_params
from evaluation.probing.protocols import PROTOCOLS
from probeta.cli import STAGES, VERBS, main
from probeta.cli.init import PAPERS

# What is run in place of a command. The tests run in the environment that uv makes.
INSTEAD = {
    r"^\. \.venv/bin/activate$": ":",
    r"^uv (sync|pip install) .*": ":",
    r"^make ": "make --dry-run ",
    r"^pytest ": "pytest --collect-only ",
}
RUNS = "docs/runs.md"
# The corpora that commands and examples use, and a ranking of each kind.
CORPORA = ("fac", "muchocine", "paralex", "rst_spanish_treebank", "sick_es", "sqc", "sts")
CORPORA += ("theses", "wikipedia", "word_pairs")
RANKINGS = ("evalrank_es", "evalrank_words_es")
SAMPLE_REPORT = REPOSITORY / "docs" / "sample_report"


def commands(block: str) -> list[str]:
    """Return the commands of a console block, as a test runs them."""
    found = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    for command, other in INSTEAD.items():
        found = [re.sub(command, other, line) for line in found]
    return found


@pytest.fixture(scope="module")
def copy(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the finished run, cut to what pages use, which commands may change."""
    folder = tmp_path_factory.mktemp("docs") / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    # Stores keep the vectors of texts that are no longer asked for.
    shutil.rmtree(folder / "data" / "embeddings")
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    params["corpora"] = {name: params["corpora"][name] for name in CORPORA}
    params["rankings"] = {name: params["rankings"][name] for name in RANKINGS}
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    done = run("probeta repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run_page(page: str, folder: Path, **environment: str) -> str:
    """Run the commands of a page, and return what they print."""
    texts = [block.text for block in blocks("console", page=page) if " &\n" not in block.text]
    script = "\n".join(["set -e", *(line for text in texts for line in commands(text))])
    done = run(f"bash -c {shlex.quote(script)}", folder, **environment)
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({block.page for block in blocks("console")} - {RUNS}))
def test_commands_run(copy: Path, page: str) -> None:
    run_page(page, copy)


@pytest.mark.slow
def test_the_cluster_gives_the_bytes_of_one_worker(copy: Path) -> None:
    (block,) = [block.text for block in blocks("console") if " &\n" in block.text]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    made = ("records/wikipedia.parquet", "embeddings/use_multilingual", "results/use_multilingual")
    for path in made:
        (copy / "before" / path).parent.mkdir(parents=True)
        (copy / "data" / path).rename(copy / "before" / path)
    shutil.rmtree(copy / "data" / "memory" / "probed")
    # Whatever fails, what runs in the background ends.
    script = "\n".join(["trap 'kill $(jobs -p)' EXIT", *commands(block)]).replace("8786", port)
    done = run(f"bash -emc {shlex.quote(script)}", copy)
    assert done.returncode == 0, done.stdout + done.stderr
    for path in made:
        assert tree(copy / "data" / path) == tree(copy / "before" / path), path


def tree(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else path.iterdir()
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.slow
@pytest.mark.parametrize("notebook", ["", *NOTEBOOKS])
def test_python_runs(copy: Path, notebook: str) -> None:
    """Examples run; one that a block of text follows prints this text."""
    found = blocks("python", "text", page=notebook)
    examples = [
        # As in Jupyter, a line behind an exclamation mark is one for the shell.
        (
            re.sub("(?m)^!(.*)", lambda line: f"shell({line[1]!r})", block.text),
            behind.text if behind[:2] == (block.page, "text") else None,
        )
        for block, behind in zip(found, [*found[1:], found[0]], strict=True)
        if block.language == "python"
    ]
    # In one process, as `datasets` takes seconds to import; each example of a page has names of
    # its own, and a notebook has one set of them.
    script = f"""
import contextlib, io, subprocess

def shell(command):
    print(subprocess.check_output(command, shell=True, text=True), end="")

names = {{"shell": shell}}
for text, printed in {examples!r}:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "example", "exec"), names if {notebook!r} else {{}})
    assert printed in (None, out.getvalue()), (text, out.getvalue())
"""
    folder = (copy / notebook).parent if notebook else copy
    # A kernel of Jupyter names such a backend, which is not installed beside us.
    ours = {"HF_HOME": str(copy / ".hf"), "MPLBACKEND": "module://kernel", "TMPDIR": str(copy)}
    done = run(f"python -c {shlex.quote(script)}", folder, PYTHONPATH=str(copy), **ours)
    assert done.returncode == 0, done.stderr


def test_other_examples_compile() -> None:
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


@pytest.mark.slow
def test_the_ranking_is_composed(copy: Path, tmp_path: Path) -> None:
    (entry,) = [block.text for block in blocks("yaml") if block.text.startswith("rankings:")]
    params = yaml.safe_load((copy / "params.yaml").read_text("utf-8"))
    params["rankings"] |= yaml.safe_load(entry)["rankings"]
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    (name,) = yaml.safe_load(entry)["rankings"]
    done = run(f"probeta compose --verbose --only {name} --params {path}", copy)
    assert done.returncode == 0, done.stderr
    assert "used 10" in done.stdout


def test_the_readme_is_short_and_can_be_copied() -> None:
    page = PAGES["README.md"]
    lines = page.splitlines()
    assert len(lines) <= 110
    # What it is, an example with its output, the commands, and a picture are seen at once.
    first = "\n".join(lines[:40])
    assert [mark in first for mark in ("```python", "```text", "| `probeta repro` |", "\n![")] == [
        True
    ] * 4
    assert not re.search(r"^\$ ", page, re.MULTILINE)
    assert not re.search(r"\b(ORG|NAME|PATH|URL|FILE|FOLDER|DIR)\b", page)


def test_documents_can_be_read(tmp_path: Path) -> None:
    (block,) = blocks("json")
    (tmp_path / "documents.jsonl").write_text(block.text, "utf-8")
    result = read_blocks(tmp_path, corpus_of("documents"))
    assert len(result.records) == len(block.text.splitlines()) == 2


def test_every_encoder_is_explained_with_its_options_and_their_defaults() -> None:
    page = PAGES["docs/encoders.md"]
    first, options = re.findall(r"^\|---(?:\|---)*\|\n((?:\|.*\n)+)", page, re.MULTILINE)[:2]
    assert set(re.findall(r"^\| `(\w+)` ", first, re.MULTILINE)) == ENCODERS.keys()
    documented: dict[str, dict[str, str]] = {name: {} for name in ENCODERS}
    for names, takers in re.findall(r"^\| (`.*?) \| .* \| (.*?) \|$", options, re.MULTILINE):
        for taker, default in re.findall(r"(`\w+`|\ball)(?: \((.*?)\))?", takers):
            named = re.findall(r"`(\w+)`", names)
            defaults = default.split(", ") if len(named) > 1 else [default]
            for encoder in ENCODERS if taker == "all" else [taker.strip("`")]:
                documented[encoder] |= dict(zip(named, defaults, strict=True))
    written = {
        "Ellipsis": "",
        "": "any",
        "True": "true",
        "None": "none",
        "{}": "none",
        str(Vectors()): "float32, kept",
    }
    for name, encoder in ENCODERS.items():
        options_taken = {
            option: default[0] if isinstance(default, tuple) else str(default)
            for option, default in options_of(encoder).items()
        }
        assert documented[name] == {o: written.get(d, d) for o, d in options_taken.items()}


def test_every_stage_protocol_task_of_passages_and_option_of_training_is_explained() -> None:
    first = re.findall(r"^\| (`.*?) \|", PAGES[RUNS], re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(first)) == [stage.name for stage in STAGES]
    named = re.findall(r"^\| `(\w+)` \|", PAGES["docs/training.md"], re.MULTILINE)
    assert {*named} - {*SETTINGS} == {*Training.__dataclass_fields__} | {*OBJECTIVES}
    named = re.findall(r"^- `(\w+)`: ", PAGES["docs/encoders.md"], re.MULTILINE)
    assert set(named) == PROTOCOLS.keys()
    named = re.findall(r"^\| `(\w+)` \|", PAGES["docs/own_domain.md"], re.MULTILINE)
    made = {name for name, task in TASKS.items() if isinstance(task, PassageTask)}
    asked = {name for name in made if "documents" in TASKS[name].records}
    assert TASKS.keys() & named == asked


def test_every_dataset_is_listed() -> None:
    params = yaml.safe_load((REPOSITORY / "params.yaml").read_text("utf-8"))
    datasets = [name for entry in params["corpora"].values() for name in entry.get("datasets", {})]
    pages = PAGES["docs/datasets.md"] + PAGES["docs/rankings.md"]
    assert {name for name in [*datasets, *params["rankings"]] if f"`{name}`" not in pages} == set()


def test_what_differs_from_the_papers_is_said() -> None:
    page = " ".join(PAGES["docs/papers.md"].split())
    for kind, texts in differences().items():
        for name, text in texts.items():
            assert re.search(rf"`{name}`[^:]*: {re.escape(text)}", page), (kind, name)
    for name in PAPERS:
        assert f"| `{name}` |" in page


def test_extras_are_there() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    for name, page in PAGES.items():
        extras = re.findall(r"--extra (\w+)|'\.\[(\w+)\]'|extra `(\w+)`", page)
        assert {one for found in extras for one in found if one} <= set(
            project["optional-dependencies"]
        ), name


@pytest.mark.parametrize("name", [*PAGES, *NOTEBOOKS])
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]*)\)", (PAGES | NOTEBOOKS)[name]):
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


def test_the_site_has_every_page() -> None:
    listed = re.findall(r"(\S+)\.md$", (REPOSITORY / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = {name.removeprefix("docs/").rpartition(".")[0] for name in [*PAGES, *NOTEBOOKS]}
    assert {*listed} == pages | {"CHANGELOG", "sample_report/report"}


def test_messages_of_the_page_on_trouble_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(.*?)` \|", PAGES["docs/trouble.md"], re.MULTILINE)
    files = (path for name in PACKAGES for path in (REPOSITORY / name).rglob("*.py"))
    code = "\n".join(path.read_text("utf-8") for path in files)
    assert len(rows) == 10
    assert {row for row in rows if row.removeprefix("expected: ") not in code} == set()


def test_the_page_on_python_has_every_public_name_with_its_signature() -> None:
    page = PAGES["docs/api.md"]
    headings = dict(re.findall(r"^### `(\w+)(.*)`$", page, re.MULTILINE))
    public = {name: getattr(probeta, name) for name in dir(probeta)}
    for name, thing in public.items():
        if not isinstance(thing, type):
            assert headings.pop(name) == in_words(inspect.signature(thing)), name
        elif not issubclass(thing, Exception):
            assert headings.pop(name) == ""
            named = re.findall(r"`(\w+)", page.partition(f"### `{name}`")[2])
            members = {member for member in vars(thing) if not member.startswith("_")}
            assert members - {*named} == set(), name
        else:
            assert f"`{name}`" in page
    assert headings == {}


def in_words(signature: inspect.Signature) -> str:
    """Return the parameters of a function with their defaults, without types."""
    parameters = [
        parameter.replace(
            annotation=inspect.Parameter.empty,
            default=str(parameter.default)
            if isinstance(parameter.default, Path)
            else parameter.default,
        )
        for parameter in signature.parameters.values()
    ]
    return str(inspect.Signature(parameters)).removesuffix(" -> None")


def test_the_site_searches_without_a_server_and_loads_nothing_from_elsewhere() -> None:
    """The plugin adds an address of another host unless a script with such a name is given."""
    site = yaml.load((REPOSITORY / "mkdocs.yml").read_text("utf-8"), yaml.BaseLoader)
    assert "offline" in site["plugins"]
    (script,) = site["extra"]["polyfills"]
    assert Path(script).stem == "iframe-worker"
    assert "window.Worker = window.IFrameWorker" in (REPOSITORY / "docs" / script).read_text(
        "utf-8"
    )


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
