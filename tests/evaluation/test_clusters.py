"""Encoding and probing on a Dask cluster: the bytes of one process, kills, workers that differ."""

import pickle
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contents import contents
from dask_workers import kill_busy_worker
from stores import fill_store

from corpora_recipes.running import code
from corpora_recipes.running.cluster import call_alike
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import EMBEDDINGS, PROBED
from evaluation.datasets import find_probed
from evaluation.embedding import embedding
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import ENCODERS, make_encoder
from evaluation.encoders.encoder import describe
from evaluation.probing import probing
from evaluation.probing.probing import Probing
from probeta.cli import main

PARAMS = """\
seed: 3
encoders:
  use_multilingual:
  loads: {encoder: callable, function: "encoding_workers:loads"}
  process: {encoder: callable, function: "encoding_workers:process"}
"""

Capsys = pytest.CaptureFixture[str]
OUT = (EMBEDDINGS, PROBED)
NOWHERE = "tcp://127.0.0.1:9"


@pytest.fixture
def hub(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return dist/hub, whose 69 texts make nine chunks, with a params.yaml above it."""
    Path("params.yaml").write_text(PARAMS)
    monkeypatch.setattr(embedding, "CHUNK_TEXTS", 8)
    return hub_folder


def run(verb: str, encoder: str, *options: str) -> int:
    return main([verb, "--only", encoder, *options])


def alone(encoder: str) -> dict[str, bytes]:
    """Embed and probe in this process; return what is written, which is then removed."""
    assert run("embed", encoder, "--workers", "1") == run("probe", encoder, "--workers", "1") == 0
    written = made()
    shutil.rmtree("data")
    return written


def made() -> dict[str, bytes]:
    return {f"{path}/{name}": of for path in OUT for name, of in contents(path).items()}


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
    before = alone("use_multilingual")
    # encoder.json and datasets.json; keys, vectors and their digests; scores and answers.
    assert len(before) == 2 + 3 * 9 + 2
    assert run("embed", "use_multilingual", "--executor", cluster.scheduler_address) == 0
    monkeypatch.setenv("PROBETA_EXECUTOR", cluster.scheduler_address)
    assert run("probe", "use_multilingual") == 0
    assert made() == before
    # With nothing to do, no cluster is needed, even if it is not remembered that all was done.
    shutil.rmtree("data/memory/embed")
    shutil.rmtree("data/memory/probe")
    for verb in ("embed", "probe"):
        assert run(verb, "use_multilingual", "--executor", NOWHERE) == 0
    assert made() == before


def test_a_killed_worker_costs_time_alone(
    hub: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        kill_busy_worker(cluster)

    before, send = alone("loads"), probing._remote_calls
    monkeypatch.setattr(embedding, "write_chunk", after(3, embedding.write_chunk, kill))
    assert run("embed", "loads", "--executor", cluster.scheduler_address) == 0
    monkeypatch.setattr(probing, "_remote_calls", lambda *given: killing(send(*given), kill))
    assert run("probe", "loads", "--executor", cluster.scheduler_address) == 0
    assert made() == before


def test_a_worker_loads_a_model_once(hub: Path, cluster: Any) -> None:
    assert run("embed", "loads", "--executor", cluster.scheduler_address) == 0
    loads = make_encoder("callable", {"function": "encoding_workers:loads"})
    texts = ["Nada 1.", "Todo 2.", "faro", "tren"]
    vectors = EmbeddingStore(EMBEDDINGS / "loads", loads).lookup(texts, "output")
    assert vectors.tolist() == [[1, 7], [1, 7], [1, 4], [1, 4]]


def test_workers_with_other_vectors_are_refused(hub: Path, cluster: Any, capsys: Capsys) -> None:
    assert run("embed", "process", "--strict", "--executor", cluster.scheduler_address) == 1
    machine = socket.gethostname()
    assert f"encoder callable, on {machine} and {machine}\n" in capsys.readouterr().err
    kept = [np.load(path) for path in (EMBEDDINGS / "process").glob("*.vectors.*.npy")]
    assert len({float(number) for vectors in kept for number in vectors.flat}) <= 1


def test_workers_with_other_packages_are_refused(
    hub: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    """Of probe too: what the build of a version is called does not count."""
    monkeypatch.setattr(code, "version", lambda package: "0.0.9+cpu")
    for verb in ("embed", "probe"):
        assert run(verb, "loads", "--strict", "--executor", cluster.scheduler_address) == 1
        said = capsys.readouterr().err
        assert f"a worker, on {socket.gethostname()}\n  expected: numpy: 0.0.9, as" in said
        assert run("embed", "loads", "--workers", "1") == 0


@pytest.mark.slow
def test_an_address_that_is_refused(hub: Path, capsys: Capsys) -> None:
    """No encoder is left out for it."""
    for verb in ("embed", "probe"):
        assert run(verb, "loads", "--executor", "elsewhere") == 1
        assert "--executor elsewhere\n  expected: local, or the address" in capsys.readouterr().err
        assert run("embed", "loads", "--workers", "1") == 0


def test_files_that_a_worker_does_not_see(hub: Path) -> None:
    """As in a worker: the driver has found the files, which are gone by then."""
    assert run("embed", "loads", "--workers", "1") == 0
    encoder = describe(make_encoder("callable", {"function": "encoding_workers:loads"}))
    store = EMBEDDINGS / "loads"
    jobs = [(dataset, "output", encoder, store, 3, Probing()) for dataset in find_probed(hub)]
    calls = list(probing._remote_calls(jobs))
    assert call_alike(*calls[0]).scores[0].dataset == "bso_own"
    # Every file is named by a path that does not depend on the current folder.
    assert all(path.is_absolute() for files in calls[0][3].files.values() for path in files)
    header = store / "encoder.json"
    header.write_text(header.read_text().replace('"dimension": 2', '"dimension": 3'))
    where = rf"a worker, on {socket.gethostname()}\n"
    with pytest.raises(InputError, match=rf"{where}.*expected: the vectors in .*/loads: ") as one:
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
        "openai": {"url": "http://localhost:8000/v1", "model": "m"},
        "sentence_transformers": {"model": "intfloat/multilingual-e5-small"},
        "static": {"path": "cc.es.300.bin"},
        "transformers": {"model": "dccuchile/bert-base-spanish-wwm-cased"},
    }
    for name in ENCODERS:
        encoder = make_encoder(name, needed.get(name, {}))
        call = (embedding._encode, encoder, ["uno", "dos"], None, ["uno"])
        assert len(pickle.dumps(call)) < 1000, name


def test_words_are_looked_up_here(tmp_path: Path) -> None:
    """Their table is in memory already, so that no cluster is asked."""
    (tmp_path / "words.vec").write_text("el 1 0\nmar 0 1\n")
    encoder = make_encoder("static", {"path": str(tmp_path / "words.vec")})
    assert fill_store(tmp_path / "s", encoder, ["el mar"], 1, None, NOWHERE) == 1
