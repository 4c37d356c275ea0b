"""A loopback server that speaks as much of the Hub's API as reading and uploading datasets need.

The files of a repository lie in one folder, those of a tag in a copy beside it: ``<folder>@<tag>``,
and what the Hub converted to Parquet in ``<folder>@convert``.
"""

import base64
import hashlib
import json
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml


@contextmanager
def hub(
    folder: Path, repository: str, *, requests: list[str] | None = None, broken: str = "\0"
) -> Iterator[str]:
    """Serve ``folder`` as the dataset or model ``repository``; yield the endpoint's URL.

    Without such a folder, the repository does not exist yet. Uploads need a token, which may be
    anything but "reader"; they go to ``folder``. Every request is appended to ``requests``: method,
    path, beginning of the body. One whose path holds ``broken`` fails.
    """
    api = f"/api/datasets/{repository}"

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else an answer waits 40 ms for the client to confirm its headers.
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self._path()
            if broken in path:
                self._error(500, "Broken")
            elif path.startswith(api) and not folder.is_dir():
                self._error(404, "RepoNotFound")
            elif path == f"{api}/refs":
                self._json({"branches": [], "converts": [], "tags": tags()})
            elif found := re.fullmatch(rf"{api}(?:/revision/(.+))?", path):
                if top := self._at(found[1] or "main"):
                    sizes = {name: (top / name).stat().st_size for name in files(top)}
                    names = [{"rfilename": name, "size": size} for name, size in sizes.items()]
                    about = {"id": repository, "sha": commit(top), "siblings": names}
                    self._json(about | {"cardData": card(top)})
            elif found := re.fullmatch(rf"{api}/tree/([^/]+)/?(.*)", path):
                if top := self._at(found[1]):
                    recursive = "recursive=true" in self.path.lower()
                    below = (top / found[2]).glob("**/*" if recursive else "*")
                    self._json([entry(top, p) for p in sorted(below)])
            elif found := re.fullmatch(rf"(?:/datasets)?/{repository}/resolve/([^/]+)/(.+)", path):
                if top := self._at(found[1]):
                    self._file(top, found[2])
            else:
                self._error(404, "NoSuchPage")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            path = self._path(body)
            if broken in path:
                self._error(500, "Broken")
            elif found := re.fullmatch(rf"{api}/paths-info/([^/]+)", path):
                if top := self._at(found[1]):
                    paths = parse_qs(body).get("paths") or json.loads(body)["paths"]
                    self._json([entry(top, top / p) for p in paths if (top / p).exists()])
            elif path == "/api/validate-yaml":
                self._json({"errors": [], "warnings": []})
            elif self.headers.get("Authorization") in (None, "Bearer reader"):
                self._error(403, "Forbidden")
            elif path == "/api/repos/create":
                exists = folder.is_dir()
                folder.mkdir(exist_ok=True)
                self._json({"url": f"{endpoint}/datasets/{repository}"}, 409 if exists else 200)
            elif path == f"{api}/preupload/main":
                names = [file["path"] for file in json.loads(body)["files"]]
                self._json({"files": [upload(name) for name in names]})
            elif path == f"{api}/commit/main":
                for line in body.splitlines():
                    change(**json.loads(line))
                url = f"{endpoint}/datasets/{repository}/commit/{commit(folder)}"
                self._json({"commitUrl": url, "commitOid": commit(folder)})
            elif path == f"{api}/tag/{commit(folder)}":
                shutil.copytree(folder, tagged(json.loads(body)["tag"]))
                self._json({})
            else:
                self._error(404, "NoSuchPage")

        def _path(self, body: str = "") -> str:
            path = unquote(urlsplit(self.path).path)
            if requests is not None:
                requests.append(f"{self.command} {path} {body[:100]}".strip())
            return path

        def _at(self, revision: str) -> Path | None:
            """Return the folder of a branch, tag or commit; if there is none, say so."""
            if revision == "refs/convert/parquet" and tagged("convert").is_dir():
                return tagged("convert")
            for top in (folder, *map(tagged, tags_of(folder))):
                if revision in ("main" if top == folder else top.name.split("@")[1], commit(top)):
                    return top
            self._error(404, "RevisionNotFound")
            return None

        def _json(self, value: object, status: int = 200) -> None:
            self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

        def _error(self, status: int, code: str) -> None:
            self._send(status, b"", {"X-Error-Code": code})

        def _file(self, top: Path, name: str) -> None:
            if not (top / name).is_file():
                self._error(404, "EntryNotFound")
                return
            data = (top / name).read_bytes()
            headers = {"ETag": f'"{digest(top / name)}"', "X-Repo-Commit": commit(top)}
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

    def tagged(tag: str) -> Path:
        return folder.with_name(f"{folder.name}@{tag}")

    def tags() -> list[dict[str, str]]:
        return [
            {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": commit(tagged(tag))}
            for tag in tags_of(folder)
        ]

    def upload(name: str) -> dict[str, object]:
        path = folder / name
        oid = digest(path) if path.is_file() else None
        return {"path": name, "uploadMode": "regular", "shouldIgnore": False, "oid": oid}

    def change(key: str, value: dict[str, str]) -> None:
        if key == "file":
            path = folder / value["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(value["content"]))
        elif key == "deletedFile":
            (folder / value["path"]).unlink()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()


def point_at(endpoint: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the Hub's library use an endpoint as the Hub, with an own cache."""
    for name, value in (
        ("ENDPOINT", endpoint),
        ("HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}"),
        ("HF_HUB_CACHE", str(cache)),
        ("HF_HUB_OFFLINE", False),
        ("HF_HUB_DISABLE_XET", True),
    ):
        monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)


def tags_of(folder: Path) -> list[str]:
    """Return the names of the tags of the repository in ``folder``."""
    return sorted(path.name.split("@")[1] for path in folder.parent.glob(f"{folder.name}@*"))


def files(folder: Path) -> list[str]:
    """Return the paths of the files of a repository, relative to its folder, sorted."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def card(folder: Path) -> object:
    """Return the metadata of the dataset card, as YAML at the beginning of README.md."""
    path = folder / "README.md"
    text = path.read_text("utf-8") if path.is_file() else ""
    return yaml.safe_load(text.split("---")[1]) if text.startswith("---\n") else None


def digest(path: Path) -> str:
    """Return git's name of the file's contents, by which clients see that a file is unchanged."""
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def commit(folder: Path) -> str:
    """Return the name of a commit with the folder's contents."""
    contents = [(name, digest(folder / name)) for name in files(folder)]
    return hashlib.sha1(json.dumps(contents).encode()).hexdigest()


def entry(folder: Path, path: Path) -> dict[str, object]:
    """Describe a file or folder as listings do."""
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        return {"type": "directory", "path": name, "oid": commit(path), "size": 0}
    return {"type": "file", "path": name, "oid": digest(path), "size": path.stat().st_size}
