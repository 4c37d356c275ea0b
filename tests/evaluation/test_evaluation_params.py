"""The sections of params.yaml that evaluation reads."""

from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.stage import Skipped, write_skipped
from evaluation.params import (
    Training,
    encoder_factories,
    encoders_params,
    evalrank_params,
    paralex_params,
    store_names,
    trained_params,
)
from evaluation.probing.probing import Probing
from evaluation.probing.protocols import probing_params

TABLES = read_tables(__file__)

# --- params sections -----------------------------------------------------------------------------

PATH = Path("params.yaml")
SECTIONS = {
    "encoders": encoders_params,
    "probing": probing_params,
    "evalrank": evalrank_params,
    "paralex": paralex_params,
}


def test_defaults() -> None:
    assert probing_params({"probing": {}}, PATH) == Probing()
    assert evalrank_params({"evalrank": {}}, PATH) == {
        "similarities": ["cosine", "l2"],
        "postprocessings": ["none", "centre", "abtt", "whitening"],
    }
    lower = {"casings": ["as_is", "lower"], "coherence_threshold": 2}
    assert paralex_params({"paralex": {}}, PATH) == lower
    assert encoders_params({"encoders": {"a": None, "b-2": {"dimension": 5}}}, PATH) == {
        "a": {},
        "b-2": {"dimension": 5},
    }


def test_values_that_are_given() -> None:
    chosen = probing_params({"probing": {"pair_features": "four_part"}}, PATH)
    assert chosen == Probing(pair_features="four_part")
    chosen = probing_params({"probing": {"protocol": "senteval", "engine": "torch"}}, PATH)
    facts = chosen.as_protocol()
    assert (facts["name"], facts["version"], facts["engine"]) == ("senteval", 2, "torch")
    evalrank = evalrank_params({"evalrank": {"similarities": ["l2"]}}, PATH)
    assert evalrank["similarities"] == ["l2"]
    paralex = paralex_params({"paralex": {"coherence_threshold": 3, "casings": ["lower"]}}, PATH)
    assert paralex == {"casings": ["lower"], "coherence_threshold": 3}


@pytest.mark.parametrize(("section", "given", "where", "word"), TABLES["entries"])
def test_what_is_wrong_is_said(section, given, where, word) -> None:
    with pytest.raises(InputError, match=word) as error:
        SECTIONS[section]({section: given}, PATH)
    assert error.value.where == f"params.yaml: {section}{where}"


def test_encoders_that_differ_in_post_processing_alone_share_their_vectors() -> None:
    entries: dict[str, dict[str, Any]] = {
        "white": {"encoder": "char_hash", "postprocessing": "whitening"},
        "char_hash": {},
        "again": {"encoder": "char_hash"},
        "small": {"encoder": "char_hash", "dimension": 8, "postprocessing": "centre"},
        "small_abtt": {"encoder": "char_hash", "postprocessing": "abtt", "dimension": 8},
    }
    shared = {"white": "char_hash", "again": "char_hash", "small_abtt": "small"}
    assert store_names(entries) == {name: shared.get(name, name) for name in entries}


# --- training params -----------------------------------------------------------------------------

CORPORA: dict[str, Any] = {"own": {}}
ENTRY: dict[str, Any] = {"corpus": "own", "objectives": {"nsp": 1}}


def read(entry: Any) -> Training:
    return trained_params({"corpora": CORPORA, "trained": {"mine": entry}}, PATH)["mine"]


def test_an_entry_with_its_defaults() -> None:
    found = read({"corpus": "own", "objectives": {"sdt": 2, "nsp": 0.5}})
    assert found == Training("own", {"nsp": 0.5, "sdt": 2.0}, "small", "", 1, 1, 128, 0)
    # In one order, whatever that of the file: the sum of losses has the same rounding.
    assert list(found.objectives) == ["nsp", "sdt"]
    assert trained_params({"trained": {}}, PATH) == {}


@pytest.mark.parametrize(("change", "where", "word"), TABLES["params"])
def test_params_what_is_wrong_is_said(change: dict[str, Any], where: str, word: str) -> None:
    with pytest.raises(InputError, match=word) as error:
        read(ENTRY | change)
    assert error.value.where == f"params.yaml: trained.mine.{where}"


def test_a_setting_is_of_a_new_encoder() -> None:
    with pytest.raises(InputError, match="both"):
        read(ENTRY | {"model": "a/b", "setting": "small"})


def test_a_trained_encoder_is_one_of_the_run(write_params: Any, empty_folder: Path) -> None:
    path = write_params(CORPORA, encoders={"char_hash": {}}, trained={"mine": ENTRY})
    names = [make().name for make in encoder_factories(path).values()]
    assert names == ["char_hash", "sentence_transformers"]
    params = {"encoders": {"char_hash": {}}, "trained": {"mine": ENTRY}}
    made = {"encoder": "sentence_transformers", "model": "data/trained/mine"}
    assert encoders_params(params, path) == {"char_hash": {}, "mine": made}
    write_skipped("train", {"mine": Skipped("no torch")})
    assert list(encoder_factories(path)) == ["char_hash"]
