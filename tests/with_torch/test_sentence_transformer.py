"""The encoder sentence_transformers: its vectors, known similarities."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from reading_oracle import corpus_for
from sentence_transformers import SentenceTransformer

from corpora_recipes.recipe import RECIPES, load_recipe
from corpora_recipes.records import Example
from evaluation.encoders import make_encoder, sentence_transformer
from evaluation.measures import spearman
from probeta import score
from probeta.data import cache_folder

# --- sentence transformer ------------------------------------------------------------------------

TEXTS = [
    "The bridge was opened to traffic in 1932.",
    "In 1932 the bridge was opened for traffic.",
    "Frogs sing at night beside the pond.",
    "¿Quién ha visto mi paraguas?",
    "",
]


def test_vectors_are_the_librarys(minilm: str) -> None:
    encoder = make_encoder("mine", {"encoder": "sentence_transformers", "model": minilm})
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
    small = make_encoder("mine", {"encoder": "sentence_transformers", "model": minilm, "batch": 2})
    assert small.encode(TEXTS[::-1])[::-1] == pytest.approx(vectors, abs=1e-5)


def test_mean_of_the_last_layer_is_the_same_before_normalisation(minilm: str) -> None:
    library = SentenceTransformer(minilm, device="cpu")
    bare = SentenceTransformer(modules=[library[0], library[1]], device="cpu")
    entry = {"encoder": "transformers", "model": minilm, "layer": "6", "pooling": "mean"}
    vectors = make_encoder("mine", entry).encode(TEXTS)
    assert vectors[:, 0] == pytest.approx(bare.encode(TEXTS), abs=1e-5)
    assert np.linalg.norm(vectors[0]) != pytest.approx(1, abs=0.1)


def test_a_prompt_stands_before_each_text(minilm: str) -> None:
    entry = {"encoder": "sentence_transformers", "model": minilm}
    encoder = make_encoder("mine", entry | {"prompts": {"SP": "query: "}})
    assert encoder.prompts == {"SP": "query: "}
    expected = encoder.encode([f"query: {text}" for text in TEXTS[:4]])
    assert encoder.encode(TEXTS[:4], "query: ") == pytest.approx(expected, abs=1e-5)
    plain = encoder.encode(TEXTS[:1])
    assert encoder.encode(TEXTS[:1], "query: ") != pytest.approx(plain, abs=0.01)


def test_a_prompt_holds_each_text(minilm: str) -> None:
    encoder = make_encoder("mine", {"encoder": "sentence_transformers", "model": minilm})
    expected = encoder.encode([f"Is it so that {text}?" for text in TEXTS])
    assert encoder.encode(TEXTS, "Is it so that {}?") == pytest.approx(expected, abs=1e-6)


def test_random_weights(minilm: str) -> None:
    entry = {"encoder": "sentence_transformers", "model": minilm, "weights": "random"}
    encoder = make_encoder("mine", entry)
    state = torch.get_rng_state()
    found = encoder.encode(TEXTS)
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(make_encoder("mine", entry | {"seed": 1}).encode(TEXTS), found)
    other = make_encoder("mine", entry | {"seed": 2}).encode(TEXTS)
    assert np.abs(other - found).max() > 0.01
    # Not a weight of the trained model stays.
    trained = dict(SentenceTransformer(minilm, device="cpu").named_parameters())
    drawn = sentence_transformer.load_model(encoder.source, encoder.loading, 1)  # type: ignore[union-attr]
    for name, weight in drawn.named_parameters():
        if "position" not in name and "pooler" not in name:
            assert not torch.equal(weight, trained[name]), name
    assert encoder.options == {"model": "model", "batch": 32, "weights": "random", "seed": 1}


@pytest.mark.parametrize("prompts", [None, {"SS": "query: "}])
def test_a_folder_and_the_object_have_one_score(
    hub_folder: Path, minilm: str, prompts: dict[str, str] | None
) -> None:
    common = {"data": "dist/hub", "datasets": ["sts_own"], "prompts": prompts}
    folder = score(minilm, **common)
    given = score(SentenceTransformer(minilm, device="cpu"), **common)
    assert folder.results.encoder["encoder"] == "sentence_transformers"
    assert folder["sts_own"].value == pytest.approx(given["sts_own"].value, abs=1e-5)
    assert (folder.results.name, given.results.name) == ("model", "SentenceTransformer")
    assert folder.store
    assert folder.store.parent == cache_folder() / "vectors"
    plain = score(minilm, data="dist/hub", datasets=["sts_own"], name="plain")
    assert (folder["sts_own"].value == plain["sts_own"].value) == (prompts is None)


def test_a_model_without_pooling_is_of_transformers(hub_folder: Path, tiny: dict[str, str]) -> None:
    found = score(tiny["bert"], datasets=["bso_own"], name="tiny").results.encoder
    assert (found["encoder"], found["layers"]) == ("transformers", ["avg"])


# --- known similarities --------------------------------------------------------------------------

WHOLE = os.environ.get("PROBETA_SENTEVAL", "")
needs_files = pytest.mark.skipif(
    not WHOLE, reason="PROBETA_SENTEVAL does not name a folder with the files of `senteval`"
)


@pytest.mark.parametrize(
    ("raw", "sts13", "sts_b"),
    [
        pytest.param(RECIPES / "senteval" / "sample", (30, 91.94), (15, 86.37), id="sample"),
        pytest.param(Path(WHOLE), (1500, 80.60), (1379, 82.03), id="whole", marks=needs_files),
    ],
)
def test_minilm(minilm: str, raw: Path, sts13: tuple[int, float], sts_b: tuple[int, float]) -> None:
    encoder = make_encoder("minilm", {"encoder": "sentence_transformers", "model": minilm})
    recipe, corpus = load_recipe("senteval"), corpus_for("senteval", {})
    blocks = [block for block in recipe.blocks(raw, corpus) if block.key.startswith("sts")]
    examples = [e for block in blocks for e in recipe.read_block(block, corpus).records]
    for collection, known in (("sts13", sts13), ("sts_b", sts_b)):
        rows = [
            example
            for example in examples
            if isinstance(example, Example)
            and (example.collection, example.split or "test") == (collection, "test")
        ]
        one, other = (
            np.asarray(encoder.encode([row.texts[place] for row in rows])) for place in (0, 1)
        )
        one, other = (x.reshape(len(rows), -1) for x in (one, other))
        cosines = (
            np.vecdot(one, other) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
        )
        scores = np.array([row.score for row in rows])
        assert (len(rows), round(100 * spearman(scores, cosines), 2)) == known
