"""A model that is downloaded, from a server on loopback that speaks as the Hub does."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from evaluation.encoders import make_encoder, sentence_transformer, transformer
from evaluation.encoders.transformer import find_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """The files of a folder as the model some/model; ``requests`` are the paths asked for."""

    def __init__(self, folder: Path) -> None:
        self.requests: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                owner.requests.append(self.path)
                _, _, name = self.path.removeprefix("/some/model/resolve/").partition("/")
                path = folder / name
                is_there = self.path.startswith("/some/model/resolve/") and path.is_file()
                content = path.read_bytes() if is_there else b""
                self.send_response(200 if is_there else 404)
                self.send_header("X-Repo-Commit", COMMIT)
                if is_there:
                    self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
                else:
                    self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture(params=["transformers", "sentence_transformers"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def hub(kind: str, tiny: dict[str, str], minilm: str) -> Iterator[Hub]:
    hub = Hub(Path(tiny["bert"] if kind == "transformers" else minilm))
    yield hub
    hub.httpd.shutdown()
    hub.httpd.server_close()


def test_downloaded_once_and_read_without_network_then(
    kind: str, hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    encoder = make_encoder("mine", {"encoder": kind, "model": "some/model"})
    try:
        first = encoder.encode(["el perro"])
        assert first.shape == (1, 1, 16 if kind == "transformers" else 384)
        assert encoder.revision == COMMIT
        assert any("model.safetensors" in path for path in hub.requests)
        hub.requests.clear()
        for memory in (find_model, transformer.load_model, sentence_transformer.load_model):
            memory.cache_clear()
        assert np.array_equal(encoder.encode(["el perro"]), first)
        assert not any("some/model" in path for path in hub.requests)
    finally:
        find_model.cache_clear()
