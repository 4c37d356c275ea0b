"""Pretrained models: their place, revision, sizes, and what is wrong with them; without torch."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder
from evaluation.encoders.transformer import Transformer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def write_model(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    sizes = config or {"hidden_size": 16, "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps(sizes))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of the Hub, which is used without network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def cache_model(hub: Path, name: str, commit: str, **config: Any) -> None:
    folder = hub / f"models--{name.replace('/', '--')}"
    write_model(folder / "snapshots" / commit, **config)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(commit)


def test_the_revision_of_a_folder_is_a_digest_of_its_files(tmp_path: Path) -> None:
    revision = Transformer(str(write_model(tmp_path / "one"))).revision
    assert len(revision) == 32
    same = write_model(tmp_path / "same")
    (same / "README.md").write_text("Read me.")
    (same / ".cache").mkdir()
    (same / ".cache" / "lock").write_text("")
    assert Transformer(str(same)).revision == revision
    for name, change in {
        "weights": lambda folder: (folder / "model.safetensors").write_bytes(b"Weights"),
        "renamed": lambda folder: (folder / "model.safetensors").rename(folder / "m.safetensors"),
        "inside": lambda folder: write_model(folder / "1_Pooling"),
    }.items():
        other = write_model(tmp_path / name)
        change(other)
        assert Transformer(str(other)).revision != revision


def test_the_revision_of_the_hub_is_its_commit(hub: Path) -> None:
    cache_model(hub, "some/bert", COMMIT)
    encoder = make_encoder("bert", {"encoder": "transformers", "model": "some/bert"})
    assert (encoder.revision, encoder.dimension, encoder.layers) == (COMMIT, 16, ("avg",))
    assert "revision" not in encoder.options
    sent = pickle.loads(pickle.dumps(encoder))
    assert (sent.revision, sent.layer) == (COMMIT, "avg")
    options = {"encoder": "transformers", "model": "some/bert", "revision": COMMIT}
    assert make_encoder("bert", options).revision == COMMIT


def test_layers_are_named_without_loading_the_model(tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "bert"))
    encoder = Transformer(model, layer_option="all")
    assert (encoder.layers, encoder.layer) == (("0", "1", "2", "avg"), "avg")
    single = Transformer(model, layer_option="2")
    assert (single.layers, single.layer) == (("2",), "2")
    assert single.options == encoder.options == Transformer(model).options
    with pytest.raises(InputError, match=r"a number from 0 .* to 2\n.*layer 3"):
        _ = Transformer(model, layer_option="3").layers


@pytest.mark.parametrize(
    ("config", "dimension", "count"),
    [
        ({"n_embd": 24, "n_layer": 3}, 24, 3),
        ({"d_model": 8, "num_layers": 4, "num_decoder_layers": 2, "d_ff": 9}, 8, 4),
        ({"d_model": 8, "encoder_layers": 5, "num_hidden_layers": 2}, 8, 5),
        ({"dim": 12, "n_layers": 6, "hidden_dim": 99}, 12, 6),
        ({"embedding_size": 4, "hidden_size": 16, "num_hidden_layers": 2}, 16, 2),
    ],
)
def test_sizes_by_their_other_names(
    config: dict[str, int], dimension: int, count: int, tmp_path: Path
) -> None:
    encoder = Transformer(str(write_model(tmp_path / "model", **config)), layer_option="all")
    assert (encoder.dimension, encoder.layers[-2]) == (dimension, str(count))


def test_bad_configurations(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", vision_config={})
    with pytest.raises(InputError, match="hidden_size"):
        _ = Transformer(str(model)).dimension
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config\.json\n.*JSON"):
        _ = Transformer(str(tmp_path)).revision


def test_models_that_are_not_there(tmp_path: Path, hub: Path) -> None:
    for model, found in {
        "no/such": "no such folder; LocalEntryNotFoundError",
        str(tmp_path / "no"): "no such folder",
        "../no/such": "no such folder",
        str(tmp_path): "no such file",
    }.items():
        with pytest.raises(InputError) as caught:
            _ = Transformer(model).revision
        assert caught.value.found.startswith(found)
        assert os.path.basename(model) in caught.value.where  # noqa: PTH119
    cache_model(hub, "some/bert", COMMIT)
    with pytest.raises(InputError, match=r"modules\.json"):
        _ = make_encoder("s", {"encoder": "sentence_transformers", "model": "some/bert"}).revision
    with pytest.raises(InputError, match="revision v9"):
        _ = Transformer("some/bert", revision_option="v9").revision
