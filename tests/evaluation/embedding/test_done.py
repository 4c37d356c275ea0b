"""A run of embed with nothing to do: it ends at once, says the same, and misses no change."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from instance_files import row, write_dataset
from leftovers import leave_unfinished
from paradigm_files import write_paradigms_dataset

from evaluation.commands import main
from evaluation.embedding import done, embedding

ROOT = Path(__file__).parents[3]
VECTORS = "3 2\nla 1 0\ncasa 0 1\n. 1 1\n"
PARAMS = """\
seed: 3
encoders:
  char_hash: {dimension: 16}
  static: {path: vectors.txt}
  own: {encoder: callable, function: "own_function:encode"}
"""
FUNCTION = "import numpy\n\n\ndef encode(texts):\n    return numpy.ones((len(texts), 2))\n"
ENCODERS = ("char_hash", "static", "own")


def write(name: str, *sentences: str) -> None:
    rows = [row(i, i % 2, sentence=sentence) for i, sentence in enumerate(sentences)]
    splits = {"train": rows, "validation": rows[:1], "test": rows[:1]}
    write_dataset(Path("instances", name), "section_prediction", splits)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    Path("params.yaml").write_text(PARAMS)
    Path("vectors.txt").write_text(VECTORS)
    Path("own_function.py").write_text(FUNCTION)
    write("ssp", "la casa", "la vida", "una casa")
    return tmp_path


def run(encoder: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    command = ["embed", encoder, "--instances", "instances", "--out", f"store/{encoder}"]
    assert main([*command, "--workers", "1"]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the encoders whose store was brought up to date."""
    names: list[str] = []
    embed = embedding.embed

    def noted(folder: Path, *arguments: object) -> int:
        names.append(folder.name)
        return embed(folder, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(embedding, "embed", noted)
    return names


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_second_run_says_the_same_and_does_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], started: list[str], encoder: str
) -> None:
    write("more", "la")
    first = run(encoder, capsys)
    assert first[0] == f"{encoder}: 4 texts in 2 datasets, 4 encoded now"
    files = {file: file.read_bytes() for file in Path("store").rglob("*") if file.is_file()}
    assert run(encoder, capsys) == [first[0].replace("4 encoded", "0 encoded"), *first[1:]]
    assert started == [encoder]
    assert {f: f.read_bytes() for f in Path("store").rglob("*") if f.is_file()} == files
    # Without the note, a run finds the same, and leaves the same.
    Path("store", encoder, "done.json").unlink()
    assert run(encoder, capsys) == [first[0].replace("4 encoded", "0 encoded"), *first[1:]]
    assert started == [encoder] * 2
    assert {f: f.read_bytes() for f in Path("store").rglob("*") if f.is_file()} == files


def test_coverage_and_vocabulary_are_said_again(
    here: Path, capsys: pytest.CaptureFixture[str], started: list[str]
) -> None:
    write_paradigms_dataset(Path("instances", "forms"), [("a", ["casa", "vida", "la"])])
    first = run("static", capsys)
    assert first[1:] == [
        "static: 3 words in its vocabulary, for nearest neighbours",
        "static: 25.0% of 12 tokens are not in its vocabulary",
    ]
    assert run("static", capsys)[1:] == first[1:]
    assert len(started) == 1


def keys_file() -> Path:
    (file,) = Path("store/char_hash").glob("*.keys.npy")
    return file


def flip_key() -> None:
    content = bytearray(keys_file().read_bytes())
    content[-1] ^= 1
    keys_file().write_bytes(content)


def vectors_of_another_type() -> None:
    (file,) = Path("store/char_hash").glob("*.vectors.*.npy")
    np.save(file, np.load(file).view(np.int32))


def truncate_vectors() -> None:
    (file,) = Path("store/char_hash").glob("*.vectors.*.npy")
    file.write_bytes(file.read_bytes()[:-1])


def note(text: str) -> Callable[[], object]:
    return lambda: Path("store/char_hash/done.json").write_text(text)


def older_note() -> None:
    file = Path("store/char_hash/done.json")
    found = json.loads(file.read_bytes())
    file.write_text(json.dumps(found | {"counted": {"texts": 3, "sentences": 3}}))


@pytest.mark.parametrize(
    ("change", "encoded"),
    [
        (lambda: write("ssp", "la casa", "la vida", "otra casa"), 1),
        (lambda: write("ssp", "la casa", "la vida"), 0),
        (lambda: write("new", "la casa"), 0),
        (lambda: Path("params.yaml").write_text(PARAMS.replace("16", "8")), 3),
        (lambda: keys_file().unlink(), 3),
        (flip_key, 3),
        (truncate_vectors, 3),
        (vectors_of_another_type, 3),
        (lambda: Path("store/char_hash/encoder.json").write_text("{}"), 3),
        (lambda: leave_unfinished(Path("store/char_hash/0123.npy")), 0),
        (note("{"), 0),
        (note("[]"), 0),
        (note("{}"), 0),
        (older_note, 0),
    ],
)
def test_a_change_of_texts_encoder_or_store_is_seen(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    started: list[str],
    change: Callable[[], object],
    encoded: int,
) -> None:
    run("char_hash", capsys)
    change()
    assert run("char_hash", capsys)[0].endswith(f", {encoded} encoded now")
    assert len(started) == 2
    assert run("char_hash", capsys)[0].endswith(", 0 encoded now")
    assert len(started) == 2


def test_a_change_of_the_code_is_seen(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    started: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run("char_hash", capsys)
    monkeypatch.setattr(done, "code_digest", lambda *modules: "another")
    assert run("char_hash", capsys)[0].endswith(", 0 encoded now")
    assert len(started) == 2


def test_a_change_of_the_words_file_is_seen(
    here: Path, capsys: pytest.CaptureFixture[str], started: list[str]
) -> None:
    run("static", capsys)
    Path("vectors.txt").write_text(VECTORS.replace("casa 0 1", "casa 0 3"))
    assert run("static", capsys)[0].endswith(", 3 encoded now")


@pytest.mark.parametrize("encoder", ENCODERS)
def test_no_package_is_imported_for_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], encoder: str
) -> None:
    run(encoder, capsys)
    code = "import sys; from evaluation.commands import main; main(sys.argv[1:])\n"
    code += "print(sorted({'numpy', 'pyarrow', 'own_function', 'tqdm'} & sys.modules.keys()))"
    command = ["embed", encoder, "--instances", "instances", "--out", f"store/{encoder}"]
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}\n{code}", *command],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "0 encoded now" in said
    assert said.splitlines()[-1] == "[]"
