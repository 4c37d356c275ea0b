"""The section `trained` of params.yaml."""

from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.stage import Skipped, write_skipped
from evaluation.params import Training, encoder_factories, encoders_params, trained_params

PATH = Path("params.yaml")
CORPORA: dict[str, Any] = {"own": {}}


def read(entry: Any) -> Training:
    return trained_params({"corpora": CORPORA, "trained": {"mine": entry}}, PATH)["mine"]


def test_an_entry_with_its_defaults() -> None:
    found = read({"corpus": "own", "objectives": {"sdt": 2, "nsp": 0.5}})
    assert found == Training("own", {"nsp": 0.5, "sdt": 2.0}, "small", "", 1, 1, 128, 0)
    # In one order, whatever that of the file: the sum of losses has the same rounding.
    assert list(found.objectives) == ["nsp", "sdt"]
    assert trained_params({"trained": {}}, PATH) == {}


@pytest.mark.parametrize(
    ("change", "where", "word"),
    [
        ({"corpus": "other"}, "corpus", "one of own"),
        ({"corpus": "x; touch y"}, "corpus", "a name"),
        ({"objectives": {}}, "objectives", "weights of nsp, nl, spp, sdt"),
        ({"objectives": ["nsp"]}, "objectives", "weights of"),
        ({"objectives": {"mlm": 1}}, "objectives.mlm", "one of nsp"),
        ({"objectives": {"nsp": 0}}, "objectives.nsp", "a weight above 0"),
        ({"objectives": {"nsp": True}}, "objectives.nsp", "a weight above 0"),
        ({"setting": "large"}, "setting", "one of small, published"),
        ({"epochs": -1}, "epochs", "an integer, 0 or more"),
        ({"batch": 1}, "batch", "an integer, 2 or more"),
        ({"seed": 1.5}, "seed", "an integer, 0 or more"),
        ({"model": 3}, "model", "a folder"),
        ({"rate": 1}, "rate", "keys among corpus, objectives"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], where: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        read({"corpus": "own", "objectives": {"nsp": 1}} | change)
    assert error.value.where == f"params.yaml: trained.mine.{where}"


def test_a_setting_is_of_a_new_encoder() -> None:
    with pytest.raises(InputError, match="both"):
        read({"corpus": "own", "objectives": {"nsp": 1}, "model": "a/b", "setting": "small"})


def test_a_trained_encoder_is_one_of_the_run(
    write_params: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    entry = {"corpus": "own", "objectives": {"nsp": 1}}
    path = write_params(CORPORA, encoders={"char_hash": {}}, trained={"mine": entry})
    names = [make().name for make in encoder_factories(path).values()]
    assert names == ["char_hash", "sentence_transformers"]
    params = {"encoders": {"char_hash": {}}, "trained": {"mine": entry}}
    made = {"encoder": "sentence_transformers", "model": "data/trained/mine"}
    assert encoders_params(params, path) == {"char_hash": {}, "mine": made}
    write_skipped("train", {"mine": Skipped("no torch")})
    assert list(encoder_factories(path)) == ["char_hash"]
