"""A server with the form of OpenAI's embeddings, on loopback: it can fail in many ways."""

import base64
import hashlib
import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from evaluation.arrays import Floats

DIMENSION = 8
# What a fault returns: a status with a body and headers, or None after it has answered itself.
Answer = tuple[int, Any, dict[str, str]] | None
Fault = Callable[["EmbeddingServer", BaseHTTPRequestHandler, list[str]], Answer]


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return the vector of a text: float32, which depends on it alone."""
    digest = hashlib.shake_256(text.encode()).digest(dimension)
    return [(byte - 127.5) / 128 for byte in digest]


def vectors_of(texts: list[str], dimension: int = DIMENSION) -> Floats:
    """Return float32 [texts, 1, dimension]; zeros of a text without words."""
    rows = [vector_of(text, dimension) if text.strip() else [0.0] * dimension for text in texts]
    return np.array(rows, np.float32)[:, None]


def entries_of(texts: list[str], dimension: int = DIMENSION) -> list[dict[str, Any]]:
    """Return the entries of an answer."""
    return [{"index": i, "embedding": vector_of(t, dimension)} for i, t in enumerate(texts)]


class EmbeddingServer:
    """Answers POST /v1/embeddings; ``fault`` decides, by the number of a request, what goes wrong.

    Attributes:
        key: the key that it wants; "" for none.
        base64: the type of the numbers in this form; "" if it refuses it.
        requests: the texts of each request.
        keys: the header Authorization of each request, also of those that are refused.
        served: the texts whose vectors were sent as a whole.
        most: the largest number of requests at one time.
    """

    def __init__(self, fault: Callable[[int], Fault | None] = lambda number: None) -> None:
        self.fault, self.key, self.base64 = fault, "", "<f4"
        self.requests: list[list[str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.served: set[str] = set()
        self.most = self._now = 0
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = body["input"]
                sent, form = self.headers.get("Authorization"), body.get("encoding_format")
                with owner._lock:
                    number = len(owner.requests)
                    owner.requests.append(texts)
                    owner.bodies.append(body)
                    owner.keys.append(sent)
                    owner._now += 1
                    owner.most = max(owner.most, owner._now)
                try:
                    fault = owner.fault(number)
                    if self.path != "/v1/embeddings":
                        answer: Answer = (404, {"error": "no such page"}, {})
                    elif owner.key and sent != f"Bearer {owner.key}":
                        answer = (401, {"error": {"message": f"wrong key: {sent}"}}, {})
                    elif fault:
                        answer = fault(owner, self, texts)
                    else:
                        entries = entries_of(texts, body.get("dimensions", DIMENSION))
                        for entry in entries if form == "base64" else ():
                            data = np.array(entry["embedding"], owner.base64 or "<f4").tobytes()
                            entry["embedding"] = base64.b64encode(data).decode()
                        answer = (200, {"data": entries}, {})
                        if form == "base64" and not owner.base64:
                            answer = (400, {"error": "encoding_format"}, {})
                        owner.served |= set(texts)
                    if answer:
                        self.send(*answer)
                except ConnectionError:
                    pass  # the client has seen enough
                finally:
                    with owner._lock:
                        owner._now -= 1

            def send(self, status: int, body: Any, headers: dict[str, str]) -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/v1"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.httpd.shutdown()
        self.httpd.server_close()


def status(code: int, body: Any = b"", **headers: str) -> Fault:
    """Return a fault: this answer."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda server, handler, texts: (code, body, names)


def changed(change: Callable[[list[dict[str, Any]]], Any]) -> Fault:
    """Return a fault: the entries of the right answer, changed."""
    return lambda server, handler, texts: (200, {"data": change(entries_of(texts))}, {})


def reset(server: EmbeddingServer, handler: BaseHTTPRequestHandler, texts: list[str]) -> Answer:
    """Break the connection off before an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
    return None


def cut(server: EmbeddingServer, handler: BaseHTTPRequestHandler, texts: list[str]) -> Answer:
    """Break the connection off in the middle of the right answer."""
    data = json.dumps({"data": entries_of(texts)}).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    handler.close_connection = True
    return None
