"""Which encoder is meant, how its results are called, where its vectors are."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.running.errors import InputError
from probeta.scoring import resolve_encoder

ENTRIES: dict[str, dict[str, Any]] = {"small": {"encoder": "char_hash", "dimension": 16}}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(given: object, **options: str) -> tuple[str, dict[str, Any], str, Path | None]:
    name, revision = options.get("name"), options.get("revision")
    target = resolve_encoder(given, name=name, revision=revision, prompts=None, entries=ENTRIES)
    return target.encoder.name, target.encoder.options, target.name, target.store


def test_names() -> None:
    store = Path("data/embeddings")
    small = {"dimension": 16, "shortest": 3, "longest": 5}
    assert found("small") == ("char_hash", small, "small", store / "small")
    full = small | {"dimension": 512}
    assert found("char_hash") == ("char_hash", full, "char_hash", store / "char_hash")
    assert found("small", name="b")[2:] == ("b", store / "b")


def test_functions_by_name() -> None:
    kind, options, name, store = found("json:decoder.scanstring")
    assert (kind, options["function"]) == ("callable", "json:decoder.scanstring")
    assert (name, store) == ("json-decoder-scanstring", None)
    assert found("json:dumps", revision="2")[3] == Path("data/embeddings/json-dumps")


def test_files_and_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own.es.vec").write_text("1 2\nuno 0.5 1.5\n")
    store = Path("data/embeddings/own-es-vec")
    assert found("own.es.vec") == ("static", {"file": "own.es.vec"}, "own-es-vec", store)
    assert found(Path("own.es.vec"))[0] == "static"
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    folder = Path("models/bert")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"hidden_size": 16, "num_hidden_layers": 2}')
    kind, options, name, _ = found("models/bert")
    assert (kind, options["model"], name) == ("transformers", "bert", "bert")
    (folder / "modules.json").write_text("[]")
    assert found("./models/bert")[0] == "sentence_transformers"


def test_models_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(model: str, file: str, *, revision: str, **_: object) -> str:
        asked.append((model, file, revision))
        if file == "modules.json":
            raise OSError("no such file")
        path = Path("snapshots/abc") / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"hidden_size": 16, "num_hidden_layers": 2}')
        return str(path)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    kind, options, name, _ = found("org/e5-v1.5", revision="v1")
    assert (kind, options["model"], name) == ("transformers", "org/e5-v1.5", "e5-v1-5")
    assert asked == [("org/e5-v1.5", file, "v1") for file in ("modules.json", "config.json")]


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ("smal", {}, ["encoder smal", "module:object.attribute", "did you mean small"]),
        ("zzz", {}, ["small, char_hash", "none of these", "add it to params.yaml"]),
        ("./nowhere", {}, ["none of these"]),
        ("", {}, ["none of these"]),
        ("small", {"revision": "2"}, ["params.yaml: encoders.small.revision", "unknown"]),
        ("char_hash", {"revision": "2"}, ["encoder char_hash.revision"]),
        ("small", {"name": "a b"}, ["letters, digits", "'a b'"]),
        ("nowhere:encode", {}, ["a module nowhere"]),
        ("json:encode", {}, ["a function encode in ", "has no attribute 'encode'"]),
        ("folder", {}, ["folder/config.json", "a model folder"]),
        ("words.txt", {}, ["words.txt"]),
    ],
)
def test_what_is_no_encoder(given: str, options: dict[str, str], words: list[str]) -> None:
    Path("folder").mkdir()
    Path("words.txt").write_text("Nada.\n")
    with pytest.raises(InputError) as caught:
        found(given, **options)
    for word in [*words, "to do:"]:
        assert word in str(caught.value)


def test_a_model_that_is_not_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    # Torch is missing: this is said before the Hub is asked.
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    with pytest.raises(InputError, match="found:    no torch, transformers"):
        found("org/absent")
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    with pytest.raises(InputError, match="no such folder; LocalEntryNotFoundError"):
        found("org/absent")


def test_vectors_of_another_encoder_are_not_replaced() -> None:
    store = Path("data/embeddings/char_hash")
    store.mkdir(parents=True)
    other = {"encoder": "char_hash", "revision": "0", "options": {"dimension": 16}, "dimension": 16}
    (store / "encoder.json").write_text(json.dumps(other))
    for given in ("char_hash", "small"):
        with pytest.raises(InputError, match="choose another name"):
            found(given, name="char_hash")
    other["options"] = {"dimension": 512, "shortest": 3, "longest": 5}
    (store / "encoder.json").write_text(json.dumps(other))
    assert found("char_hash")[3] == store
    # An entry of params.yaml is the pipeline's own.
    Path("data/embeddings/small").mkdir()
    Path("data/embeddings/small/encoder.json").write_text(json.dumps(other))
    assert found("small")[3] == Path("data/embeddings/small")
