"""Datasets of the Hub: data files alone, at one commit, from a server that speaks as the Hub."""

import pickle
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import commit, hub

from builders.auditing.auditing import audit
from builders.exchange import hub as reading
from builders.exchange.finding import load_target
from builders.exchange.hub import hub_targets
from builders.exchange.locating import locate
from corpora_recipes.running.errors import InputError

CARD = """---
language: [es]
configs:
- config_name: opiniones
  data_files:
  - {split: train, path: "op/a-*.parquet"}
  - {split: test, path: op/b.parquet}
- config_name: frases
  data_files:
  - {split: validation, path: "frases*.csv"}
---
# Opiniones
"""
TEXTS = ["Una obra muy buena.", "Una obra muy mala.", "Ni buena ni mala."]


def parquet(path: Path, *labels: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"label": list(labels), "text": TEXTS[: len(labels)]})
    pq.write_table(table, path)


@pytest.fixture
def requests() -> list[str]:
    return []


@pytest.fixture
def serve(tmp_path: Path, monkeypatch, requests: list[str]) -> Iterator[Callable[[], Path]]:
    """Return a function that serves a repository "org/data", whose folder it returns."""
    folder = tmp_path / "served" / "data"
    folder.mkdir(parents=True)
    with hub(folder, "org/data", requests=requests) as endpoint:
        template = f"{endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        for name, value in (
            ("ENDPOINT", endpoint),
            ("HUGGINGFACE_CO_URL_TEMPLATE", template),
            ("HF_HUB_CACHE", str(tmp_path / "cache")),
            ("HF_HUB_DISABLE_XET", True),
        ):
            monkeypatch.setattr(huggingface_hub.constants, name, value)
        yield lambda: folder


def find(name: str, language: str | None = None) -> Any:
    return hub_targets(name, language)


def test_the_configurations_of_the_card_are_datasets(serve, requests) -> None:
    folder = serve()
    (folder / "README.md").write_text(CARD, "utf-8")
    parquet(folder / "op" / "a-1.parquet", "b", "m")
    parquet(folder / "op" / "b.parquet", "b", "m", "m")
    (folder / "frases.csv").write_text("texto,clase\nHoy llueve.,a\nHoy nieva.,b\n", "utf-8")
    (folder / "frases2.csv").write_text("clase,texto\na,Hoy truena.\n", "utf-8")
    (folder / "script.py").write_text("raise SystemExit", "utf-8")
    (folder / "train.pkl").write_bytes(pickle.dumps([]))
    source, locations = find("hf://datasets/org/data")
    assert (source.repository, source.revision) == ("org/data", commit(folder))
    assert [place.name for place in locations] == ["data_opiniones", "data_frases"]
    first, second = map(load_target, locations)
    assert {split: len(part.texts) for split, part in first.parts.items()} == {
        "train": 2,
        "test": 3,
    }
    assert (first.language, second.answer, second.texts) == ("es", "clase", ("texto",))
    assert second.parts["validation"].texts[2] == ["Hoy truena."]
    loaded = " ".join(requests)
    assert "a-1.parquet" in loaded
    assert not any(name in loaded for name in ("script.py", "train.pkl"))


def test_a_revision_is_resolved_and_stated(serve, tmp_path) -> None:
    folder = serve()
    parquet(folder / "train.parquet", "b", "m", "m")
    parquet(tmp_path / "served" / "data@v1" / "train.parquet", "b", "m")
    name = "hf://datasets/org/data@v1"
    report = audit(name, tmp_path / "audit", language="es")
    old = commit(tmp_path / "served" / "data@v1")
    assert report["source"] == {
        "name": name,
        "repository": "org/data",
        "asked": "v1",
        "revision": old,
    }
    assert report["datasets"]["data"]["rows"] == {"train": 2}
    page = (tmp_path / "audit" / "audit.md").read_text("utf-8")
    assert f"org/data at the commit {old}" in page


def test_a_folder_of_the_repository_may_be_named(serve) -> None:
    for name in ("uno", "dos"):
        parquet(serve() / name / "train.parquet", "b", "m")
    _, locations = find("hf://datasets/org/data/uno", language="es")
    assert [place.name for place in locations] == ["data"]
    _, locations = find("hf://datasets/org/data", language="es")
    assert [place.name for place in locations] == ["data_dos", "data_uno"]


def test_what_the_hub_converted_stands_for_scripts(serve, tmp_path) -> None:
    (serve() / "data.py").write_text("raise SystemExit", "utf-8")
    converted = tmp_path / "served" / "data@convert"
    parquet(converted / "default" / "train" / "0000.parquet", "b", "m")
    source, (location,) = find("hf://datasets/org/data", language="es")
    assert source.revision == commit(converted)
    assert len(load_target(location).parts["train"].texts) == 2


def no_repository(folder: Path) -> None:
    folder.rmdir()


def only_a_pickle(folder: Path) -> None:
    (folder / "train.pkl").write_bytes(pickle.dumps([]))


def two_languages(folder: Path) -> None:
    (folder / "README.md").write_text("---\nlanguage: [es, en]\n---\n", "utf-8")
    parquet(folder / "train.parquet", "b", "m")


@pytest.mark.parametrize(
    ("name", "prepare", "words"),
    [
        ("hf://datasets/data", two_languages, ["hf://datasets/ORG/NAME"]),
        ("hf://datasets/org/data", no_repository, ["RepositoryNotFound", "private or gated"]),
        ("hf://datasets/org/data@v9", two_languages, ["RevisionNotFound", "a branch, a tag"]),
        ("hf://datasets/org/data", only_a_pickle, ["pickles", "train.pkl", "JSON Lines"]),
        ("hf://datasets/org/data", two_languages, ["one language", "es, en", "--language"]),
    ],
)
def test_errors_say_what_to_do(serve, name: str, prepare: Any, words: list[str]) -> None:
    prepare(serve())
    with pytest.raises(InputError) as error:
        find(name)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_too_much_is_not_downloaded(serve, monkeypatch, requests) -> None:
    parquet(serve() / "train.parquet", "b", "m")
    monkeypatch.setattr(reading, "LARGEST", 100)
    with pytest.raises(InputError, match="name a folder"):
        find("hf://datasets/org/data", language="es")
    assert not any("resolve" in request for request in requests)


def test_without_a_network_the_message_is_clear(serve, monkeypatch) -> None:
    serve()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(InputError, match="check the connection"):
        find("hf://datasets/org/data", language="es")


@pytest.mark.skipif(find_spec("mteb") is not None, reason="mteb is installed")
def test_a_task_of_mteb_needs_mteb() -> None:
    with pytest.raises(InputError, match=r"pip install 'probeta\[mteb\]'"):
        locate("mteb:STSES")
