"""Models that cannot be used, and models that are downloaded."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hub_server import commit, hub, point_at
from safetensors.torch import load_file, save_file
from tiny_models import WRITERS, word_tokenizer
from transformers import AutoModel

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder, sentence_transformer, transformer
from evaluation.encoders.transformer import find_model

# --- bad models ----------------------------------------------------------------------------------

CONFIG, WEIGHTS = "config.json", "model.safetensors"


def error_of(folder: Path, kind: str = "transformers", **options: str) -> InputError:
    entry = {"encoder": kind, "model": str(folder), **options}
    with pytest.raises(InputError) as caught:
        make_encoder("mine", entry).encode(["el perro"])
    return caught.value


@pytest.fixture
def bert(tiny: dict[str, str], tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny["bert"], tmp_path / "bert"))


@pytest.mark.parametrize("kind", WRITERS)
def test_no_tokeniser(kind: str, tiny: dict[str, str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny[kind], tmp_path / "model"))
    for path in folder.glob("*token*"):
        path.unlink()
    error = error_of(folder)
    assert error.where == f"model {folder}"
    assert error.found == "no vocabulary"


def change(**values: object) -> Callable[[Path], object]:
    """Return what changes values of a model's configuration."""

    def changed(folder: Path) -> None:
        config = json.loads((folder / CONFIG).read_bytes())
        (folder / CONFIG).write_text(json.dumps(config | values))

    return changed


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda f: (f / WEIGHTS).unlink(), f"no file named {WEIGHTS}"),
        (lambda f: (f / WEIGHTS).write_bytes(b"no weights"), "SafetensorError"),
        (lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-9]), "SafetensorError"),
        (lambda f: (f / WEIGHTS).rename(f / f"{WEIGHTS}.incomplete"), f"{WEIGHTS}.incomplete"),
        (change(model_type="own"), "own"),
        (change(num_hidden_layers=3), "layer.2."),
        (change(num_hidden_layers=1), "layer.1."),
        (change(intermediate_size=25), "(24,)"),
        (change(vocab_size=9), "(28, 16)"),
    ],
)
def test_files_that_are_not_right(bert: Path, spoil: Callable[[Path], object], found: str) -> None:
    spoil(bert)
    error = error_of(bert)
    assert str(bert) in error.where
    assert found in error.found


def test_a_missing_file_of_several(bert: Path) -> None:
    model = AutoModel.from_pretrained(bert)
    (bert / WEIGHTS).unlink()
    model.save_pretrained(bert, max_shard_size="5kB")
    shards = sorted(bert.glob("model-0*.safetensors"))
    assert len(shards) > 2
    shards[1].unlink()
    assert shards[1].name in error_of(bert).found


def test_a_layer_that_is_not_there(bert: Path) -> None:
    for kind in (99, -4, [1, 99]):
        assert "a number from 0" in error_of(bert, layer=kind).expected  # type: ignore[arg-type]
    assert "each layer once" in error_of(bert, layer=[2, -1]).expected  # type: ignore[arg-type]


def test_missing_weights_of_a_sentence_transformer(minilm: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "model"))
    weights = load_file(folder / WEIGHTS)
    kept = {name: weight for name, weight in weights.items() if "layer.3." not in name}
    save_file(kept, folder / WEIGHTS, {"format": "pt"})
    assert "layer.3." in error_of(folder, "sentence_transformers").found


def test_code_of_a_model_is_not_run_whatever_is_typed(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(model_type="own", auto_map={"AutoConfig": "own.C", "AutoModel": "own.M"})(bert)
    (bert / "own.py").write_text("raise SystemExit")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    assert "code of its own" in error_of(bert).found


def test_no_token_for_padding_nor_for_the_end(tiny: dict[str, str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny["gpt2"], tmp_path / "model"))
    word_tokenizer().save_pretrained(folder)
    assert "a token for padding" in error_of(folder).expected


def test_a_sentence_transformer_without_its_tokeniser_or_pooling(
    minilm: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "model"))
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").unlink()
    assert error_of(folder, "sentence_transformers").found == "no vocabulary"
    folder = Path(shutil.copytree(minilm, tmp_path / "other"))
    (folder / "1_Pooling" / "config.json").unlink()
    assert error_of(folder, "sentence_transformers").where == f"model {folder}"


def test_a_model_that_sentence_transformers_does_not_know(bert: Path) -> None:
    error = error_of(bert, "sentence_transformers")
    assert error.where == str(bert / "modules.json")
    (bert / "modules.json").write_text("[{}]")
    assert error_of(bert, "sentence_transformers", batch=3).found.startswith("KeyError")  # type: ignore[arg-type]


# --- download ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "dimension"), [("transformers", 16), ("sentence_transformers", 384)]
)
def test_downloaded_once_and_read_without_network_then(
    kind: str,
    dimension: int,
    tiny: dict[str, str],
    minilm: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(tiny["bert"] if kind == "transformers" else minilm)
    requests: list[str] = []
    encoder = make_encoder("mine", {"encoder": kind, "model": "some/model"})
    try:
        with hub(folder, "some/model", requests=requests) as url:
            point_at(url, tmp_path, monkeypatch)
            first = encoder.encode(["el perro"])
            assert first.shape == (1, 1, dimension)
            assert encoder.revision == commit(folder)
            assert any("model.safetensors" in request for request in requests)
            requests.clear()
            for memory in (find_model, transformer.load_model, sentence_transformer.load_model):
                memory.cache_clear()
            assert np.array_equal(encoder.encode(["el perro"]), first)
            assert not any("some/model" in request for request in requests)
    finally:
        find_model.cache_clear()
