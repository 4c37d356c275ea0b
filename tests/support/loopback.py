"""Servers on loopback for tests: one that follows a script, and one that serves ranges."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DATA = bytes(range(256)) * 1000
OTHER = bytes(reversed(range(256))) * 1000


class Server:
    """A server on loopback; ``script`` has one answer for each request, the last one repeats."""

    def __init__(self) -> None:
        self.script: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.requests.append((self.path, dict(self.headers)))
                step = min(len(owner.requests), len(owner.script)) - 1
                owner.script[step](self)
                self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/corpus.bin"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def header(self, name: str) -> list[str | None]:
        return [headers.get(name) for _, headers in self.requests]


def whole(
    data: bytes = DATA, *, etag: str | None = '"one"', stop: int | None = None
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answer with the file: from the range that is asked, breaking off after ``stop`` bytes."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        start = 0
        asked = handler.headers.get("Range")
        if asked and handler.headers.get("If-Range") == etag:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(data):
                handler.send_response(416)
                handler.send_header("Content-Range", f"bytes */{len(data)}")
                handler.end_headers()
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            handler.send_response(200)
        if etag:
            handler.send_header("ETag", etag)
        handler.send_header("Content-Length", str(len(data) - start))
        handler.end_headers()
        handler.wfile.write(data[start:][:stop])

    return answer


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


class RangeServer:
    """Serves files by name, whole or a range (RFC 9110), and counts what it sends."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files  # path, such as "/dump.bz2", to contents
        self.etag: str | None = '"one"'  # of every file
        self.modified: str | None = None  # Last-Modified of every file
        self.ranges = True  # whether it knows ranges
        # Path to what happens first at its next requests: True if that was the answer.
        self.faults: dict[str, list[Callable[[BaseHTTPRequestHandler], bool]]] = {}
        self.delay = 0.0  # seconds before each answer
        self.requests: list[tuple[str, dict[str, str]]] = []  # path and headers of each GET
        self.sent: Counter[str] = Counter()  # path to bytes sent
        self.most = 0  # the largest number of requests at one time
        self._now = 0
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Else an answer waits 40 ms for the client to confirm its headers.
            disable_nagle_algorithm = True

            def do_HEAD(self) -> None:
                owner._head(self, owner.files.get(self.path))

            def do_GET(self) -> None:
                with owner._lock:
                    owner.requests.append((self.path, dict(self.headers)))
                    owner._now += 1
                    owner.most = max(owner.most, owner._now)
                    faults = owner.faults.get(self.path, [])
                    fault = faults.pop(0) if faults else None
                try:
                    if owner.delay:
                        time.sleep(owner.delay)
                    if not (fault and fault(self)):
                        owner._get(self)
                except ConnectionError:
                    pass  # the client has seen enough
                finally:
                    with owner._lock:
                        owner._now -= 1

            def log_message(self, *args: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.httpd.shutdown()
        self.httpd.server_close()

    def asked(self, path: str) -> list[str | None]:
        """Return the Range of each request for a path."""
        return [headers.get("Range") for name, headers in self.requests if name == path]

    def _head(
        self, handler: BaseHTTPRequestHandler, data: bytes | None, code: int = 200, place: str = ""
    ) -> None:
        handler.send_response(404 if data is None else code)
        for name, value in (
            ("ETag", self.etag),
            ("Last-Modified", self.modified),
            ("Content-Range", place),
            ("Content-Length", str(len(data or b""))),
        ):
            if value:
                handler.send_header(name, value)
        handler.end_headers()

    def _get(self, handler: BaseHTTPRequestHandler) -> None:
        whole = self.files.get(handler.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
        condition = handler.headers.get("If-Range")
        is_other = condition and condition not in (self.etag, self.modified)
        if whole is None or asked is None or not self.ranges or is_other:
            data, code, content_range = whole, 200, ""
        elif int(asked[1]) >= len(whole):
            data, code, content_range = b"", 416, f"bytes */{len(whole)}"
        else:
            start, stop = int(asked[1]), min(len(whole), int(asked[2] or len(whole)) + 1)
            data, code = whole[start:stop], 206
            content_range = f"bytes {start}-{stop - 1}/{len(whole)}"
        cut = getattr(handler, "cut", len(data or b""))
        # Before anything is sent: who gets it may look at the count at once.
        if data:
            with self._lock:
                self.sent[handler.path] += len(data[:cut])
        self._head(handler, data, code, content_range)
        if data:
            handler.wfile.write(data[:cut])
            handler.close_connection = cut < len(data)


def refuse(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler], bool]:
    """Return a fault: an answer without contents."""

    def fault(handler: BaseHTTPRequestHandler) -> bool:
        status(code, **headers)(handler)
        return True

    return fault


def break_off(after: int) -> Callable[[BaseHTTPRequestHandler], bool]:
    """Return a fault: the right range, but the connection ends after some bytes of it."""

    def fault(handler: BaseHTTPRequestHandler) -> bool:
        handler.cut = after  # type: ignore[attr-defined]
        return False

    return fault
