"""Models that cannot be used: each says what is wrong and what to do."""

import json
import shutil
from pathlib import Path

import pytest
from tiny_models import WRITERS, word_tokenizer

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder

CONFIG = "config.json"


def error_of(folder: Path, kind: str = "transformers", **options: str) -> InputError:
    entry = {"encoder": kind, "model": str(folder), **options}
    with pytest.raises(InputError) as caught:
        make_encoder("own", entry).encode(["el perro"])
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
    assert error.expected.startswith("a tokeniser with its vocabulary")
    assert "save the tokeniser" in error.todo


def test_no_weights(bert: Path) -> None:
    (bert / "model.safetensors").unlink()
    error = error_of(bert)
    assert "no file named model.safetensors" in error.found
    assert "save the model again" in error.todo


def test_damaged_weights(bert: Path) -> None:
    (bert / "model.safetensors").write_bytes(b"no weights")
    assert "SafetensorError" in error_of(bert).found


def test_no_configuration(bert: Path) -> None:
    (bert / CONFIG).unlink()
    error = error_of(bert)
    assert error.where == str(bert / CONFIG)
    assert error.found == "no such file"


def test_a_kind_of_model_that_is_not_known(bert: Path) -> None:
    config = json.loads((bert / CONFIG).read_bytes())
    (bert / CONFIG).write_text(json.dumps(config | {"model_type": "own"}))
    error = error_of(bert)
    assert "a type that transformers supports" in error.expected
    assert "own" in error.found


def test_weights_that_are_not_whole(bert: Path) -> None:
    config = json.loads((bert / CONFIG).read_bytes())
    (bert / CONFIG).write_text(json.dumps(config | {"num_hidden_layers": 3}))
    error = error_of(bert)
    assert error.expected == "weights for the whole model"
    assert "layer.2." in error.found


def test_a_layer_that_is_not_there(bert: Path) -> None:
    error = error_of(bert, layer="3")
    assert "from 0 (embeddings) to 2" in error.expected
    assert error.found == "layer 3"


def test_no_token_for_padding_nor_for_the_end(tiny: dict[str, str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny["gpt2"], tmp_path / "model"))
    word_tokenizer().save_pretrained(folder)
    error = error_of(folder)
    assert "a token for padding" in error.expected
    assert "tokenizer.pad_token" in error.todo


def test_a_sentence_transformer_without_its_tokeniser_or_pooling(
    minilm: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "model"))
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").unlink()
    assert error_of(folder, "sentence_transformers").found == "no vocabulary"
    folder = Path(shutil.copytree(minilm, tmp_path / "other"))
    (folder / "1_Pooling" / "config.json").unlink()
    error = error_of(folder, "sentence_transformers")
    assert error.where == f"model {folder}"
    assert "save the model again" in error.todo


def test_a_model_that_sentence_transformers_does_not_know(bert: Path) -> None:
    error = error_of(bert, "sentence_transformers")
    assert error.where == str(bert / "modules.json")
    (bert / "modules.json").write_text("[{}]")
    assert error_of(bert, "sentence_transformers", batch=3).found.startswith("KeyError")  # type: ignore[arg-type]
