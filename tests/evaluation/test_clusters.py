"""Encoding and probing on a Dask cluster: the bytes of one process, kills, workers that differ."""

import pickle
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_workers import kill_busy_worker

from corpora_recipes.running import environment
from corpora_recipes.running.alike import call_alike
from corpora_recipes.running.errors import InputError
from evaluation.commands import main
from evaluation.data.instances import find_probed
from evaluation.embedding import embedding, remote
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import ENCODERS, make_encoder
from evaluation.encoders.encoder import describe
from evaluation.probing import probing
from evaluation.probing.probing import Probing

PARAMS = """\
seed: 3
encoders:
  use_multilingual:
  loads: {encoder: callable, function: "encoding_workers:loads"}
  process: {encoder: callable, function: "encoding_workers:process"}
"""


@pytest.fixture
def hub(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return dist/hub, whose 69 texts make nine chunks, with a params.yaml above it."""
    Path("params.yaml").write_text(PARAMS)
    monkeypatch.setattr(embedding, "CHUNK_TEXTS", 8)
    return hub_folder


def embed(encoder: str, out: str, *options: str) -> int:
    return main(["embed", encoder, "--instances", "dist/hub", "--out", out, *options])


def probe(encoder: str, out: str, *options: str) -> int:
    common = ["--instances", "dist/hub", "--embeddings", "one"]
    return main(["probe", encoder, *common, "--out", out, *options])


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def after(times: int, function: Callable[..., Any], then: Callable[[], None]) -> Any:
    """Return the function, changed to call another one when it is called for the nth time."""
    calls = []

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        if len(calls) == times:
            then()
        return function(*arguments, **named)

    return called


def killing(calls: Iterator[Any], kill: Callable[[], None]) -> Iterator[Any]:
    """Yield the calls, and kill once the second one is sent."""
    yield next(calls)
    yield next(calls)
    kill()
    yield from calls


def test_the_bytes_of_one_process(hub: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert embed("use_multilingual", "one", "--workers", "1") == 0
    assert embed("use_multilingual", "two", "--executor", cluster.scheduler_address) == 0
    assert len(contents("one")) == 2 + 2 * 9
    assert contents("two") == contents("one")
    assert probe("use_multilingual", "r", "--workers", "1") == 0
    monkeypatch.setenv("PROBETA_EXECUTOR", cluster.scheduler_address)
    assert probe("use_multilingual", "s") == 0
    assert contents("s") == contents("r")
    # With nothing to do, no cluster is needed.
    assert embed("use_multilingual", "two", "--executor", "tcp://127.0.0.1:9") == 0
    assert probe("use_multilingual", "s", "--executor", "tcp://127.0.0.1:9") == 0


def test_a_killed_worker_costs_time_alone(
    hub: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        kill_busy_worker(cluster)

    assert embed("loads", "one", "--workers", "1") == 0
    monkeypatch.setattr(embedding, "write_chunk", after(3, embedding.write_chunk, kill))
    assert embed("loads", "two", "--executor", cluster.scheduler_address) == 0
    assert contents("two") == contents("one")
    assert probe("loads", "r", "--workers", "1") == 0
    send = probing._remote_calls
    monkeypatch.setattr(probing, "_remote_calls", lambda *given: killing(send(*given), kill))
    assert probe("loads", "s", "--executor", cluster.scheduler_address) == 0
    assert contents("s") == contents("r")


def test_a_worker_loads_a_model_once(hub: Path, cluster: Any) -> None:
    assert embed("loads", "two", "--executor", cluster.scheduler_address) == 0
    loads = make_encoder("callable", {"function": "encoding_workers:loads"})
    texts = ["Nada 1.", "Todo 2.", "faro", "tren"]
    vectors = EmbeddingStore(Path("two"), loads).lookup(texts, "output")
    assert vectors.tolist() == [[1, 7], [1, 7], [1, 4], [1, 4]]


def test_workers_with_other_vectors_are_refused(
    hub: Path, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embed("process", "two", "--executor", cluster.scheduler_address) == 1
    said = capsys.readouterr().err
    assert f"encoder callable, on {socket.gethostname()} and {socket.gethostname()}" in said
    assert "expected: the same vectors of the same texts from all workers" in said
    kept = [np.load(path) for path in Path("two").glob("*.vectors.*.npy")]
    assert len({float(number) for vectors in kept for number in vectors.flat}) <= 1


def test_workers_with_other_packages_are_refused(
    hub: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embed("loads", "one", "--workers", "1") == 0
    monkeypatch.setattr(environment, "version", lambda package: "0.0.9")
    for verb in (embed, probe):
        assert verb("loads", "two", "--executor", cluster.scheduler_address) == 1
        said = capsys.readouterr().err
        assert f"a worker, on {socket.gethostname()}\n" in said
        assert "expected: numpy: 0.0.9, as the driver has\n" in said
        assert f"found:    {np.__version__}\n" in said


def test_an_address_that_is_refused(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert embed("loads", "one", "--workers", "1") == 0
    for verb in (embed, probe):
        assert verb("loads", "two", "--executor", "elsewhere") == 1
        assert "--executor elsewhere\n  expected: local, or the address" in capsys.readouterr().err


def test_files_that_a_worker_does_not_see(hub: Path) -> None:
    """As in a worker: the driver has found the files, which are gone by then."""
    assert embed("loads", "one", "--workers", "1") == 0
    encoder = describe(make_encoder("callable", {"function": "encoding_workers:loads"}))
    jobs = [(dataset, "output") for dataset in find_probed(hub)]
    calls = list(probing._remote_calls(jobs, encoder, Path("one"), 3, Probing()))
    assert call_alike(*calls[0]).score.dataset == "bso_own"
    # Every file is named by a path that does not depend on the current folder.
    assert all(path.is_absolute() for own in calls[0][3].files.values() for path in own)
    header = Path("one", "encoder.json")
    header.write_text(header.read_text().replace('"dimension": 2', '"dimension": 3'))
    where = rf"a worker, on {socket.gethostname()}\n"
    with pytest.raises(InputError, match=rf"{where}.*expected: the vectors in .*/one: ") as one:
        call_alike(*calls[0])
    assert "'dimension': 3" in one.value.found
    (file,) = hub.glob("bso_own/test*")
    file.unlink()
    with pytest.raises(InputError, match=rf"{where}.*expected: the files of .*/bso_own: ") as one:
        call_alike(*calls[0])
    assert "No such file" in one.value.found


def test_what_is_sent_to_a_worker_is_small() -> None:
    needed = {
        "callable": {"function": "encoding_workers:loads"},
        "mteb": {"model": "intfloat/multilingual-e5-small"},
        "sentence_transformers": {"model": "intfloat/multilingual-e5-small"},
        "static": {"path": "cc.es.300.bin"},
        "transformers": {"model": "dccuchile/bert-base-spanish-wwm-cased"},
    }
    for name in ENCODERS:
        encoder = make_encoder(name, needed.get(name, {}))
        call = (remote._encode, encoder, ["uno", "dos"], None, ["uno"])
        assert len(pickle.dumps(call)) < 1000, name


def test_words_are_looked_up_here(tmp_path: Path) -> None:
    """Their table is in memory already, so that no cluster is asked."""
    (tmp_path / "words.vec").write_text("el 1 0\nmar 0 1\n")
    encoder = make_encoder("static", {"path": str(tmp_path / "words.vec")})
    assert embedding.embed(tmp_path / "s", encoder, ["el mar"], executor="tcp://127.0.0.1:9") == 1


def test_builds_of_a_version_are_not_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "versions_of", lambda packages: {"torch": "2.13.0+cu126"})
    assert remote._facts(make_encoder("char_hash", {}))["torch"] == "2.13.0"
