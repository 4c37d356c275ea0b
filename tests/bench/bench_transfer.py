"""What a download costs beside a plain loop over the body: CPU time of both, and their ratio.

    python tests/bench/bench_transfer.py [MEGABYTES]

A server in another process sends the same bytes for both; the pairs alternate, and the medians of
the client's CPU seconds are compared (wanted: at most 1.05). The plain loop is what downloading
did before answers were checked: the body in pieces of 1 MiB, written and hashed.
"""

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import requests

from corpora_recipes.fetching.downloads import download

PAIRS = 7
PIECE = bytes(range(256)) * 4096


def serve(megabytes: int, to_client: Connection) -> None:
    """Send ``megabytes`` MiB to whoever asks, for ever."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(megabytes * len(PIECE)))
            self.send_header("ETag", '"one"')
            self.end_headers()
            for _ in range(megabytes):
                self.wfile.write(PIECE)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    to_client.send(f"http://127.0.0.1:{server.server_address[1]}/corpus.bin")
    server.serve_forever()


def plain(url: str, target: Path) -> None:
    """Download without any check."""
    digest = hashlib.sha256()
    with requests.get(url, stream=True, timeout=60) as response, target.open("wb") as file:
        for chunk in response.raw.stream(1 << 20, decode_content=False):
            file.write(chunk)
            digest.update(chunk)


def careful(url: str, target: Path) -> None:
    """Download with all checks."""
    download([url], target)


def seconds(way: Callable[[str, Path], None], url: str, folder: Path) -> float:
    """Return the CPU seconds of one download."""
    target = folder / "corpus.bin"
    target.unlink(missing_ok=True)
    begin = time.process_time()
    way(url, target)
    return time.process_time() - begin


def main() -> None:
    """Print the medians and their ratio."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    here, there = (context := get_context("spawn")).Pipe()
    process = context.Process(target=serve, args=(megabytes, there), daemon=True)
    process.start()
    url = here.recv()
    with tempfile.TemporaryDirectory() as folder:
        times: dict[str, list[float]] = {"plain": [], "careful": []}
        for _ in range(PAIRS):
            for way in (plain, careful):
                times[way.__name__].append(seconds(way, url, Path(folder)))
    process.terminate()
    medians = {name: median(found) for name, found in times.items()}
    for name, found in medians.items():
        print(f"{name}: {found:.3f} CPU s for {megabytes} MiB")
    print(f"ratio: {medians['careful'] / medians['plain']:.3f} (wanted: at most 1.05)")


if __name__ == "__main__":
    main()
