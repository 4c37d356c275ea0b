"""sentence-transformers: the same vectors as that library's, and as ours before normalisation."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from instance_files import row, write_dataset
from sentence_transformers import SentenceTransformer

from evaluation.commands import main
from evaluation.encoders import make_encoder

TEXTS = [
    "The bridge was opened to traffic in 1932.",
    "In 1932 the bridge was opened for traffic.",
    "Frogs sing at night beside the pond.",
    "¿Quién ha visto mi paraguas?",
    "",
]


def test_vectors_are_the_librarys(minilm: str) -> None:
    encoder = make_encoder("own", {"encoder": "sentence_transformers", "model": minilm})
    assert (encoder.layers, encoder.layer, encoder.dimension) == (("output",), "output", 384)
    assert encoder.options == {"model": Path(minilm).name, "batch": 32}
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, 1, 384)
    library = SentenceTransformer(minilm, device="cpu")
    assert vectors[:, 0] == pytest.approx(library.encode(TEXTS), abs=1e-5)
    assert np.linalg.norm(vectors, axis=2) == pytest.approx(np.ones((5, 1)), abs=1e-5)
    a, b, c = vectors[:3, 0]
    assert a @ b > 0.8 > 0.5 > max(a @ c, b @ c)
    assert encoder.encode([]).shape == (0, 1, 384)
    small = make_encoder("own", {"encoder": "sentence_transformers", "model": minilm, "batch": 2})
    assert small.encode(TEXTS[::-1])[::-1] == pytest.approx(vectors, abs=1e-5)


def test_mean_of_the_last_layer_is_the_same_before_normalisation(minilm: str) -> None:
    library = SentenceTransformer(minilm, device="cpu")
    bare = SentenceTransformer(modules=[library[0], library[1]], device="cpu")
    entry = {"encoder": "transformers", "model": minilm, "layer": "6", "pooling": "mean"}
    found = make_encoder("own", entry).encode(TEXTS)
    assert found[:, 0] == pytest.approx(bare.encode(TEXTS), abs=1e-5)
    assert np.linalg.norm(found[0]) != pytest.approx(1, abs=0.1)


def test_a_prompt_stands_before_each_text(minilm: str) -> None:
    entry = {"encoder": "sentence_transformers", "model": minilm}
    encoder = make_encoder("own", entry | {"prompts": {"SP": "query: "}})
    assert encoder.prompts == {"SP": "query: "}
    expected = encoder.encode([f"query: {text}" for text in TEXTS[:4]])
    assert encoder.encode(TEXTS[:4], "query: ") == pytest.approx(expected, abs=1e-5)
    assert encoder.encode(TEXTS[:1], "query: ") != pytest.approx(
        encoder.encode(TEXTS[:1]), abs=0.01
    )


def test_nothing_of_torch_is_needed_for_what_is_encoded(
    minilm: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(
        f"seed: 3\nencoders:\n  own: {{encoder: sentence_transformers, model: {minilm}}}\n"
    )
    rows = [row(i, i % 2, sentences=["El perro come.", f"Son {i}."]) for i in range(12)]
    splits = {"train": rows[:4], "validation": rows[4:8], "test": rows[8:]}
    write_dataset(tmp_path / "dist" / "hub" / "bso_own", "sentence_ordering", splits)
    assert main(["embed"]) == 0
    assert "own: 13 texts encoded now, for 1 datasets\n" in capsys.readouterr().out
    for verb, line in (("embed", "embed: 1 encoders: 1 kept, 0 new"), ("probe", "own, bso_own: ")):
        code = f"import sys; from evaluation.commands import main; main(['{verb}']); "
        code += "print({'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys())"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        first, *_, imported = done.stdout.splitlines()
        assert first.startswith(line)
        assert imported == "set()"
