"""The stage `embed`: with nothing to do it does nothing, and it misses no change of anything."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from contents import contents, flip_bit
from instance_files import row, write_dataset
from paradigm_files import write_paradigms_dataset
from stage_lines import untimed
from stores import forge_vectors

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import EMBEDDINGS, PACKAGE
from corpora_recipes.running.stage import read_skipped
from evaluation.encoders import callable
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
    for name in ("own_function", "own_helper"):
        sys.modules.pop(name, None)
    for cached in (callable._import_function, callable._digest_module):
        cached.cache_clear()


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
