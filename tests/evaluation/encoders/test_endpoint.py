"""The encoder `openai`: servers that fail in every way lose no text and give no wrong vector."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from case_tables import read_tables
from embedding_server import (
    DIMENSION,
    EmbeddingServer,
    Fault,
    changed,
    cut,
    entries_of,
    reset,
    status,
    vector_of,
    vectors_of,
)
from report_files import write_audit
from scoring_files import write_hub
from stores import fill_store

import probeta
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import PACKAGE
from evaluation.embedding.store import EmbeddingStore, fingerprint, text_keys
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import Encoder, settings_of
from evaluation.encoders.endpoint import Endpoint
from probeta.cli import main

TABLES = read_tables(__file__)

KEY = "sk-secret/0+Z=="
TEXTS = [f"texto número {i}" + " y más" * (i % 50) for i in range(300)]
HTML = b"<!DOCTYPE html>\n<title>One moment, please</title>"

# --- faults --------------------------------------------------------------------------------------


def nan(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    entries[-1]["embedding"][0] = float("nan")
    return entries


# What passes: the server is asked again.
TRANSIENT: dict[str, Fault] = {
    "429": status(429, b"slow down", Retry_After="0"),
    "500": status(500, HTML),
    "503": status(503),
    "reset": reset,
    "cut": cut,
    "no JSON": status(200, b'{"data": [{"index": 0, "embed'),
    "no vectors": status(200, {"error": "No successful provider responses"}),
    "fewer": changed(lambda entries: entries[:-1]),
    "twice": changed(lambda entries: [*entries[:-1], entries[0]]),
    "more": changed(lambda entries: [*entries, entries[0] | {"index": len(entries)}]),
    "NaN": changed(nan),
    "null": changed(lambda entries: [entry | {"embedding": [None] * 8} for entry in entries]),
    "too large": changed(lambda entries: [entry | {"embedding": [1e39] * 8} for entry in entries]),
    "ragged": changed(lambda entries: [entries[0] | {"embedding": [0.5]}, *entries[1:]]),
    "tokens": changed(lambda entries: [e | {"embedding": [e["embedding"]]} for e in entries]),
    "indexes": changed(lambda entries: [entry | {"index": "a"} for entry in entries]),
    "list": status(200, [1, 2]),
}


def at_first(*faults: Fault) -> Callable[[int], Fault | None]:
    """Fail in these ways, one request each, after that for the dimension."""
    return lambda number: faults[number - 1] if 1 <= number <= len(faults) else None


def always(fault: Fault, after: int = 1) -> Callable[[int], Fault | None]:
    return lambda number: fault if number >= after else None


Serve = Callable[..., EmbeddingServer]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch, empty_folder: Path) -> None:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as servers:
        yield lambda *faults: servers.enter_context(closing(EmbeddingServer(*faults)))


def endpoint(server: EmbeddingServer | str, **options: Any) -> Encoder:
    url = server if isinstance(server, str) else server.url
    return make_encoder("mine", {"encoder": "openai", "url": url, "model": "m", **options})


def stored(folder: Path, encoder: Encoder, texts: list[str]) -> list[str]:
    """Return those of the texts that a store has, after checking their vectors."""
    store = EmbeddingStore(folder, encoder)
    has = store.has(text_keys(texts))
    present = [text for text, is_there in zip(texts, has, strict=True) if is_there]
    assert np.array_equal(store.lookup(present, "output"), vectors_of(present)[:, 0])
    return present


# --- what is right -------------------------------------------------------------------------------


def test_vectors_are_those_of_the_server_in_order(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    encoder = endpoint(server, batch=20, parallel=3)
    assert encoder.dimension == DIMENSION
    texts = [*TEXTS, "", " \n"]
    vectors = encoder.encode(texts)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, vectors_of(texts))
    assert encoder.encode([]).shape == (0, 1, DIMENSION)
    # Batches of 20 texts of 128 tokens of four bytes at most; what has no words is not sent.
    batches = [batch for batch in server.requests if batch != ["Hola ."]]
    assert max(map(len, batches)) == 20
    assert sum(map(len, batches)) == len(TEXTS)
    assert all(len(batch) == 1 or sum(map(len, batch)) <= 20 * 128 * 4 for batch in batches)
    assert fill_store(tmp_path / "store", encoder, TEXTS) == len(TEXTS)
    assert stored(tmp_path / "store", encoder, TEXTS) == TEXTS
    assert server.most <= 3


def test_long_texts_make_small_requests(serve: Serve) -> None:
    server = serve()
    texts = ["palabra " * 300, *(f"una frase {i}" for i in range(5)), "palabra " * 10_000]
    assert np.array_equal(endpoint(server, batch=6, parallel=1).encode(texts), vectors_of(texts))
    assert sorted(len(batch) for batch in server.requests[1:]) == [1, 1, 5]


def test_what_is_sent(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    encoder = endpoint(server)
    encoder.encode(["a"])
    assert server.bodies[0] == {"model": "m", "input": ["Hola ."]}
    assert server.bodies[-1] == {"model": "m", "input": ["a"], "encoding_format": "base64"}
    assert server.keys[-1] is None
    monkeypatch.setenv("THE_KEY", f" {KEY}\n")
    server.key = KEY
    options = {"key_env": "THE_KEY", "dimensions": 5, "prompts": {"default": "query: "}}
    encoder = endpoint(f"{server.url}/embeddings/", **options)
    assert encoder.dimension == 5
    vectors = encoder.encode(["a"], "query: ")  # type: ignore[call-arg]
    assert vectors[0, 0].tolist() == vector_of("query: a", 5)
    wanted = {"model": "m", "input": ["query: a"], "dimensions": 5, "encoding_format": "base64"}
    assert server.bodies[-1] == wanted


@pytest.mark.parametrize("kind", ["", "<f8", "<f2", "<i2"])
def test_servers_with_another_base64_are_asked_for_numbers(serve: Serve, kind: str) -> None:
    """Old versions of vLLM had float64 in it."""
    server = serve()
    server.base64 = kind
    assert np.array_equal(endpoint(server, batch=10).encode(TEXTS), vectors_of(TEXTS))
    forms = [body.get("encoding_format") for body in server.bodies]
    assert forms.count("base64") <= 16
    assert len(forms) <= 1 + 30 + 16


def test_the_budget_comes_first(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    server = serve(lambda number: said.append(capsys.readouterr().err) if number else None)
    endpoint(server, batch=4).encode(["a" * 400] * 10)
    assert said[0] == f"10 texts, about 1,010 tokens, for m at {server.url}\n"
    assert set(said[1:]) == {""}


def test_options_that_change_no_vector_change_no_key() -> None:
    one = endpoint("http://a.b:1/v1")
    other = endpoint("http://a.b:1/v1", batch=7, parallel=2)
    assert fingerprint(one) == fingerprint(other)
    assert settings_of(one) == settings_of(other)
    assert one.options == {"url": "http://a.b:1/v1", "model": "m", "dimensions": 0}
    for change in ({"dimensions": 3}, {"revision": "2"}, {"model": "n"}, {"url": "http://a.b:2"}):
        assert fingerprint(one) != fingerprint(endpoint(**{"server": one.options["url"], **change}))


# --- servers that fail ---------------------------------------------------------------------------


def test_ten_thousand_texts_from_a_server_that_fails_now_and_then(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faults = list(TRANSIENT.values())

    def fault(number: int) -> Fault | None:
        if number % 7 == 3:
            return changed(lambda entries: entries[::-1])
        return faults[number // 20 % len(faults)] if number % 20 == 5 else None

    server, texts = serve(fault), [f"la frase número {i}" for i in range(10_000)]
    encoder = endpoint(server)
    assert fill_store(tmp_path / "store", encoder, texts) == 10_000
    assert stored(tmp_path / "store", encoder, texts) == texts
    n_failed = sum(number % 20 == 5 and number % 7 != 3 for number in range(len(server.requests)))
    (said,) = [record.getMessage() for record in caplog.records]
    assert f"m: {n_failed} of {len(server.requests) - 1} requests were repeated: " in said
    assert sum(map(int, re.findall(r"(\d+) × ", said))) == n_failed > 10


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_passes_is_repeated(serve: Serve, name: str, tmp_path: Path) -> None:
    server = serve(at_first(*[TRANSIENT[name]] * 3))
    encoder = endpoint(server, parallel=1, batch=10)
    assert fill_store(tmp_path / "store", encoder, TEXTS[:30]) == 30
    assert stored(tmp_path / "store", encoder, TEXTS[:30]) == TEXTS[:30]
    assert len(server.requests) == 1 + 3 + len({tuple(batch) for batch in server.requests[1:]})


FINAL: dict[str, tuple[Fault, str, str, str]] = {
    "500": (status(500, b"no memory"), "vectors", "500: 'no memory'; attempt 6, for 't", "logs"),
    "cut": (cut, "a whole answer", "peer closed connection", "kept"),
    "fewer": (TRANSIENT["fewer"], "one for each of 10 texts", "9 vectors, of the texts [0", "logs"),
    "NaN": (
        changed(nan),
        "finite numbers",
        "NaN, or an infinite or too large number, for ",
        "logs",
    ),
    "long wait": (status(429, Retry_After="86400"), "vectors", "asks to wait 86,400 s", "kept"),
    "quota": (status(429, b'{"code": "insufficient_quota"}'), "vectors", "insufficient_qu", "logs"),
    # These are not repeated.
    "html": (status(200, HTML), '"embedding"', "'<!DOCTYPE html>", "correct `url:`"),
    "400": (status(400, b"too long"), "vectors", "400: 'too long'; attempt 1, for 't", "`batch:`"),
    "401": (status(401, b"who?"), "vectors", "answers 401; attempt 1", "`key_env:`"),
    "404": (status(404, b"no model m"), "vectors", "answers 404: 'no model m'", "or `model:`"),
    "redirect": (
        status(307, Location="http://a.org/v1"),
        "vectors from this address",
        "a redirect to http://a.org/v1",
        "write the new address at `url:`",
    ),
    "endless": (status(200, b" " * (1 << 25)), "vectors", "more than", "logs"),
    "dimension": (
        lambda server, handler, texts: (200, {"data": entries_of(texts, 6)}, {}),
        f"vectors of dimension {DIMENSION}",
        "dimension 6; attempt 1, for 't",
        "`revision:`",
    ),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_does_not_pass_is_told_and_nothing_is_lost(
    serve: Serve, name: str, tmp_path: Path
) -> None:
    fault, expected, found, todo = FINAL[name]
    server = serve(always(fault, after=6))
    encoder, folder = endpoint(server, batch=10, parallel=4), tmp_path / "store"
    with pytest.raises(InputError) as caught:
        fill_store(folder, encoder, TEXTS)
    error = caught.value
    assert error.where == f"encoder openai, m at {server.url}"
    for part, word in ((error.expected, expected), (error.found, found), (error.todo, todo)):
        assert word in part
    n_failed = len(server.requests) - 6
    # Of four in flight, and four whose answers are read; in two forms.
    assert n_failed <= 8 * (7 if name in TRANSIENT else 2)
    # All that came is stored, and not asked for again.
    before = stored(folder, encoder, TEXTS)
    assert {*before} == server.served - {"Hola ."}
    assert before
    server.fault = lambda number: None
    first = len(server.requests)
    assert fill_store(folder, encoder, TEXTS) == len(TEXTS) - len(before)
    sent = [text for batch in server.requests[first:] for text in batch]
    assert sorted(sent) == sorted({*TEXTS} - {*before})
    assert stored(folder, encoder, TEXTS) == TEXTS


def test_a_server_that_takes_no_dimensions_or_does_not_run(serve: Serve) -> None:
    server = serve(always(changed(lambda entries: entries), after=0))
    with pytest.raises(InputError, match="remove `dimensions:`"):
        _ = endpoint(server, dimensions=5).dimension
    with pytest.raises(InputError, match="Connection refused") as caught:
        _ = endpoint("http://127.0.0.1:9/v1").dimension
    assert "check that the server runs" in caught.value.todo


def test_an_interruption_loses_nothing_that_came(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve()
    encoder = endpoint(server, batch=10, parallel=2)
    counts: list[int] = []

    def interrupt(bar: Any, n: int = 1) -> None:
        counts.append(n)
        if len(counts) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("corpora_recipes.running.console._Log.update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fill_store(tmp_path / "store", encoder, TEXTS)
    before = stored(tmp_path / "store", encoder, TEXTS)
    assert len(before) >= sum(counts)
    assert {*before} == server.served - {"Hola ."}


@pytest.mark.parametrize(("stated", "seconds"), TABLES["waits"])
def test_how_long_a_server_asks_to_wait(stated: str, seconds: float | None) -> None:
    if stated == "in 500 s":
        stated = format_datetime(datetime.now(UTC) + timedelta(seconds=500), usegmt=True)
    assert patience.retry_after(stated) == pytest.approx(seconds, abs=30 if len(stated) > 9 else 0)


def test_the_time_that_a_server_asks_for_is_left_to_it(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    class NoWaiting(Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0)
            return self.is_set()

    monkeypatch.setattr(patience, "BACKOFF", 1.0)
    busy = [status(429, Retry_After=str(seconds)) for seconds in (0, 7)]
    server = serve(at_first(*busy, *[status(429)] * 8, status(500)))
    encoder = endpoint(server, parallel=1)
    monkeypatch.setattr("evaluation.encoders.endpoint.Event", NoWaiting)
    # More often than other failures are allowed.
    assert np.array_equal(encoder.encode(["a"]), vectors_of(["a"]))
    assert waits == [1, 7, 4, 8, 16, 32, 64, 64, 64, 64, 64]


# --- keys and addresses --------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "word"), TABLES["refused"])
def test_options_that_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError) as caught:
        endpoint(**{"server": "http://localhost:1/v1", **options})
    assert word in str(caught.value)
    assert "sk-" not in str(caught.value)
    assert "sk_" not in str(caught.value)


@pytest.mark.parametrize("url", TABLES["addresses"])
def test_where_a_key_may_go(url: str) -> None:
    assert isinstance(endpoint(url, key_env="THE_KEY"), Endpoint)


def test_keys_that_are_missing_or_wrong(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    server.key = KEY
    encoder = endpoint(server, key_env="THE_KEY")
    none, wrong = "no such", "no key has"
    for value, found in ((None, none), (" ", none), ("a\nb", wrong), ("ñ", wrong)):
        if value is not None:
            monkeypatch.setenv("THE_KEY", value)
        with pytest.raises(InputError) as caught:
            encoder.check()
        assert "environment variable THE_KEY" in caught.value.expected
        assert found in caught.value.found
        assert caught.value.todo == "export THE_KEY=…"
        with pytest.raises(InputError):
            encoder.encode(["a"])
    assert not server.requests
    monkeypatch.setenv("THE_KEY", "sk-of-others")
    encoder.check()
    with pytest.raises(InputError) as caught:
        encoder.encode(["a"])
    assert len(server.requests) == 1
    # The server repeats what it was sent.
    assert "the server answers 401; attempt 1" in caught.value.found
    assert "sk-of-others" not in str(caught.value)
    assert "name at `key_env:`" in caught.value.todo
    monkeypatch.setenv("THE_KEY", KEY)
    server.fault = always(status(400, f"you sent {KEY}".encode()))
    with pytest.raises(InputError, match=r"you sent \[the key\]"):
        encoder.encode(["a"])


def test_a_key_follows_no_redirect(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    other = serve()
    for code in (301, 302, 303, 307, 308):
        server = serve(always(status(code, Location=f"{other.url}/embeddings"), after=0))
        with pytest.raises(InputError, match=f"a redirect to {other.url}"):
            endpoint(server, key_env="THE_KEY").encode(["a"])
        assert server.keys == [f"Bearer {KEY}"]
    assert not other.requests


# --- runs ----------------------------------------------------------------------------------------


def test_a_run_writes_no_key(
    serve: Serve,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """From the commands to the report: results, caches, messages and logs of libraries."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("THE_KEY", KEY)
    server = serve(at_first(status(500, f"you sent {KEY}".encode()), reset, status(429)))
    server.key = KEY
    entry = f"{{encoder: openai, url: {server.url!r}, model: m, key_env: THE_KEY}}"
    wrong = entry.replace("model: m", "model: m, revision: '2'").replace("THE_KEY", "WRONG_KEY")
    monkeypatch.setenv("WRONG_KEY", "sk-of-others")
    Path("params.yaml").write_text(f"seed: 1\nencoders:\n  mine: {entry}\n  wrong: {wrong}\n")
    write_hub(PACKAGE)
    rows = {"train": 16, "validation": 6, "test": 8}
    write_audit(PACKAGE, {"tass_own": rows}, {"tass_own": {"majority": 0.5, "length": 0.5}})
    for verb in ("list", "embed", "probe"):
        main([verb, "--verbose"])
    assert main(["score", "mine", "--datasets", "tass_own", "--cache", "cache"]) == 0
    assert main(["report", "results/mine", "--out", "report"]) == 0
    scores = probeta.score("mine", datasets=["tass_own"], cache="cache")
    assert scores.results.encoder["options"]["model"] == "m"
    assert Path("data/results/mine/scores.json").is_file()
    said = capsys.readouterr()
    assert "the server answers 401" in Path("data/left_out/embed.json").read_text()
    assert "mine: openai (url http" in said.out
    texts = [said.out, said.err, caplog.text]
    texts += [str(record.__dict__) for record in caplog.records]
    paths = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(paths) > 20
    for secret in (KEY, "sk-of-others"):
        assert not [text for text in texts if secret in text]
        assert not [path for path in paths if secret.encode() in path.read_bytes()]
