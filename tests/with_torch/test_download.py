"""A model that is downloaded, from a server on loopback that speaks as the Hub does."""

from pathlib import Path

import numpy as np
import pytest
from hub_server import commit, hub, point_at

from evaluation.encoders import make_encoder, sentence_transformer, transformer
from evaluation.encoders.transformer import find_model


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
