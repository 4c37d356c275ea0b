"""Models too large for one device or for full precision: dtype, device_map, quantisation.

No quantising library is in the tests' environment: transformers lets others register a quantiser.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from case_tables import read_tables
from transformers.quantizers import HfQuantizer, register_quantization_config, register_quantizer
from transformers.utils.quantization_config import QuantizationConfigMixin

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder, release

TABLES = read_tables(__file__)

TEXTS = ["el perro come", "la casa y el puente de la gata"]
KINDS = ["transformers", "sentence_transformers"]


@register_quantization_config("rounded")
class RoundedConfig(QuantizationConfigMixin):  # type: ignore[misc]
    """Matrices of so many steps."""

    def __init__(self, steps: int = 8, **_: Any) -> None:
        self.quant_method, self.steps = "rounded", steps


@register_quantizer("rounded")
class Rounded(HfQuantizer):  # type: ignore[misc]
    """Rounds matrices, which are then other parameters, as those of libraries are."""

    requires_calibration = False
    is_trainable = False

    def is_serializable(self, *_: Any, **__: Any) -> bool:
        return True

    def _process_model_after_weight_loading(self, model: Any, **_: Any) -> Any:
        steps = self.quantization_config.steps
        for part in model.modules():
            if isinstance(part, torch.nn.Linear):
                weight = part.weight.detach()
                scale = weight.abs().max() / steps
                part.weight = torch.nn.Parameter((weight / scale).round() * scale)
        return model


@pytest.fixture
def models(tiny: dict[str, str], minilm: str) -> dict[str, str]:
    return {"transformers": tiny["bert"], "sentence_transformers": minilm}


def encode(kind: str, model: str | Path, **options: Any) -> Any:
    release()
    return make_encoder("mine", {"encoder": kind, "model": str(model)} | options).encode(TEXTS)


def distance(found: Any, expected: Any) -> float:
    lengths = np.linalg.norm(expected, axis=-1)
    return float((np.linalg.norm(found - expected, axis=-1) / lengths).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("dtype", "least", "most"), [("bfloat16", 1e-4, 0.05), ("float16", 1e-5, 5e-3)]
)
def test_a_dtype_is_the_librarys(
    kind: str, dtype: str, least: float, most: float, models: dict[str, str]
) -> None:
    full = encode(kind, models[kind], dtype="float32")
    assert least < distance(encode(kind, models[kind], dtype=dtype), full) < most
    encoder = make_encoder("mine", {"encoder": kind, "model": models[kind], "dtype": dtype})
    assert encoder.options["dtype"] == dtype


def test_a_sentence_transformer_is_as_it_was_saved_unless_told(minilm: str) -> None:
    encoder = make_encoder("mine", {"encoder": "sentence_transformers", "model": minilm})
    assert "dtype" not in encoder.options
    assert (encoder.encode(TEXTS) == encode(encoder.name, minilm, dtype="float32")).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_the_library_places(kind: str, models: dict[str, str]) -> None:
    placed = encode(kind, models[kind], device_map="auto")
    assert placed == pytest.approx(encode(kind, models[kind]), abs=1e-6)
    # It decides rounding, as a device does, and is no option of results.
    encoder = make_encoder("mine", {"encoder": kind, "model": models[kind], "device_map": "auto"})
    assert "device_map" not in encoder.options


@pytest.mark.parametrize("kind", KINDS)
def test_a_quantised_model_has_vectors_of_its_own(kind: str, models: dict[str, str]) -> None:
    full = encode(kind, models[kind])
    near, far = ({"quant_method": "rounded", "steps": steps} for steps in (2000, 8))
    assert 0 < distance(encode(kind, models[kind], quantisation=near), full) < 0.02
    assert 0.02 < distance(encode(kind, models[kind], quantisation=far), full) < 2
    encoder = make_encoder("mine", {"encoder": kind, "model": models[kind], "quantisation": far})
    assert encoder.options["quantisation"] == far


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_was_saved_quantised(
    kind: str, models: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(models[kind], tmp_path / "model"))
    config = json.loads((folder / "config.json").read_bytes())
    config["quantization_config"] = {"quant_method": "rounded", "steps": 2000}
    (folder / "config.json").write_text(json.dumps(config))
    assert 0 < distance(encode(kind, folder), encode(kind, models[kind])) < 0.02


def test_missing_weights_of_a_quantised_model(minilm: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(minilm, tmp_path / "model"))
    config = json.loads((folder / "config.json").read_bytes()) | {"num_hidden_layers": 7}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"none for encoder\.layer\.6\."):
        encode("sentence_transformers", folder, quantisation={"quant_method": "rounded"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("quantisation", [{"quant_method": "none"}, {"load_in_4bits": True}])
def test_an_unknown_quantisation(
    kind: str, quantisation: dict[str, Any], models: dict[str, str]
) -> None:
    with pytest.raises(InputError) as refused:
        encode(kind, models[kind], quantisation=quantisation)
    assert "`quantisation`" in refused.value.expected
    assert "{load_in_4bit: true}" in refused.value.todo


@pytest.mark.parametrize(("options", "expected"), TABLES["options"])
@pytest.mark.parametrize("kind", KINDS)
def test_options_that_do_not_go(kind: str, options: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        make_encoder("mine", {"encoder": kind, "model": "an/id"} | options)


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_is_not_left_out_in_silence(
    kind: str, models: dict[str, str], tmp_path: Path
) -> None:
    """Without peft, the library loads the model alone."""
    folder = Path(shutil.copytree(models[kind], tmp_path / "model"))
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(InputError, match=r"an adapter, adapter_config\.json"):
        encode(kind, folder)
    with pytest.raises(InputError, match="an adapter"):
        make_encoder("mine", {"encoder": kind, "model": str(folder)}).check()


@pytest.mark.parametrize("content", ["[1]", "3", "null", "[[]]"])
@pytest.mark.parametrize(
    ("kind", "file"),
    [(kind, "config.json") for kind in KINDS]
    + [(KINDS[1], name) for name in ("modules.json", "1_Pooling/config.json")],
)
def test_a_json_file_of_another_kind(
    kind: str, file: str, content: str, models: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(models[kind], tmp_path / "model"))
    (folder / file).write_text(content)
    with pytest.raises(InputError) as refused:
        encode(kind, folder)
    assert all([refused.value.where, refused.value.found, refused.value.todo])
