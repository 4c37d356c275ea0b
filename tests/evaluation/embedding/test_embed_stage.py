"""The stage `embed`: with nothing to do it does nothing, and it misses no change of anything."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from contents import contents, flip_bit
from functions import forget_functions
from instance_files import row, write_dataset
from paradigm_files import write_paradigms_dataset
from stage_lines import untimed
from stores import forge_vectors

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import EMBEDDINGS, PACKAGE
from corpora_recipes.running.stage import read_skipped
from evaluation.encoders.static import load_model
from evaluation.verbs import digest_vectors
from probeta.cli import main

Capsys = pytest.CaptureFixture[str]
VECTORS = "3 2\nla 1 0\ncasa 0 1\n. 1 1\n"
PARAMS = """\
seed: 3
encoders:
  char_hash: {dimension: 16}
  static: {path: vectors.txt}
  own: {encoder: callable, function: "own_function:encode"}
"""
FUNCTION = """\
import numpy
import own_helper


def encode(texts):
    return numpy.full((len(texts), 2), own_helper.NUMBER, float)
"""


def write(name: str, *sentences: str) -> None:
    rows = [row(i, i % 2, sentence=sentence) for i, sentence in enumerate(sentences)]
    splits = {"train": rows, "validation": rows[:1], "test": rows[:1]}
    write_dataset(PACKAGE / name, "section_prediction", splits)


def forget_function() -> None:
    """As in another process."""
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    forget_functions()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("params.yaml").write_text(PARAMS)
    Path("vectors.txt").write_text(VECTORS)
    Path("own_function.py").write_text(FUNCTION)
    Path("own_helper.py").write_text("NUMBER = 1")
    write("ssp", "la casa", "la vida", "una casa")
    write_paradigms_dataset(PACKAGE / "forms", [("a", ["casa", "vida", "la"])])
    forget_function()


def test_what_is_said_and_that_nothing_is_done_twice(capsys: Capsys) -> None:
    assert main(["embed", "--verbose"]) == 0
    assert untimed(capsys.readouterr().out).splitlines() == [
        "char_hash: 6 texts encoded now, for 2 datasets",
        "static: 6 texts encoded now, for 2 datasets",
        "static: 3 words in its vocabulary, for nearest neighbours",
        "static: 25.0% of 12 tokens are not in its vocabulary",
        "own: 6 texts encoded now, for 2 datasets",
        "embed: 3 encoders applied, 18 vectors",
    ]
    # The model is let go.
    assert load_model.cache_info().currsize == 0
    assert main(["embed"]) == 0
    assert untimed(capsys.readouterr().out) == "embed: 3 encoders reused\n"


@pytest.mark.parametrize(
    ("name", "change", "encoded"),
    [
        ("char_hash", lambda: write("ssp", "la casa", "la vida", "otra casa"), 1),
        ("char_hash", lambda: write("new", "la casa"), 0),
        ("char_hash", lambda: Path("params.yaml").write_text(PARAMS.replace("16", "8")), 6),
        ("static", lambda: Path("vectors.txt").write_text(VECTORS.replace("0 1", "0 3")), 6),
        ("own", lambda: Path("own_helper.py").write_text("NUMBER = 2"), 6),
    ],
)
def test_a_change_is_seen(
    capsys: Capsys, name: str, change: Callable[[], object], encoded: int
) -> None:
    assert main(["embed", "--only", name]) == 0
    change()
    forget_function()
    capsys.readouterr()
    assert main(["embed", "--only", name, "--verbose"]) == 0
    assert f"{name}: {encoded} text" in (printed := capsys.readouterr().out)
    some = f"{6 - encoded} of 6 vectors reused" if encoded else "6 vectors reused"
    assert ("6 vectors" if encoded == 6 else some) in printed


# It opens files when it is imported and when it is called, in a thread, in another folder and in
# native code; tries one that is missing; writes and reads one of its own; and imports a module
# late.
OPENING = """\
import ctypes, importlib, os, threading
import numpy
import own_shared

WEIGHTS = numpy.load("weights.npy")
found = []


def read(path):
    with open(path) as file:
        found.append(float(file.read()))


def encode(texts):
    found.clear()
    thread = threading.Thread(target=open, args=["thread.txt"])
    thread.start()
    thread.join()
    os.chdir("folder")
    read("there.txt")
    os.chdir("..")
    read("model/config.json")
    ctypes.CDLL(None).fopen(b"model/model.safetensors", b"r")
    try:
        read("optional.txt")
    except OSError:
        pass
    with open("own.part", "w") as file:
        file.write("1")
    os.replace("own.part", "own.txt")
    read("own.txt")
    number = importlib.import_module("own_late").NUMBER + own_shared.load() + sum(found)
    return numpy.full((len(texts), 2), number) + WEIGHTS
"""
SHARED = """\
from functools import cache


@cache
def load():
    with open("shared.txt") as file:
        return float(file.read())
"""
OTHER = """\
import numpy, own_shared
encode = lambda texts: numpy.full((len(texts), 2), own_shared.load())
"""
OPENED = [
    *("folder/there.txt", "model/config.json", "model/model.safetensors", "optional.txt"),
    *("own_late.py", "shared.txt", "thread.txt", "weights.npy"),
]


def write_weights(value: float) -> None:
    np.save("weights.npy", np.full(2, value))


@pytest.fixture
def opening() -> None:
    Path("params.yaml").write_text(
        "seed: 3\nencoders:\n"
        '  other: {encoder: callable, function: "own_other:encode"}\n'
        '  own: {encoder: callable, function: "own_opening:encode"}\n'
    )
    texts = {"own_opening": OPENING, "own_shared": SHARED, "own_other": OTHER}
    for name, code in (texts | {"own_late": "NUMBER = 1"}).items():
        Path(f"{name}.py").write_text(code)
    for folder in ("folder", "model"):
        Path(folder).mkdir()
    for name in ("folder/there.txt", "model/config.json", "model/model.safetensors"):
        Path(name).write_text("1")
    for name in ("shared.txt", "thread.txt", "unused.txt"):
        Path(name).write_text("1")
    write_weights(1)


@pytest.mark.usefixtures("opening")
def test_the_files_that_a_function_opens_decide_its_vectors(capsys: Capsys) -> None:
    assert main(["embed"]) == 0
    files = json.loads((EMBEDDINGS / "own" / "encoder.json").read_bytes())["files"]
    assert list(files) == OPENED
    assert [path for path in files if files[path] is None] == ["optional.txt"]
    # The other one had loaded it, in this process.
    of_other = json.loads((EMBEDDINGS / "other" / "encoder.json").read_bytes())["files"]
    assert list(of_other) == ["shared.txt"]
    before = contents(EMBEDDINGS)
    Path("unused.txt").write_text("2")
    forget_function()
    capsys.readouterr()
    assert main(["embed"]) == 0
    assert untimed(capsys.readouterr().out) == "embed: 2 encoders reused\n"
    # Elsewhere too.
    shutil.copytree(Path.cwd(), "copy", ignore=shutil.ignore_patterns("copy"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir("copy")
        assert main(["embed"]) == 0
        assert untimed(capsys.readouterr().out) == "embed: 2 encoders reused\n"
    assert contents(EMBEDDINGS) == before


@pytest.mark.usefixtures("opening")
@pytest.mark.parametrize(
    "change",
    [
        *(lambda name=name: Path(name).write_text("2") for name in OPENED[:4] + OPENED[5:7]),
        lambda: Path("own_late.py").write_text("NUMBER = 2"),
        lambda: write_weights(2),
        lambda: Path("model/model.safetensors").unlink(),
    ],
    ids=[*OPENED[:4], *OPENED[5:7], "own_late.py", "weights.npy", "none"],
)
def test_a_changed_file_of_a_function_is_seen(capsys: Capsys, change: Callable[[], object]) -> None:
    assert main(["embed"]) == 0
    change()
    forget_function()
    capsys.readouterr()
    assert main(["embed", "--verbose"]) == 0
    lines = untimed(capsys.readouterr().out)
    assert "own: 6 texts encoded now" in lines
    assert "has changed, its texts are encoded again" in lines
    assert ("other: 6 texts encoded now" in lines) == ("other: shared.txt has changed" in lines)
    forget_function()
    assert main(["embed"]) == 0
    assert untimed(capsys.readouterr().out) == "embed: 2 encoders reused\n"


@pytest.mark.slow
def test_a_flipped_bit_in_any_file_is_refused_and_mended() -> None:
    embed = ["embed", "--only", "static"]
    assert main(embed) == 0
    before = contents(EMBEDDINGS)
    # Vectors, their digest and keys; encoder.json, datasets.json; and the vocabulary.
    assert len(before) == 3 + 2 + 4
    for path in before:
        flip_bit(EMBEDDINGS / path)
        with pytest.raises(InputError, match=Path(path).name):
            digest_vectors("static")
        assert main(embed) == 0
        assert contents(EMBEDDINGS) == before, path
        assert digest_vectors("static")


def test_a_consistent_forgery_is_refused_and_mended() -> None:
    """The store itself takes it for good; the record of the last run does not."""
    embed = ["embed", "--only", "static"]
    assert main(embed) == 0
    before, folder = contents(EMBEDDINGS), EMBEDDINGS / "static"
    (file,) = folder.glob("*.vectors.*.npy")
    forge_vectors(file, lambda vectors: 2 * vectors)
    with pytest.raises(InputError, match=r"\.npy"):
        digest_vectors("static")
    assert main(embed) == 0
    assert contents(EMBEDDINGS) == before
    # Words that no run has recorded, of the same encoder.
    words = folder / "vocabulary" / "words.json"
    words.write_text(words.read_text().replace("casa", "otra"))
    shutil.rmtree("data/memory/embed")
    assert main(embed) == 0
    assert contents(EMBEDDINGS) == before


def test_words_that_no_text_has_are_shown(capsys: Capsys) -> None:
    Path("vectors.txt").write_text("2 2\ncasa_NOUN 1 0\nvieja\t_ADJ 0 1\n")
    main(["embed", "--only", "static"])
    shown = capsys.readouterr().out
    assert "a vector of zeros for all 6 of 6 texts" in shown
    assert "written as in them; those of the file begin with 'casa_NOUN', 'vieja\\t_ADJ'" in shown


def test_an_encoder_that_fails_is_left_out_and_the_others_are_not(capsys: Capsys) -> None:
    Path("vectors.txt").write_text("casa 1 x\n")
    Path("own_helper.py").write_text("NUMBER = 1 / 0")
    assert main(["embed"]) == 0
    assert "embed: 1 of 3 encoders applied, 6 vectors, 2 skipped" in capsys.readouterr().out
    left_out = read_skipped("embed")
    assert list(left_out) == ["static", "own"]
    assert "vectors.txt" in left_out["static"].why
    assert "division by zero" in left_out["own"].why
    assert main(["embed", "--strict"]) == 1
    Path("vectors.txt").write_text(VECTORS)
    Path("own_helper.py").write_text("NUMBER = 1")
    forget_function()
    assert main(["embed"]) == 0
    assert read_skipped("embed") == {}
