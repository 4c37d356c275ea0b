"""A server on loopback that sends any bytes, and the ways in which servers misbehave.

A way is a function of the number of the request (from 0) and of the first byte that is asked for
(None without a range); it yields the bytes to send. RESET breaks the connection off.
"""

import gzip
import io
import socket
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from random import Random
from typing import Any

Way = Callable[[int, int | None], Iterator[bytes]]

RESET = b"\x00reset\x00"


def _zip(seed: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.txt"), Random(seed).randbytes(20_000))
    return packed.getvalue()


# A file, and another version of it, of the same length.
FILE, OTHER = _zip(1), _zip(2)
HALF = len(FILE) // 2
HTML = b"<!DOCTYPE html>\n<html><title>One moment, please</title></html>"


class MisbehavingServer:
    """Answers every request in the given way and closes the connection; counts requests."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.requests: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:
                if not (more := connection.recv(65536)):
                    return
                head += more
            self.requests.append(head.decode("latin-1"))
            asked = [line for line in head.split(b"\r\n") if line.lower().startswith(b"range:")]
            start = int(asked[0].partition(b"=")[2].partition(b"-")[0]) if asked else None
            try:
                for data in self.way(len(self.requests) - 1, start):
                    if data == RESET:
                        linger = struct.pack("ii", 1, 0)
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        return
                    connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                # To close with the request unread would reset the connection.
                while connection.recv(65536):
                    pass
            except OSError:
                pass  # the client has seen enough


def head(status: str, *lines: str, length: int | None = None) -> bytes:
    """Return the head of an answer."""
    lines = ("Connection: close", *lines)
    if length is not None:
        lines = (*lines, f"Content-Length: {length}")
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1")


def whole(data: bytes = FILE, *lines: str, etag: str = '"one"') -> bytes:
    """Return the answer of a server that behaves."""
    return head("200 OK", f"ETag: {etag}", *lines, length=len(data)) + data


def part(
    start: int,
    data: bytes = FILE,
    stop: int | None = None,
    etag: str = '"one"',
    total: int | str | None = None,
    length: int | None = None,
) -> bytes:
    """Return the answer to a range, by default the right one."""
    body = data[start:stop]
    place = f"bytes {start}-{start + len(body) - 1}/{len(data) if total is None else total}"
    lines = [f"Content-Range: {place}", *([f"ETag: {etag}"] if etag else [])]
    return head("206 X", *lines, length=len(body) if length is None else length) + body


def cut(data: bytes = FILE, etag: str = '"one"') -> bytes:
    """Return an answer that breaks off in the middle."""
    return head("200 OK", f"ETag: {etag}", length=len(data)) + data[:HALF]


def good(number: int, start: int | None) -> Iterator[bytes]:
    """Behave."""
    yield part(start) if start else whole()


def always(answer: bytes) -> Way:
    """Return a way that gives the same answer to every request."""

    def way(number: int, start: int | None) -> Iterator[bytes]:
        yield answer

    return way


def first(*answers: bytes) -> Way:
    """Return a way that gives these answers first, and then behaves."""

    def way(number: int, start: int | None) -> Iterator[bytes]:
        yield from good(number, start) if number >= len(answers) else [answers[number]]

    return way


def after_cut(answer: Callable[[int], bytes]) -> Way:
    """Return a way that breaks off, and answers each request to resume with ``answer(start)``."""

    def way(number: int, start: int | None) -> Iterator[bytes]:
        yield cut() if start is None else answer(start)

    return way


def _drip(number: int, start: int | None) -> Iterator[bytes]:
    yield head("200 OK", 'ETag: "one"', length=len(FILE))
    for byte in FILE:
        yield bytes([byte])
        time.sleep(0.005)


def _drip_of_headers(number: int, start: int | None) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for at in range(90):
        yield b"X-%d: 1\r\n" % at
        time.sleep(0.02)


def _silence(number: int, start: int | None) -> Iterator[bytes]:
    yield head("200 OK", 'ETag: "one"', length=len(FILE))
    time.sleep(0.1)


def _crumbs(number: int, start: int | None) -> Iterator[bytes]:
    at = start or 0
    yield part(at, stop=at + 5000) if at else cut()


def _chunked(data: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    chunks = [data[i : i + 4000] for i in range(0, len(data), 4000)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head("200 OK", "Transfer-Encoding: chunked") + body + end


def _endless_redirect(number: int, start: int | None) -> Iterator[bytes]:
    if number:
        yield from good(number, start)
        return
    yield head("302 Found", "Location: /elsewhere.zip")
    yield from repeat(b"x" * 65536)


def _to(address: str) -> bytes:
    return head("302 Found", f"Location: {address}", length=0)


def _login(number: int, start: int | None) -> Iterator[bytes]:
    page = head("200 OK", "Content-Type: text/html; charset=utf-8", length=len(HTML)) + HTML
    yield _to("/login") if number % 2 == 0 else page


@dataclass(frozen=True)
class Case:
    """A way to misbehave."""

    way: Way
    error: str = ""  # what is found to be wrong; "" if the right file is to come
    pinned: str | None = None  # the same if the file's digest is known; None if it is the same
    limits: dict[str, float] = field(default_factory=dict)  # of the transfer, to be scaled


def forever(answer: bytes, *facts: Any) -> Case:
    """Return the case that every request gets the same answer."""
    return Case(always(answer), *facts)


def at_first(*answers: bytes) -> Case:
    """Return the case that the first requests get these answers, and the right file is to come."""
    return Case(first(*answers))


GIVEN_UP = "attempts in"
PAGE = head("200 OK", "Content-Type: text/html", length=len(HTML)) + HTML
CASES = {
    # --- another thing than the file ---
    "html": forever(PAGE, "a web page"),
    "html_called_zip": forever(whole(HTML, "Content-Type: application/zip"), "a web page"),
    "html_type_only": forever(whole(FILE, "Content-Type: text/html"), "a web page", ""),
    "login": Case(_login, "a web page"),
    "gzip": forever(whole(gzip.compress(FILE), "Content-Encoding: gzip"), "encoding"),
    "204": forever(head("204 No Content"), "answers 204"),
    "404": forever(head("404 Not Found", length=0), "answers 404"),
    "403": forever(head("403 Forbidden", length=0), "answers 403"),
    "200_with_the_wrong_file": forever(whole(FILE[:-30] + bytes(30)), "without its end"),
    # --- lengths and ends ---
    "nolength": forever(head("200 OK") + FILE, "without a length", ""),
    "nolength_cut": forever(head("200 OK") + FILE[:HALF], "without a length", "SHA-256"),
    "longbody": forever(head("200 OK", length=HALF) + FILE, "without its end"),
    "shortbody": forever(head("200 OK", length=len(FILE) + 10) + FILE, GIVEN_UP),
    "badheader": forever(
        b"HTTP/1.1 200 OK\r\nno header\r\nContent-Length: 20000\r\n\r\n" + FILE[:HALF],
        "without a length",
        "SHA-256",
    ),
    "two_lengths": forever(
        head("200 OK", "Content-Length: 7", length=len(FILE)) + FILE, "Content-Length"
    ),
    "endless_length": forever(
        head("200 OK", "Content-Length: " + "9" * 5000) + FILE, "without a length", ""
    ),
    "chunked": forever(_chunked(FILE)),
    "chunked_cut": forever(_chunked(FILE[:HALF], b""), GIVEN_UP),
    "chunked_nonsense": forever(_chunked(FILE[:HALF], b"xyz\r\n"), GIVEN_UP),
    # --- ranges ---
    "cut_once": at_first(cut()),
    "cut_often": Case(_crumbs),
    "ignored_range": Case(after_cut(lambda start: whole())),
    "weak_etag": at_first(cut(etag='W/"one"'), whole(etag='W/"one"')),
    "resume_416_forever": Case(
        after_cut(lambda start: head("416 X", f"Content-Range: bytes */{start}", length=0)),
        GIVEN_UP,
    ),
    "416_forever": forever(head("416 X", length=0), GIVEN_UP),
    "unasked_206": forever(part(0), "wrong range"),
    "resume_wrong_offset_forever": Case(after_cut(lambda start: part(start + 7)), GIVEN_UP),
    "changed_file": at_first(cut(OTHER, '"zero"'), whole()),
    "changed_file_ignores_if_range": at_first(cut(OTHER, '"zero"'), part(HALF)),
    "changed_size_ignores_if_range": at_first(cut(OTHER[:-6], '"zero"'), part(HALF, etag="")),
    "wrong_total": at_first(cut(), part(HALF, total=len(FILE) + 9)),
    "total_before_end": at_first(cut(), part(HALF, total=HALF + 1)),
    "unknown_total_then_whole": at_first(cut(), part(HALF, total="*")),
    "wrong_length_of_range": at_first(cut(), part(HALF, length=77)),
    "range_cut": at_first(cut(), part(HALF)[:-900]),
    "shorter_range": at_first(cut(), part(HALF, stop=HALF + 500), part(HALF + 500, stop=-9)),
    "multipart": at_first(
        cut(),
        head("206 X", "Content-Type: multipart/byteranges; boundary=x", length=9)
        + b"--x--\r\n\r\n",
    ),
    "range_beyond_numbers": at_first(
        cut(), head("206 X", f"Content-Range: bytes {'9' * 5000}-1/2", length=0)
    ),
    # --- connections ---
    "no_answer": forever(b"", GIVEN_UP),
    "no_http": forever(b"220 ready for mail\r\n", GIVEN_UP),
    "many_headers": forever(
        head("200 OK", *(f"X-{n}: 1" for n in range(200)), length=len(FILE)) + FILE, GIVEN_UP
    ),
    "long_header": forever(head("200 OK", "X: " + "x" * 70_000) + FILE, GIVEN_UP),
    "reset": forever(RESET, GIVEN_UP),
    "reset_in_body": Case(
        lambda number, start: iter([cut(), RESET] if number == 0 else good(1, start))
    ),
    "silence": Case(_silence, GIVEN_UP, limits={"SILENCE": 0.05, "ATTEMPTS": 2}),
    "drip": Case(_drip, "bytes per second", limits={"WINDOW": 0.05, "ATTEMPTS": 2}),
    "drip_of_headers": Case(_drip_of_headers, GIVEN_UP, limits={"HEAD": 0.1, "ATTEMPTS": 2}),
    "continue_for_ever": Case(
        lambda number, start: repeat(b"HTTP/1.1 100 Continue\r\n\r\n"),
        GIVEN_UP,
        limits={"HEAD": 0.1, "ATTEMPTS": 2},
    ),
    "drip_for_ever": Case(
        lambda number, start: iter([part(start, stop=start + 1) if start else cut()]),
        " in 0 s: ",
        limits={"DEADLINE": 0.01, "LOWEST_RATE": 1e9},
    ),
    # --- busy servers ---
    "503_forever": forever(head("503 X", length=0), "503"),
    "503_once": at_first(head("503 X", length=0)),
    "retry_after": at_first(head("429 X", "Retry-After: 0", length=0)),
    "retry_after_too_long": forever(
        head("503 X", "Retry-After: 100000", length=0), "asks to wait 100,000 s"
    ),
    "retry_after_nonsense": at_first(head("503 X", "Retry-After: soon", length=0)),
    "retry_after_endless": forever(
        head("503 X", "Retry-After: " + "9" * 5000, length=0), "asks to wait"
    ),
    # --- redirects ---
    "redirect_to_itself": forever(_to("/corpus.zip"), "more than 10 redirects"),
    "redirect_to_a_file": forever(_to("file:///etc/passwd"), "redirected to file:"),
    "redirect_to_nonsense": forever(_to("http://["), "redirect"),
    "redirect_to_nowhere": forever(_to("http://127.0.0.1:1/"), GIVEN_UP),
    "redirect_with_endless_body": Case(_endless_redirect),
}
