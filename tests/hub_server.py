"""A loopback server that speaks as much of the Hugging Face Hub's read API as `datasets` needs."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def hub(folder: Path, repository: str) -> Iterator[str]:
    """Serve ``folder`` as the dataset ``repository``; yield the endpoint's URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            if f"/api/datasets/{repository}/paths-info/" not in self.path:
                self.send_error(404)
                return
            paths = parse_qs(body).get("paths") or json.loads(body)["paths"]
            self._json([entry(folder / p) for p in paths if (folder / p).exists()])

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            api = f"/api/datasets/{repository}"
            if path == api or path.startswith(f"{api}/revision/"):
                files = sorted(p for p in folder.rglob("*") if p.is_file())
                names = [{"rfilename": str(p.relative_to(folder))} for p in files]
                self._json({"id": repository, "sha": COMMIT, "siblings": names, "tags": []})
            elif found := re.fullmatch(rf"{api}/tree/[^/]+/?(.*)", path):
                top = folder / found[1]
                if not top.is_dir():
                    self.send_error(404)
                    return
                recursive = "recursive=true" in self.path.lower()
                below = top.rglob("*") if recursive else top.iterdir()
                self._json([entry(p) for p in sorted(below)])
            elif found := re.fullmatch(rf"/datasets/{repository}/resolve/[^/]+/(.+)", path):
                self._file(folder / found[1])
            else:
                self.send_error(404)

        def _json(self, value: object) -> None:
            self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

        def _file(self, path: Path) -> None:
            if not path.is_file():
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            data = path.read_bytes()
            headers = {"ETag": f'"{digest(path)}"', "X-Repo-Commit": COMMIT}
            headers["Accept-Ranges"] = "bytes"
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if wanted is None:
                self._send(200, data, headers)
                return
            start = int(wanted[1])
            end = min(int(wanted[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            self._send(206, data[start : end + 1], headers)

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    def digest(path: Path) -> str:
        return hashlib.sha1(path.read_bytes()).hexdigest()

    def entry(path: Path) -> dict[str, object]:
        name = str(path.relative_to(folder))
        if path.is_dir():
            return {"type": "directory", "path": name, "oid": COMMIT, "size": 0}
        return {"type": "file", "path": name, "oid": digest(path), "size": path.stat().st_size}

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
