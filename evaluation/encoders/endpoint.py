"""The encoder `openai`: vectors of a server that has the form of OpenAI's embeddings."""

import logging
import os
import re
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import Event, Semaphore
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic_core import from_json

from corpora_recipes.running import console, patience
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import Threads, as_completed
from evaluation.encoders.encoder import (
    OneVector,
    Prompts,
    check_templates,
    fill_prompt,
    option_field,
)

if TYPE_CHECKING:
    import httpx2

    from evaluation.arrays import Flags, Floats, Rows

# Texts that are sent in the order of their length, and stored together.
_BLOCK_TEXTS = 2048
# Bytes of UTF-8 for each token, in most languages and tokenisers; tokens of the texts of a batch.
_BYTES, _TOKENS = 4, 128
# Seconds without a byte: a server may have many requests before ours.
_SILENCE = 600.0
# Bytes of an answer, for each text.
_MAX_BYTES = 1 << 20
_ADDRESS = re.compile(r"https?://(\[[0-9a-f:]+\]|[\w.-]+)(:\d{1,5})?(/\S*)?")
_LATER = "see what the server logs; then run the same command again: what was encoded is kept"
_CORRECT = "correct `url:`, which mostly ends in /v1, or `model:`"
_SHORTER = "lower `batch:`; texts that are too long, the server must truncate"
_OTHER = "let the model of the vectors before answer, or change `revision:`; remove `dimensions:` "
_OTHER += "if the model does not take it"
_KEY = "name at `key_env:` an environment variable with a valid key"
_ADVICE = {404: _CORRECT, **dict.fromkeys((401, 403), _KEY)}
_ADVICE |= dict.fromkeys((400, 413, 422), _SHORTER)


@dataclass(eq=False)
class _Fault(Exception):
    """What is wrong with an answer; ``cause`` names what may pass, in ``wait`` seconds if told."""

    expected: str
    found: str
    todo: str = _LATER
    cause: str = ""
    wait: float | None = None


@dataclass(frozen=True, eq=False)
class Endpoint(OneVector):
    """The vectors of a server with the form of OpenAI's embeddings: vLLM, llama.cpp, TEI, OpenAI.

    Rounding, and what is done with texts that are too long, are the server's. A text without words
    gets zeros: some servers refuse it.

    Attributes:
        url: the address before /embeddings, such as http://localhost:8000/v1. A key is sent in
            clear text (http) only within this machine or its network.
        model: its name at the server.
        key_env: the environment variable that holds the key; without it, no key is sent.
        batch: number of texts of 128 tokens in a request, and fewer of texts that are longer.
        parallel_option: the option `parallel`: number of requests in flight.
        dimensions: length of the vectors that the server is asked for; 0 for that of the model.
        prompts: for models trained with them, see ``Prompts`` and ``fill_prompt``.
        revision: to be changed when the server gives other vectors under the same name.
    """

    url: str
    model: str
    key_env: str | None = field(default=None, compare=False)
    batch: int = field(default=32, compare=False)
    parallel_option: int = option_field("parallel", 8, compare=False)
    dimensions: int = 0
    prompts: Prompts = field(default_factory=dict, kw_only=True)  # type: ignore[misc]
    revision: str = "1"
    name: ClassVar[str] = "openai"
    packages: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if min(self.batch, self.parallel_option) < 1 or self.dimensions < 0:
            raise ValueError("batch >= 1, parallel >= 1, dimensions >= 0")
        check_templates(self.prompts)
        # What is shown of them must not be a key.
        address = "url: an address such as http://localhost:8000/v1, without a key"
        name = "key_env: the name of a variable, in capitals"
        is_name = re.fullmatch("[A-Z][A-Z0-9_]*", self.key_env or "NONE")
        is_safe = not self.key_env or self.url.startswith("https:") or _is_near(self.url)
        for is_right, expected, found in (
            (not {*"@?#"} & {*self.url}, address, "a user name, a query or a fragment in it"),
            (_ADDRESS.fullmatch(self.url), address, self.url),
            (is_name, name, "another text"),
            (is_safe, "url: https, as a key is sent there, or a port that ssh forwards", self.url),
        ):
            if not is_right:
                todo = "correct it; keys are in environment variables, whose name is at `key_env:`"
                raise InputError("encoder openai", expected, found, todo)

    @property
    def dimension(self) -> int:
        """Length of a vector; the server is asked for that of a short text."""
        with self._open_client() as client:
            return int(_Requests(self, client).encode(["Hola ."]).shape[1])

    @property
    def options(self) -> dict[str, Any]:
        """Address, model and dimensions."""
        return {"url": self.url, "model": self.model, "dimensions": self.dimensions}

    def check(self) -> None:
        """Check that there is a key, if one is to be sent; the server is not asked."""
        self.key()

    def key(self) -> str:
        """Return the key; "" without one."""
        key = os.environ.get(self.key_env, "").strip() if self.key_env else ""
        if self.key_env and not (key and key.isascii() and key.isprintable()):
            expected = f"a key in the environment variable {self.key_env}"
            found = "characters that no key has" if key else "no such variable, or an empty one"
            raise InputError("encoder openai", expected, found, f"export {self.key_env}=…")
        return key

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), 1, dimension], of the texts with a prompt."""
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        for rows, encoded in self.stream(texts, prompt, vectors.shape[2]):
            vectors[rows] = encoded
        return vectors

    def stream(
        self,
        texts: Sequence[str],
        prompt: str | None,
        dimension: int,
        progress: Callable[[int], object] = lambda _: None,
    ) -> "Iterator[tuple[Rows, Floats]]":
        """Encode texts with a prompt, and always have requests in flight.

        Yields the numbers of some texts, and their vectors, float32 [texts, 1, dimension]. If a
        text cannot be encoded, what was encoded before comes first, then the InputError.
        ``progress`` is called with a number of texts done.
        """
        if not console.quiet:
            n_tokens = sum(_count_tokens((prompt or "") + text) for text in texts)
            budget = f"{len(texts):,} texts, about {n_tokens:,} tokens, for {self.model}"
            print(f"{budget} at {self.url}", file=sys.stderr, flush=True)
        blocks: dict[int, _Block] = {}
        failure: BaseException | None = None
        # Twice as many as requests: an answer is read while another request is in its place.
        n_requests, pool = 0, Threads(2 * self.parallel_option)
        with self._open_client() as client:
            requests = _Requests(self, client, dimension)
            calls = self._batches(texts, prompt, dimension, blocks)
            try:
                for _, (block, count) in as_completed(pool, requests.fill, calls):
                    n_requests += 1
                    progress(count)
                    # The last requests of a block may come together.
                    if block.start in blocks and block.done.all():
                        yield blocks.pop(block.start).take()
            except (InputError, KeyboardInterrupt) as error:
                failure = error
            finally:
                requests.stop.set()
                pool.end()
        # With what came meanwhile.
        yield from (block.take() for block in blocks.values() if block.done.any())
        if n_repeated := len(requests.causes):
            causes = ", ".join(f"{n} × {cause}" for cause, n in Counter(requests.causes).items())
            message = f"{n_repeated} of {n_requests + n_repeated} requests were repeated: {causes}"
            logging.getLogger(__name__).warning("%s: %s", self.model, message)
        if failure:
            raise failure

    def _batches(
        self, texts: Sequence[str], prompt: str | None, dimension: int, blocks: "dict[int, _Block]"
    ) -> "Iterator[tuple[_Block, list[int]]]":
        """Add blocks of texts, and yield the rows of each request: the longest texts first."""
        for start in range(0, len(texts), _BLOCK_TEXTS):
            block_texts = list(texts[start : start + _BLOCK_TEXTS])
            if prompt:
                block_texts = [fill_prompt(prompt, text) for text in block_texts]
            vectors = np.zeros((len(block_texts), 1, dimension), np.float32)
            done = np.array([not text.strip() for text in block_texts])
            blocks[start] = block = _Block(start, block_texts, vectors, done)
            sizes = {row: _count_tokens(block_texts[row]) for row in np.flatnonzero(~done).tolist()}
            rows = sorted(sizes, key=lambda row: -sizes[row])
            while rows:
                count = max(1, min(self.batch, self.batch * _TOKENS // sizes[rows[0]]))
                yield block, rows[:count]
                rows = rows[count:]

    def _open_client(self) -> "httpx2.Client":
        # Only here: it is slow to import.
        import httpx2

        headers = {"Accept-Encoding": "identity"}
        if key := self.key():
            headers["Authorization"] = f"Bearer {key}"
        timeout = httpx2.Timeout(_SILENCE, connect=patience.CONNECT)
        return httpx2.Client(headers=headers, timeout=timeout, limits=httpx2.Limits())


@dataclass(frozen=True)
class _Block:
    """Consecutive texts from number ``start`` on, their vectors, and which of these have come."""

    start: int
    texts: list[str]
    vectors: "Floats"
    done: "Flags"

    def take(self) -> "tuple[Rows, Floats]":
        """Return the numbers of the texts that are encoded, and their vectors."""
        rows = np.flatnonzero(self.done)
        return self.start + rows, self.vectors[rows]


class _Requests:
    """The requests to a server, which several threads send; ``dimension`` is 0 if unknown."""

    def __init__(self, encoder: Endpoint, client: "httpx2.Client", dimension: int = 0) -> None:
        self._encoder, self._client = encoder, client
        self._dimension = encoder.dimensions or dimension
        self._slots = Semaphore(encoder.parallel_option)
        # Read in a third of the time. The dimension tells numbers of another size.
        self._base64 = bool(dimension)
        self._answered = False
        self._failure: InputError | None = None
        self.stop = Event()
        self.causes: list[str] = []

    def fill(self, block: _Block, rows: list[int]) -> tuple[_Block, int]:
        """Encode some texts of a block, and count them."""
        block.vectors[rows, 0] = self.encode([block.texts[row] for row in rows])
        block.done[rows] = True
        return block, len(rows)

    def encode(self, texts: list[str]) -> "Floats":
        """Return float32 [len(texts), dimension], after as many attempts as needed."""
        begin, n_attempts, n_failures = monotonic(), 0, 0
        while True:
            base64 = self._base64
            try:
                with self._slots:
                    # Once a request has failed for good, no other one is sent.
                    if self.stop.is_set():
                        raise self._failure or CancelledError
                    answer = self._send(texts, base64)
                return self._read(answer, texts)
            except _Fault as fault:
                if base64 and fault.todo in (_SHORTER, _CORRECT, _OTHER):
                    # Some servers refuse this form, or have another one of this name.
                    self._base64 = False
                    self.causes.append(fault.cause or "base64")
                    continue
                n_attempts += 1
                # A server that is busy is left the time that it asks for.
                n_failures += fault.cause != "429"
                wait = patience.BACKOFF * 2 ** min(n_attempts - 1, 6)
                if fault.wait is not None:
                    wait = max(fault.wait, patience.BACKOFF)
                is_late = monotonic() + wait - begin > patience.DEADLINE
                is_final = not fault.cause or is_late or n_failures >= patience.ATTEMPTS
                if is_final or self.stop.wait(wait):
                    found = f"{fault.found}; attempt {n_attempts}, for {texts[0][:60]!r} and others"
                    if fault.wait:
                        found += f"; it asks to wait {wait:,.0f} s"
                    where = f"encoder openai, {self._encoder.model} at {self._encoder.url}"
                    error = InputError(where, fault.expected, found, fault.todo)
                    self._failure = self._failure or error
                    self.stop.set()
                    raise self._failure from None
                self.causes.append(fault.cause)

    def _send(self, texts: list[str], base64: bool) -> bytes:
        """Send a request, and return the answer."""
        import httpx2

        body: dict[str, Any] = {"model": self._encoder.model, "input": texts}
        if self._encoder.dimensions:
            body["dimensions"] = self._encoder.dimensions
        if base64:
            body["encoding_format"] = "base64"
        address = f"{self._encoder.url.rstrip('/').removesuffix('/embeddings')}/embeddings"
        data = bytearray()
        try:
            with self._client.stream("POST", address, json=body) as response:
                self._answered = True
                for chunk in response.iter_raw():
                    data += chunk
                    if len(data) > _MAX_BYTES * len(texts):
                        raise _Fault("vectors", f"more than {len(data):,} bytes")
        except httpx2.HTTPError as error:
            is_there = self._answered or not isinstance(error, httpx2.ConnectError)
            cause, found = "connection" if is_there else "", str(error) or type(error).__name__
            todo = f"check that the server runs, the network and `url:`; {_LATER}"
            raise _Fault("a whole answer", found, todo, cause) from None
        status = response.status_code
        if status == 200:
            return bytes(data)
        found, todo = f"the server answers {status}", _ADVICE.get(status, _LATER)
        # Servers repeat wrong keys, if only in part.
        if status != 401:
            found += f": {self._show(data)}"
        if response.is_redirect:
            found = f"a redirect to {response.headers.get('Location')}"
            todo = "write the new address at `url:`, if you trust it"
        # No waiting helps who has paid for nothing more.
        may_pass = status >= 500 or status in (408, 409, 425, 429)
        cause = str(status) if may_pass and b"insufficient_quota" not in data else ""
        wait = patience.retry_after(response.headers.get("Retry-After", ""))
        raise _Fault("vectors from this address", found, todo, cause, wait)

    def _read(self, data: bytes, texts: list[str]) -> "Floats":
        """Return the vectors of an answer in the order of the texts, after checking its form."""
        try:
            entries = from_json(data)["data"]
            order = [entry["index"] for entry in entries]
            rows = [entry["embedding"] for entry in entries]
            rows = [np.frombuffer(b64decode(r), "<f4") if isinstance(r, str) else r for r in rows]
            with np.errstate(over="ignore"):
                vectors = np.array(rows, np.float32)
            is_whole = sorted(order) == list(range(len(texts))) and vectors.ndim == 2
        except (ValueError, TypeError, LookupError):
            expected = 'JSON {"data": [{"index": 0, "embedding": [numbers]}, …]}'
            cause = "" if data.lstrip().startswith(b"<") else "another form"
            raise _Fault(expected, self._show(data), _CORRECT, cause) from None
        if not (is_whole and vectors.size):
            found = f"{len(order)} vectors, of the texts {str(order)[:200]}"
            raise _Fault(f"one for each of {len(texts)} texts", found, cause="wrong number")
        if self._dimension not in (0, vectors.shape[1]):
            found = f"dimension {vectors.shape[1]}"
            raise _Fault(f"vectors of dimension {self._dimension}", found, _OTHER)
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if bad.size:
            found = f"NaN, or an infinite or too large number, for {texts[order[bad[0]]]!r}"
            raise _Fault("finite numbers, in the range of float32", found, cause="NaN")
        return vectors[np.argsort(order)]

    def _show(self, data: bytes | bytearray) -> str:
        """Return the beginning of an answer, without the key if it has that."""
        text, key = data[:_MAX_BYTES].decode("utf-8", "replace"), self._encoder.key()
        return repr((text.replace(key, "[the key]") if key else text)[:300])


def _count_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return 1 + len(text.encode()) // _BYTES


def _is_near(url: str) -> bool:
    """Return whether an address is of this machine or its network."""
    match = _ADDRESS.fullmatch(url)
    host = match[1].strip("[]") if match else ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))
