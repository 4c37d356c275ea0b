"""No stale or tampered state is taken for good: the next run ends as if nothing had happened."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from case_tables import read_tables
from contents import flip_bit
from faults import Tree, tree, write_params, write_vectors

from corpora_recipes.running import code
from probeta.cli import main

TABLES = read_tables(__file__)

HELPER = "SCALE = {}\n"
CALLABLE = """
import numpy as np
import helper

def encode(texts):
    return np.array([[len(t) * helper.SCALE, t.count("a"), t.count("e"), 1] for t in texts], float)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a toy project in which everything has run, with three encoders."""
    folder = tmp_path_factory.mktemp("tampering")
    write_vectors(folder / "words.txt")
    params = write_params(folder / "toy", 1, folder / "toy" / "words.txt")
    shutil.copy(folder / "words.txt", folder / "toy")
    (folder / "toy" / "helper.py").write_text(HELPER.format(1))
    (folder / "toy" / "mine.py").write_text(CALLABLE)
    params["corpora"]["texts"]["corpus"]["path"] = "documents.jsonl"
    params["encoders"] |= {
        "words": {"encoder": "static", "path": "words.txt"},
        "mine": {"encoder": "callable", "function": "mine:encode"},
    }
    source = Path(__file__).parents[1] / "corpora_recipes/corpora/documents/sample/documents.jsonl"
    shutil.copy(source, folder / "toy")
    (folder / "toy" / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    repro(folder / "toy")
    return folder / "toy"


# All stages in a new process.
COMMAND = [sys.executable, "-m", "probeta", "repro"]


def repro(folder: Path) -> None:
    """Run all stages in a new process."""
    done = subprocess.run(COMMAND, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def place(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "toy", symlinks=True))


def made(folder: Path) -> Tree:
    """Return all files but the user's, links to them, and compiled modules."""
    made_here = ("data/", "dist/", "reports/")
    found = {name: content for name, content in tree(folder).items() if name.startswith(made_here)}
    links = ("data/raw/", "data/memory/fetch/")
    return {name: content for name, content in found.items() if not name.startswith(links)}


def assert_equal(one: Tree, other: Tree) -> None:
    assert sorted(name for name in {*one, *other} if one.get(name) != other.get(name)) == []


def first(folder: Path, pattern: str) -> Path:
    return sorted(path for path in folder.glob(pattern) if path.is_file())[0]


OUTPUTS = TABLES["outputs"]


def permute(place: Path) -> None:
    file = first(place, "data/embeddings/words/*.vectors.*.npy")
    np.save(file, np.load(file)[::-1])


def remove_rows(place: Path) -> None:
    file = first(place, "dist/hub/bso_texts/test-*.parquet")
    pq.write_table(pq.read_table(file).slice(1), file)


def forge_score(place: Path) -> None:
    file = place / "data/results/words/scores.json"
    file.write_text(file.read_text("utf-8").replace('"value": 0.', '"value": 0.9', 1), "utf-8")


@pytest.mark.parametrize("tamper", [permute, remove_rows, forge_score, *OUTPUTS])
def test_a_flipped_bit_or_a_consistent_change(
    place: Path, monkeypatch: pytest.MonkeyPatch, tamper: Callable[[Path], None] | str
) -> None:
    end = made(place)
    if isinstance(tamper, str):
        flip_bit(first(place, tamper))
    else:
        tamper(place)
    assert made(place) != end
    monkeypatch.chdir(place)
    assert main(["repro"]) == 0
    assert_equal(made(place), end)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("helper.py", lambda text: HELPER.format(3)),
        ("words.txt", lambda text: text.replace(" 0.", " -0.")),
        ("documents.jsonl", lambda text: "".join(text.splitlines(keepends=True)[8:])),
        ("params.yaml", lambda text: text.replace("seed: 1", "seed: 2")),
    ],
)
def test_what_decides_changes(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[str], str]
) -> None:
    monkeypatch.chdir(place)

    def run() -> None:
        # Python imports a module of the user once.
        if name == "helper.py":
            repro(place)
        else:
            assert main(["repro"]) == 0

    before = made(place)
    (place / name).write_text(change((place / name).read_text("utf-8")), "utf-8")
    run()
    changed = made(place)
    assert any(before[name] != changed[name] for name in before if name.startswith("data/results"))
    for folder in ("data", "dist", "reports"):
        shutil.rmtree(place / folder)
    run()
    # Vectors of texts that are no longer asked for stay in a store.
    anew = made(place)
    shown = [name for name in anew if name.startswith(("data/results", "reports"))]
    assert [name for name in shown if changed.get(name, anew[name]) != anew[name]] == []


def test_another_version_of_a_library(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    known = code.version

    def version(name: str) -> str:
        return "99.0" if name == "scipy" else known(name)

    monkeypatch.setattr(code, "version", version)
    assert main(["repro"]) == 0
    said = dict(re.findall(r"^\[\d+/12\] (\w+): (.*) \(", capsys.readouterr().out, re.MULTILINE))
    for name in ("audit", "probe", "rank", "paradigms"):
        assert " again" in said[name], name
    for name in ("read", "build", "compose", "embed"):
        assert said[name].endswith(" reused"), name
    assert '"scipy": "99.0"' in (place / "data/environment.json").read_text("utf-8")


def test_two_runs_at_once(place: Path) -> None:
    end = made(place)
    for folder in ("data", "dist", "reports"):
        shutil.rmtree(place / folder)
    pipe = subprocess.PIPE
    both = [
        subprocess.Popen(COMMAND, cwd=place, stdout=pipe, stderr=pipe, text=True) for _ in range(2)
    ]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("waiting for another run to end" in errors for _, errors in said) == 1
    assert_equal(made(place), end)
