"""Datasets of the Hub: data files alone, at one commit, from a server that speaks as the Hub."""

import pickle
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import commit

from builders.auditing.target import Location
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit, hub_targets, locate

CARD = """---
language: [es]
configs:
- config_name: opiniones
  data_files:
  - {split: train, path: "op/a-*.parquet"}
  - {split: test, path: op/b.parquet}
- 3
- config_name: nada
  data_files: [todo, {split: train, path: 3}, {split: [train], path: {a: b}}]
- config_name: ../frases
  data_files:
  - {split: validation, path: "frases*.csv"}
---
# Opiniones
"""
TEXTS = ["Una obra muy buena.", "Una obra muy mala.", "Ni buena ni mala."]


def parquet(path: Path, rows: int = 2) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"label": list("bmm")[:rows], "text": TEXTS[:rows]}), path)


NAME = "hf://datasets/org/data"


def test_the_configurations_of_the_card_are_datasets(served: Path, requests) -> None:
    (served / "README.md").write_text(CARD, "utf-8")
    parquet(served / "op" / "a-1.parquet")
    parquet(served / "op" / "b.parquet", 3)
    (served / "frases.csv").write_text("texto,clase\nHoy llueve.,a\nHoy nieva.,b\n", "utf-8")
    (served / "frases2.csv").write_text("clase,texto\na,Hoy truena.\n", "utf-8")
    (served / "script.py").write_text("raise SystemExit", "utf-8")
    (served / "train.pkl").write_bytes(pickle.dumps([]))
    source, locations = hub_targets(NAME, None)
    assert (source.repository, source.revision) == ("org/data", commit(served))
    assert [location.name for location in locations] == ["data_opiniones", "data_.._frases"]
    first, second = map(Location.load, locations)
    rows = {split: len(part.texts) for split, part in first.parts.items()}
    assert rows == {"train": 2, "test": 3}
    assert (first.language, second.answer, second.texts) == ("es", "clase", ("texto",))
    assert second.parts["validation"].texts[2] == ["Hoy truena."]
    assert "a-1.parquet" in " ".join(requests)
    assert not any(name in " ".join(requests) for name in ("script.py", "train.pkl"))


def test_a_revision_is_resolved_and_stated(served: Path, tmp_path) -> None:
    parquet(served / "train.parquet", 3)
    old = tmp_path / "served" / "data@v1"
    parquet(old / "train.parquet")
    name = f"{NAME}@v1"
    report = audit(name, tmp_path / "audit", language="es")
    source = {"name": name, "repository": "org/data", "asked": "v1", "revision": commit(old)}
    assert report["source"] == source
    assert report["datasets"]["data"]["rows"] == {"train": 2}
    page = (tmp_path / "audit" / "audit.md").read_text("utf-8")
    assert f"org/data at the commit {commit(old)}" in page


def test_a_folder_of_the_repository_may_be_named(served: Path) -> None:
    for name in ("uno", "dos"):
        parquet(served / name / "train.parquet")
    _, (location,) = hub_targets(f"{NAME}/uno", "es")
    assert location.name == "data"
    _, locations = hub_targets(NAME, "es")
    assert [location.name for location in locations] == ["data_dos", "data_uno"]


def test_what_the_hub_converted_stands_for_scripts(served: Path, tmp_path) -> None:
    (served / "data.py").write_text("raise SystemExit", "utf-8")
    converted = tmp_path / "served" / "data@convert"
    parquet(converted / "default" / "train" / "0000.parquet")
    source, (location,) = hub_targets(NAME, "es")
    assert source.revision == commit(converted)
    assert len(location.load().parts["train"].texts) == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("hf://datasets/data", "card", "hf://datasets/ORG/NAME"),
        (NAME, "", "RepositoryNotFound"),
        (f"{NAME}@v9", "card", "RevisionNotFound"),
        (NAME, "pickle", "pickles, which can run any code .* train.pkl"),
        (NAME, "card", "one language\n.*es, en"),
    ],
)
def test_what_cannot_be_read_is_refused(served: Path, name: str, content: str, words: str) -> None:
    if content == "pickle":
        (served / "train.pkl").write_bytes(pickle.dumps([]))
    elif content:
        (served / "README.md").write_text("---\nlanguage: [es, en]\n---\n", "utf-8")
        parquet(served / "train.parquet")
    else:
        served.rmdir()
    with pytest.raises(InputError, match=words):
        hub_targets(name, None)


def test_too_much_is_not_downloaded(served: Path, monkeypatch, requests) -> None:
    parquet(served / "train.parquet")
    monkeypatch.setattr("probeta.auditing.MAX_BYTES", 100)
    with pytest.raises(InputError, match="name a folder"):
        hub_targets(NAME, "es")
    assert not any("resolve" in request for request in requests)


def test_without_a_network_the_message_is_clear(served: Path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(InputError, match="check the connection"):
        hub_targets(NAME, "es")


@pytest.mark.skipif(find_spec("mteb") is not None, reason="mteb is installed")
def test_a_task_of_mteb_needs_mteb() -> None:
    with pytest.raises(InputError, match=r"pip install 'probeta\[mteb\]'"):
        locate("mteb:STSES")
