"""Fetches byte ranges of one large remote file into a folder, each complete or not at all.

The ranges of ``dump.bz2`` are in the folder ``dump.bz2.parts``: one file ``<start>-<stop>`` each,
and ``manifest.json`` with the file's address, its size and its version on the server.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from time import sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from corpora_recipes.fetching import downloads
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

if TYPE_CHECKING:
    import requests

# A file of such a folder; the first group is the name of the whole file.
PART = re.compile(r"(.+)\.parts/(?:\d{15}-\d{15}|manifest\.json)")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class NoRanges(Exception):
    """The server does not support ranges of one version of a file; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole file of the parts in a folder.

    Attributes:
        url: the file's address.
        size: its size in bytes.
        validator: its version, as ``downloads.validator_of`` returns it.
    """

    url: str
    size: int
    validator: str


def parts_folder(file: Path) -> Path:
    """Return the folder with the parts of a partially fetched file."""
    return file.with_name(file.name + ".parts")


def part_name(start: int, stop: int) -> str:
    """Return the name of the part with the bytes from ``start`` up to ``stop``, exclusive."""
    return f"{start:015}-{stop:015}"


def part_range(name: str) -> tuple[int, int]:
    """Return the first byte of a part, and the byte after its last, from its name."""
    start, stop = name.split("-")
    return int(start), int(stop)


def read_manifest(file: Path) -> Manifest | None:
    """Return the manifest of a file's parts, None if it does not exist.

    Raises:
        InputError: it is damaged.
    """
    path = parts_folder(file) / "manifest.json"
    try:
        return Manifest(**json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise InputError(
            path,
            expected="the JSON that fetch wrote",
            found=str(error),
            todo=f"remove {path.parent}, and run fetch again",
        ) from None


class RangeFetcher:
    """Fetches ranges of one file; a context manager, whose ``fetch`` is thread-safe.

    The number of connections is bounded by ``downloads.CONNECTIONS``.

    Attributes:
        manifest: the whole file of the parts; None before the first range is fetched.
        fetched: number of bytes received from the server.
    """

    def __init__(self, url: str, file: Path) -> None:
        """Prepare to fetch parts of the file at ``url``, which would be stored as ``file``."""
        self.url = url
        self.file = file
        self.manifest = read_manifest(file)
        self.fetched = 0
        self._lock = Lock()
        self._stack = ExitStack()
        if self.manifest is not None and self.manifest.url != url:
            raise self._changed(f"parts of {self.manifest.url}")

    def __enter__(self) -> "RangeFetcher":
        from tqdm import tqdm

        self._session = self._stack.enter_context(downloads.open_session())
        self._bar: tqdm[Any] = self._stack.enter_context(
            tqdm(desc=self.file.name, unit="B", unit_scale=True, disable=None)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def fetch(self, start: int, stop: int) -> None:
        """Fetch the bytes from ``start`` up to ``stop``, exclusive, into the folder if missing.

        Raises:
            NoRanges: the server does not support ranges, or state the file's version or size.
            InputError: the file has changed on the server since the first part was fetched, it
                ends before ``stop``, or there is no answer after several attempts.
        """
        target = parts_folder(self.file) / part_name(start, stop)
        if target.is_file() and target.stat().st_size == stop - start:
            return
        with whole_file(target) as temporary, temporary.open("wb") as file:
            self._fill(file, start, stop)

    def _fill(self, file: BinaryIO, position: int, stop: int) -> None:
        """Write the bytes; if the transfer breaks off, request the rest."""
        import requests
        import urllib3

        failures = 0
        while position < stop:
            before = position
            try:
                for chunk in self._transfer(position, stop):
                    file.write(chunk)
                    position += len(chunk)
                    self._count(len(chunk))
            except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
                failures = failures + 1 if position == before else 1
                if failures == downloads.ATTEMPTS:
                    raise InputError(
                        self.url,
                        expected=f"bytes {position} to {stop - 1} in at most "
                        f"{downloads.ATTEMPTS} attempts without progress",
                        found=str(error),
                        todo="run fetch again later; it resumes the download",
                    ) from None
                sleep(downloads.BACKOFF * 2 ** (failures - 1))

    def _transfer(self, position: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of one response.

        Raises:
            requests.RequestException, urllib3.exceptions.HTTPError: it broke off, or was wrong.
        """
        import requests

        headers = {"Range": f"bytes={position}-{stop - 1}"}
        if self.manifest is not None:
            headers["If-Range"] = self.manifest.validator
        with downloads.get(self._session, self.url, headers) as response:
            self._check(response, position, stop)
            for chunk in response.raw.stream(downloads.CHUNK, decode_content=False):
                position += len(chunk)
                if position > stop:
                    raise requests.RequestException("the server sent more than the range")
                yield chunk
        if position < stop:
            raise requests.RequestException("the server sent less than the range")

    def _check(self, response: "requests.Response", position: int, stop: int) -> None:
        """Check that the response is the requested range, of the version of the other parts."""
        import requests

        validator = downloads.validator_of(response)
        if response.status_code == 200:
            # The response to If-Range is the whole file, too, if it has changed (RFC 9110, 13.1.5).
            if self.manifest is not None and validator != self.manifest.validator:
                raise self._changed(f"another version on the server ({validator or 'unnamed'})")
            raise NoRanges("the server does not support ranges of files")
        answered = response.headers.get("Content-Range", "")
        if response.status_code == 416:
            raise self._too_short(stop, answered.removeprefix("bytes */"))
        if response.status_code != 206:
            raise downloads.refused(self.url, response)
        match = _CONTENT_RANGE.fullmatch(answered)
        if answered.endswith("/*"):
            raise NoRanges("the server does not state the size of the file")
        if match and int(match[1]) == position and int(match[3]) < stop:
            raise self._too_short(stop, match[3])
        if not match or (int(match[1]), int(match[2])) != (position, stop - 1):
            raise requests.RequestException(f"the server sent the wrong range: {answered!r}")
        with self._lock:
            if self.manifest is None:
                self._write_manifest(Manifest(self.url, int(match[3]), validator))
            elif int(match[3]) != self.manifest.size or validator not in (
                "",  # an answer to If-Range need not repeat it (RFC 9110, 15.3.7)
                self.manifest.validator,
            ):
                raise self._changed(f"another version on the server ({validator or match[3]})")

    def _write_manifest(self, manifest: Manifest) -> None:
        if not manifest.validator:
            raise NoRanges("the server does not state the file's version")
        with whole_file(parts_folder(self.file) / "manifest.json") as temporary:
            temporary.write_text(json.dumps(asdict(manifest)) + "\n", "utf-8")
        self.manifest = manifest

    def _count(self, length: int) -> None:
        with self._lock:
            self.fetched += length
            self._bar.update(length)

    def _changed(self, found: str) -> InputError:
        assert self.manifest is not None
        return InputError(
            f"{parts_folder(self.file)}, parts of {self.url}",
            expected=f"parts of one version, {self.manifest.validator}",
            found=found,
            todo=f"remove {parts_folder(self.file)} and the entry of the file's index in "
            f"{downloads.LOCK}, and fetch again; a fixed `date:` in params.yaml, instead of "
            "latest, keeps to one version",
        )

    def _too_short(self, stop: int, size: str) -> InputError:
        if self.manifest is not None and size != str(self.manifest.size):
            return self._changed(f"a file of {size or 'fewer'} bytes on the server")
        return InputError(
            self.url,
            expected=f"a file of {stop:,} bytes or more",
            found=f"{int(size):,} bytes" if size.isdecimal() else "fewer",
            todo="the index belongs to another dump: fetch a dump and an index of the same date",
        )
