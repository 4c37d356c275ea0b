"""Functions of the user as encoders: where they are found, layers, errors; the two examples."""

import ast
import io
import math
import py_compile
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from case_tables import read_tables
from functions import forget_functions

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder
from evaluation.encoders.callable import SHORT_TEXT
from evaluation.encoders.encoder import encode_checked

TABLES = read_tables(__file__)

MODULE = """
import os
import sys

import numpy as np

calls = []
number = 3
layers = lambda texts: np.stack([flat(texts), 2 * flat(texts)], axis=1)
ragged = lambda texts: [[1.0] * len(t) for t in texts]
bare = lambda texts: np.zeros(len(texts))
whole = lambda texts: np.array([[len(t), 1] for t in texts])
truths = lambda texts: np.ones((len(texts), 3), bool)
drawn = lambda texts: np.random.rand(len(texts), 64)
centred = lambda texts: flat(texts) - flat(texts).mean(axis=0)
short = lambda texts: np.zeros((1, 3))
grows = lambda texts: np.zeros((len(texts), 3 + (len(texts) > 1)))
unknown = lambda texts: np.full((len(texts), 3), np.nan if len(texts) > 1 else 1.0)
nothing = lambda texts: None
prompted = lambda texts, prompt="": np.array([[len(text), len(prompt)] for text in texts])


def flat(texts):
    calls.append(texts)
    return np.array([[len(t), t.count("a"), 1] for t in texts], float)


class Model:
    __call__ = nothing
    encode = lambda self, texts: 2 * flat(texts)


model = Model()


class Closed:
    def __getattr__(self, name):
        raise KeyError(name)


closed = Closed()


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError


def speechless(texts):
    raise Speechless


def ends(texts):
    raise SystemExit(0)


def leaves(texts):
    raise GeneratorExit


def closes(texts):
    sys.stdout.close()
    return flat(texts)


def moves(texts):
    os.chdir("/")
    return flat(texts)


def dies(texts):
    if len(texts) > 1:
        raise KeyError("no such word")
    return flat(texts)
"""
TEXTS = ["la casa", "el mar", "año"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder with the module ``mine``, and forget it afterwards."""
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    (tmp_path / "faulty.py").write_text("import no_such_package\n", "utf-8")
    (tmp_path / "ended.py").write_text("raise SystemExit(0)\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in ("mine", "faulty", "ended", "opens", "late"):
        sys.modules.pop(name, None)
    forget_functions()


def made(function: str, **options: Any) -> Any:
    return make_encoder("mine", {"encoder": "callable", "function": function, **options})


def test_one_vector_a_text() -> None:
    encoder = made("mine:flat")
    assert (encoder.name, encoder.revision, encoder.form) == ("callable", "1", "natural")
    assert (encoder.dimension, encoder.layers, encoder.layer) == (3, ("output",), "output")
    assert encoder.options == {
        "function": "mine:flat",
        "form": "natural",
        "file": sha256(MODULE.encode()).hexdigest()[:16],
    }
    assert encoder.parallel is False
    vectors = encoder.encode(TEXTS)
    assert vectors.tolist() == [[[7, 3, 1]], [[6, 1, 1]], [[3, 1, 1]]]
    assert encoder.encode([]).shape == (0, 1, 3)
    calls = import_module("mine").calls
    # Once for the shape, however often it is asked for, never without texts, and one text alone.
    assert calls == [[SHORT_TEXT], TEXTS, TEXTS[-1:]]


def test_layers() -> None:
    encoder = made("mine:layers", form="tokens", revision="7")
    assert (encoder.form, encoder.revision) == ("tokens", "7")
    assert (encoder.dimension, encoder.layers, encoder.layer) == (3, ("0", "1"), "1")
    assert encoder.encode(TEXTS)[0].tolist() == [[7, 3, 1], [14, 6, 2]]


@pytest.mark.parametrize(("function", "word"), TABLES["errors"])
def test_errors_say_what_is_wrong_with_the_function(function: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        encode_checked(made(function), TEXTS)
    assert caught.value.where.startswith("encoder callable")
    assert word in caught.value.found


def test_a_function_that_changes_the_folder_or_closes_the_output(monkeypatch) -> None:
    folder = Path.cwd()
    assert made("mine:moves").encode(TEXTS[:1]).tolist() == [[[7, 3, 1]]]
    assert Path.cwd() == folder
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(InputError, match="leaves standard output open"):
        made("mine:closes").encode(TEXTS)


def test_whole_numbers_and_methods_of_objects_do() -> None:
    assert made("mine:whole").encode(TEXTS).tolist() == [[[7, 1]], [[6, 1]], [[3, 1]]]
    for function in ("mine:model", "mine:model.encode"):
        assert made(function).encode(TEXTS[:1]).tolist() == [[[14, 6, 2]]]


def test_a_prompt_is_passed_on() -> None:
    encoder = made("mine:prompted", prompts={"default": "abc"})
    encoder.check()
    assert (encoder.prompts, "prompts" in encoder.options) == ({"default": "abc"}, False)
    assert encoder.encode(TEXTS[:2]).tolist() == [[[7, 0]], [[6, 0]]]
    assert encoder.encode(TEXTS[:2], "abc").tolist() == [[[7, 3]], [[6, 3]]]


def test_a_function_is_tried_on_a_short_text() -> None:
    with pytest.raises(InputError, match="when tried on 'Hola"):
        _ = made("mine:truths").layers


def test_another_module_that_it_imports_is_another_encoder(tmp_path: Path) -> None:
    """Those beside it, however far; not what is installed, nor what only stands there."""
    texts = {
        "made.py": "import numpy, helpers\nfrom helpers.deep import scale\ndef f(texts): ...\n",
        "helpers/__init__.py": "",
        "helpers/deep.py": "from . import deeper\n",
        "helpers/deeper.py": "import made\n",
        "helpers/other.py": "",
        "broken.py": "(",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def digest() -> str:
        forget_functions()
        return str(made("made:f").options["file"])

    before = digest()
    # A module may load a model.
    assert "made" not in sys.modules
    for name in texts:
        (tmp_path / name).write_text(f"{texts[name]}# Changed.\n")
        assert (digest() == before) == (name in ("helpers/other.py", "broken.py"))
        (tmp_path / name).write_text(texts[name])
    assert digest() == before
    (tmp_path / "helpers/deeper.py").write_text("(")
    assert digest() != before


OPENS = """
import importlib, tempfile
import numpy as np

def f(texts):
    for path in PATHS:
        with open(path) as file:
            file.read()
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"1")
        open(file.name).close()
    importlib.import_module("late")
    return np.ones((len(texts), 2))
"""


def test_opened_files_are_those_of_the_user(tmp_path: Path) -> None:
    """Neither hidden, temporary nor installed ones; of what is compiled, the source."""
    others = [".hidden", "token", "../temporary.txt", pytest.__file__, ast.__file__, "/etc/hosts"]
    for name in ("mine.txt", *others[:3]):
        (tmp_path / name).write_text("1")
    (tmp_path / "opens.py").write_text(OPENS.replace("PATHS", repr(["mine.txt", *others])))
    (tmp_path / "late.py").write_text("")
    py_compile.compile(str(tmp_path / "late.py"))
    encoder = made("opens:f")
    encoder.encode(TEXTS)
    contents = {"late.py": b"", "mine.txt": b"1"}
    digests = {name: sha256(content).hexdigest() for name, content in contents.items()}
    assert encoder.opened_files() == digests
    # Its digest is that of when it was opened.
    (tmp_path / "mine.txt").write_text("2")
    encoder.encode(TEXTS)
    assert encoder.opened_files() == digests


def test_an_input_error_of_the_function_is_kept(tmp_path: Path) -> None:
    code = "from corpora_recipes.running.errors import RawError\ndef f(_): raise RawError(*'abc')\n"
    (tmp_path / "mine.py").write_text(code, "utf-8")
    with pytest.raises(InputError, match=r"^a\n"):
        made("mine:f").encode(TEXTS)


class Sent2vecModel:
    """Stands for that of sent2vec, whose weights are far too large for a test."""

    def load_model(self, path: str) -> None:
        self.path = path

    def embed_sentences(self, texts: list[str]) -> Any:
        assert self.path.endswith(".bin")
        return np.float32([[text.count("l"), len(text)] for text in texts])


class Embedder:
    """Stands for that of elmoformanylangs."""

    def __init__(self, folder: str, batch_size: int) -> None:
        assert batch_size == 1
        self.model = SimpleNamespace(encoder=SimpleNamespace(stateful=True))

    def sents2elmo(self, texts: list[list[str]], output_layer: int) -> Any:
        assert output_layer == -2
        assert not self.model.encoder.stateful
        return [
            np.float32([[[layer, len(token)] for token in tokens] for layer in range(3)])
            for tokens in texts
        ]


@pytest.mark.parametrize(
    ("name", "package", "vector"),
    [
        ("sent2vec", ModuleType("sent2vec"), [[1, 7]]),
        ("elmo", ModuleType("elmoformanylangs"), [[0, 3], [1, 3], [2, 3]]),
    ],
)
def test_the_examples(
    name: str, package: ModuleType, vector: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    vars(package).update(Sent2vecModel=Sent2vecModel, Embedder=Embedder)
    monkeypatch.setitem(sys.modules, package.__name__, package)
    encoder = made(f"evaluation.encoders.examples.{name}:encode", form="tokens")
    assert encoder.encode(["La casa", "el mar"])[0].tolist() == vector


def gru(x: Any, weights: dict[str, Any], prefix: str) -> list[float]:
    """Return the last state of the network of Kiros et al. (2015), equations 1 to 4, by loops."""
    w, b, u, wx, bx, ux = (
        weights[f"{prefix}_{name}"] for name in ("W", "b", "U", "Wx", "bx", "Ux")
    )
    units = len(ux)
    state = [0.0] * units

    def product(vector: Any, matrix: Any, column: int) -> float:
        return sum(float(v) * float(m) for v, m in zip(vector, matrix[:, column], strict=True))

    for word in x:
        gates = [
            1 / (1 + math.exp(-(product(word, w, i) + b[i] + product(state, u, i))))
            for i in range(2 * units)
        ]
        new = [
            math.tanh(product(word, wx, i) + bx[i] + gates[i] * product(state, ux, i))
            for i in range(units)
        ]
        state = [
            gates[units + i] * state[i] + (1 - gates[units + i]) * new[i] for i in range(units)
        ]
    return state


def test_skip_thought_reads_the_authors_files(empty_folder: Path) -> None:
    """Of the same names, keys and shapes; the real ones have 2,400 units and 620 dimensions."""
    drawn = np.random.default_rng(3)
    sizes = {"W": (5, 8), "b": (8,), "U": (4, 8), "Wx": (5, 4), "bx": (4,), "Ux": (4, 4)}
    networks = {
        file: {
            f"{prefix}_{name}": drawn.normal(size=size).astype(np.float32)
            for prefix in prefixes
            for name, size in sizes.items()
        }
        for file, prefixes in {"uni": ["encoder"], "bi": ["encoder", "encoder_r"]}.items()
    }
    folder = empty_folder / "skip_thoughts"
    folder.mkdir()
    for file, arrays in networks.items():
        # They have further arrays, one of objects, which are left alone.
        history = {"history_errs": np.array([None]), "Wemb": np.zeros((2, 5))}
        np.savez(folder / f"{file}_skip.npz", **arrays, **history)  # type: ignore[arg-type]
    tables = {name: drawn.normal(size=(3, 5)).astype(np.float32) for name in "ub"}
    for name, table in tables.items():
        np.save(folder / f"{name}table.npy", table)
    (folder / "dictionary.txt").write_text("casa\nUNK\nla\n", "utf-8")
    encoder = made("evaluation.encoders.examples.skip_thought:encode", form="tokens")
    found = encoder.encode(["la casa azul", "casa"])[:, 0]
    rows = [2, 0, 1]
    parts = [
        gru(tables["u"][rows], networks["uni"], "encoder"),
        gru(tables["b"][rows], networks["bi"], "encoder")
        + gru(tables["b"][rows[::-1]], networks["bi"], "encoder_r"),
    ]
    expected = [value / math.hypot(*part) for part in parts for value in part]
    assert found.shape == (2, 12)
    assert found[0].tolist() == pytest.approx(expected, abs=1e-6)
